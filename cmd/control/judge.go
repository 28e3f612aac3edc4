package control

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/weirfabric/weir/drivers/apply"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/telemetry"
	"github.com/weirfabric/weir/telemetry/collect"
	"github.com/weirfabric/weir/telemetry/verify"
)

// What is done with a wave around which no lossless class carried anything, neither before nor after it: its counters have proven
// nothing.
const (
	idleHold   = "hold"   // the wave is led back: nothing stays that was not seen to work
	idleAccept = "accept" // the wave stays, and it is said that nothing was proven
)

// Settle says how a wave is judged and how long weir waits for a device. Zero values take what the intent says, or the default
// that is named.
type Settle struct {
	Window   time.Duration // the counters are watched at least so long; never less than two of their intervals
	Idle     string        // when no class carried anything around a wave, neither before nor after it: hold or accept
	Blind    bool          // no counters are watched: a wave stays when it reads back as wanted
	Timeout  time.Duration // of one operation on a device, beside three times its expected cost; 1 minute
	Patience time.Duration // for a device that does not answer, or whose state is in doubt; 2 minutes
}

// idle is the policy of a run.
func (r *Repo) idle(o Settle) (string, error) {
	idle := cmp.Or(o.Idle, r.Fabric.Intent.Apply.Idle.V)
	if idle != idleHold && idle != idleAccept {
		return "", fmt.Errorf("--idle %q: want hold or accept", idle)
	}
	return idle, nil
}

// window is how long the counters are watched after a wave, at least.
func (r *Repo) window(o Settle) time.Duration {
	return cmp.Or(o.Window, r.InWall(r.Fabric.Intent.Apply.Settle.V))
}

// slowestCounters is the longest interval that counters of a platform come in.
const slowestCounters = 30 * time.Second

// longest is how long the judgement of a wave takes at most, as the devices live it, where counters are watched for so long.
func longest(settle time.Duration) time.Duration {
	return verify.Longest(max(settle, 2*slowestCounters)) + verify.DefaultGrace
}

// judged is the longest that the judgement of a wave of a run takes, as the devices live it.
func (r *Repo) judged(o Settle) time.Duration {
	if o.Blind {
		return 0
	}
	return longest(time.Duration(float64(r.window(o)) * r.Scale()))
}

// judge makes the judge of a run's waves: it collects from the devices that change and their neighbours that weir talks to, until
// the function that it returns is called.
func (r *Repo) judge(ctx context.Context, waves [][]plan.Step, o Settle) (apply.Watch, func(), error) {
	idle, err := r.idle(o)
	if err != nil {
		return nil, nil, err
	}
	if o.Blind {
		return nil, func() {}, nil
	}
	var changed []string
	for _, s := range slices.Concat(waves...) {
		changed = append(changed, s.Device)
	}
	names := r.counting(changed)
	if err := r.gatherable(ctx, names); err != nil {
		return nil, nil, err
	}
	g := r.gather(context.WithoutCancel(ctx), names, slog.New(slog.DiscardHandler))
	if err := r.warm(ctx, g, names); err != nil {
		g.end()
		return nil, nil, err
	}
	var known []addr.Addr                 // ports that were busy before a wave of the run
	taken := map[string]qos.PrioritySet{} // the classes that the run has taken away
	watch := func(_ context.Context, wave []plan.Step) func(context.Context, map[string]time.Time) apply.Verdict {
		maps.Copy(taken, withdrawals(wave, r.Fabric))
		before := verify.Take(g.store, r.withdrawn(r.portsAround(wave), taken))
		if busy := verify.Take(g.store, r.portsOf(names)).Busy(r.Scale()); len(busy) > 0 {
			known = busy
		}
		return func(ctx context.Context, sent map[string]time.Time) apply.Verdict {
			result, err := verify.Window(ctx, g.store, before, verify.Options{Settle: r.window(o), Scale: r.Scale(), Flaps: r.flapsOf(wave, sent)})
			if err != nil {
				return apply.Verdict{Text: "interrupted"}
			}
			return verdictOf(result, idle, known)
		}
	}
	return watch, g.end, nil
}

