package pack

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// Language is all that weir knows of one vendor's lines. Words of the fabric (fields of trust, actions of watchdogs, impacts) are
// spelled as in the intent and the plan; sizes are in bytes.
type Language struct {
	Layout  []string      `yaml:"layout"`  // templates that together lay a switch out as text
	File    string        `yaml:"file"`    // name of the configuration file on the device
	Query   Query         `yaml:"query"`   // how the running configuration is asked for
	Tables  Tables        `yaml:"tables"`  // what the running configuration may leave out
	Facts   []Pattern     `yaml:"facts"`   // expressions whose groups are facts, tried on lines that begin with Comment
	Comment string        `yaml:"comment"` // what a line that says nothing begins with
	Heredoc Heredoc       `yaml:"heredoc"` // text that is no configuration
	Leave   string        `yaml:"leave"`   // the line that leaves a block
	Negate  string        `yaml:"negate"`  // the word before a line that takes it back
	Persist []string      `yaml:"persist"` // what makes the running configuration permanent
	Confirm time.Duration `yaml:"confirm"` // the commit timer, where a wave does not need a longer one
	// ConfirmMost is the longest that weir sets the commit timer to.
	ConfirmMost time.Duration `yaml:"confirmMost"`

	Cost Cost   `yaml:"cost"`
	Why  string `yaml:"why"` // of the route, with what is known and not known of impacts

	// WatchdogOnly, where it is set, says why nothing but the watchdog is written: the language has no words for the rest.
	WatchdogOnly string `yaml:"watchdogOnly"`

	Families []Family          `yaml:"families"`
	Watchdog Watchdog          `yaml:"watchdog"`
	ECN      []Unit            `yaml:"ecn"`     // units of thresholds, the preferred one first
	MTU      Span              `yaml:"mtu"`     // of the IP MTU
	Alphas   []int             `yaml:"alphas"`  // exponents n of the thresholds 2^n that can be said
	Trust    map[string]string `yaml:"trust"`   // by field of the header
	Profile  string            `yaml:"profile"` // name of the profile of most ports of a speed: WEIR-{speed}
	Variant  string            `yaml:"variant"` // of the others: WEIR-{speed}-{port}
	Control  *Control          `yaml:"control"` // nil: every queue can be chosen
	Rewrite  *Rewrite          `yaml:"rewrite"` // nil: no source shows how the language says it

	Unverified []Assumption `yaml:"unverified"`

	// What only the reading back of a device needs, whoever configured it.
	Ports    string    `yaml:"ports"`    // glob of the interfaces that are ports; empty: which are is not known
	Concerns []Concern `yaml:"concerns"` // lines that are about what weir knows of, and that the grammar may not know
	// NoPause is the source that a port with PFC has no IEEE 802.3x whatever its lines say; empty: it is not known.
	NoPause string `yaml:"noPause"`

	Sets    map[string][]Item `yaml:"sets"`
	Grammar []Item            `yaml:"grammar"`
}

// Query is a question that a device is asked.
type Query struct {
	Name    string `yaml:"name"`
	Command string `yaml:"command"`
	End     string `yaml:"end"` // the last line of a whole answer; empty: none is known, and a cut answer cannot be told
}

// Tables are maps that the device shows as it uses them, beside the lines that its running configuration has of them.
type Tables struct {
	Query Query   `yaml:"query"`
	Maps  []Table `yaml:"maps"`
}

// Table is one map in the answer, below its title and up to the next empty line.
type Table struct {
	Title string `yaml:"title"` // what its first line begins with
	// To begins the row of targets, one for each number from 0 on. Where it is empty, rows begin with the tens of the
	// numbers that they are about and a colon.
	To    string `yaml:"to"`
	Count int    `yaml:"count"` // of entries; a table with another number of them is not understood, and says nothing
	Skip  []int  `yaml:"skip"`  // entries that are the device's own business
	Line  string `yaml:"line"`  // the configuration line that would say the same: {from}, {to}
}

// Heredoc is text inside of a configuration that is none.
type Heredoc struct {
	Begin []string `yaml:"begin"` // first words of the line before the text
	End   string   `yaml:"end"`
}

// Cost is how long a change takes.
type Cost struct {
	Step time.Duration `yaml:"step"`
	Line time.Duration `yaml:"line"`
}

// Family is a family of chips whose switches speak alike.
type Family struct {
	Name    string            `yaml:"name"`
	SKUs    []string          `yaml:"skus"`  // globs
	ASICs   []string          `yaml:"asics"` // globs of names in the catalog
	Words   map[string]string `yaml:"words"`
	Buffers bool              `yaml:"buffers"` // buffers can be written
}

