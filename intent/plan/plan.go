// Package plan is what weir would do, as data: changes in the operator's terms, the messages that make them,
// the waves they go in, and the states of a device they lead from and to. A plan can be written to a file,
// read by people, and applied later.
package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
)

// Format is the version of the plan file that this weir writes and reads.
const Format = 1

// Action is what happens to a value.
type Action string

// A value is created, updated in place or deleted.
const (
	Create Action = "create"
	Update Action = "update"
	Delete Action = "delete"
)

// Impact is what a change does to traffic while it is made. The zero value is none.
type Impact int

// The impacts, from harmless to grave.
const (
	None    Impact = iota
	Drains         // the queues of the port are emptied or dropped
	Flaps          // the port goes down and up
	Reboots        // the device restarts
)

// Route says by which transport and in which manner a step's chunks travel.
type Route string

// The routes.
const (
	GNMISet    Route = "gnmi-set"    // one gNMI Set a chunk
	SSHBulk    Route = "ssh-bulk"    // files and commands that load a document past the device's own updater
	SSHSession Route = "ssh-session" // a configuration session, committed whole, with a commit timer
	SSHShell   Route = "ssh-shell"   // files and commands on a host
)

// Op is what a message asks for.
type Op string

// The operations. The first three are a gNMI Set's, Line is a line of a command language, the rest a shell's.
const (
	SetUpdate  Op = "update"
	SetReplace Op = "replace"
	SetDelete  Op = "delete"
	Line       Op = "line"
	Run        Op = "run"    // Body is a command; a non-zero exit status is a rejection
	Write      Op = "write"  // Body is the content of the file Path
	Remove     Op = "remove" // Path is a file
)

// Message is one thing that is sent to a device.
type Message struct {
	Op   Op     `json:"op"`
	Path string `json:"path,omitempty"` // gNMI path with origin (sonic-db:/CONFIG_DB/localhost/QUEUE), or a file's path
	Body string `json:"body,omitempty"` // JSON value, line, command or content
}

// Scratch stands in the paths and commands of a chunk for a folder that the transport makes on the device for that chunk alone, under
// a name that nobody can foresee and readable by nobody else, and removes after it.
const Scratch = "{scratch}"

// Chunk is the smallest thing that is sent and undone whole.
type Chunk struct {
	Send   []Message `json:"send"`
	Undo   []Message `json:"undo"`
	Impact Impact    `json:"impact"`
}

// Change is one value that becomes another, as the operator calls it.
type Change struct {
	Addr    addr.Addr  `json:"address"`
	Action  Action     `json:"action"`
	Before  string     `json:"before"`
	After   string     `json:"after"`
	Impact  Impact     `json:"impact"`
	Adopt   bool       `json:"adopt,omitempty"` // the value stands on the device and was not put there by weir
	Because []diag.Pos `json:"because"`
}

// MarshalJSON writes a change that nothing in the repo caused with an empty list, and never with null.
func (c Change) MarshalJSON() ([]byte, error) {
	type form Change
	if c.Because == nil {
		c.Because = []diag.Pos{}
	}
	return json.Marshal(form(c))
}

// Step is everything that happens to one device in one wave.
type Step struct {
	Device   string            `json:"device"`
	Platform string            `json:"platform"`
	Base     Digest            `json:"base"`            // of the owned part of the device as it was read
	Parts    map[string]Digest `json:"parts,omitempty"` // the same by port and shared object, to name what moved
	Changes  []Change          `json:"changes"`
	Route    Route             `json:"route"`
	Why      string            `json:"why,omitempty"`      // why this route, its cost, and what else it makes persistent
	Cost     time.Duration     `json:"cost_ns"`            // how long the route is expected to take on a real device
	Validate []Message         `json:"validate,omitempty"` // over SSH, before the first chunk: has the device look at the whole and change nothing; a refusal stops the step
	Chunks   []Chunk           `json:"chunks"`
	Persist  []Message         `json:"persist,omitempty"` // sent when the step is confirmed, where the route does not persist by itself
	Quiet    []Query           `json:"quiet,omitempty"`   // each answers empty when nothing on the device is still changing it
	Confirm  time.Duration     `json:"confirm_ns"`        // the device's own commit timer; 0 where it has none

	// ConfirmMost is the longest that weir sets the timer to; 0: no longer than Confirm.
	ConfirmMost time.Duration `json:"confirm_most_ns,omitempty"`
	// Single says that the device is the only switch of its tier: nothing carries the traffic beside it.
	Single bool `json:"single,omitempty"`
}

// Impact is the gravest impact of the step's chunks.
func (s Step) Impact() Impact {
	worst := None
	for _, c := range s.Chunks {
		worst = max(worst, c.Impact)
	}
	return worst
}

