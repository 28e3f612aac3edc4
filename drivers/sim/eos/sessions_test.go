package eos

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/drivers/sim"
)

func TestASessionCommitsWholeOrNotAtAll(t *testing.T) {
	b := newBench(small)
	d := New(b)
	before := config(d)
	m := login(t, d)
	m.types("configure session weir-1", "interface Ethernet1/1", "mtu 9214", "qos profile ROCE", "priority-flow-control on")
	const want = `--- system:/running-config
+++ session:/weir-1-session-config
+qos profile ROCE
+   priority-flow-control on
 interface Ethernet1/1
+   mtu 9214`
	m.says("show session-config diffs", want)
	if diff := cmp.Diff(config(d), before); diff != "" {
		t.Errorf("an open session has taken effect:\n%s", diff)
	}
	m.types("end")
	m.says("show session-config named weir-1 diffs", want)
	m.types("configure session weir-1 abort")
	m.says("show session-config named weir-1 diffs", "% Error: session weir-1 does not exist")
	m.types("configure session weir-1", "interface Ethernet1/1", "mtu 9214", "commit")
	if got := m.prompt(); got != "leaf1#" {
		t.Errorf("after commit: got the prompt %q", got)
	}
	if b.applied.Ports["Ethernet1/1"].MTU != 9214 {
		t.Error("the commit did not reach the hardware")
	}
}

func TestACommitOverwritesWhatChangedSinceItsSessionOpened(t *testing.T) {
	d := New(newBench(small))
	m, other := login(t, d), login(t, d)
	m.types("configure session weir-1", "interface Ethernet1/1", "mtu 9000")
	other.types("configure", "interface Ethernet2/1", "description mine", "end")
	m.says("show session-config diffs", `--- system:/running-config
+++ session:/weir-1-session-config
 interface Ethernet1/1
+   mtu 9000
 interface Ethernet2/1
-   description mine`)
	m.types("commit")
	if got := config(d); strings.Contains(got, "mine") || !strings.Contains(got, "mtu 9000") {
		t.Errorf("got:\n%s", got)
	}
}

func TestFiveSessionsMayBeOpen(t *testing.T) {
	m := login(t, New(newBench(small)))
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		m.types("configure session "+name, "end")
	}
	m.says("configure session f", "% Error: the maximum number of pending sessions is 5")
	m.types("configure session c", "abort", "configure session f", "end")
	open := m.json("show configuration sessions detail")["sessions"].(map[string]any)
	if len(open) != 5 || open["f"].(map[string]any)["state"] != "pending" {
		t.Errorf("got %v", open)
	}
}

func TestACommitTimerRevertsUnlessConfirmed(t *testing.T) {
	for name, c := range map[string]struct {
		then string // what is said 10 s into the timer
		kept bool
	}{
		"nothing is said":  {"show version | json | include nothing", false},
		"it is confirmed":  {"configure session weir-1 commit", true},
		"it is cancelled":  {"configure session weir-1 abort", false},
		"it is prolonged":  {"configure session weir-1 commit timer 00:02:00", false},
		"the device boots": {"reload", false},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := New(newBench(small))
			before := config(d)
			m := login(t, d)
			m.types("configure session weir-1", "interface Ethernet1/1", "mtu 9214", "commit timer 00:01:00")
			if !strings.Contains(config(d), "mtu 9214") {
				t.Errorf("%s: the commit has not taken effect", name)
			}
			sessions := m.json("show configuration sessions detail")
			if sessions["commitTimerSessionName"] != "weir-1" || sessions["commitTimerExpireTime"].(float64) != 60 {
				t.Errorf("%s: got %v", name, sessions)
			}
			time.Sleep(10 * time.Second)
			if c.then == "reload" {
				d.Restart()
			} else {
				m.types(c.then)
			}
			time.Sleep(49 * time.Second)
			if early := config(d) == before; early != (name == "it is cancelled" || name == "the device boots") {
				t.Errorf("%s: a second before the end of the timer it is reverted: %v", name, early)
			}
			time.Sleep(10 * time.Minute)
			if kept := config(d) != before; kept != c.kept {
				t.Errorf("%s: kept %v, want %v", name, kept, c.kept)
			}
			if _, pending := m.json("show configuration sessions detail")["commitTimerSessionName"]; pending {
				t.Errorf("%s: the timer is still listed", name)
			}
			d.(*Device).Wait()
		})
	}
}

func TestASessionThatSomebodyElseEndedTakesNoMoreLines(t *testing.T) {
	d := New(newBench(small))
	m, other := login(t, d), login(t, d)
	m.types("configure session weir-1", "interface Ethernet1/1", "mtu 9000")
	other.types("configure session weir-1 commit")
	m.says("mtu 9100", "% Error: session weir-1 is completed")
	m.says("commit", "% Cannot commit session weir-1: there is none open")
	if got := config(d); !strings.Contains(got, "mtu 9000") {
		t.Errorf("got:\n%s", got)
	}
}

func TestWhatIsSavedSurvivesARestart(t *testing.T) {
	d := New(newBench(small))
	m := login(t, d)
	m.types("configure", "interface Ethernet1/1", "mtu 9000", "end")
	m.says("copy startup-config flash:rollback-0", "Copy completed successfully.")
	d.Restart()
	if strings.Contains(config(d), "9000") {
		t.Error("what was not saved survived")
	}
	m.types("configure", "interface Ethernet1/1", "mtu 9000", "end")
	m.says("write memory", "Copy completed successfully.")
	d.Restart()
	if !strings.Contains(config(d), "9000") {
		t.Error("what was saved did not survive")
	}
	m.types("configure replace flash:rollback-0")
	if strings.Contains(config(d), "9000") {
		t.Error("the replaced configuration is still there")
	}
}

func TestACommitGoesWrongAsAsked(t *testing.T) {
	for fault, c := range map[sim.FaultKind]struct {
		says    string
		err     error
		now, in bool // has it taken effect at once, and after a while
	}{
		sim.Reject:     {says: "% Cannot commit session weir-1"},
		sim.Hang:       {err: sim.ErrHang, in: true},
		sim.Drop:       {err: sim.ErrDrop, now: true, in: true},
		sim.DropBefore: {err: sim.ErrDrop},
		sim.Reboot:     {err: sim.ErrDrop, now: true, in: true}, // until the lab restarts the device
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(small)
			d := New(b)
			m := login(t, d)
			m.types("configure session weir-1", "interface Ethernet1/1", "mtu 9214")
			b.faults[sim.Commit] = fault
			said, err := m.line("commit")
			if said != c.says || !errors.Is(err, c.err) {
				t.Errorf("%s: got %q and %v, want %q and %v", fault, said, err, c.says, c.err)
			}
			if now := strings.Contains(config(d), "9214"); now != c.now {
				t.Errorf("%s: in effect at once: %v", fault, now)
			}
			time.Sleep(time.Minute)
			if in := strings.Contains(config(d), "9214"); in != c.in {
				t.Errorf("%s: in effect in the end: %v", fault, in)
			}
		})
	}
}

func TestAPartialCommitDoesHalf(t *testing.T) {
	b := newBench(small)
	d := New(b)
	m := login(t, d)
	m.types("configure session weir-1", "qos map dscp 26 to traffic-class 4", "interface Ethernet1/1", "mtu 9214")
	b.faults[sim.Commit] = sim.Partial
	m.says("commit", "% Cannot commit session weir-1")
	got := config(d)
	if first, second := strings.Contains(got, "traffic-class 4"), strings.Contains(got, "9214"); first == second {
		t.Errorf("got the first half %v and the second %v", first, second)
	}
}