// flapsOf are the ports that a wave takes down and up, by when its step was sent.
func (r *Repo) flapsOf(wave []plan.Step, sent map[string]time.Time) map[addr.Addr]time.Time {
	topology := r.topology(r.reachedOnly(r.Names))
	out := map[addr.Addr]time.Time{}
	for _, s := range wave {
		at, ok := sent[s.Device]
		if !ok {
			continue
		}
		for _, a := range flapping(topology, s.Flaps()) {
			if at.After(out[a]) {
				out[a] = at
			}
		}
	}
	return out
}

// counting are devices and their neighbours, as far as weir talks to them: counters come from these.
func (r *Repo) counting(names []string) []string {
	return slices.DeleteFunc(r.withNeighbours(names), func(name string) bool { return FilesOnly(r.Device(name).Platform.V) != "" })
}

// warm waits until the traffic of every device has been seen over an interval, so that the first wave has something to be compared
// with. What stays silent is missed when its wave is judged; when all devices do, nothing could be judged at all.
func (r *Repo) warm(ctx context.Context, g *gathering, names []string) error {
	const patience = 10 * time.Second
	began := time.Now()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		slowest, silent, come := time.Duration(0), false, false
		for _, name := range names {
			seen, every := traffic(g.store, name)
			silent, come, slowest = silent || !seen, come || every > 0, max(slowest, every)
		}
		if !silent {
			return nil
		}
		if time.Since(began) > max(patience, 2*slowest+patience/2) {
			if come || len(g.store.Series(nil)) > 0 {
				return nil
			}
			return fmt.Errorf("no device has sent a counter within %v, so no wave could be judged: weir doctor says why; --no-counters goes on without", patience)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// traffic says whether each counter of traffic by class that a device has was seen over an interval, and the longest interval.
func traffic(store *collect.Store, name string) (seen bool, slowest time.Duration) {
	all := store.Series([]string{name}, telemetry.QueuePackets, telemetry.PriorityReceivedBytes, telemetry.PriorityTransmittedBytes)
	for _, s := range all {
		slowest = max(slowest, s.Every)
	}
	late := func(s telemetry.Series) bool { return s.Status.Counts() && len(s.Points) < 2 }
	return len(all) > 0 && !slices.ContainsFunc(all, late), slowest
}

// verdictOf is what a window's result means for a wave. Elsewhere are ports that carried traffic before it.
func verdictOf(result verify.Result, idle string, elsewhere []addr.Addr) apply.Verdict {
	var order []string
	places := map[string][]string{}
	for _, f := range result.Findings {
		if f.Verdict != result.Verdict {
			continue
		}
		if places[f.Summary] == nil {
			order = append(order, f.Summary)
		}
		places[f.Summary] = append(places[f.Summary], f.Addr.String())
	}
	for i, summary := range order {
		order[i] = diag.First(places[summary], 3) + ": " + summary
	}
	text := diag.First(order, 3)
	switch result.Verdict {
	case verify.Pass:
		said := fmt.Sprintf("after %v of counters", result.Waited.Round(10*time.Millisecond))
		if result.Quiet > 0 {
			said += fmt.Sprintf("; %d of %s carried nothing before it or since, and prove nothing", result.Quiet, diag.Count(result.Ports, "port"))
		}
		return apply.Verdict{Pass: true, Text: said}
	case verify.Unseen:
		return apply.Verdict{Text: text + " (what is missing is never taken for idle: weir doctor and weir watch say why it does not come; --no-counters goes on without counters)"}
	case verify.Idle:
		switch {
		case idle == idleAccept:
			return apply.Verdict{Pass: true, Text: "nothing proven, accepted as the policy says (" + text + ")"}
		case len(elsewhere) > 0:
			return apply.Verdict{Text: fmt.Sprintf("nothing proven, and the policy is to hold: %s. Elsewhere the class passes (%s): begin with a canary that carries it, or apply while it is sent through these devices",
				text, diag.First(addresses(elsewhere), 3))}
		}
		return apply.Verdict{Text: "nothing proven, and the policy is to hold (for a fabric whose hosts do not send in the class yet: --idle accept): " + text}
	}
	return apply.Verdict{Text: strings.TrimSpace(text)}
}

func addresses(all []addr.Addr) []string {
	var out []string
	for _, a := range all {
		out = append(out, a.String())
	}
	return out
}