// Flaps are the ports that the step takes down and up, as its changes say, each once and in order. An address without a port
// stands for all ports of the device.
func (s Step) Flaps() []addr.Addr {
	var out []addr.Addr
	for _, c := range s.Changes {
		if c.Impact >= Flaps {
			out = append(out, addr.Port(s.Device, c.Addr.Port))
		}
	}
	slices.SortFunc(out, addr.Compare)
	return slices.Compact(out)
}

// Plan is what apply does: waves in order, the steps of a wave side by side.
type Plan struct {
	Format   int       `json:"format"`
	ID       string    `json:"id"`               // made once; a plan is applied once
	Intent   Digest    `json:"intent"`           // of the fabric repo's files
	Commit   string    `json:"commit,omitempty"` // of the fabric repo, where it is a Git repo
	Summary  Summary   `json:"summary"`
	Findings diag.List `json:"findings"`
	Waves    [][]Step  `json:"waves"`
	Skipped  []Skipped `json:"skipped,omitempty"` // devices that were to be planned and could not be read

	// Saved says that the plan comes from a file, and not from what the devices hold now.
	Saved bool `json:"-"`
}

// Skipped is a device that a plan leaves out because it could not be read. What it holds is not known, and no wave waits for its
// counters.
type Skipped struct {
	Device string `json:"device"`
	Why    string `json:"why"`
}

// MarshalJSON writes a plan that changes nothing with an empty list of waves, and never with null.
func (p Plan) MarshalJSON() ([]byte, error) {
	type form Plan
	if p.Waves == nil {
		p.Waves = [][]Step{}
	}
	return json.Marshal(form(p))
}

// Devices are those that the plan changes, in the order of its waves.
func (p Plan) Devices() []string {
	var names []string
	for _, s := range slices.Concat(p.Waves...) {
		names = append(names, s.Device)
	}
	return names
}

// Content is the digest of what the plan does, whatever its ID, and whichever lines of the repo ask for it.
func (p Plan) Content() Digest {
	waves := make([][]Step, len(p.Waves))
	for n, steps := range p.Waves {
		for _, s := range steps {
			s.Changes = slices.Clone(s.Changes)
			for i := range s.Changes {
				s.Changes[i].Because = nil
			}
			waves[n] = append(waves[n], s)
		}
	}
	body, err := json.Marshal(waves)
	if err != nil {
		panic(err) // plain values always encode
	}
	sum := sha256.Sum256(body)
	return Digest(hex.EncodeToString(sum[:]))
}

// Summary counts.
type Summary struct {
	Devices int `json:"devices"` // that change
	Create  int `json:"create"`
	Update  int `json:"update"`
	Delete  int `json:"delete"`
}

// Via is the transport that a query needs.
type Via string

// A query goes over gNMI or SSH.
const (
	GNMI Via = "gnmi"
	SSH  Via = "ssh"
)

// Query asks a device for one body of text: a document, the output of a command, a file.
type Query struct {
	Name string `json:"name"` // the file it is kept in: config_db.json, running-config, eth0/pfc
	Ways []Way  `json:"ways"` // the first one whose transport the device has is taken
	// Optional says that the device can be read without an answer. Without that of any other query nothing is known of it.
	Optional bool `json:"optional,omitempty"`
}

// Way is one way to ask: a gNMI path, or a command over SSH.
type Way struct {
	Via  Via    `json:"via"`
	Text string `json:"text"`
}

// Unfinished is what the name of a file has at its end while it is being written: it is moved to its own name when all of it has
// arrived. One that is left was cut off.
const Unfinished = ".weir"

// Trial is something harmless that is tried on a device to see whether weir may do what it will have to.
type Trial struct {
	What   string    // in a few words
	Send   []Message // what is tried; it changes nothing that stays
	Advice string    // what to do where it is refused
}

// Answer is what the device said. Missing says that the device has no such thing, which is no error.
type Answer struct {
	Name    string
	Body    []byte
	Missing bool
}

// Pending names a change that was sent and is not confirmed. It is written to the journal before anything is sent, so that
// another process can confirm or cancel it.
type Pending struct {
	Device   string    `json:"device"`
	Name     string    `json:"name"` // of the session on the device: weir-RUN
	Route    Route     `json:"route"`
	Deadline time.Time `json:"deadline"` // when the device undoes the change by itself, by the clock of whoever sends it; zero where it does not
	// Confirm is how long the device's own timer runs; 0 where there is none. The timer is set by it and not by the deadline: the
	// clock that names and dates may jump between the two.
	Confirm time.Duration `json:"confirm_ns,omitempty"`
}
