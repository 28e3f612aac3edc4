package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/weirfabric/weir/cmd/weir/view"
	"github.com/weirfabric/weir/intent/check"
	"github.com/weirfabric/weir/intent/depend"
	"github.com/weirfabric/weir/intent/qos"
)

// The JSON form of deadlock. Covered says how far the answer reaches; a cycle's links follow each other, and after the last
// comes the first.
type (
	deadlockAnswer struct {
		Format   int              `json:"format"`
		Free     bool             `json:"free"`
		Covered  deadlockCovered  `json:"covered"`
		Nodes    int              `json:"nodes"`
		Turns    int              `json:"turns"`
		Found    string           `json:"found,omitempty"` // the state that has the cycle
		Cycle    []deadlockStep   `json:"cycle"`
		Remedies []deadlockRemedy `json:"remedies"`
	}
	deadlockCovered struct {
		Policy       string             `json:"policy"`
		Complete     bool               `json:"complete"`
		Priorities   []int              `json:"priorities"`
		Switches     int                `json:"switches"`
		Links        int                `json:"links"`
		Destinations int                `json:"destinations"`
		Ranks        string             `json:"ranks"`
		Ends         string             `json:"ends"`
		Models       []deadlockModel    `json:"models"`
		Unrouted     []deadlockUnrouted `json:"unrouted"` // the first of them
		Pairs        int                `json:"unrouted_pairs"`
		NotCovered   []string           `json:"not_covered"`
	}
	deadlockModel struct {
		Model      string `json:"model"`
		Transition bool   `json:"transition"`
		States     int    `json:"states"`
		Tried      int    `json:"tried"`
		Cyclic     int    `json:"cyclic"`
		Method     string `json:"method"`
	}
	deadlockUnrouted struct {
		From string `json:"from"`
		To   string `json:"to"`
	}
	deadlockStep struct {
		Link     string          `json:"link"`
		Priority qos.Priority    `json:"priority"`
		Because  deadlockBecause `json:"because"`
	}
	deadlockBecause struct {
		Destination string   `json:"destination"`
		Switch      string   `json:"switch"`
		Failure     []string `json:"failure"` // down in the state whose table is used; empty: nothing
	}
	deadlockRemedy struct {
		Name       string        `json:"name"`
		Summary    string        `json:"summary"`
		Proven     bool          `json:"proven"` // prevents the cycle: the proof was run again with it
		Proof      string        `json:"proof,omitempty"`
		Priorities int           `json:"priorities,omitempty"`
		Rules      []depend.Bump `json:"rules,omitempty"`
	}
)

// proofLimit bounds the work of the proof, as depend.Question counts it: some minutes.
const proofLimit = 200_000_000_000

