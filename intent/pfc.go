package intent

import (
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/intent/source"
)

// PFC is how losslessness is kept and how its failures are ended.
type PFC struct {
	Off      source.Value[bool]       `yaml:"off,alone" doc:"No PFC: ECN only."`
	Watchdog Watchdog                 `yaml:"watchdog" doc:"Detection of PFC deadlock and storm, and recovery; or off."`
	Headroom source.Value[Headroom]   `yaml:"headroom" doc:"Bytes kept for what is in flight after PAUSE; auto: from speed, cable, MTU and the ASIC."`
	Cable    source.Value[qos.Metres] `yaml:"cable" min:"1m" doc:"Length of cables whose link has none in the inventory."`
}
