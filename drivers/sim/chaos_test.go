package sim_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/weirfabric/weir/drivers/drivertest"
	"github.com/weirfabric/weir/drivers/sim"
)

// randomFault is any fault that a device can have, and most likely some that it cannot.
func randomFault(r *rand.Rand, device sim.Spec) sim.Fault {
	pick := func(n int) time.Duration { return time.Duration(r.IntN(n)) * time.Second }
	kinds := []sim.FaultKind{
		sim.Reject, sim.Hang, sim.Slow, sim.Drop, sim.DropBefore, sim.Partial, sim.Ignore, sim.Lie, sim.Revert, sim.Reboot, sim.ForeignEdit,
		sim.Cut, sim.Refuse, sim.BlackHole, sim.Latency,
	}
	edits := map[string]string{
		"sonic": `sonic-db-cli CONFIG_DB HSET 'DEVICE_METADATA|localhost' hostname foreign`, "eos": "hostname foreign",
		"linux": "echo foreign > /etc/modprobe.d/other.conf",
	}
	operations := []sim.Operation{sim.Now, sim.Get, sim.Set, sim.Commit, sim.Session, sim.Subscribe, sim.Timer}
	return sim.Fault{
		Kind: kinds[r.IntN(len(kinds))], Device: device.Name, On: operations[r.IntN(len(operations))], After: r.IntN(2), Times: 1 + r.IntN(2),
		Delay: pick(40), For: time.Second + pick(90), Text: edits[device.Platform],
	}
}

// TestWhateverGoesWrongTheLabGoesOnAndEnds makes random faults while every device is read and changed. In the end each one answers
// again, and nothing is left of the lab; a goroutine that stays is a failure of the bubble.
func TestWhateverGoesWrongTheLabGoesOnAndEnds(t *testing.T) {
	for seed := range uint64(3) {
		drivertest.Bubble(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 0))
			v := startVirtual(t, pod())
			defer v.close()
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			var all sync.WaitGroup
			for _, spec := range v.specs {
				all.Go(func() { v.work(ctx, spec) })
			}
			injected := 0
			for ctx.Err() == nil {
				time.Sleep(time.Duration(1+r.IntN(10)) * time.Second)
				device := v.specs[r.IntN(len(v.specs))]
				if v.Inject(randomFault(r, device)) == nil {
					injected++
				}
				if r.IntN(10) == 0 {
					if err := v.Kill(device.Name); err != nil {
						t.Error(err)
					}
					time.Sleep(time.Duration(r.IntN(20)) * time.Second)
					if err := v.Revive(device.Name); err != nil {
						t.Error(err)
					}
				}
			}
			all.Wait()
			for _, spec := range v.specs {
				if err := v.Heal(spec.Name); err != nil {
					t.Error(err)
				}
			}
			time.Sleep(10 * time.Minute) // for what restarts, and for what is still late
			for _, spec := range v.specs {
				target, c := v.dial(spec), changeOf(spec, "")
				if _, err := c.read(t.Context(), target); err != nil {
					t.Errorf("seed %d: %s does not answer in the end: %v", seed, spec.Name, err)
				}
				if err := target.Close(); err != nil {
					t.Error(err)
				}
			}
			met := 0
			for _, n := range v.Met() {
				met += n
			}
			if injected == 0 || met == 0 {
				t.Errorf("seed %d: %d faults were told, and %d met", seed, injected, met)
			}
		})
	}
}

// work reads and changes a device over and over, whatever comes of it.
func (v *virtual) work(ctx context.Context, spec sim.Spec) {
	for ctx.Err() == nil {
		attempt, cancel := context.WithTimeout(ctx, time.Minute)
		target, err := v.open(attempt, spec)
		if err == nil {
			c := changeOf(spec, "changed")
			_, _ = c.read(attempt, target)
			_ = target.Set(attempt, c.chunk, c.pending(spec))
			_ = target.Close()
		}
		cancel()
		time.Sleep(5 * time.Second)
	}
}
