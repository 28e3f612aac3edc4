package control

import (
	"slices"
	"strconv"
	"strings"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/telemetry/verify"
)

// dscpMap begins the names of the entries of a switch's map of DSCPs.
const dscpMap = "dscp-to-tc/"

// withdrawals are the lossless priorities that steps take from devices on purpose: all DSCPs of the class leave it, and no other
// joins. Where a DSCP takes the place of another, the class stays.
func withdrawals(steps []plan.Step, f *fabric.Fabric) map[string]qos.PrioritySet {
	out := map[string]qos.PrioritySet{}
	for _, s := range steps {
		for _, class := range f.Classes {
			if class.Lossless && withdraws(s, class) {
				out[s.Device] |= qos.Priorities(class.Priority)
			}
		}
	}
	return out
}

func withdraws(s plan.Step, class fabric.Class) bool {
	left, all := map[string]int{}, false // by port
	for _, c := range s.Changes {
		dscp, value, ok := classified(c.Addr, class)
		switch {
		case !ok || c.Before == c.After:
		case c.After == value:
			return false
		case c.Before == value && slices.Contains(class.DSCP, dscp):
			left[c.Addr.Port]++
			all = all || left[c.Addr.Port] == len(class.DSCP)
		}
	}
	return all
}

// classified is the DSCP that an address says the class of, and the word for the class there: a NIC's map leads to priorities,
// that of a switch to traffic classes.
func classified(a addr.Addr, class fabric.Class) (dscp qos.DSCP, value string, ok bool) {
	name, mapped := strings.CutPrefix(a.Name, dscpMap)
	switch {
	case a.Leaf != "":
		return 0, "", false
	case a.Kind == addr.DSCP:
		value = strconv.Itoa(int(class.Priority))
	case a.Kind == addr.Map && mapped:
		value = strconv.Itoa(int(class.TC))
	}
	n, err := strconv.ParseUint(name, 10, 6)
	return qos.DSCP(n), value, value != "" && err == nil
}

// withdrawn notes on ports what a run has taken from the devices at either end so far. Where no host is left that sends in a class,
// no port has it any more.
func (r *Repo) withdrawn(ports []verify.Port, taken map[string]qos.PrioritySet) []verify.Port {
	everywhere := qos.PrioritySet(0)
	if len(r.Fabric.Hosts) > 0 {
		everywhere = ^everywhere
	}
	for _, h := range r.Fabric.Hosts {
		everywhere &= taken[h.Name]
	}
	facing := map[addr.Addr]string{}
	for _, l := range r.Fabric.Links {
		a, b := l.A.Address(), l.B.Address()
		facing[a], facing[b] = b.Device, a.Device
	}
	for i, p := range ports {
		ports[i].Withdrawn = everywhere | taken[p.Addr.Device] | taken[facing[p.Addr]]
	}
	return ports
}
