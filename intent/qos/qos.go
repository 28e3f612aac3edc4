// Package qos holds the words of lossless Ethernet as types: priorities, classes, queues, thresholds,
// and the units they are counted in.
package qos

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

// Priority is an IEEE 802.1p priority on the wire, 0 to 7; PFC pauses each by itself.
type Priority uint8

// TrafficClass is a class inside a switch, 0 to 7: what a classifier assigns and what maps to a queue and a priority group.
type TrafficClass uint8

// Queue is an egress queue, 0 to 7.
type Queue uint8

// PriorityGroup is an ingress buffer group, 0 to 7.
type PriorityGroup uint8

// DSCP is the differentiated services code point of an IP packet, 0 to 63.
type DSCP uint8

// TrafficClassByte is the byte of the IP header that carries a DSCP and an ECN codepoint (RFC 3168): DSCP x 4 + ECN.
func (d DSCP) TrafficClassByte(ecn ECN) uint8 { return uint8(d)<<2 | uint8(ecn) }

// ECN is the two-bit field of RFC 3168.
type ECN uint8

// The codepoints of RFC 3168.
const (
	NotECT ECN = 0
	ECT1   ECN = 1
	ECT0   ECN = 2
	CE     ECN = 3
)

// PrioritySet is a set of priorities, bit n standing for priority n.
type PrioritySet uint8

// Priorities makes a set.
func Priorities(ps ...Priority) PrioritySet {
	var s PrioritySet
	for _, p := range ps {
		s |= 1 << p
	}
	return s
}

// Has says whether p is in the set.
func (s PrioritySet) Has(p Priority) bool { return s>>p&1 == 1 }

// Len is the number of priorities in the set.
func (s PrioritySet) Len() int { return bits.OnesCount8(uint8(s)) }

// All yields the priorities in rising order.
func (s PrioritySet) All() []Priority {
	var ps []Priority
	for p := Priority(0); p < 8; p++ {
		if s.Has(p) {
			ps = append(ps, p)
		}
	}
	return ps
}

// String joins the priorities with commas: "3,4"; the empty set is "".
func (s PrioritySet) String() string {
	var words []string
	for _, p := range s.All() {
		words = append(words, strconv.Itoa(int(p)))
	}
	return strings.Join(words, ",")
}

// Trust is the header field that a port classifies by.
type Trust string

// A port trusts the DSCP of the IP header or the PCP of the VLAN tag.
const (
	TrustDSCP Trust = "dscp"
	TrustPCP  Trust = "pcp"
)

// WRED is the marking (or dropping) curve of a queue: nothing below Min, rising to Probability at Max, everything above.
type WRED struct {
	Min, Max    Bytes
	Probability Percent
	ECN         bool // mark ECT packets instead of dropping them
}

// Scheduler says how a queue shares its port.
type Scheduler struct {
	Strict bool
	Weight Percent // DWRR share of what strict queues leave; 0 with Strict
}

// WatchdogAction is what a switch does to a queue in PFC deadlock or storm.
type WatchdogAction string

// Drop discards what the queue holds, Forward ignores PAUSE and sends, Alert only tells.
const (
	Drop    WatchdogAction = "drop"
	Forward WatchdogAction = "forward"
	Alert   WatchdogAction = "alert"
)

// Watchdog is the detection of and recovery from PFC deadlock and storm.
type Watchdog struct {
	Detection   time.Duration // PAUSE for this long without progress is a storm
	Restoration time.Duration // quiet for this long ends it
	Poll        time.Duration // how often the switch looks
	Action      WatchdogAction
}

// AlphaShift is the exponent n of a dynamic threshold alpha = 2^n of the free shared buffer.
type AlphaShift int8

// Alpha is the fraction itself.
func (n AlphaShift) Alpha() float64 {
	if n < 0 {
		return 1 / float64(int(1)<<-n)
	}
	return float64(int(1) << n)
}

// String writes alpha as people say it: 1/8, 1, 8.
func (n AlphaShift) String() string {
	if n < 0 {
		return fmt.Sprintf("1/%d", 1<<-n)
	}
	return strconv.Itoa(1 << n)
}
