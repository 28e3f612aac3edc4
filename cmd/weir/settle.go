package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirfabric/weir/cmd/weir/view"
	"github.com/weirfabric/weir/drivers/apply"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/telemetry"
	"github.com/weirfabric/weir/telemetry/verify"
)

// What is done with a wave in whose window the class carried no traffic: its counters have proven nothing.
const (
	idleHold   = "hold"   // the wave is led back: nothing stays that was not seen to work
	idleAccept = "accept" // the wave stays, and it is said that nothing was proven
)

// settleOptions say how a wave is judged and how long weir waits for a device.
type settleOptions struct {
	window   time.Duration
	idle     string
	blind    bool
	timeout  time.Duration
	patience time.Duration
}

func (o *settleOptions) flags(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&o.window, "settle", 0, "watch the counters at least so long after a wave (default what the intent says; never less than two of their intervals)")
	cmd.Flags().StringVar(&o.idle, "idle", "", "when the class carries no traffic in that window: hold or accept (default what the intent says)")
	cmd.Flags().BoolVar(&o.blind, "no-counters", false, "do not watch counters: a wave stays when it reads back as wanted")
	cmd.Flags().DurationVar(&o.timeout, "timeout", 0, "for one operation on a device, beside three times its expected cost (default 1m)")
	cmd.Flags().DurationVar(&o.patience, "patience", 0, "for a device that does not answer, or whose state is in doubt (default 2m)")
}

// watchWaves makes the judge of an apply's waves: it collects from the devices that change and their neighbours until end is
// called.
func (c *console) watchWaves(ctx context.Context, r *repo, waves [][]plan.Step, o settleOptions) (apply.Watch, func(), error) {
	if o.blind {
		c.say().Printf("%s: --no-counters: waves are not judged by what the network does\n", c.say().Bad("note"))
		return nil, func() {}, nil
	}
	idle := cmp.Or(o.idle, r.fabric.Intent.Apply.Idle.V, idleHold)
	if idle != idleHold && idle != idleAccept {
		return nil, nil, fmt.Errorf("--idle %q: want hold or accept; probing by weir itself is not there yet", idle)
	}
	window := cmp.Or(o.window, r.inWall(r.fabric.Intent.Apply.Settle.V))
	var changed []string
	for _, wave := range waves {
		for _, s := range wave {
			changed = append(changed, s.Device)
		}
	}
	if waves == nil {
		changed = r.names
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
			result, err := verify.Window(ctx, g.store, before, verify.Options{Settle: window, Scale: r.scale()})
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
func (r *repo) warm(ctx context.Context, g *gathering, names []string) error {
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
		order[i] = view.List(places[summary], 3) + ": " + summary
	}
	text := view.List(order, 3)
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

// withNeighbours adds the devices at the other ends of the cables.
func (r *repo) withNeighbours(names []string) []string {
	out := slices.Clone(names)
	for _, l := range r.fabric.Links {
		a, b := l.A.Address().Device, l.B.Address().Device
		if slices.Contains(names, a) {
			out = append(out, b)
		}
		if slices.Contains(names, b) {
			out = append(out, a)
		}
	}
	slices.SortFunc(out, addr.Natural)
	out = slices.Compact(out)
	return slices.DeleteFunc(out, func(n string) bool { return r.bound[n] == nil })
}

// portsAround are the cabled lossless ports of the devices of a wave and the ports that face them.
func (r *repo) portsAround(wave []plan.Step) []verify.Port {
	topology := topologyOf(r.fabric)
	touched := map[string]bool{}
	for _, s := range wave {
		touched[s.Device] = true
	}
	var out []verify.Port
	for a, p := range topology.Ports {
		if len(p.Classes) > 0 && p.Peer.Device != "" && (touched[a.Device] || touched[p.Peer.Device]) && r.bound[a.Device] != nil {
			out = append(out, verify.Port{Addr: a, Classes: p.Classes})
		}
	}
	slices.SortFunc(out, func(a, b verify.Port) int { return addr.Compare(a.Addr, b.Addr) })
	return out
}
