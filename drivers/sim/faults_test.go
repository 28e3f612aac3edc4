package sim_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/drivers/drivertest"
	"github.com/weirfabric/weir/drivers/sim"
	"github.com/weirfabric/weir/intent/plan"
)

// patience is how long, in virtual time, a test waits for one change.
const patience = 2 * time.Minute

// one is a pod's device of each platform.
func one(platform string) sim.Spec {
	for _, s := range pod() {
		if s.Platform == platform {
			s.Ports = s.Ports[:1]
			s.Ports[0].PeerDevice, s.Ports[0].PeerPort = "", ""
			return s
		}
	}
	panic("no device of platform " + platform)
}

// holds says whether the configuration that a device really has holds a word.
func (v *virtual) holds(word string) bool {
	v.t.Helper()
	body, err := v.Config(v.specs[0].Name)
	if err != nil {
		v.t.Error(err)
	}
	return strings.Contains(string(body), word)
}

// shows says whether the configuration that a device shows holds a word.
func (v *virtual) shows(c change, word string) bool {
	v.t.Helper()
	target := v.dial(v.specs[0])
	defer target.Close()
	body, err := c.read(v.t.Context(), target)
	if err != nil {
		v.t.Error(err)
	}
	return strings.Contains(body, word)
}

func TestAChangeMeetsAFaultOnEveryPlatform(t *testing.T) {
	commits := map[string]sim.Operation{"eos": sim.Commit}
	type outcome struct {
		Error        string // what the driver says that is known: none, rejected, partial or unknown
		Holds, Shows bool   // at once
		Later        bool   // holds it after an hour
	}
	for kind, want := range map[sim.FaultKind]outcome{
		sim.NoFault:     {"none", true, true, true},
		sim.Reject:      {"rejected", false, false, false},
		sim.Slow:        {"none", true, true, true},
		sim.Ignore:      {"none", false, false, false},
		sim.Lie:         {"none", true, false, true},
		sim.Drop:        {"unknown", true, true, true},
		sim.DropBefore:  {"unknown", false, false, false},
		sim.Hang:        {"unknown", true, true, true},
		sim.Reboot:      {"unknown", false, false, false},
		sim.Latency:     {"none", true, true, true},
		sim.BlackHole:   {"none", true, true, true}, // it does what it was told, and its answer comes late
		sim.ForeignEdit: {"none", true, true, true},
	} {
		for _, platform := range []string{"sonic", "eos", "linux"} {
			t.Run(strings.TrimPrefix(string(kind)+" on "+platform, " "), func(t *testing.T) {
				drivertest.Bubble(t, func(t *testing.T) {
					spec := one(platform)
					v := startVirtual(t, []sim.Spec{spec})
					defer v.close()
					on := sim.Set
					if other, ok := commits[platform]; ok {
						on = other
					}
					edits := map[string]string{
						"sonic": `sonic-db-cli CONFIG_DB HSET 'DEVICE_METADATA|localhost' hostname foreign`,
						"eos":   "hostname foreign",
						"linux": "echo foreign > /etc/modprobe.d/other.conf",
					}
					c := changeOf(spec, "changed")
					if v.shows(c, "changed") {
						t.Fatal("it was there before")
					}
					if kind != sim.NoFault {
						if err := v.Inject(sim.Fault{Kind: kind, Device: spec.Name, On: on, For: time.Minute, Text: edits[platform]}); err != nil {
							t.Fatal(err)
						}
					}
					began := time.Now()
					ctx, cancel := context.WithTimeout(t.Context(), patience)
					defer cancel()
					target := v.dial(spec)
					err := target.Set(ctx, c.chunk, c.pending(spec))
					took := time.Since(began)
					target.Close() // one that was cut has nothing to close
					if kind == sim.Reboot {
						time.Sleep(patience)
					}
					got := outcome{Error: nature(err), Holds: v.holds("changed"), Shows: v.shows(c, "changed")}
					time.Sleep(time.Hour)
					got.Later = v.holds("changed")
					want := want
					if kind == sim.Reject && platform == "sonic" {
						want.Error = "unknown" // its words do not say that nothing was written
					}
					if diff := cmp.Diff(got, want); diff != "" {
						t.Errorf("got -, want + (%v):\n%s", err, diff)
					}
					if (kind == sim.Slow || kind == sim.BlackHole) && took < 30*time.Second {
						t.Errorf("it was slow and took %v", took)
					}
					// A commit overwrites what others changed since its session was opened.
					if kind == sim.ForeignEdit && v.holds("foreign") != (platform != "eos") {
						t.Errorf("what somebody else changed is there: %v", v.holds("foreign"))
					}
					if n := v.Met()[kind]; kind != sim.NoFault && n != 1 {
						t.Errorf("met %d times", n)
					}
					if !v.shows(c, "changed") && got.Later {
						t.Error("it lies for ever")
					}
				})
			})
		}
	}
}