func deadlockCommand(c *console) *cobra.Command {
	var failures int
	var svg string
	cmd := &cobra.Command{
		Use:   "deadlock [DIR]",
		Short: "Prove that no cycle of buffers that wait for each other can form, also under failures",
		Long: `deadlock proves that no cycle of buffers that wait for each other can form, with the routing policy of the intent: in the
healthy fabric, with links and switches down, and while routes change, when each switch forwards by its old table or by its
new one. It prints what the proof rests on, or the shortest cycle with the reason for each of its steps, and remedies.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if failures < 0 || failures > 2 {
				return fmt.Errorf("--failures %d: want 0, 1 or 2", failures)
			}
			r, err := c.open(dirArg(args), "")
			if err != nil {
				return err
			}
			if r.fabric == nil {
				return c.refused(r)
			}
			d := check.DependenciesOf(r.fabric)
			if d.Findings.HasErrors() {
				r.findings = d.Findings
				return c.refused(r)
			}
			return c.deadlock(r.fabric.Name, d, failures, svg)
		},
	}
	cmd.Flags().IntVar(&failures, "failures", 1, "how many links and switches may be down at once: 0, 1 or 2")
	cmd.Flags().StringVar(&svg, "svg", "", "draw the fabric and the cycle into this file")
	return cmd
}

// refused prints the findings of a repo that cannot be proven because of them.
func (c *console) refused(r *repo) error {
	if c.json {
		if err := c.printJSON(findings{1, r.findings}); err != nil {
			return err
		}
	} else {
		c.say().Findings(r.findings)
	}
	return exit(exitFindings)
}

// deadlock proves and prints.
func (c *console) deadlock(name string, d check.Dependencies, failures int, svg string) error {
	verdict, remedies, err := c.prove(d, failures)
	if err != nil {
		return err
	}
	if c.json {
		err = c.printJSON(answerOf(d, verdict, remedies))
	} else {
		c.view().Deadlock(name, d, verdict, remedies)
	}
	if err != nil {
		return err
	}
	if svg != "" {
		var b bytes.Buffer
		view.DeadlockSVG(&b, d, verdict)
		if err := os.WriteFile(svg, b.Bytes(), 0o644); err != nil {
			return fmt.Errorf("write the drawing: %w", err)
		}
	}
	switch {
	case verdict.Cycle != nil || verdict.UnroutedPairs > 0:
		return exit(exitFindings)
	case !verdict.Complete:
		return errors.New("the proof was cut short: this fabric has too many states for it")
	}
	return nil
}

// prove runs the proof. A fabric in which nothing can go round is free without one.
func (c *console) prove(d check.Dependencies, failures int) (depend.Verdict, []depend.Remedy, error) {
	if d.Priorities == 0 || !d.Routed && d.Network.Forest() {
		return depend.Verdict{Free: true, Complete: true}, nil, nil
	}
	if !d.Routed {
		return depend.Verdict{}, nil, errors.New("routing.routed is false and the cables have loops: the proof is for routed fabrics, and does not know which ports a spanning tree blocks")
	}
	total := 0
	if n := len(d.Network.Links) + len(d.Network.Switches); failures > 0 {
		total = n + (failures-1)*n*(n-1)/2
	}
	p := c.progress("states of the fabric", total)
	defer p.end()
	q := depend.Question{
		Network: d.Network, Policy: d.Policy, Failures: failures, Limit: proofLimit,
		Progress: func(m depend.Model, _, _ int) { p.step(string(m), nil) },
	}
	verdict, err := depend.Prove(q)
	if err != nil {
		return depend.Verdict{}, nil, err
	}
	remedies, err := depend.Remedies(q, verdict)
	return verdict, remedies, err
}

func answerOf(d check.Dependencies, v depend.Verdict, remedies []depend.Remedy) deadlockAnswer {
	n := d.Network
	priorities := d.Priorities.All()
	out := deadlockAnswer{
		Format: 1, Free: v.Free && v.UnroutedPairs == 0, Nodes: v.Nodes * len(priorities), Turns: v.Turns * len(priorities),
		Cycle: []deadlockStep{}, Remedies: []deadlockRemedy{},
		Covered: deadlockCovered{
			Policy: string(d.Policy), Complete: v.Complete, Priorities: []int{}, Switches: len(n.Switches),
			Links: len(n.Links), Destinations: len(n.Destinations), Ranks: d.Ranks, Ends: d.Ends,
			Models: []deadlockModel{}, Unrouted: []deadlockUnrouted{}, Pairs: v.UnroutedPairs, NotCovered: check.NotCovered,
		},
	}
	for _, p := range priorities {
		out.Covered.Priorities = append(out.Covered.Priorities, int(p))
	}
	for _, m := range v.Covered {
		out.Covered.Models = append(out.Covered.Models, deadlockModel{string(m.Model), m.Transition, m.States, m.Tried, m.Cyclic, string(m.Method)})
	}
	for _, u := range v.Unrouted {
		out.Covered.Unrouted = append(out.Covered.Unrouted, deadlockUnrouted{n.Switches[u.Switch].Name, n.Destinations[u.Destination].Name})
	}
	if v.Cycle == nil {
		return out
	}
	out.Found = v.Found.State()
	for _, s := range v.Cycle {
		because := deadlockBecause{n.Destinations[s.Destination].Name, n.Switches[s.Switch].Name, append([]string{}, s.Down...)}
		out.Cycle = append(out.Cycle, deadlockStep{n.ArcName(s.Arc), priorities[0], because})
	}
	for _, r := range remedies {
		out.Remedies = append(out.Remedies, deadlockRemedy{r.Name, r.Summary, true, r.Proof, r.Priorities, r.Rules})
	}
	out.Remedies = append(out.Remedies, deadlockRemedy{Name: "watchdog", Summary: d.SecondLine(v)})
	return out
}
