package control

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/weirfabric/weir/drivers/apply"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/plan"
)

// AlteredError says that a saved plan is not the one that weir makes of the same repo and the same devices: it was edited, or made
// by another version of weir.
type AlteredError struct {
	What string // the first thing that differs
}

func (e *AlteredError) Error() string {
	return "the plan is not the one that weir makes of this repo and these devices: " + e.What + ". It was edited, or another version of weir made it: make a new plan"
}

// Named are the devices of a plan, each once.
func Named(p plan.Plan) []string {
	var names []string
	for _, s := range slices.Concat(p.Waves...) {
		if !slices.Contains(names, s.Device) {
			names = append(names, s.Device)
		}
	}
	return names
}

// Remake makes the steps of a saved plan again, from the intent and what is read of its devices now. Nothing of a file is sent: it
// says what was agreed to, and is compared; devices that it leaves out stay out, which is for the caller to tell loudly. An error of kind *apply.StaleError says that devices changed, an *AlteredError that
// the file says otherwise, ErrMoved that the repo does. A device that is as wanted meanwhile is left out.
func (r *Repo) Remake(p plan.Plan, seen map[string]Observation) (plan.Plan, error) {
	if p.Intent != r.Digest {
		return plan.Plan{}, ErrMoved
	}
	most := 0
	for _, wave := range p.Waves {
		most = max(most, len(wave))
	}
	var again plan.Plan
	for _, size := range []int{0, most} { // a plan does not say how large its waves may be: no limit, or that of its largest
		var err error
		if again, err = r.Plan(Named(p), seen, PlanOptions{WaveSize: size}); err != nil {
			return plan.Plan{}, err
		}
		if err = r.same(p, again, seen); err == nil {
			again.ID, again.Commit, again.Skipped, again.Saved = p.ID, p.Commit, p.Skipped, p.Saved
			return again, nil
		}
		if altered := (*AlteredError)(nil); !errors.As(err, &altered) || size == most {
			return plan.Plan{}, err
		}
	}
	return again, nil
}

// same says why a plan is not the one that was made again.
func (r *Repo) same(p, again plan.Plan, seen map[string]Observation) error {
	made := map[string]plan.Step{}
	for _, s := range slices.Concat(again.Waves...) {
		made[s.Device] = s
	}
	stale := &apply.StaleError{Moved: map[string][]string{}}
	var waves [][]plan.Step
	for _, wave := range p.Waves {
		var left []plan.Step
		for _, s := range wave {
			moved := apply.Moved(s, seen[s.Device].State)
			_, changes := made[s.Device]
			switch {
			case moved != nil && changes:
				stale.Moved[s.Device] = moved
			case moved == nil || changes:
				left = append(left, s)
			}
		}
		if len(left) > 0 {
			waves = append(waves, left)
		}
	}
	if len(stale.Moved) > 0 {
		return stale
	}
	if len(waves) != len(again.Waves) {
		return &AlteredError{fmt.Sprintf("it has %s where weir makes %d", diag.Count(len(waves), "wave"), len(again.Waves))}
	}
	for n := range waves {
		if len(waves[n]) != len(again.Waves[n]) {
			return &AlteredError{fmt.Sprintf("its wave %d has %s where weir makes %d", n+1, diag.Count(len(waves[n]), "device"), len(again.Waves[n]))}
		}
		for i, s := range waves[n] {
			if what := differs(s, again.Waves[n][i]); what != "" {
				return &AlteredError{fmt.Sprintf("%s: %s", diag.Excerpt(s.Device), what)}
			}
		}
	}
	return nil
}

// placeless is a step whose changes do not say which lines of the repo ask for them: a comment moves those, and no plan is stale
// for it. What is shown and agreed to are the places of the step that was made again.
func placeless(s plan.Step) plan.Step {
	s.Changes = slices.Clone(s.Changes)
	for i := range s.Changes {
		s.Changes[i].Because = nil
	}
	return s
}

// differs names the first part of a step that is not that of another; empty where they are the same.
func differs(s, made plan.Step) string {
	s, made = placeless(s), placeless(made)
	for _, part := range []struct {
		what string
		a, b any
	}{
		{"another device stands in its place", s.Device, made.Device},
		{"what is sent, or what undoes it, differs", s.Chunks, made.Chunks},
		{"what makes it persistent differs", s.Persist, made.Persist},
		{"what is asked about its quiet differs", s.Quiet, made.Quiet},
		{"the changes that it shows differ", s.Changes, made.Changes},
		{"the way that it takes differs", s.Route, made.Route},
		{"the timer differs", s.Confirm, made.Confirm},
	} {
		if !alike(part.a, part.b) {
			return part.what
		}
	}
	if !alike(s, made) {
		return "the step differs"
	}
	return ""
}

// alike compares two values as a plan file has them; an empty list is like none.
func alike(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && (bytes.Equal(x, y) || len(x) <= 4 && len(y) <= 4 && bytes.ContainsAny(x, "[n") && bytes.ContainsAny(y, "[n"))
}
