package control

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"slices"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/intent/check"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/plan"
	"golang.org/x/sync/errgroup"
)

// PlanOptions say what a plan is made of.
type PlanOptions struct {
	Device          Selection // only these devices; the plan is then incomplete, and says so
	WaveSize        int       // at most this many devices in a wave; 0: no limit
	SkipUnreachable bool      // devices that cannot be reached are left out, and the plan says so; otherwise there is none
}

// Plan works out the steps that lead the observed devices to the intent, and puts them into waves. A device that could not be
// read is an error, unless devices that cannot be reached are to be left out: a plan that leaves one out in silence is worse than none.
func (r *Repo) Plan(names []string, seen map[string]Observation, o PlanOptions) (plan.Plan, error) {
	p := plan.Plan{Format: plan.Format, ID: rand.Text(), Intent: r.Digest, Commit: r.effects.Commit(r.Dir)}
	read, skipped, err := readable(names, seen, o.SkipUnreachable)
	if err != nil {
		return plan.Plan{}, err
	}
	p.Skipped = skipped
	for _, d := range r.Concerning(names) {
		if d.Severity > diag.Note {
			p.Findings.Add(d)
		}
	}
	waivers := check.WaiversOf(r.Fabric, r.effects.Now())
	steps, findings := r.steps(read, seen)
	p.Summary = summaryOf(steps)
	waves, unsafe := r.arrange(steps, o.WaveSize, seen)
	p.Waves = waves
	findings = append(findings, unsafe...)
	findings = append(findings, r.leftOut(p)...)
	findings = append(findings, r.markless(p)...)
	if n := accepted(steps, waivers); n > 0 {
		findings.Add(diag.Diagnostic{Severity: diag.Note, Check: planCheck, Summary: fmt.Sprintf("the changes end %s that the repo accepts as drift", diag.Count(n, "difference")),
			Detail: "An acceptance of drift keeps a difference out of weir drift, and not out of a plan. Write what is to stay into the intent."})
	}
	if len(o.Device) == 0 {
		findings = append(findings, r.Orphaned()...)
	} else {
		findings.Add(diag.Diagnostic{Severity: diag.Warning, Check: planCheck, Summary: fmt.Sprintf(
			"--device %s: only %s of %d were looked at; both ends of a link must agree before a class is lossless", o.Device,
			diag.Count(len(read), "device"), len(r.Names))})
	}
	p.Findings = append(p.Findings, waivers.Without(findings)...)
	p.Findings.Sort()
	return p, nil
}

// planCheck is the name under which a plan reports what it is not.
const planCheck = "plan"

// accepted counts the changes of differences that are accepted as drift.
func accepted(steps []plan.Step, w *check.Waivers) int {
	n := 0
	for _, s := range steps {
		for _, c := range s.Changes {
			if w.Cover(check.Drift, c.Addr) {
				n++
			}
		}
	}
	return n
}

// summaryOf counts what steps change.
func summaryOf(steps []plan.Step) plan.Summary {
	s := plan.Summary{Devices: len(steps)}
	for _, step := range steps {
		for _, change := range step.Changes {
			switch change.Action {
			case plan.Create:
				s.Create++
			case plan.Update:
				s.Update++
			case plan.Delete:
				s.Delete++
			}
		}
	}
	return s
}

// onEachCore does something for each of the names, for as many at once as there are processors, and waits for all.
func onEachCore(names []string, do func(i int, name string)) {
	var all errgroup.Group
	all.SetLimit(runtime.GOMAXPROCS(0))
	for i, name := range names {
		all.Go(func() error { do(i, name); return nil })
	}
	_ = all.Wait() // nothing of it fails
}

// steps works out what changes on each device. A device in order has no step.
func (r *Repo) steps(names []string, seen map[string]Observation) ([]plan.Step, diag.List) {
	steps, findings := make([]plan.Step, len(names)), make([]diag.List, len(names))
	onEachCore(names, func(i int, name string) {
		want, unsaid := r.bound[name].Write()
		step, refused := r.bound[name].Step(seen[name].State, want)
		steps[i], findings[i] = step, slices.Concat(unsaid, refused)
	})
	return slices.DeleteFunc(steps, func(s plan.Step) bool { return len(s.Changes) == 0 }), slices.Concat(findings...)
}

// SavePlan writes a plan to a file.
func SavePlan(name string, p plan.Plan) error {
	body, err := json.MarshalIndent(p, "", " ")
	if err != nil {
		return fmt.Errorf("save the plan: %w", err)
	}
	if err := os.WriteFile(name, append(body, '\n'), 0o600); err != nil {
		return fmt.Errorf("save the plan: %w", err)
	}
	return nil
}

// LoadPlan reads a plan that SavePlan wrote.
func LoadPlan(name string) (plan.Plan, error) {
	var p plan.Plan
	body, err := drivers.ReadFile(name, maxPlan)
	if err != nil {
		return p, fmt.Errorf("read the plan: %w", err)
	}
	if err := json.Unmarshal(body, &p); err != nil {
		return p, fmt.Errorf("%s is no plan of weir: %w", name, err)
	}
	if p.Format != plan.Format {
		return p, fmt.Errorf("%s has plan format %d; this weir reads format %d: make the plan again", name, p.Format, plan.Format)
	}
	p.Saved = true
	return p, nil
}
