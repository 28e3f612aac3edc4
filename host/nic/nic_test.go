package nic

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent/plan"
)

func delta(action plan.Action, before, after string, path ...string) plan.Delta {
	return plan.Delta{Leaf: plan.Leaf{Path: append([]string{"eth0"}, path...), Value: after}, Action: action, Before: before}
}

func TestANetdevIsLosslessBeforeItClassifies(t *testing.T) {
	deltas := []plan.Delta{
		delta(plan.Update, "3,4", "3", "dscp", "26"),
		delta(plan.Create, "", "6", "dscp", "48"),
		delta(plan.Delete, "1", "1", "dscp", "9"),
		delta(plan.Update, "0", "1,2", "dscp", "10"),
		delta(plan.Update, "40", "50", "ets", "bw", "0"),
		delta(plan.Update, "strict", "ets", "ets", "tsa", "3"),
		delta(plan.Update, "on", "off", "ets", "willing"),
		delta(plan.Update, "on", "off", "flowcontrol", "rx"),
		delta(plan.Update, "1500", "9000", "mtu"),
		delta(plan.Update, "off", "on", "pfc", "3"),
		delta(plan.Update, "ieee lld_managed", "host ieee", "dcbx"),
	}
	want := []string{
		"dcb dcbx set dev eth0 host ieee",
		"dcb pfc set dev eth0 prio-pfc 3:on",
		"dcb ets set dev eth0 willing off tc-tsa 3:ets tc-bw 0:50 1:0 2:0 3:50 4:0 5:0 6:0 7:0",
		"ethtool -A eth0 rx off",
		"ip link set dev eth0 mtu 9000",
		"dcb app replace dev eth0 dscp-prio 10:1 26:3 48:6",
		"dcb app add dev eth0 dscp-prio 10:2",
		"dcb app del dev eth0 dscp-prio 9:1",
	}
	have := plan.Document{{Path: []string{"eth0", "ets", "bw", "3"}, Value: "50"}, {Path: []string{"eth0", "ets", "bw", "0"}, Value: "40"}, {Path: []string{"eth1", "ets", "bw", "1"}, Value: "9"}}
	sharing := Sharing("eth0", have, deltas)
	if diff := cmp.Diff(want, bodies(Messages("eth0", deltas, sharing, false))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	back := bodies(Messages("eth0", deltas, sharing, true))
	if back[0] != want[5] || back[len(back)-1] != want[0] {
		t.Errorf("backwards the map goes first and DCBX last, got %q", back)
	}
}

func bodies(messages []plan.Message) []string {
	var out []string
	for _, m := range messages {
		out = append(out, m.Body)
	}
	return out
}