// nature is what an error says is known.
func nature(err error) string {
	var rejected *drivers.RejectedError
	var partial *drivers.PartialError
	var unknown *drivers.UnknownError
	switch {
	case err == nil:
		return "none"
	case errors.As(err, &rejected):
		return "rejected"
	case errors.As(err, &partial):
		return "partial"
	case errors.As(err, &unknown):
		return "unknown"
	}
	return err.Error()
}

func TestTheNetworkOfADeviceGoesWrong(t *testing.T) {
	inject := func(t *testing.T, v *virtual, f sim.Fault) {
		f.Device = v.specs[0].Name
		if err := v.Inject(f); err != nil {
			t.Error(err)
		}
	}
	for kind, test := range map[sim.FaultKind]func(t *testing.T, v *virtual, target drivers.Target, ask plan.Query){
		sim.Cut: func(t *testing.T, v *virtual, target drivers.Target, ask plan.Query) {
			inject(t, v, sim.Fault{Kind: sim.Slow, On: sim.Get, Delay: time.Minute})
			time.AfterFunc(10*time.Second, func() { inject(t, v, sim.Fault{Kind: sim.Cut}) })
			began := time.Now()
			if _, err := target.Get(t.Context(), []plan.Query{ask}); err == nil || time.Since(began) > 11*time.Second {
				t.Errorf("got %v after %v", err, time.Since(began))
			}
		},
		sim.Refuse: func(t *testing.T, v *virtual, target drivers.Target, ask plan.Query) {
			inject(t, v, sim.Fault{Kind: sim.Refuse, For: time.Minute})
			var away *drivers.UnreachableError
			if _, err := v.overSSH().Dial(t.Context(), v.endpoint(v.specs[0])); !errors.As(err, &away) {
				t.Errorf("a dial: got %v", err)
			}
			if _, err := target.Get(t.Context(), []plan.Query{ask}); err != nil {
				t.Errorf("what was open: got %v", err)
			}
		},
		sim.BlackHole: func(t *testing.T, v *virtual, target drivers.Target, ask plan.Query) {
			inject(t, v, sim.Fault{Kind: sim.BlackHole, For: time.Minute})
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			began := time.Now()
			_, err := target.Get(ctx, []plan.Query{ask})
			if took := time.Since(began); err == nil || took < 20*time.Second || took > 21*time.Second {
				t.Errorf("got %v after %v", err, took)
			}
		},
	} {
		t.Run(string(kind), func(t *testing.T) {
			drivertest.Bubble(t, func(t *testing.T) {
				spec := one("eos")
				v := startVirtual(t, []sim.Spec{spec})
				defer v.close()
				target := v.dial(spec)
				ask := changeOf(spec, "").ask
				if _, err := target.Get(t.Context(), []plan.Query{ask}); err != nil {
					t.Fatal(err)
				}
				test(t, v, target, ask)
				target.Close() // one that was cut has nothing to close
				time.Sleep(time.Minute)
				again := v.dial(spec)
				if _, err := again.Get(t.Context(), []plan.Query{ask}); err != nil {
					t.Errorf("afterwards: %v", err)
				}
				if err := again.Close(); err != nil {
					t.Error(err)
				}
				if v.Met()[kind] == 0 {
					t.Errorf("it was not counted: %v", v.Met())
				}
			})
		})
	}
}

