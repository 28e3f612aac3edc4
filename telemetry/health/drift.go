package health

import (
	"fmt"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/telemetry"
)

// drift tells of devices that are not as the intent says, by the changes that the last comparison counted.
func (j *judge) drift() {
	for _, d := range j.topology.Devices {
		s, ok := j.at(telemetry.DriftChanges, addr.Device(d.Name), "")
		if !ok || s.Last().Value == 0 {
			continue
		}
		j.add(Verdict{Check: Drift, Device: d.Name, Severity: diag.Warning,
			Summary: fmt.Sprintf("%.0f changes would bring the device back to the intent", s.Last().Value)}, j.reading(s))
	}
}
