package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/intent/qos"
)

// pack is the language section of a pack.yaml: all that weir knows of one vendor's lines.
type pack struct {
	Layout  []string      `yaml:"layout"`  // templates that together lay a switch out as text
	File    string        `yaml:"file"`    // name of the configuration file on the device
	Query   query         `yaml:"query"`   // how the running configuration is asked for
	Tables  tables        `yaml:"tables"`  // what the running configuration may leave out
	Facts   []expression  `yaml:"facts"`   // expressions whose groups are facts, tried on lines that begin with Comment
	Comment string        `yaml:"comment"` // what a line that says nothing begins with
	Heredoc heredoc       `yaml:"heredoc"` // text that is no configuration
	Leave   string        `yaml:"leave"`   // the line that leaves a block
	Negate  string        `yaml:"negate"`  // the word before a line that takes it back
	Persist []string      `yaml:"persist"` // what makes the running configuration permanent
	Confirm time.Duration `yaml:"confirm"` // the commit timer
	Cost    cost          `yaml:"cost"`
	Why     string        `yaml:"why"` // of the route, with what is known and not known of impacts

	// WatchdogOnly, where it is set, says why nothing but the watchdog is written: the language has no words for the rest.
	WatchdogOnly string `yaml:"watchdogOnly"`

	Families []family             `yaml:"families"`
	Watchdog watchdogPack         `yaml:"watchdog"`
	ECN      []unit               `yaml:"ecn"` // units of thresholds, the preferred one first
	MTU      span                 `yaml:"mtu"` // of the IP MTU
	Alphas   []qos.AlphaShift     `yaml:"alphas"`
	Trust    map[qos.Trust]string `yaml:"trust"`
	Profile  string               `yaml:"profile"` // name of the profile of most ports of a speed: WEIR-{speed}
	Variant  string               `yaml:"variant"` // of the others: WEIR-{speed}-{port}
	Control  *fixed               `yaml:"control"` // nil: every queue can be chosen
	Rewrite  *rewrite             `yaml:"rewrite"` // nil: no source shows how the language says it

	Unverified []assumption `yaml:"unverified"`

	Sets    map[string][]item `yaml:"sets"`
	Grammar []item            `yaml:"grammar"`
}

type query struct {
	Name    string `yaml:"name"`
	Command string `yaml:"command"`
}

type heredoc struct {
	Begin []string `yaml:"begin"` // first words of the line before the text
	End   string   `yaml:"end"`
}

type cost struct {
	Step time.Duration `yaml:"step"`
	Line time.Duration `yaml:"line"`
}

// family is a family of chips whose switches speak alike.
type family struct {
	Name    string            `yaml:"name"`
	SKUs    []string          `yaml:"skus"`  // globs
	ASICs   []string          `yaml:"asics"` // globs of names in the catalog
	Words   map[string]string `yaml:"words"`
	Buffers bool              `yaml:"buffers"` // buffers can be written
}

type watchdogPack struct {
	Timer   time.Duration                 `yaml:"timer"` // the least step of detection and restoration
	Poll    time.Duration                 `yaml:"poll"`
	Actions map[qos.WatchdogAction]string `yaml:"actions"`     // of the switch
	Ports   map[qos.WatchdogAction]string `yaml:"portActions"` // of a port

	// Of a language that counts looks and has one line for each priority.
	Recovery time.Duration      `yaml:"recovery"` // the least step of restoration
	Only     time.Duration      `yaml:"only"`     // how often the switch looks, which cannot be changed
	Action   qos.WatchdogAction `yaml:"action"`   // the one that the line stands for
}

type unit struct {
	Name  string    `yaml:"name"`
	Bytes qos.Bytes `yaml:"bytes"`
}

type span struct {
	Min qos.Bytes `yaml:"min"`
	Max qos.Bytes `yaml:"max"`
}

// fixed is a traffic class whose queue cannot be chosen: that of the switch's own control traffic.
type fixed struct {
	TC    qos.TrafficClass `yaml:"tc"`
	Queue qos.Queue        `yaml:"queue"`
}

