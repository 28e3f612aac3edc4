// Package telemetry is what runs, as numbers: one catalog of metrics with the same labels for every vendor, and the
// samples that sources bring. Sources are its folders.
package telemetry

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weirfabric/weir/intent/addr"
)

// Metric is one row of the catalog.
type Metric struct {
	Name    string // weir_port_pfc_pause_frames_received_total
	Help    string
	Counter bool     // else a gauge
	Labels  []string // after device: port, priority, queue

	kind addr.Kind // of what its labels number: pfc, queue or pg; empty: nothing
}

// Status says how far a value can be trusted. The zero value is a true reading.
type Status int

// Only Measured carries a value that means what it says.
const (
	Measured    Status = iota
	Estimated          // worked out from other counters
	Unsupported        // the device has no such counter
	Disabled           // the device has it and it is switched off
	Suspect            // the device claims it and it stays zero while others say it cannot
	Missing            // the device was asked for it, took the question, and does not bring it, or not any more
)

var statuses = [...]string{"measured", "estimated", "unsupported", "disabled", "suspect", "missing"}

func (s Status) String() string { return statuses[s] }

// MarshalText writes the status as its word.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (s *Status) UnmarshalText(text []byte) error {
	i := slices.Index(statuses[:], string(text))
	if i < 0 {
		return fmt.Errorf("status %q: want one of %s", text, strings.Join(statuses[:], ", "))
	}
	*s = Status(i)
	return nil
}

// Counts says whether a reading of that status has a value.
func (s Status) Counts() bool { return s == Measured || s == Estimated }

// Sample is one reading of one metric of one thing.
type Sample struct {
	Metric *Metric
	Addr   addr.Addr // leaf1/Ethernet0/pfc/3
	Value  float64   // base units: bytes, seconds, packets
	Status Status
	At     time.Time     // when it was received
	Every  time.Duration // how often its source brings it; 0: not known
	Taken  time.Time     // when the device took it, by its own clock; zero: not said
}

// Reading names what samples are of: one metric of one thing.
type Reading struct {
	Metric *Metric
	Addr   addr.Addr
}

// Sink takes samples. Put may be called from many goroutines at once and does not keep the slice.
type Sink interface {
	Put([]Sample)
}
