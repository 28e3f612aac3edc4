package intent

import (
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/source"
)

// BGP is the plan of AS numbers behind policy bgp, as far as it decides which routes can exist. weir does not configure BGP.
type BGP struct {
	AS []ASNumber `yaml:"as" doc:"Which switches have which AS. The label as of a switch comes before them; of several entries that pick a switch the last one holds."`
	// AllowASIn lists where BGP's own protection against loops is relaxed.
	AllowASIn []AllowASIn `yaml:"allowASIn" doc:"Switches that take routes which their own AS is in already."`
	// NoExportUp lists where a policy by communities keeps routes from turning.
	NoExportUp []Selector  `yaml:"noExportUp" doc:"Switches that do not pass routes on upwards or to the side which they learned from above or from the side, as a policy by communities does."`
	Default    []Selector  `yaml:"default" doc:"Switches that originate a default route: traffic to a prefix that was withdrawn follows it."`
	Aggregates []Aggregate `yaml:"aggregates" doc:"Routes that cover those of several switches: traffic to a prefix that was withdrawn follows them."`
}

// Aggregate is a route that covers the prefixes of several switches.
type Aggregate struct {
	Name        source.Value[string] `yaml:"name,required" form:"name" doc:"Name of the aggregate."`
	Select      Selector             `yaml:"select,required" doc:"The switches that originate it."`
	Of          Selector             `yaml:"of,required" doc:"The switches whose prefixes it covers."`
	SummaryOnly source.Value[bool]   `yaml:"summaryOnly" doc:"The originators pass on the aggregate alone, and not what it covers."`
	At          diag.Pos
}

// ASNumber gives switches their AS.
type ASNumber struct {
	Select Selector           `yaml:"select,required" doc:"The switches that it is about."`
	Number source.Value[int]  `yaml:"number,required" min:"1" max:"4294967295" doc:"The AS, or with each that of the first switch."`
	Each   source.Value[bool] `yaml:"each" doc:"Every switch has an AS of its own, counted up from the number in the order of their names."`
	At     diag.Pos
}

// AllowASIn is how often some switches find their own AS in a route and take it still.
type AllowASIn struct {
	Select Selector          `yaml:"select" doc:"The switches that it is about; all without it."`
	Times  source.Value[int] `yaml:"times,required" min:"0" max:"10" doc:"How often the switch's own AS may be in a route that it takes."`
	At     diag.Pos
}
