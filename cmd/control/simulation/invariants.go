package simulation

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/drivers/sim"
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

// calm ends the storm: devices and networks are well again, recover ends what is open, and every invariant must hold.
func (s *storm) calm(ctx context.Context) {
	s.note("the storm is over")
	for _, d := range s.devices() {
		if err := s.lab.Heal(d); err != nil {
			s.violate("heal %s: %v", d, err)
		}
	}
	time.Sleep(30 * time.Minute) // every timer of a device is over then
	if s.reboot {
		s.note("every device restarts")
		for _, d := range s.devices() {
			if err := s.lab.Reboot(d); err != nil {
				s.violate("reboot %s: %v", d, err)
			}
		}
		time.Sleep(30 * time.Minute)
	}
	truth, err := s.look(ctx)
	if err != nil {
		s.violate("the devices cannot be read after the storm: %v", err)
		return
	}
	wanted := s.wantedNow(ctx, truth)
	s.outcomes(truth, wanted)
	s.losses()
	if !s.recovered(ctx) {
		return
	}
	if truth, err = s.look(ctx); err != nil {
		s.violate("the devices cannot be read after recover: %v", err)
		return
	}
	wanted = s.wantedNow(ctx, truth)
	s.waves(ctx, truth, wanted)
	s.foreign(truth)
	s.claims(ctx, truth, wanted)
	s.harmless(wanted)
	s.secrets()
	s.markers(ctx)
	if !s.harmful && len(s.used) == 0 && s.counts["stranger"] == 0 { // what others use or have marked is left alone
		s.goesOn(ctx)
	}
}

// harmless checks that a change under which the class loses packets does not stay.
func (s *storm) harmless(wanted map[string]bool) {
	if !s.harmful || !wanted["leaf1"] {
		return
	}
	since := s.lab.Now()
	time.Sleep(10 * time.Minute)
	for _, l := range s.lab.Lost(since) {
		if l.RDMA >= 1 {
			s.violate("a change under which the class loses packets has stayed on leaf1")
			return
		}
	}
}

// markers checks that no device is marked when all runs have ended. It is looked at in some seeds, since it takes a login each.
func (s *storm) markers(ctx context.Context) {
	if s.seed%4 > 0 || s.counts["stranger"] > 0 {
		return
	}
	l := s.live(ctx, "judge@world")
	defer l.end()
	r, err := s.open(l, s.second)
	if err != nil {
		s.violate("the repo cannot be opened: %v", err)
		return
	}
	told := map[string]bool{} // devices whose marker could not be removed then, and goes with the next run
	for _, e := range s.endings {
		for _, l := range e.result.Marked {
			told[l.Device] = true
		}
	}
	for _, d := range s.devices() {
		if told[d] {
			continue
		}
		target, err := r.Dial(ctx, d)
		if err == nil {
			err = s.unmarked(ctx, target, d)
		}
		if err != nil {
			s.violate("%s: %v", d, err)
		}
	}
}

func (s *storm) unmarked(ctx context.Context, target drivers.Target, device string) error {
	marking, ok := target.(drivers.Marking)
	if !ok {
		return target.Close()
	}
	standing, err := marking.Markers(ctx)
	if len(standing) > 0 {
		s.violate("%s: a marker stands, and no run: %v", device, standing)
	}
	return errors.Join(err, target.Close())
}

// secrets checks that no password is in what weir has written.
func (s *storm) secrets() {
	_, password := s.lab.Credentials()
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	for name, c := range s.disk.files {
		if bytes.Contains(c.body, []byte(password)) {
			s.violate("%s holds the password of the devices", name)
		}
	}
}

