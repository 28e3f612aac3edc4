package deadlock

import (
	"fmt"
	"strings"

	"github.com/weirfabric/weir/intent/depend"
	"github.com/weirfabric/weir/intent/qos"
)

// SecondLine says what the watchdogs of the ports that send over a cycle's links would do about a deadlock: they end it and
// do not prevent it.
func (d Dependencies) SecondLine(v depend.Verdict) string {
	if d.Subnet() {
		return "Second line: switches drop what waits at the head of a queue for longer than head_of_queue_lifetime (opensm.conf)."
	}
	var without []string
	slowest := qos.Watchdog{}
	for _, s := range v.Cycle {
		from, _ := d.End(s.Arc)
		if w := from.Port.Watchdog; w == nil || w.Action == qos.Alert {
			without = append(without, from.Address().String())
		} else if w.Detection >= slowest.Detection {
			slowest = *w
		}
	}
	if len(without) > 0 {
		return fmt.Sprintf("Second line: no watchdog ends the deadlock at %s; give these ports one that drops or forwards.", strings.Join(without, ", "))
	}
	return fmt.Sprintf("Second line: the watchdog finds the deadlock after %s and ends it (%s), again each time it forms.", slowest.Detection, slowest.Action)
}
