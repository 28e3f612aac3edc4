// Package journal is the record of runs: what it means (Replay), and how it is kept on disk beside the lock and the manifest
// of what is weir's. It knows no device and sends nothing.
package journal

import (
	"fmt"
	"slices"
	"time"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/plan"
)

// Kind says what a journal record tells.
type Kind string

// The records of a run, in the order in which they come. Each is on disk before what it announces happens.
const (
	Started   Kind = "started"   // a run begins; Plan names what it applies
	Before    Kind = "before"    // a device as it was read before anything was sent: Owned
	Validated Kind = "validated" // the device has looked at the whole of what is to be sent; Text says why it could not, where it could not
	Pending   Kind = "pending"   // a device's change is about to be sent under the name in Pending
	Sending   Kind = "sending"   // a chunk is about to be sent
	Sent      Kind = "sent"      // a chunk took effect, as far as the device says
	Reached   Kind = "reached"   // the device was read back and holds what was wanted: Digest
	Passed    Kind = "passed"    // the wave's verdict is good: from here on a run is finished, not undone
	Confirmed Kind = "confirmed" // the device's change stays, and is persistent where the route allows
	Undoing   Kind = "undoing"   // the device is about to be led back
	Undone    Kind = "undone"    // the device was read and is as it was before
	Stuck     Kind = "stuck"     // the device could not be led back or read; Text says why, Leaves what differs
	WaveEnded Kind = "wave-ended"
	Ended     Kind = "ended" // the run is over; Outcome tells how
)

// Record is one line of a journal.
type Record struct {
	Seq     int                    `json:"seq"`
	At      time.Time              `json:"at"`
	Kind    Kind                   `json:"kind"`
	Wave    int                    `json:"wave"`
	Device  string                 `json:"device,omitempty"`
	Plan    string                 `json:"plan,omitempty"`    // Started: the plan's ID
	Verb    string                 `json:"verb,omitempty"`    // Started: apply or rollback
	Of      string                 `json:"of,omitempty"`      // Started, rollback: the run that is undone
	Devices [][]string             `json:"devices,omitempty"` // Started: the devices of each wave
	Owned   plan.Document          `json:"owned,omitempty"`   // Before
	Objects []string               `json:"objects,omitempty"` // Before: shared objects that were weir's
	Pending *plan.Pending          `json:"pending,omitempty"`
	Persist []plan.Message         `json:"persist,omitempty"` // Pending: what Recover must send when it confirms
	Quiet   []plan.Query           `json:"quiet,omitempty"`   // Pending: what Recover must ask before it sends
	Flaps   []addr.Addr            `json:"flaps,omitempty"`   // Pending: the ports that the change takes down and up
	Chunk   int                    `json:"chunk,omitempty"`
	Digest  plan.Digest            `json:"digest,omitempty"` // Reached, Undone
	Parts   map[string]plan.Digest `json:"parts,omitempty"`  // Reached: the same by port and shared object
	Outcome Outcome                `json:"outcome,omitempty"`
	Text    string                 `json:"text,omitempty"`
	Leaves  []string               `json:"leaves,omitempty"`
}

// Outcome is how a device, a wave or a run ended.
type Outcome string

// A run or device is applied, as before, partly changed with the differing leaves known, or not known.
const (
	Applied  Outcome = "applied"
	AsBefore Outcome = "as before"
	Partial  Outcome = "partial"
	Unknown  Outcome = "unknown"
)

// Worse is the outcome that an operator must hear of first.
func Worse(a, b Outcome) Outcome {
	order := []Outcome{Applied, AsBefore, Partial, Unknown}
	if slices.Index(order, b) > slices.Index(order, a) {
		return b
	}
	return a
}

// LockedError says that another run holds the lock.
type LockedError struct{ Lock Lock }

func (e *LockedError) Error() string {
	return fmt.Sprintf("locked by run %s (%s by %s, process %d, since %s): wait for it, or, if it was cut off, run `weir recover`",
		e.Lock.Run, e.Lock.Verb, e.Lock.Who, e.Lock.PID, e.Lock.Since.Format(time.RFC3339))
}

// UnfinishedError says that an earlier run was cut off.
type UnfinishedError struct{ Run string }

func (e *UnfinishedError) Error() string {
	return fmt.Sprintf("run %s was cut off before its end: run `weir recover`", e.Run)
}

// ConsumedError says that a plan was applied before.
type ConsumedError struct{ Run string }

func (e *ConsumedError) Error() string {
	return fmt.Sprintf("this plan was applied by run %s: a plan is applied once; make a new one", e.Run)
}

// DamagedError says that a journal holds what no run writes. Somebody must look at it and at the devices.
type DamagedError struct{ Run, Damage string }

func (e *DamagedError) Error() string {
	return fmt.Sprintf("the journal of run %s is damaged: %s", e.Run, e.Damage)
}