// wantedNow are the devices that hold what the changed intent wants.
func (s *storm) wantedNow(ctx context.Context, truth snapshot) map[string]bool {
	out := map[string]bool{}
	l := s.live(ctx, "judge@world")
	defer l.end()
	r, err := s.open(l, s.second)
	if err != nil {
		s.violate("the repo cannot be opened: %v", err)
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

// outcomes checks that what the lives said of devices is true, as far as no later life touched them.
func (s *storm) outcomes(truth snapshot, wanted map[string]bool) {
	slices.SortStableFunc(s.endings, func(a, b ending) int { return a.ended.Compare(b.ended) })
	backwards := s.backwards()
	last := map[string]int{}
	for i, e := range s.endings {
		if e.died || e.err != nil && !e.ran {
			for _, step := range slices.Concat(e.plan.Waves...) {
				delete(last, step.Device)
			}
			if e.verb != "apply" {
				clear(last)
			}
			continue
		}
		for _, d := range e.result.Devices {
			last[d.Device] = i
		}
		s.whole(e)
	}
	for i, e := range s.endings {
		if slices.Contains(s.later.runs, e.result.Run) {
			continue // what it calls before is something else
		}
		back := backwards[e.result.Run]
		for _, d := range e.result.Devices {
			if at, ok := last[d.Device]; !ok || at != i {
				continue
			}
			before := s.isBefore(d.Device, truth)
			forward, backward := d.Outcome == control.Applied, d.Outcome == control.AsBefore
			if back {
				forward, backward = backward, forward
			}
			if s.lied[d.Device] || s.exempt[d.Device] {
				continue
			}
			if s.isMeddled(d.Device) {
				continue // what it is now is somebody else's doing
			}
			switch {
			case forward && !wanted[d.Device]:
				s.violate("%s said of %s %q, and it does not hold what was wanted", e.life, d.Device, d.Outcome)
			case backward && !before:
				s.violate("%s said of %s %q, and it is not as before: %v", e.life, d.Device, d.Outcome, s.unlike(d.Device, truth))
			}
		}
	}
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

// whole checks that the outcome of a run agrees with those of its devices.
func (s *storm) whole(e ending) {
	if !e.ran {
		return
	}
	count := map[control.Outcome]int{}
	for _, d := range e.result.Devices {
		count[d.Outcome]++
	}
	planned := len(slices.Concat(e.plan.Waves...))
	switch e.result.Outcome {
	case control.Applied:
		if e.verb == "apply" && count[control.Applied] != planned {
			s.violate("%s says that the run is applied, and %d of %d devices are", e.life, count[control.Applied], planned)
		}
	case control.Incomplete:
		if e.verb == "apply" && (count[control.Applied] == 0 || count[control.Applied] == planned) {
			s.violate("%s says that the run is incomplete, and %d of %d devices are applied", e.life, count[control.Applied], planned)
		}
	case control.AsBefore:
		if count[control.Applied] > 0 {
			s.violate("%s says that the run is as before, and %d devices are applied", e.life, count[control.Applied])
		}
	}
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

// recovered runs weir recover until nothing is open. It says whether that came to an end.
func (s *storm) recovered(ctx context.Context) bool {
	l := s.live(ctx, "op@a")
	r, err := s.open(l, s.second)
	if err == nil { // the other machine was looked at: nothing runs there any more
		err = r.Store.Break("the storm is over")
	}
	l.end()
	if err != nil {
		s.violate("the lock cannot be given back: %v", err)
	}
	var last ending
	for range 4 {
		last = s.do(ctx, "op@a", s.second, act{verb: "recover"}, control.Settle{Blind: true})
		if last.err == nil && !last.ran {
			return true
		}
		time.Sleep(10 * time.Minute)
	}
	s.violate("recover does not come to an end: %s, %s, %v", last.result.Outcome, last.result.Why, last.err)
	return false
}

// waves checks that each wave that no later run touched is whole or undone.
func (s *storm) waves(_ context.Context, truth snapshot, wanted map[string]bool) {
	runs := s.journal()
	touched := map[string]bool{}
	for i := len(runs) - 1; i >= 0; i-- {
		if s.rolled && i == 0 {
			break // the rollout before the story
		}
		r := runs[i]
		if r.Damage != "" {
			s.violate("the journal of %s is damaged: %s", r.Name, r.Damage)
		}
		for n, w := range r.Waves {
			var forward, backward, neither []string
			for _, d := range w.Devices {
				before := s.isBefore(d.Name, truth)
				switch {
				case touched[d.Name] || s.isMeddled(d.Name) || s.lied[d.Name] || s.exempt[d.Name]:
				case wanted[d.Name] && !before:
					forward = append(forward, d.Name)
				case before && !wanted[d.Name]:
					backward = append(backward, d.Name)
				case !before:
					neither = append(neither, d.Name)
				}
			}
			if len(forward) > 0 && len(backward) > 0 {
				s.violate("wave %d of %s is half done: %v are as wanted, %v as before", n+1, r.Name, forward, backward)
			}
			for _, d := range neither {
				s.violate("%s of wave %d of %s is neither as wanted nor as before: %v", d, n+1, r.Name, s.unlike(d, truth))
			}
		}
		for _, w := range r.Waves {
			for _, d := range w.Devices {
				touched[d.Name] = true
			}
		}
	}
	for d := range truth.states {
		if _, meddled := s.meddled[d]; !touched[d] && !meddled && !s.exempt[d] && !s.isBefore(d, truth) {
			s.violate("%s was in no run, and is not as before: %v", d, s.unlike(d, truth))
		}
	}
}

// foreign checks that nothing changed that is not weir's.
func (s *storm) foreign(truth snapshot) {
	for device, now := range truth.states {
		was := map[string]string{}
		if _, meddled := s.meddled[device]; meddled {
			continue
		}
		for _, l := range s.before.states[device].Foreign {
			was[strings.Join(l.Path, " ")] = l.Value
		}
		is := leaves(now)
		for path, value := range was {
			if is[path] != value {
				s.violate("%s: %s was %q, is %q and is not weir's", device, path, value, is[path])
			}
		}
	}
	for _, u := range s.used {
		now, there := s.rows(u.device, "WRED_PROFILE")[u.profile]
		if _, meddled := s.meddled[u.device]; !meddled && (!there || fmt.Sprint(now) != fmt.Sprint(u.fields)) {
			s.violate("%s: %s was changed while somebody else's row uses it", u.device, u.profile)
		}
	}
	if s.reboot || s.lab.Met()[sim.Reboot] > 0 {
		return // what a person did not make persistent is lost with a restart
	}
	for _, d := range s.edits {
		if body, err := s.lab.Config(d); err == nil && !strings.Contains(string(body), "foreign-") {
			s.violate("%s: what somebody else had set is gone", d)
		}
	}
	for _, d := range s.typedOn {
		if body, err := s.lab.Config(d); err == nil && !strings.Contains(string(body), "foreign-") && s.attended() && !s.toldOf(d) {
			s.violate("%s: what somebody typed meanwhile is gone, and nobody was told", d)
		}
	}
}

// attended says that weir was there all the time, so that no timer of a device ended without its knowledge.
func (s *storm) attended() bool {
	met := s.lab.Met()
	return s.counts["killed"]+s.counts["power lost"]+s.counts["asleep"]+s.counts["cut off"]+met[sim.Revert]+met[sim.Hang]+met[sim.BlackHole]+met[sim.Refuse] == 0
}

// toldOf says whether somebody was told of lines that a device lost.
func (s *storm) toldOf(device string) bool {
	return slices.ContainsFunc(s.endings, func(e ending) bool {
		return slices.ContainsFunc(e.result.Devices, func(d control.DeviceResult) bool { return d.Device == device && len(d.Lost) > 0 })
	})
}

// claims checks that the manifest says what is weir's.
func (s *storm) claims(ctx context.Context, truth snapshot, wanted map[string]bool) {
	l := s.live(ctx, "judge@world")
	defer l.end()
	r, err := s.open(l, s.second)
	if err != nil {
		s.violate("the repo cannot be opened: %v", err)
		return
	}
	for device := range truth.states {
		before, has := s.isBefore(device, truth), truth.manifest[device]
		switch {
		case s.released[device] || s.exempt[device]:
		case before && !wanted[device] && !slices.Equal(sorted(s.before.manifest[device]), sorted(has)):
			s.violate("%s is as before, and weir claims %v, before %v", device, has, s.before.manifest[device])
		case wanted[device] && !before:
			for _, leaf := range r.Wanted(device) {
				if leaf.Object != "" && !slices.Contains(has, leaf.Object) {
					s.violate("%s is as wanted, and weir does not claim %s", device, leaf.Object)
					break
				}
			}
		}
	}
}

func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }

// goesOn checks that the next apply works, and leaves nothing to do.
func (s *storm) goesOn(ctx context.Context) {
	e := s.do(ctx, "op@a", s.second, act{verb: "apply"}, control.Settle{Blind: true})
	if e.err != nil || e.ran && e.result.Outcome != control.Applied {
		s.violate("the next apply does not work: %s, %s, %v", e.result.Outcome, e.result.Why, e.err)
		return
	}
	truth, err := s.look(ctx)
	if err != nil {
		s.violate("the devices cannot be read at the end: %v", err)
		return
	}
	for d, ok := range s.wantedNow(ctx, truth) {
		if !ok {
			s.violate("%s does not hold what is wanted after the last apply", d)
		}
	}
}

// losses checks that the class lost nothing that no plan announced and no fault explains.
func (s *storm) losses() {
	met := s.lab.Met()
	if !s.rolled || s.announced || s.harmful || len(s.meddled) > 0 || met["reboot"] > 0 || s.traffic == "quiet" {
		return
	}
	s.world.mu.Lock()
	s.world.counts["losses judged"]++
	s.world.mu.Unlock()
	for _, l := range s.lab.Lost(s.stormed) {
		if l.RDMA >= 1 {
			s.violate("the class lost %.0f packets at %s/%s, and no plan announced that", l.RDMA, l.Device, l.Port)
		}
	}
}

func (s *storm) report() Report {
	r := Report{Seed: s.seed, Story: s.story.String(), Log: s.log(), Violations: s.violations, Counts: maps.Clone(s.counts), Virtual: time.Since(s.began)}
	for kind, n := range s.lab.Met() {
		r.Counts[string(kind)] += n
		r.Reached = r.Reached || n > 0
	}
	for _, run := range s.journal() {
		r.Runs++
		for _, w := range run.Waves {
			if slices.ContainsFunc(w.Devices, func(d journal.Device) bool { return d.Phase == journal.Undone || d.Phase == journal.Undoing }) {
				r.Undone++
			}
		}
	}
	r.Reached = r.Reached || s.counts["event"] > 0
	return r
}
