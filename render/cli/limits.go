package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/qos"
)

// differences says that ports want different things of their lossless groups, which cannot be said.
func (v *viewer) differences(groups []*groupNeed) {
	const why = "No source shows how one port gets a buffer profile of its own. "
	for id, n := range groups {
		if n == nil || !n.lossless {
			continue
		}
		at := v.sw.Address().Of(addr.PG, strconv.Itoa(id))
		if n.least != n.most {
			v.report(diag.Note, at.With("headroom"), v.headroomAt(), fmt.Sprintf("ports need %s to %s of headroom, and the limit of all is %s", n.least, n.most, n.most),
				why+"Nothing is lost by it and nothing has to be done: a port fills no more than what is in flight to it, and the pool is the sum of what the ports need.")
		}
		if n.alpha != n.highest {
			v.report(diag.Warning, at.With("alpha"), v.headroomAt(), fmt.Sprintf("ports want lossless thresholds of %s to %s, and all get %s", n.alpha, n.highest, n.alpha),
				why+"The lowest pauses senders soonest: nothing is lost by it, but bursts are slowed down. Write the same buffers.alpha for all ports of a switch.")
		}
	}
}

// headroomAt is where the headroom of the first port with PFC comes from.
func (v *viewer) headroomAt() []diag.Pos {
	for _, p := range v.sw.Ports {
		if p.PFC != 0 {
			return originOf(p).Headroom
		}
	}
	return nil
}

// thresholds says in one finding which thresholds are out of the language's range. A queue may take its threshold times the
// free buffer, and PAUSE comes when a port's share of the queue is the ingress threshold times the free buffer: before that,
// if the ports that fill the queue are no more than the one divided by the other.
func (v *viewer) thresholds(groups []*groupNeed, queues []*fabric.Queue) {
	if len(v.pack.Alphas) == 0 {
		return
	}
	var changed []string
	severity, detail := diag.Note, "They are the nearest that the switch can be told."
	ingress := qos.AlphaShift(slices.Min(v.pack.Alphas))
	for id, n := range groups {
		if n != nil && n.lossless {
			ingress = max(ingress, v.alpha(n.alpha))
		}
		if n != nil && v.alpha(n.alpha) != n.alpha {
			changed = append(changed, fmt.Sprintf("priority group %d gets %s instead of %s", id, v.alpha(n.alpha), n.alpha))
		}
	}
	for id, q := range queues {
		if q == nil || v.alpha(q.Alpha) == q.Alpha {
			continue
		}
		changed = append(changed, fmt.Sprintf("queue %d gets %s instead of %s", id, v.alpha(q.Alpha), q.Alpha))
		if !q.Lossless || v.alpha(q.Alpha) > q.Alpha {
			continue
		}
		var warn bool
		if detail, warn = enough(v.alpha(q.Alpha), ingress, len(v.sw.Ports)-1); warn {
			severity = diag.Warning
		}
	}
	if len(changed) > 0 {
		v.report(severity, v.sw.Address(), v.headroomAt(), "buffer thresholds that cannot be said become others: "+strings.Join(changed, ", "), detail)
	}
}

// enough says whether PAUSE comes before a lossless queue is full: when no more ports fill it than its own threshold divided by
// that of ingress. It warns where there are more.
func enough(queue, ingress qos.AlphaShift, ports int) (detail string, warn bool) {
	fill := func(a qos.AlphaShift) int { return 1 << max(0, queue-a) }
	detail = fmt.Sprintf("%s is the most that the switch can be told. While no more than %d ports fill such a queue at once, PAUSE holds them before it is full, and nothing is lost.",
		queue, fill(ingress))
	if fill(ingress) >= ports {
		return detail, false
	}
	all := ingress
	for fill(all) < ports {
		all--
	}
	return fmt.Sprintf("%s It is not verified whether the chip drops lossless packets beyond that: look at the drops of the queue. With buffers.alpha at %s, now %s, it holds for all ports.",
		detail, all, ingress), true
}
