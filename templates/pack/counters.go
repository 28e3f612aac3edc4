package pack

import "time"

// Counters say where a platform keeps what the catalog of metrics names.
type Counters struct {
	Encoding string `yaml:"encoding"` // of gNMI; empty: JSON_IETF
	// Get says that a path of a stream may also be asked for by Get, with the same answer: what a stream does not bring in its
	// time is then asked for.
	Get     bool   `yaml:"get"`
	Facts   Facts  `yaml:"facts"`
	Streams []Path `yaml:"streams"`
	Polls   []Poll `yaml:"polls"`
}

// Facts are what must be known of a device before its counters can be read. Each is asked for when a connection is made.
type Facts struct {
	Aliases  Fact `yaml:"aliases"`  // the names that counters call ports by
	Switches Fact `yaml:"switches"` // which groups of counters are switched on
}

// Fact is a table on the device: an object of rows, of each of which one field matters.
type Fact struct {
	Target string `yaml:"target"` // of the gNMI prefix
	Path   string `yaml:"path"`   // empty: the platform has no such fact
	Field  string `yaml:"field"`
	On     string `yaml:"on"` // Switches: the value that means on
}

// Path is one gNMI path to subscribe to and what comes from it. A path holds {port}, {priority}, {queue} or {group} where an
// element or a key names one; they are subscribed to with a wildcard.
type Path struct {
	Origin string        `yaml:"origin"` // of the gNMI prefix
	Target string        `yaml:"target"` // of the gNMI prefix
	Path   string        `yaml:"path"`
	Every  time.Duration `yaml:"every"`  // the sample interval; for a path on change the heartbeat
	Change bool          `yaml:"change"` // sent when it changes: for state, never for counters
	// Rows is the form of the row names where the value is one object of rows: {port}:{queue}. Without it the value is a leaf
	// beneath the path.
	Rows   string           `yaml:"rows"`
	Needs  Feature          `yaml:"needs"` // what must be on for anything to come; empty: nothing
	Model  string           `yaml:"model"` // the vendor's model that defines the path, where it is none of the models weir knows
	Fields map[string]Field `yaml:"fields"`
}

// Poll is one command to ask over and over, and what its answer says.
type Poll struct {
	Name  string        `yaml:"name"`
	Ask   string        `yaml:"ask"` // {port} and {rdma} stand for each port and its RDMA device in turn
	Every time.Duration `yaml:"every"`
	// Form is how the answer is laid out: lines (NAME: VALUE or PATH:VALUE), json (Fields are paths with dots), table (columns
	// under a rule of dashes; Rows is the form of the first cell).
	Form     string           `yaml:"form"`
	Fallback bool             `yaml:"fallback"` // asked only where the device has no streams
	Needs    Feature          `yaml:"needs"`    // what must be on for anything to be listed; empty: nothing
	Rows     string           `yaml:"rows"`
	Fields   map[string]Field `yaml:"fields"`
}

// Field is what one field, leaf or column means. Its name may hold {priority}, {queue} or {group}.
type Field struct {
	Metric string             `yaml:"metric"` // its name in the catalog
	Scale  float64            `yaml:"scale"`  // to base units; 0: 1
	Values map[string]float64 `yaml:"values"` // of words
	Status string             `yaml:"status"` // estimated, where the device itself only estimates
	Part   int                `yaml:"part"`   // of a cell like 1/0: which part, from 1; 0: the whole
	Switch string             `yaml:"switch"` // the group of counters that must be on: without it the value means nothing
	Absent Absent             `yaml:"absent"` // what it means that the field is not there
	From   string             `yaml:"from"`   // the release that first has it; for readers
}

// Feature is what a port must have on for a device to count something there.
type Feature string

// What is off in the intent is not expected to be counted.
const (
	FeaturePFC      Feature = "pfc"
	FeatureWatchdog Feature = "watchdog"
)

// Absent is what it means that a device does not list something.
type Absent string

// A field that is not there is not supported, is zero since nothing has happened yet, or is switched off.
const (
	AbsentUnsupported Absent = ""
	AbsentZero        Absent = "zero"
	AbsentDisabled    Absent = "disabled"
)