func TestACommitTimerThatEndsEarlyOrNever(t *testing.T) {
	for kind, want := range map[sim.FaultKind][2]bool{ // has the device the change after ten seconds, and after an hour
		sim.NoFault: {true, false}, sim.Revert: {false, false}, sim.Hang: {true, true},
	} {
		t.Run(string(kind), func(t *testing.T) {
			drivertest.Bubble(t, func(t *testing.T) {
				spec := one("eos")
				v := startVirtual(t, []sim.Spec{spec})
				defer v.close()
				if kind != sim.NoFault {
					if err := v.Inject(sim.Fault{Kind: kind, Device: spec.Name, On: sim.Timer, Delay: 5 * time.Second}); err != nil {
						t.Fatal(err)
					}
				}
				target, c := v.dial(spec), changeOf(spec, "changed")
				p := c.pending(spec)
				p.Confirm = time.Minute
				if err := target.Set(t.Context(), c.chunk, p); err != nil {
					t.Fatal(err)
				}
				if err := target.Close(); err != nil {
					t.Error(err)
				}
				time.Sleep(10 * time.Second)
				got := [2]bool{v.holds("changed")}
				time.Sleep(time.Hour)
				got[1] = v.holds("changed")
				if got != want {
					t.Errorf("got %v, want %v", got, want)
				}
			})
		})
	}
}

func TestFaultsWaitForTheirTurnAndAreTakenBack(t *testing.T) {
	drivertest.Bubble(t, func(t *testing.T) {
		spec := one("linux")
		v := startVirtual(t, []sim.Spec{spec})
		defer v.close()
		target, ask := v.dial(spec), plan.Query{Name: "q", Ways: []plan.Way{{Via: plan.SSH, Text: "cat /etc/hostname"}}}
		asked := func(times int) (errs int) {
			for range times {
				if _, err := target.Get(t.Context(), []plan.Query{ask}); err != nil {
					errs++
				}
			}
			return errs
		}
		inject := func(f sim.Fault) {
			if err := v.Inject(f); err != nil {
				t.Fatal(err)
			}
		}
		inject(sim.Fault{Kind: sim.Reject, Device: spec.Name, On: sim.Get, After: 2, Times: 3})
		if early, late := asked(2), asked(5); early != 0 || late != 3 {
			t.Errorf("%d of the first two and %d of the next five went wrong", early, late)
		}
		inject(sim.Fault{Kind: sim.Reject, Device: spec.Name, On: sim.Get, Times: 100})
		if err := v.Heal(spec.Name); err != nil {
			t.Fatal(err)
		}
		if n := asked(3); n != 0 {
			t.Errorf("%d went wrong after it was taken back", n)
		}
		if err := target.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestAFaultThatCannotBeIsAnError(t *testing.T) {
	drivertest.Bubble(t, func(t *testing.T) {
		v := startVirtual(t, pod())
		defer v.close()
		for want, f := range map[string]sim.Fault{
			"no such device":                    {Kind: sim.Reject, Device: "leaf9", On: sim.Set},
			"name it":                           {Kind: sim.Reject, Device: "leaf1"},
			"cannot happen to timer":            {Kind: sim.Revert, Device: "leaf1", On: sim.Timer},
			"cannot happen to subscribe":        {Kind: sim.Reject, Device: "host1", On: sim.Subscribe},
			"cannot happen to set on platform ": {Kind: sim.Lie, Device: "leaf2", On: sim.Set},
			"exit status 127":                   {Kind: sim.ForeignEdit, Device: "leaf1", Text: "nonsense"},
		} {
			if err := v.Inject(f); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
		}
	})
}

// TestADeviceThatRestartsAgainAndIsCutOffMeanwhileComesBackOnce makes what random faults make: a reboot during a reboot, and a
// device that is killed while it is off and revived when it is back.
func TestADeviceThatRestartsAgainAndIsCutOffMeanwhileComesBackOnce(t *testing.T) {
	drivertest.Bubble(t, func(t *testing.T) {
		spec := one("eos")
		v := startVirtual(t, []sim.Spec{spec})
		defer v.close()
		reachable := func() bool {
			target, err := v.overSSH().Dial(t.Context(), v.endpoint(spec))
			if err == nil {
				err = target.Close()
			}
			return err == nil
		}
		must := func(err error) {
			if err != nil {
				t.Fatal(err)
			}
		}
		must(v.Reboot(spec.Name))
		time.Sleep(30 * time.Second)
		must(v.Inject(sim.Fault{Kind: sim.Reboot, Device: spec.Name}))
		must(v.Revive(spec.Name))
		if reachable() {
			t.Error("it is reachable without power")
		}
		must(v.Kill(spec.Name))
		time.Sleep(time.Minute)
		if reachable() {
			t.Error("it is reachable while it is cut off")
		}
		must(v.Revive(spec.Name))
		time.Sleep(time.Minute)
		if !reachable() {
			t.Error("it did not come back")
		}
	})
}
