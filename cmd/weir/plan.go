package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/weirfabric/weir/cmd/weir/view"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
)

// planOptions are what plan and apply have in common.
type planOptions struct {
	journal  string
	device   string
	observed string
	waveSize int
}

func (o *planOptions) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.journal, "journal", "", "where runs are recorded (default DIR/.weir)")
	cmd.Flags().StringVar(&o.device, "device", "", "only devices whose names match this glob; the plan is then incomplete")
	cmd.Flags().IntVar(&o.waveSize, "wave-size", 0, "at most this many devices in a wave (default no limit)")
}

func planCommand(c *console) *cobra.Command {
	var o planOptions
	var out string
	var detailed, lines bool
	cmd := &cobra.Command{
		Use:   "plan [DIR]",
		Short: "Show the difference between the intent and what runs",
		Args:  folderOnly,
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := c.mustHold(dirArg(args), o.journal)
			if err != nil {
				return err
			}
			c.warnUnfinished(r)
			p, err := c.plan(cmd.Context(), r, o)
			if err != nil {
				return err
			}
			if out != "" {
				if err := savePlan(out, p); err != nil {
					return err
				}
			}
			if c.json {
				if err := c.printJSON(p); err != nil {
					return err
				}
			} else {
				c.view().Plan(p, view.PlanOptions{Lines: lines, File: out})
			}
			switch {
			case p.Findings.HasErrors():
				return exit(exitFindings)
			case detailed && len(p.Waves) > 0:
				return exit(exitChanges)
			}
			return nil
		},
	}
	o.flags(cmd)
	cmd.Flags().StringVarP(&out, "out", "o", "", "save the plan to this file, for weir apply FILE")
	cmd.Flags().StringVar(&o.observed, "observed", "", "plan against the files of this folder (weir observe writes them) and not the devices")
	cmd.Flags().BoolVar(&detailed, "detailed-exitcode", false, "exit with 2 when there are changes")
	cmd.Flags().BoolVar(&lines, "lines", false, "also show what is sent, in the device's own words, and what would undo it")
	return cmd
}

// plan reads the devices and works out the plan. A device that cannot be read is an error: a plan that silently leaves a
// device out is worse than none.
func (c *console) plan(ctx context.Context, r *repo, o planOptions) (plan.Plan, error) {
	names, err := c.reached(r, o.device)
	if err != nil {
		return plan.Plan{}, err
	}
	if o.observed == "" {
		c.warnInsecure(r, names)
	}
	progress := c.progress("reading", len(names))
	seen := r.observe(ctx, names, o.observed, progress.step)
	progress.end()
	var failed []error
	for _, name := range names {
		failed = append(failed, seen[name].err)
	}
	if err := errors.Join(failed...); err != nil {
		return plan.Plan{}, fmt.Errorf("no plan was made:\n%w", err)
	}
	p := r.makePlan(names, seen, o.waveSize)
	if o.device != "" {
		p.Findings.Add(diag.Diagnostic{Severity: diag.Warning, Check: "plan", Summary: fmt.Sprintf(
			"--device %s: only %s of %d were looked at; both ends of a link must agree before a class is lossless", o.device,
			view.Count(len(names), "device"), len(r.names))})
		p.Findings.Sort()
	}
	return p, nil
}

// makePlan works out the steps and puts them into waves.
func (r *repo) makePlan(names []string, seen map[string]observation, size int) plan.Plan {
	p := plan.Plan{Format: plan.Format, ID: rand.Text(), Intent: r.digest, Commit: commitOf(r.dir)}
	for _, d := range r.findings {
		if d.Severity > diag.Note {
			p.Findings.Add(d)
		}
	}
	steps, findings := r.steps(names, seen)
	p.Findings = append(p.Findings, findings...)
	for _, step := range steps {
		p.Summary.Devices++
		for _, change := range step.Changes {
			switch change.Action {
			case plan.Create:
				p.Summary.Create++
			case plan.Update:
				p.Summary.Update++
			case plan.Delete:
				p.Summary.Delete++
			}
		}
	}
	p.Waves = plan.Arrange(steps, placesOf(r.fabric), r.fabric.Intent.Apply.Canary.V, size)
	p.Findings = append(p.Findings, boundaries(p, r.fabric)...)
	p.Findings.Sort()
	return p
}