// Watchdog is what the language can say of the PFC watchdog.
type Watchdog struct {
	Timer   time.Duration     `yaml:"timer"` // the least step of detection and restoration
	Poll    time.Duration     `yaml:"poll"`
	Actions map[string]string `yaml:"actions"`     // of the switch
	Ports   map[string]string `yaml:"portActions"` // of a port

	// Of a language that counts looks and has one line for each priority.
	Recovery time.Duration `yaml:"recovery"` // the least step of restoration
	Only     time.Duration `yaml:"only"`     // how often the switch looks, which cannot be changed
	Action   string        `yaml:"action"`   // the one that the line stands for
}

// Unit is a unit of thresholds.
type Unit struct {
	Name  string `yaml:"name"`
	Bytes int64  `yaml:"bytes"`
}

// Span is a range of sizes, both ends included.
type Span struct {
	Min int64 `yaml:"min"`
	Max int64 `yaml:"max"`
}

// Control is a traffic class whose queue cannot be chosen: that of the switch's own control traffic.
type Control struct {
	TC    uint8 `yaml:"tc"`
	Queue uint8 `yaml:"queue"`
}

// Rewrite is how a language says rules of priority bumping.
type Rewrite struct {
	Layout string `yaml:"layout"` // template
	File   string `yaml:"file"`
	Says   string `yaml:"says"`  // what cannot be said
	Loses  string `yaml:"loses"` // what else is not known where traffic goes on in a lossless class
}

// Assumption is what weir takes to be so of some lines and no source confirms.
type Assumption struct {
	Lines Pattern `yaml:"lines"` // tried on all that is laid out for a switch
	Says  string  `yaml:"says"`  // what is assumed, and what shows on the device whether it is so
}

// Concern is lines that the grammar does not know and that change what weir knows of: they are not understood, and what they may be
// about is not known.
type Concern struct {
	Begins string `yaml:"begins"` // words
	In     string `yaml:"in"`     // words that the block begins with that they stand in; empty: in none
	At     string `yaml:"at"`     // KIND/NAME:VALUE below the port or the device; empty: all of it
}

// Item is a block or a line of the grammar. The order of items is the order in which things must be defined.
type Item struct {
	Block   string `yaml:"block"`   // pattern of a block's first line
	Line    string `yaml:"line"`    // pattern of a line; " | " parts what is set from what it is set to
	Key     string `yaml:"key"`     // pattern of what is set, where " | " cannot say it
	Value   string `yaml:"value"`   // pattern of what it is set to
	Reads   string `yaml:"reads"`   // pattern of that, where it is of several words, with a hole for each of its parts
	Off     string `yaml:"off"`     // another line that sets the same thing
	OffSays string `yaml:"offSays"` // the value that it sets it to; "no" where it is not said
	Unsaid  string `yaml:"unsaid"`  // the value that is the same as no line
	Negate  string `yaml:"negate"`  // the line that takes this one back, where it is not the usual word and the line
	Proven  bool   `yaml:"proven"`  // a source shows how the line is taken back; of the others that is said
	At      string `yaml:"at"`      // address: KIND/NAME:VALUE, below the port or the device
	Object  string `yaml:"object"`  // the shared object that it is part of
	Uses    string `yaml:"uses"`    // the shared object that it refers to
	Port    string `yaml:"port"`    // of a block: the hole that holds the name of a port
	Whole   bool   `yaml:"whole"`   // of a block: everything in it is weir's
	Clash   string `yaml:"clash"`   // of a line: weir leaves it alone and says this
	Include string `yaml:"include"` // of a block: a set of items that stand in it
	Lifts   string `yaml:"lifts"`   // of a block: the set that is read in it, in place of its items, where what runs is lifted
	Items   []Item `yaml:"items"`
	Impact  string `yaml:"impact"` // of a change to it; those inside a block have its impact unless they say theirs
}

// check finds what a language must not leave out.
func (l *Language) check() error {
	missing := map[string]bool{
		"layout": len(l.Layout) == 0, "file": l.File == "", "query": l.Query.Name == "" || l.Query.Command == "",
		"negate": l.Negate == "", "why": l.Why == "", "grammar": len(l.Grammar) == 0,
		"watchdog": l.Watchdog.Timer == 0 || l.Watchdog.Poll == 0,
	}
	if l.WatchdogOnly != "" {
		missing["watchdog"] = missing["watchdog"] || l.Watchdog.Recovery == 0 || l.Watchdog.Only == 0 || l.Watchdog.Action == ""
	} else {
		maps.Copy(missing, map[string]bool{
			"families": len(l.Families) == 0, "ecn": len(l.ECN) == 0, "profile": l.Profile == "" || l.Variant == "", "mtu": l.MTU.Max == 0,
		})
	}
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		if missing[name] {
			return fmt.Errorf("section language: %s is missing", name)
		}
	}
	return nil
}
