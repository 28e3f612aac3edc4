package simulation

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/drivers/apply/journal"
)

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
	s.takenBack()
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
	for device, ports := range s.facing {
		for _, p := range ports {
			if c, err := s.lab.Counters(device, p.name); err == nil {
				r.Packets += c.OutPackets
			}
		}
	}
	r.Reached = r.Reached || s.counts["event"] > 0
	return r
}