// onEachCore does something for each of the names, for as many at once as there are processors, and waits for all.
func onEachCore(names []string, do func(i int, name string)) {
	var all sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, name := range names {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			do(i, name)
		})
	}
	all.Wait()
}

// steps works out what changes on each device. A device in order has no step.
func (r *repo) steps(names []string, seen map[string]observation) ([]plan.Step, diag.List) {
	steps, findings := make([]plan.Step, len(names)), make([]diag.List, len(names))
	onEachCore(names, func(i int, name string) {
		want, said := r.bound[name].Write()
		step, refused := r.bound[name].Step(seen[name].state, want)
		steps[i], findings[i] = step, slices.Concat(said, refused)
	})
	return slices.DeleteFunc(steps, func(s plan.Step) bool { return len(s.Changes) == 0 }), slices.Concat(findings...)
}

// placesOf says where each device stands: the tier of a switch is its distance from the nearest host.
func placesOf(f *fabric.Fabric) map[string]plan.Place {
	neighbours := map[string][]string{}
	places := map[string]plan.Place{}
	for _, h := range f.Hosts {
		places[h.Name] = plan.Place{Host: true, Hosts: []string{h.Name}}
	}
	for _, l := range f.Links {
		a, b := l.A.Address().Device, l.B.Address().Device
		neighbours[a], neighbours[b] = append(neighbours[a], b), append(neighbours[b], a)
	}
	frontier := sortedNames(places)
	for tier := 0; len(frontier) > 0; tier++ {
		var next []string
		for _, at := range frontier {
			for _, n := range neighbours[at] {
				place, seen := places[n]
				if !seen {
					next = append(next, n)
				}
				if tier == 0 && !place.Host && !slices.Contains(place.Hosts, at) {
					place.Hosts = append(place.Hosts, at)
				}
				if !seen {
					place.Tier = tier
				}
				places[n] = place
			}
		}
		slices.SortFunc(next, addr.Natural)
		frontier = slices.Compact(next)
	}
	return places
}

// commitOf is the commit that the repo's files stand at; empty where there is no Git repo.
func commitOf(dir string) string {
	out, err := exec.Command("git", "-C", dir, "rev-parse", "HEAD").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

func savePlan(name string, p plan.Plan) error {
	body, err := json.MarshalIndent(p, "", " ")
	if err != nil {
		return fmt.Errorf("save the plan: %w", err)
	}
	if err := os.WriteFile(name, append(body, '\n'), 0o600); err != nil {
		return fmt.Errorf("save the plan: %w", err)
	}
	return nil
}

func loadPlan(name string) (plan.Plan, error) {
	var p plan.Plan
	body, err := os.ReadFile(name)
	if err != nil {
		return p, fmt.Errorf("read the plan: %w", err)
	}
	if err := json.Unmarshal(body, &p); err != nil {
		return p, fmt.Errorf("%s is no plan of weir: %w", name, err)
	}
	if p.Format != plan.Format {
		return p, fmt.Errorf("%s has plan format %d; this weir reads format %d: make the plan again", name, p.Format, plan.Format)
	}
	return p, nil
}

// showCommand prints a saved plan. It needs neither the repo nor the devices.
func showCommand(c *console) *cobra.Command {
	var lines bool
	cmd := &cobra.Command{
		Use:   "show FILE",
		Short: "Print a saved plan",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := loadPlan(args[0])
			if err != nil {
				return err
			}
			if c.json {
				return c.printJSON(p)
			}
			c.view().Plan(p, view.PlanOptions{Lines: lines, File: args[0]})
			return nil
		},
	}
	cmd.Flags().BoolVar(&lines, "lines", false, "also show what is sent, in the device's own words")
	return cmd
}
