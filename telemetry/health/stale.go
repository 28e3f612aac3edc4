package health

import (
	"fmt"
	"slices"
	"time"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/telemetry"
)

// targets judges whether the counters of the devices arrive, and those of each of their lossless ports: a device brings a
// different part of its ports each time, so a device that answers proves nothing of a port.
func (j *judge) targets() {
	for _, d := range j.topology.Devices {
		a := addr.Device(d.Name)
		up, fresh := j.at(telemetry.TargetUp, a, "")
		v := Verdict{Check: StaleTarget, Device: d.Name, State: Unknown, Severity: diag.Error}
		if fresh && up.Last().Value != 0 {
			j.missing(d)
			continue
		}
		j.silent[d.Name] = true
		if last, ok := j.find(telemetry.LastUpdate, d.Name, "", ""); ok && len(last.Points) > 0 {
			seen := earlier(time.Unix(0, int64(last.Last().Value*1e9)), j.Now)
			v.Summary = fmt.Sprintf("no counters arrive: the last came %s ago", j.Now.Sub(seen).Round(time.Second))
			v.Since, v.Seen = seen, seen
		} else {
			v.Summary, v.Since, v.Seen = "no counters of the device have arrived yet", j.Now, j.Now
		}
		if why := j.Reasons[d.Name]; why != "" {
			v.Summary += ": " + why
		}
		j.verdicts = append(j.verdicts, v)
	}
}

// missing tells of lossless ports of a device that answers, whose counters do not come. A counter that is known to be
// unsupported or switched off is not missing.
func (j *judge) missing(d Device) {
	var ports []string
	for _, a := range j.portsOf[d.Name] {
		for _, c := range j.topology.Ports[a].Classes {
			s, ok := j.find(telemetry.PFCTransmitted, a.Device, a.Port, digit(c.Priority))
			if (!ok || s.Status.Counts() && s.Stale(j.Now, j.policy.Forgiven)) && !slices.Contains(ports, a.Port) {
				ports = append(ports, a.Port)
			}
		}
	}
	if len(ports) == 0 {
		return
	}
	j.verdicts = append(j.verdicts, Verdict{Check: StaleTarget, Device: d.Name, State: Unknown, Severity: diag.Warning, Since: j.Now, Seen: j.Now,
		Summary: fmt.Sprintf("the PFC counters of %s do not arrive, though the device answers", some(ports))})
}

// earlier is the earlier of two times: what came while it was judged came now.
func earlier(a, b time.Time) time.Time {
	if a.After(b) {
		return b
	}
	return a
}
