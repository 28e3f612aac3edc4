package sonic_test

import (
	"context"
	"strings"
	"testing"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/weirfabric/weir/drivers/sim"
)

func TestFaultsOfASet(t *testing.T) {
	request := update(config+"SCHEDULER/scheduler.0/weight", "40")
	weight := func(b *bench) string { return b.must("", config+"SCHEDULER/scheduler.0/weight") }
	for _, c := range []struct {
		fault   sim.FaultKind
		code    codes.Code
		applied bool
	}{
		{sim.Reject, codes.Unknown, false},
		{sim.DropBefore, codes.Unavailable, false},
		{sim.Drop, codes.Unavailable, true},
	} {
		t.Run(string(c.fault), func(t *testing.T) {
			b := newBench(t, leaf(nil))
			b.inject(sim.Set, c.fault)
			_, err := b.set(request)
			wantCode(t, err, c.code, "")
			if got := weight(b); (got == `"40"`) != c.applied {
				t.Errorf("the weight is %s", got)
			}
			if _, err := b.set(request); err != nil {
				t.Errorf("the Set after it: %v", err)
			}
		})
	}
}

func TestASetThatHangsTakesEffectLater(t *testing.T) {
	b := newBench(t, leaf(nil))
	b.must("", config+"PORT") // connects
	b.inject(sim.Set, sim.Hang)
	ctx, cancel := context.WithTimeout(b.ctx, time.Second)
	defer cancel()
	_, err := b.gnmi.Set(ctx, update(config+"SCHEDULER/scheduler.0/weight", "40"))
	wantCode(t, err, codes.DeadlineExceeded, "")
	b.eventually("the change has come", func() bool { return b.must("", config+"SCHEDULER/scheduler.0/weight") == `"40"` })
}

func TestAPartialSetLeavesAPartBehind(t *testing.T) {
	b := newBench(t, leaf(nil))
	b.inject(sim.Set, sim.Partial)
	req := update(config+"SCHEDULER/scheduler.0/weight", "40")
	req.Update = append(req.Update, update(config+"SCHEDULER/scheduler.1/weight", "60").GetUpdate()...)
	_, err := b.set(req)
	wantCode(t, err, codes.Unknown, "Failed to apply patch")
	first, second := b.must("", config+"SCHEDULER/scheduler.0/weight"), b.must("", config+"SCHEDULER/scheduler.1/weight")
	if first != `"40"` || second != `"15"` {
		t.Errorf("got %s and %s, want 40 and 15", first, second)
	}
}

func TestARebootLosesWhatWasNotSaved(t *testing.T) {
	b := newBench(t, leaf(nil))
	b.inject(sim.Set, sim.Reboot)
	_, err := b.set(update(config+"SCHEDULER/scheduler.0/weight", "40"))
	wantCode(t, err, codes.Unavailable, "")
	b.eventually("the switch is back", func() bool {
		got, err := b.get("", config+"SCHEDULER/scheduler.0/weight")
		return err == nil && got == `"14"`
	})
}

func TestFaultsOfAGet(t *testing.T) {
	b := newBench(t, leaf(nil))
	b.inject(sim.Get, sim.Reject)
	_, err := b.get("", config+"PORT")
	wantCode(t, err, codes.Unavailable, "")
	b.inject(sim.Get, sim.Drop)
	_, err = b.get("", config+"PORT")
	wantCode(t, err, codes.Unavailable, "")
	b.inject(sim.Get, sim.Hang)
	ctx, cancel := context.WithTimeout(b.ctx, 30*time.Millisecond)
	defer cancel()
	_, err = b.gnmi.Get(ctx, &gpb.GetRequest{Path: []*gpb.Path{path(config + "PORT")}, Encoding: gpb.Encoding_JSON_IETF})
	if status.Code(err) != codes.DeadlineExceeded {
		t.Errorf("got %v", err)
	}
	if _, err := b.get("", config+"PORT"); err != nil {
		t.Errorf("the Get after it: %v", err)
	}
}

func TestASwitchThatIsCutOffGoesOnWithItsUpdate(t *testing.T) {
	b := newBenchAt(t, leaf(nil), 20)
	b.must("", config+"PORT") // connects
	ctx, cancel := context.WithTimeout(b.ctx, 150*time.Millisecond)
	defer cancel()
	_, err := b.gnmi.Set(ctx, update(config+"PORT_QOS_MAP/Ethernet0/pfc_enable", "3"))
	wantCode(t, err, codes.DeadlineExceeded, "")
	if err := b.Kill("leaf1"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.get("", config+"PORT"); err == nil {
		t.Error("a switch that is cut off answers")
	}
	b.eventually("the update is done", func() bool { return strings.Contains(string(mustConfig(t, b)), `"pfc_enable": "3",`) })
	if err := b.Revive("leaf1"); err != nil {
		t.Fatal(err)
	}
	b.eventually("the switch answers again", func() bool {
		got, err := b.get("", config+"PORT_QOS_MAP/Ethernet0/pfc_enable")
		return err == nil && got == `"3"`
	})
}
