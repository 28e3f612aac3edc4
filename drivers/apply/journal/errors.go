package journal

import (
	"fmt"
	"time"
)

// LockedError says that another run holds the lock. Where its machine cannot be seen its heartbeat tells whether it lives.
type LockedError struct {
	Lock  Lock
	Stale bool // its machine is another one, and its heartbeat has stopped
}

func (e *LockedError) Error() string {
	by := fmt.Sprintf("locked by run %s (%s by %s, process %d, since %s)", e.Lock.Run, e.Lock.Verb, e.Lock.Who, e.Lock.PID, e.Lock.Since.Format(time.RFC3339))
	if e.Stale {
		return fmt.Sprintf("%s, which is of another machine and was last heard of at %s: see there that it does not run any more, then take the lock from it",
			by, e.Lock.Beat.Format(time.RFC3339))
	}
	return by + ": wait for it"
}

// LostError says that the lock of a run was taken from it: it may not send anything any more.
type LostError struct{ Run string }

func (e *LostError) Error() string {
	return fmt.Sprintf("run %s does not hold its lock any more: somebody has released it", e.Run)
}

// SilentError says that the heartbeat of a run's lock could not be written for so long that others may take the run for gone: it
// may not send anything.
type SilentError struct {
	Run  string
	Beat time.Time // the last one
	Err  error     // why no other was written
}

func (e *SilentError) Error() string {
	return fmt.Sprintf("run %s could not say that it lives since %s, and others may take it for gone: %v", e.Run, e.Beat.Format(time.RFC3339), e.Err)
}
func (e *SilentError) Unwrap() error { return e.Err }

// UnfinishedError says that an earlier run was cut off.
type UnfinishedError struct{ Run string }

func (e *UnfinishedError) Error() string {
	return fmt.Sprintf("run %s was cut off before its end: recover it first", e.Run)
}

// ConsumedError says that a plan was applied before.
type ConsumedError struct{ Run string }

func (e *ConsumedError) Error() string {
	return fmt.Sprintf("this plan was applied by run %s: a plan is applied once. Where the devices have lost it since, apply without a plan file", e.Run)
}

// DamagedError says that a journal holds what no run writes. Somebody must look at it and at the devices.
type DamagedError struct {
	Run, Damage string
	Tail        bool // everything before the damage is sound, and nothing sound comes after it
}

func (e *DamagedError) Error() string {
	remedy := "give the run up when you have looked at its devices"
	if e.Tail {
		remedy = "repair it: what is damaged is cut off, and recovery then looks at every device that it was about"
	}
	return fmt.Sprintf("the journal of run %s is damaged: %s; %s", e.Run, e.Damage, remedy)
}

// UnreachableError says that a Backend cannot be reached, or does not do what it was asked in time. Whether what was asked took
// effect is not known.
type UnreachableError struct {
	Place string
	Err   error
}

func (e *UnreachableError) Error() string {
	return fmt.Sprintf("the state in %s cannot be reached, and without it nothing is sent to any device: %v", e.Place, e.Err)
}

func (e *UnreachableError) Unwrap() error { return e.Err }

// FullError says that a Backend has not the room for what a run writes down.
type FullError struct {
	Place, Why string
}

func (e *FullError) Error() string {
	return fmt.Sprintf("the state in %s has no room for a run: %s", e.Place, e.Why)
}
