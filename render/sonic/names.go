package sonic

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/qos"
)

// Shared rows are named after the class, not after their content: a new threshold or weight then changes one row in place,
// and not every QUEUE row that refers to it, which would flap ports on the updater's route.

// maxName is how long the name of a WRED profile may be; it begins with a letter or digit and goes on with those, - and _
// (sonic-wred-profile.yang). weir names schedulers by the same rule.
const maxName = 32

// scheduler is the content of a SCHEDULER row.
type scheduler struct {
	class      string
	strict     bool
	weight     int   // DWRR; 1 to 100
	guaranteed int64 // bytes a second; 0: none
}

// curve is the content of a WRED_PROFILE row. Curves of one class differ by the port's speed.
type curve struct {
	class string
	speed qos.Rate
	wred  qos.WRED
}

// names are unique for each content. The content that is used most has the plain name and others a number, so that an
// override of one port does not rename what the rest of the switch uses.
type names[K comparable] struct {
	uses  map[K]int
	bases map[K]string
	order []K // of first use
	of    map[K]string
}

func newNames[K comparable]() *names[K] {
	return &names[K]{map[K]int{}, map[K]string{}, nil, map[K]string{}}
}

// use counts a content, which would like to be called base.
func (n *names[K]) use(k K, base func() string) {
	if n.uses[k]++; n.uses[k] == 1 {
		n.bases[k] = base()
		n.order = append(n.order, k)
	}
}

// assign names everything that was used.
func (n *names[K]) assign() {
	slices.SortStableFunc(n.order, func(a, b K) int { return n.uses[b] - n.uses[a] })
	taken := map[string]bool{}
	for _, k := range n.order {
		name := n.bases[k]
		for i := 2; taken[name]; i++ {
			name = n.bases[k] + "_" + strconv.Itoa(i)
		}
		taken[name], n.of[k] = true, name
	}
}

// plain is a name by the rule above, with room left for a number.
func plain(name string) string {
	out := []byte(name)
	for i, c := range out {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && c != '-' {
			out[i] = '_'
		}
	}
	return string(out[:min(len(out), maxName-4)])
}

func curveOf(p *fabric.Port, q *fabric.Queue) curve { return curve{q.Class, p.Speed, *q.WRED} }

// base is the name that a curve would like: that of the class and the port's speed.
func (c curve) base() string { return plain("weir_" + c.class + "_" + c.speed.String()) }

func schedulerOf(p *fabric.Port, q *fabric.Queue) scheduler {
	s := scheduler{class: q.Class, strict: q.Scheduler.Strict, guaranteed: int64(float64(p.Speed) / 8 * float64(q.Guaranteed) / 100)}
	if !s.strict {
		s.weight = weight(q.Scheduler.Weight)
	}
	return s
}

// weight is what a share is written as: weights are whole numbers from 1 on.
func weight(share qos.Percent) int { return max(1, int(math.Round(float64(share)))) }

// base is the name that a scheduler would like: that of the class, with the port's speed where the row depends on it.
func (s scheduler) base(speed qos.Rate) string {
	switch {
	case s.class == "":
		return "weir_unused"
	case s.guaranteed > 0:
		return plain("weir_" + s.class + "_" + speed.String())
	}
	return plain("weir_" + s.class)
}

// derivedProfile is the name of the profile that buffermgrd makes for lossless groups of a port in the traditional model.
// An existing profile of that name is used as it is (sonic-swss cfgmgr/buffermgr.cpp doSpeedUpdateTask).
func derivedProfile(p *fabric.Port) string {
	return derivedPrefix + strconv.FormatInt(p.Speed.Mbps(), 10) + "_" + strconv.FormatInt(int64(p.Cable), 10) + "m_profile"
}

// ranges are the runs of neighbours in a set of groups, as buffermgrd writes them: 3 and 4 is 3-4, 3 and 5 is 3 and 5
// (sonic-swss orchagent/orch.cpp generateIdListFromMap).
func ranges(set qos.PrioritySet) []string {
	var out []string
	for low := qos.Priority(0); low < 8; low++ {
		if !set.Has(low) {
			continue
		}
		high := low
		for high < 7 && set.Has(high+1) {
			high++
		}
		run := digits[low]
		if high > low {
			run += "-" + digits[high]
		}
		out = append(out, run)
		low = high
	}
	return out
}

var digits = [8]string{"0", "1", "2", "3", "4", "5", "6", "7"}

// setOf reads what ranges wrote: 3 or 3-4. Anything else is the empty set.
func setOf(index string) qos.PrioritySet {
	low, high, isRange := strings.Cut(index, "-")
	from, err := strconv.ParseUint(low, 10, 8)
	to := from
	if isRange && err == nil {
		to, err = strconv.ParseUint(high, 10, 8)
	}
	var set qos.PrioritySet
	if err != nil {
		return set
	}
	for n := from; n <= min(to, 7); n++ {
		set |= qos.Priorities(qos.Priority(n))
	}
	return set
}