// item is a block or a line of the grammar. The order of items is the order in which things must be defined.
type item struct {
	Block   string       `yaml:"block"`   // pattern of a block's first line
	Line    string       `yaml:"line"`    // pattern of a line; " | " parts what is set from what it is set to
	Key     string       `yaml:"key"`     // pattern of what is set, where " | " cannot say it
	Value   string       `yaml:"value"`   // pattern of what it is set to
	Off     string       `yaml:"off"`     // another line that sets the same thing
	OffSays string       `yaml:"offSays"` // the value that it sets it to; "no" where it is not said
	Unsaid  string       `yaml:"unsaid"`  // the value that is the same as no line
	Negate  string       `yaml:"negate"`  // the line that takes this one back, where it is not the usual word and the line
	Proven  bool         `yaml:"proven"`  // a source shows how the line is taken back; of the others that is said
	At      string       `yaml:"at"`      // address: KIND/NAME:VALUE, below the port or the device
	Object  string       `yaml:"object"`  // the shared object that it is part of
	Uses    string       `yaml:"uses"`    // the shared object that it refers to
	Port    string       `yaml:"port"`    // of a block: the hole that holds the name of a port
	Whole   bool         `yaml:"whole"`   // of a block: everything in it is weir's
	Clash   string       `yaml:"clash"`   // of a line: weir leaves it alone and says this
	Include string       `yaml:"include"` // of a block: a set of items that stand in it
	Items   []item       `yaml:"items"`
	Impact  *plan.Impact `yaml:"impact"` // of a change to it; those inside a block have its impact unless they say theirs
}

// assumption is what weir takes to be so of some lines and no source confirms.
type assumption struct {
	Lines expression `yaml:"lines"` // tried on all that is laid out for a switch
	Says  string     `yaml:"says"`  // what is assumed, and what shows on the device whether it is so
}

// expression is a regular expression in a pack.
type expression struct{ *regexp.Regexp }

// UnmarshalText compiles the expression.
func (p *expression) UnmarshalText(text []byte) (err error) {
	p.Regexp, err = regexp.Compile(string(text))
	return err
}

// readPack decodes the language section of DIR/pack.yaml, strictly. Other sections belong to other readers.
func readPack(fsys fs.FS, dir string) (pack, error) {
	var p pack
	body, err := fs.ReadFile(fsys, path.Join(dir, "pack.yaml"))
	if err != nil {
		return p, err
	}
	var sections map[string]yaml.Node
	if err := yaml.Unmarshal(body, &sections); err != nil {
		return p, err
	}
	section, ok := sections["language"]
	if !ok {
		return p, errors.New("it has no section language")
	}
	// A node forgets that its decoder was strict, so the section is decoded from text of its own.
	text, err := yaml.Marshal(&section)
	if err != nil {
		return p, err
	}
	strict := yaml.NewDecoder(bytes.NewReader(text))
	strict.KnownFields(true)
	if err := strict.Decode(&p); err != nil {
		return p, fmt.Errorf("section language: %w", err)
	}
	return p, p.check()
}

// check finds what a pack must not leave out.
func (p pack) check() error {
	missing := map[string]bool{
		"layout": len(p.Layout) == 0, "file": p.File == "", "query": p.Query.Name == "" || p.Query.Command == "",
		"negate": p.Negate == "", "why": p.Why == "", "grammar": len(p.Grammar) == 0,
		"watchdog": p.Watchdog.Timer == 0 || p.Watchdog.Poll == 0,
	}
	if p.WatchdogOnly != "" {
		missing["watchdog"] = missing["watchdog"] || p.Watchdog.Recovery == 0 || p.Watchdog.Only == 0 || p.Watchdog.Action == ""
	} else {
		maps.Copy(missing, map[string]bool{
			"families": len(p.Families) == 0, "ecn": len(p.ECN) == 0, "profile": p.Profile == "" || p.Variant == "", "mtu": p.MTU.Max == 0,
		})
	}
	for name, is := range missing {
		if is {
			return fmt.Errorf("section language: %s is missing", name)
		}
	}
	return nil
}
