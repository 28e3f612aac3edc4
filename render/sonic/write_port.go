package sonic

import (
	"strconv"
	"time"

	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/qos"
)

// port writes what belongs to one port. PORT mtu is the IP MTU: portmgrd gives it to the kernel's interface, and orchagent adds
// 22 bytes of Ethernet for the ASIC (sonic-swss portmgr.cpp and portsorch.cpp, setPortMtu).
func (w *writer) port(p *fabric.Port) {
	w.classification(p)
	w.add(tablePort, p.Name, fieldMTU, number(p.MTU), "")
	w.add(tableCable, azure, p.Name, number(p.Cable)+"m", "")
	w.queues(p)
	w.watchdog(p)
	w.groups(p)
	if p.FlowControl { // nothing in sonic-swss sets it, so that off needs no words
		w.cannot(p, "flow control (IEEE 802.3x) cannot be switched on: SONiC has no setting for it", origin(p).FlowControl)
	}
}

// classification is the port's row of PORT_QOS_MAP. It always has pfc_enable and pfcwd_sw_enable: without them SONiC
// switches PFC off and the watchdog does not start (sonic-swss qosorch.cpp handlePortQosMapTable, pfcwdorch.cpp).
func (w *writer) classification(p *fabric.Port) {
	pfc := p.PFC.String()
	watched := pfc
	if p.Watchdog == nil {
		watched = ""
	}
	if p.Trust == qos.TrustPCP {
		w.add(tablePortMap, p.Name, "dot1p_to_tc_map", azure, "")
	} else {
		w.add(tablePortMap, p.Name, "dscp_to_tc_map", azure, "")
	}
	w.add(tablePortMap, p.Name, fieldPFC, pfc, "")
	if w.pfcToGroup {
		w.add(tablePortMap, p.Name, "pfc_to_pg_map", azure, "")
	}
	w.add(tablePortMap, p.Name, "pfc_to_queue_map", azure, "")
	w.add(tablePortMap, p.Name, fieldWatched, watched, "")
	w.add(tablePortMap, p.Name, "tc_to_pg_map", azure, "")
	w.add(tablePortMap, p.Name, "tc_to_queue_map", azure, "")
}

// queues are the port's rows of QUEUE. A queue that no class uses gets the smallest weight.
func (w *writer) queues(p *fabric.Port) {
	for i := range p.Queues {
		q := &p.Queues[i]
		key := p.Name + "|" + digits[q.ID&7]
		w.add(tableQueue, key, "scheduler", w.schedulers.of[schedulerOf(p, q)], "")
		w.share(p, q)
		if q.WRED != nil {
			w.add(tableQueue, key, "wred_profile", w.curves.of[curveOf(p, q)], "")
		}
	}
}

// name gives names to all schedulers and curves of the switch.
func (w *writer) name() {
	for _, p := range w.sw.Ports {
		for i := range p.Queues {
			q := &p.Queues[i]
			s := schedulerOf(p, q)
			w.schedulers.use(s, func() string { return s.base(p.Speed) })
			if q.WRED != nil {
				c := curveOf(p, q)
				w.curves.use(c, c.base)
			}
		}
	}
	w.schedulers.assign()
	w.curves.assign()
}

// share notes a share that is no whole number: weights of SONiC are 1 to 100 (sonic-scheduler.yang).
func (w *writer) share(p *fabric.Port, q *fabric.Queue) {
	share := q.Scheduler.Weight
	if q.Class == "" || q.Scheduler.Strict || share == qos.Percent(int(share)) && share >= 1 {
		return
	}
	w.note(diag.Note, p, "a share of "+shortPercent(share)+" of class "+q.Class+" becomes the weight "+strconv.Itoa(schedulerOf(p, q).weight)+
		": weights are whole numbers from 1 to 100", origin(p).Class[q.Class])
}

func shortPercent(p qos.Percent) string { return strconv.FormatFloat(float64(p), 'f', 2, 64) + "%" }

// The ranges of the watchdog (sonic-pfcwd.yang).
const (
	minWatchdog    = 100 * time.Millisecond
	maxDetection   = 5 * time.Second
	maxRestoration = time.Minute
	maxPoll        = time.Second
)

