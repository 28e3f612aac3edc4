// Package journal is the record of runs: what it means (Replay), and how it is kept on disk beside the lock and the manifest
// of what is weir's. It knows no device and sends nothing.
package journal

import (
	"time"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/plan"
)

// Kind says what a journal record tells.
type Kind string

// The records of a run, in the order in which they come. Each is on disk before what it announces happens.
const (
	Started   Kind = "started"   // a run begins; Plan names what it applies
	Marking   Kind = "marking"   // the run's marker is about to be put on a device; Text says whose is taken over, where one is
	Unmarked  Kind = "unmarked"  // the run's marker does not stand on the device any more; Text says why it cannot, where it cannot
	Before    Kind = "before"    // a device as it was read before anything was sent: Owned
	Validated Kind = "validated" // the device has looked at the whole of what is to be sent; Text says why it could not, where it could not
	Pending   Kind = "pending"   // a device's change is about to be sent under the name in Pending
	Sending   Kind = "sending"   // a chunk is about to be sent
	Sent      Kind = "sent"      // a chunk took effect, as far as the device says
	Reached   Kind = "reached"   // the device was read back and holds what was wanted: Digest
	Passed    Kind = "passed"    // the wave's verdict is good: from here on a run is finished, not undone
	Confirmed Kind = "confirmed" // the device's change stays, and is persistent where the route allows
	Undoing   Kind = "undoing"   // the device is about to be led back, and the wave's good verdict counts no more
	Undone    Kind = "undone"    // the device was read and is as it was before
	Stuck     Kind = "stuck"     // the device could not be led back or read; Text says why, Leaves what differs
	WaveEnded Kind = "wave-ended"
	Repaired  Kind = "repaired" // records after this place were damaged and cut off; Lost names the devices they were about
	Ended     Kind = "ended"    // the run is over; Outcome tells how
)

// Record is one line of a journal. It holds documents and never messages: what is sent is made again.
type Record struct {
	Seq     int                    `json:"seq"`
	At      time.Time              `json:"at"`
	Kind    Kind                   `json:"kind"`
	Wave    int                    `json:"wave"`
	Device  string                 `json:"device,omitempty"`
	Plan    string                 `json:"plan,omitempty"`    // Started: the plan's ID
	Content plan.Digest            `json:"content,omitempty"` // Started: of what the plan does, whatever its ID
	Verb    string                 `json:"verb,omitempty"`    // Started: apply or rollback
	Of      string                 `json:"of,omitempty"`      // Started, rollback: the run that is undone
	Devices [][]string             `json:"devices,omitempty"` // Started: the devices of each wave
	Audit   *Audit                 `json:"audit,omitempty"`   // Started: on whose behalf
	Owned   plan.Document          `json:"owned,omitempty"`   // Before
	Objects []string               `json:"objects,omitempty"` // Before: shared objects that were weir's
	Rest    plan.Digest            `json:"rest,omitempty"`    // Before: of the lines of others, where the device has a commit timer
	Changes []plan.Change          `json:"changes,omitempty"` // Pending: what the operator is told
	Pending *plan.Pending          `json:"pending,omitempty"`
	Flaps   []addr.Addr            `json:"flaps,omitempty"` // Pending: the ports that the change takes down and up
	Chunk   int                    `json:"chunk,omitempty"`
	Digest  plan.Digest            `json:"digest,omitempty"` // Reached, Undone
	Parts   map[string]plan.Digest `json:"parts,omitempty"`  // Reached: the same by port and shared object
	Outcome Outcome                `json:"outcome,omitempty"`
	Text    string                 `json:"text,omitempty"`
	Leaves  []string               `json:"leaves,omitempty"`
	Lines   []string               `json:"lines,omitempty"` // Undone: lines of others that the device's own timer took with it
	Lost    []string               `json:"lost,omitempty"`  // Repaired
}

// Audit says on whose behalf a run is made. Fields that are not known are empty.
type Audit struct {
	Who    string `json:"who"`    // user@host
	From   string `json:"from"`   // the address that the user came from
	Commit string `json:"commit"` // of the fabric repo
	Reason string `json:"reason"`
	Ticket string `json:"ticket"`
}

// skeleton is the record without its documents: what a list of runs is made of.
func (r Record) skeleton() Record {
	r.Owned, r.Objects, r.Changes, r.Parts, r.Leaves, r.Lines = nil, nil, nil, nil, nil, nil
	return r
}

// Outcome is how a device, a wave or a run ended.
type Outcome string

// A run or device is applied, as before, partly changed with the differing leaves known, or not known. A run is incomplete when
// waves stay whole and others were not begun or are as before, and abandoned when somebody closed it by hand.
const (
	Applied    Outcome = "applied"
	AsBefore   Outcome = "as before"
	Incomplete Outcome = "incomplete"
	Partial    Outcome = "partial"
	Unknown    Outcome = "unknown"
	Abandoned  Outcome = "abandoned"
)

// Open says that a run that came to this is not over: recovery ends it.
func (o Outcome) Open() bool { return o == Partial || o == Unknown }
