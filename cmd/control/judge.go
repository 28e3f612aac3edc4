package control

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/weirfabric/weir/drivers/apply"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/telemetry"
	"github.com/weirfabric/weir/telemetry/verify"
)

// What is done with a wave in whose window the class carried no traffic: its counters have proven nothing.
const (
	idleHold   = "hold"   // the wave is led back: nothing stays that was not seen to work
	idleAccept = "accept" // the wave stays, and it is said that nothing was proven
)

// Settle says how a wave is judged and how long weir waits for a device. Zero values take what the intent says, or the default
// that is named.
type Settle struct {
	Window   time.Duration // the counters are watched at least so long; never less than two of their intervals
	Idle     string        // when the class carries no traffic in that window: hold or accept
	Blind    bool          // no counters are watched: a wave stays when it reads back as wanted
	Timeout  time.Duration // of one operation on a device, beside three times its expected cost; 1 minute
	Patience time.Duration // for a device that does not answer, or whose state is in doubt; 2 minutes
}

// judge makes the judge of a run's waves: it collects from the devices that change and their neighbours until the function that
// it returns is called. Without waves it collects from all.
func (r *Repo) judge(ctx context.Context, waves [][]plan.Step, o Settle) (apply.Watch, func(), error) {
	if o.Blind {
		return nil, func() {}, nil
	}
	idle := cmp.Or(o.Idle, r.Fabric.Intent.Apply.Idle.V, idleHold)
	if idle != idleHold && idle != idleAccept {
		return nil, nil, fmt.Errorf("--idle %q: want hold or accept; probing by weir itself is not there yet", idle)
	}
	window := cmp.Or(o.Window, r.InWall(r.Fabric.Intent.Apply.Settle.V))
	var changed []string
	for _, s := range slices.Concat(waves...) {
		changed = append(changed, s.Device)
	}
	if waves == nil {
		changed = r.Names
	}
	names := r.withNeighbours(changed)
	g, err := r.gather(context.WithoutCancel(ctx), names, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, nil, err
	}
	if err := r.warm(ctx, g, names); err != nil {
		g.end()
		return nil, nil, err
	}
	watch := func(_ context.Context, wave []plan.Step) func(context.Context) apply.Verdict {
		before := verify.Take(g.store, r.portsAround(wave))
		return func(ctx context.Context) apply.Verdict {
			result, err := verify.Window(ctx, g.store, before, verify.Options{Settle: window, Scale: r.Scale()})
			if err != nil {
				return apply.Verdict{Text: "interrupted"}
			}
			return verdictOf(result, idle)
		}
	}
	return watch, g.end, nil
}

// warm waits until counters of every device have begun to come, so that the first wave has something to be compared with. A
// device that stays silent leaves its part of a wave unproven; when all of them do, nothing could be judged at all.
func (r *Repo) warm(ctx context.Context, g *gathering, names []string) error {
	const patience = 10 * time.Second
	deadline := time.After(patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	silent := func(name string) bool { return len(g.store.Series([]string{name}, telemetry.PortUp)) == 0 }
	for slices.ContainsFunc(names, silent) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-deadline:
			if len(g.store.Series(nil)) > 0 {
				return nil
			}
			return fmt.Errorf("no device has sent a counter within %v, so no wave could be judged: weir doctor says why; --no-counters goes on without", patience)
		case <-tick.C:
		}
	}
	return nil
}

// verdictOf is what a window's result means for a wave.
func verdictOf(result verify.Result, idle string) apply.Verdict {
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
		return apply.Verdict{Pass: true, Text: fmt.Sprintf("after %v of counters", result.Waited.Round(10*time.Millisecond))}
	case verify.Inconclusive:
		if idle == idleAccept {
			return apply.Verdict{Pass: true, Text: "nothing proven, accepted as the policy says (" + text + ")"}
		}
		return apply.Verdict{Text: "nothing proven, and the policy is to hold (for a fabric whose hosts do not send in the class yet: --idle accept): " + text}
	}
	return apply.Verdict{Text: strings.TrimSpace(text)}
}
