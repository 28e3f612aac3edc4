package health

import (
	"fmt"
	"time"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/telemetry"
)

// drops judges the counters whose normal value is zero.
func (j *judge) drops(a addr.Addr, p Port, c Class) {
	for _, x := range []struct {
		metric *telemetry.Metric
		number string
		why    string
	}{
		{telemetry.GroupDropped, digit(c.Group), "arrived when the headroom was full: it is too small, or the neighbour does not stop in time"},
		{telemetry.QueueDropped, digit(c.Queue), "dropped by the egress queue: it is not lossless here, or its threshold is too small"},
		{telemetry.PriorityDropped, digit(c.Priority), "dropped by the NIC for want of a buffer"},
	} {
		r, ok := j.growth(x.metric, a, x.number)
		if !ok || r.growth == 0 {
			continue
		}
		// What the watchdog throws away is the watchdog's verdict.
		if x.metric == telemetry.QueueDropped && j.stormed(a, c) {
			continue
		}
		j.add(about(LosslessDrops, a, c.Priority, diag.Error,
			fmt.Sprintf("%.0f packets of a lossless class in %s %s", r.growth, r.over.Round(time.Second), x.why)), r)
	}
}