func (w *writer) watchdog(p *fabric.Port) {
	d := p.Watchdog
	if d == nil || p.PFC == 0 {
		return
	}
	w.duration(p, "detection time", d.Detection, minWatchdog, maxDetection)
	if d.Restoration > 0 {
		w.duration(p, "restoration time", d.Restoration, minWatchdog, maxRestoration)
	}
	w.duration(p, "poll interval", d.Poll, minWatchdog, maxPoll)
	if poll := pollOf(w.sw); poll != d.Poll {
		w.cannot(p, "the watchdog cannot look every "+d.Poll.String()+" at this port: SONiC has one interval for the switch, which is "+
			poll.String(), origin(p).Watchdog)
	}
	w.add(tableWatchdog, p.Name, "action", string(d.Action), "")
	w.add(tableWatchdog, p.Name, "detection_time", milliseconds(d.Detection), "")
	if d.Restoration > 0 { // without it the queue is never given back (sonic-swss pfcwdorch.cpp)
		w.add(tableWatchdog, p.Name, "restoration_time", milliseconds(d.Restoration), "")
	}
}

// duration notes a time of the watchdog that is out of range or no whole number of milliseconds.
func (w *writer) duration(p *fabric.Port, what string, d, low, high time.Duration) {
	if d < low || d > high || d%time.Millisecond != 0 {
		w.cannot(p, "the watchdog's "+what+" of "+d.String()+" cannot be said: SONiC takes whole milliseconds from "+low.String()+" to "+
			high.String(), origin(p).Watchdog)
	}
}

// pollOf is the watchdog's interval of the switch: its own, or that of the first port that has one; 0 without any.
func pollOf(sw *fabric.Switch) time.Duration {
	if sw.Watchdog != nil {
		return sw.Watchdog.Poll
	}
	for _, p := range sw.Ports {
		if p.Watchdog != nil && p.PFC != 0 {
			return p.Watchdog.Poll
		}
	}
	return 0
}

// groups are the port's lossless rows of BUFFER_PG. Headroom that the device works out is NULL; headroom in bytes is the
// profile that shared writes.
func (w *writer) groups(p *fabric.Port) {
	for _, run := range ranges(losslessGroups(p)) {
		profile := null
		if g := statedHeadroom(p); g != nil {
			profile = derivedProfile(p)
		}
		w.add(tableGroup, p.Name+"|"+run, fieldProfile, profile, "")
	}
	if lossless := losslessGroups(p); lossless != p.PFC {
		w.cannot(p, "PFC for the priorities "+p.PFC.String()+" with the lossless priority groups "+lossless.String()+
			" cannot be said: SONiC gives headroom to the groups with the numbers of the priorities", origin(p).PFC)
	}
	for i := range p.Groups {
		if g := &p.Groups[i]; g.Lossless && g.Static > 0 {
			w.cannot(p, "a static XOFF threshold of "+g.Static.String()+" cannot be said: weir writes SONiC's lossless profiles with alpha only", origin(p).Alpha)
			return
		}
	}
	for i := range p.Groups {
		if g := &p.Groups[i]; g.Lossless && g.Alpha != w.sw.LosslessAlpha && g.ByDevice {
			w.cannot(p, "alpha "+g.Alpha.String()+" for this port alone cannot be said: where SONiC works headroom out, alpha is one for the switch, which is "+
				w.sw.LosslessAlpha.String(), origin(p).Alpha)
			return
		}
	}
}

// losslessGroups are the numbers of the lossless groups.
func losslessGroups(p *fabric.Port) qos.PrioritySet {
	var set qos.PrioritySet
	for i := range p.Groups {
		if p.Groups[i].Lossless {
			set |= qos.Priorities(qos.Priority(p.Groups[i].ID))
		}
	}
	return set
}

// statedHeadroom is a lossless group whose headroom the operator wrote in bytes; nil where the device works it out.
func statedHeadroom(p *fabric.Port) *fabric.Group {
	for i := range p.Groups {
		if g := &p.Groups[i]; g.Lossless && !g.ByDevice && g.Headroom > 0 {
			return g
		}
	}
	return nil
}
