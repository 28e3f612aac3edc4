package simulation

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/intent/plan"
)

// snapshot is what really is, at one moment, as nobody but the lab knows it.
type snapshot struct {
	states   map[string]plan.State
	configs  map[string][]string // in the devices' own words, line by line, without what they derive and what a person may change
	manifest plan.Manifest
}

// look takes a snapshot, with devices that answer everybody.
func (s *storm) look(ctx context.Context) (snapshot, error) {
	l := s.live(ctx, "judge@world")
	defer l.end()
	out := snapshot{states: map[string]plan.State{}, configs: map[string][]string{}}
	r, err := s.open(l, s.second)
	if err != nil {
		return out, err
	}
	if out.manifest, err = r.Store.Manifest(); err != nil {
		return out, err
	}
	for name, o := range r.Observe(ctx, r.Names, "", nil) {
		if o.Err != nil {
			return out, o.Err
		}
		out.states[name] = o.State
		if out.configs[name], err = s.config(name, o.State); err != nil {
			return out, err
		}
	}
	return out, nil
}

// config is the configuration of a device without the rows that it derives, and without what a person changes in a story.
func (s *storm) config(device string, state plan.State) ([]string, error) {
	body, err := s.lab.Config(device)
	if err != nil {
		return nil, err
	}
	if json.Valid(body) {
		var tables map[string]map[string]map[string]any
		if err := json.Unmarshal(body, &tables); err != nil {
			return nil, err
		}
		for _, l := range state.Derived {
			delete(tables[l.Path[0]], l.Path[1])
		}
		maps.DeleteFunc(tables, func(_ string, rows map[string]map[string]any) bool { return len(rows) == 0 })
		if body, err = json.MarshalIndent(tables, "", " "); err != nil {
			return nil, err
		}
	}
	return own(strings.Split(string(body), "\n")), nil
}

// own are the lines without what a person changes in a story.
func own(lines []string) []string {
	return slices.DeleteFunc(lines, func(line string) bool {
		return strings.Contains(line, "hostname") || strings.Contains(line, "foreign-") || strings.Contains(line, "other.conf")
	})
}

// leaves are the values of a state, whoever owns them.
func leaves(s plan.State) map[string]string {
	out := map[string]string{}
	for _, l := range slices.Concat(s.Owned, s.Foreign) {
		out[strings.Join(l.Path, " ")] = l.Value
	}
	return out
}

// differences lists what is in one map otherwise than in the other.
func differences(before, now map[string]string) []string {
	var out []string
	for path, value := range now {
		if old, there := before[path]; !there {
			out = append(out, fmt.Sprintf("%s = %q is new", path, value))
		} else if old != value {
			out = append(out, fmt.Sprintf("%s = %q, before %q", path, value, old))
		}
	}
	for path, old := range before {
		if _, there := now[path]; !there {
			out = append(out, fmt.Sprintf("%s is gone, before %q", path, old))
		}
	}
	slices.Sort(out)
	return out
}

// judge opens the changed repo for whoever judges, until end is called. One that cannot be opened is a violation, and nil.
func (s *storm) judge(ctx context.Context) (r *control.Repo, end func()) {
	l := s.live(ctx, "judge@world")
	r, err := s.open(l, s.second)
	if err != nil {
		s.violate("the repo cannot be opened: %v", err)
		r = nil
	}
	return r, l.end
}

// wantedNow are the devices that hold what the changed intent wants.
func (s *storm) wantedNow(ctx context.Context, truth snapshot) map[string]bool {
	out := map[string]bool{}
	r, end := s.judge(ctx)
	defer end()
	if r == nil {
		return out
	}
	for name, state := range truth.states {
		out[name] = len(r.Changes(name, state)) == 0
	}
	return out
}

// isMeddled says whether somebody has changed what is weir's on a device since a run last saw that it is as it should be.
func (s *storm) isMeddled(device string) bool {
	at, ok := s.meddled[device]
	return ok && !at.Before(s.settled[device])
}

// isBefore says whether a device is as it was before the storm, leaf for leaf and line for line.
func (s *storm) isBefore(device string, truth snapshot) bool {
	return len(differences(leaves(s.before.states[device]), leaves(truth.states[device]))) == 0 &&
		slices.Equal(s.before.configs[device], truth.configs[device])
}

// unlike names the first things in which a device differs from before.
func (s *storm) unlike(device string, truth snapshot) []string {
	d := differences(leaves(s.before.states[device]), leaves(truth.states[device]))
	was, is := s.before.configs[device], truth.configs[device]
	for _, line := range is {
		if !slices.Contains(was, line) {
			d = append(d, "new line "+strings.TrimSpace(line))
		}
	}
	for _, line := range was {
		if !slices.Contains(is, line) {
			d = append(d, "lost line "+strings.TrimSpace(line))
		}
	}
	if len(d) == 0 {
		d = append(d, fmt.Sprintf("%d lines, before %d", len(is), len(was)))
	}
	return d[:min(4, len(d))]
}

// backwards are the runs that undo another.
func (s *storm) backwards() map[string]bool {
	out := map[string]bool{}
	for _, r := range s.journal() {
		out[r.Name] = r.Verb == "rollback"
	}
	return out
}

// journal replays every run, oldest first. A journal that cannot be read is a violation.
func (s *storm) journal() []journal.Run {
	store := journal.Store{Dir: control.LabDir(s.dir), Disk: mounted{s.disk, s.newGate()}}
	names, err := store.Runs()
	if err != nil {
		s.violate("the runs cannot be listed: %v", err)
	}
	var runs []journal.Run
	for _, name := range names {
		r, err := store.Replay(name)
		if err != nil {
			s.violate("the journal cannot be read: %v", err)
		} else if r.Records > 0 {
			runs = append(runs, r)
		}
	}
	return runs
}

func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }
