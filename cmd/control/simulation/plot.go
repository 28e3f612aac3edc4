package simulation

import (
	"fmt"
	"slices"
	"time"

	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/drivers/sim"
)

// plot makes acts in which several things go wrong that are grave together: chance alone rarely brings them beside each other.
func (s *story) plot() {
	if s.two && !s.harmful && s.chance(0.5) {
		s.stopsInPart()
		return
	}
	pick(s, s.undoResisted, s.undoResisted, s.endsBeforeSaved, s.endsBeforeSaved, s.decisionRefused, s.decisionRefused, s.powerWhileSending, s.asleep,
		s.oneOfWave, s.oneOfWave, s.changedBeforeRollback, s.changedBeforeRollback, s.timerEnds, s.typedMeanwhile, s.usedByOthers, s.releasedMeanwhile,
		s.twoRecover, s.journalCut, s.undoUnwritten, s.undoUnwritten)()
}

// on is an event beside the records of a kind.
func (s *story) on(kind journal.Kind, nth int, what string, do func(*world, *life, journal.Record)) event {
	return event{kind: kind, nth: nth, what: what, do: do}
}

// wrongAtChange makes the device of the record, or the last one that the life has read back, do something wrong with what is sent next.
func (s *story) wrongAtChange(kind journal.Kind, nth, times int, kinds ...sim.FaultKind) event {
	f := sim.Fault{Kind: pick(s, kinds...), Times: times, For: pick(s, 0, 5*time.Minute), Delay: pick(s, 0, 2*time.Minute)}
	return s.on(kind, nth, fmt.Sprintf("%s on the next change", f.Kind), func(w *world, l *life, r journal.Record) {
		f.Device = r.Device
		if f.Device == "" {
			f.Device = l.reachedLast(r.Wave)
		}
		if f.Device == "" {
			return
		}
		if f.On = s.takesBy(f.Device); s.seed%4 == 0 && (f.Kind == sim.Reject || f.Kind == sim.Partial || f.Kind == sim.Drop) {
			f.On, f.After = sim.Session, int(s.seed/4)%4 // what it is asked beside the change itself
		}
		w.inject(f)
	})
}

// takesBy is the operation by which a device takes a change.
func (s *story) takesBy(device string) sim.Operation {
	if s.platform(device) == "eos" {
		return sim.Commit
	}
	return sim.Set
}

// failing is how a wave comes to be led back.
func (s *story) failing() event {
	switch s.rng.IntN(3) {
	case 0:
		return s.on(pick(s, journal.Sent, journal.Reached), 1+s.rng.IntN(2), "an interrupt", func(w *world, l *life, _ journal.Record) {
			w.count("interrupt")
			l.gate.stop()
		})
	case 1:
		return s.wrongAtChange(pick(s, journal.Pending, journal.Sent), 1, 1, sim.Reject, sim.Partial, sim.DropBefore, sim.Hang)
	}
	return s.on(journal.Reached, 1, "somebody changes what is weir's", func(w *world, _ *life, r journal.Record) { w.meddle(r.Device) })
}

// ending is the end of a life some effects after a record.
func (s *story) ending(kind journal.Kind, nth, most int, power float64) event {
	effects, at, lost := s.rng.IntN(most), pick(s, before, within, after), s.chance(power)
	return s.on(kind, nth, fmt.Sprintf("the life ends %v effect %d", at, effects), func(_ *world, l *life, _ journal.Record) { l.gate.condemn(effects, at, lost) })
}

// undoResisted leads a wave back on devices that do not do what they say.
func (s *story) undoResisted() {
	a := act{verb: "apply", events: []event{s.failing(),
		s.wrongAtChange(journal.Undoing, 1, 1+s.rng.IntN(4), sim.Ignore, sim.Ignore, sim.Lie, sim.Reject, sim.Partial, sim.Drop, sim.Hang, sim.Unsure)}}
	s.acts = append(s.acts, a)
	s.perhapsRecover()
}

// undoUnwritten leads a wave back on a disk that fails at some of what is written meanwhile.
func (s *story) undoUnwritten() {
	effects, how := 1+s.rng.IntN(3), pick(s, (*gate).fill, (*gate).lose, (*gate).forget)
	fails := s.on(pick(s, journal.Undoing, journal.Sent), 1, "the disk fails", func(_ *world, l *life, _ journal.Record) { how(l.gate, effects) })
	fails.undoing = true
	s.acts = append(s.acts, act{verb: "apply", events: []event{s.failing(), fails}})
	s.perhapsRecover()
}

// perhapsRecover is what an operator does who has seen how it ended.
func (s *story) perhapsRecover() {
	for s.chance(0.6) && len(s.acts) < 4 {
		s.acts = append(s.acts, act{verb: "recover"})
	}
}

// endsBeforeSaved ends the life between the verdict and the moment when the change outlives a restart, and restarts everything.
func (s *story) endsBeforeSaved() {
	s.acts = append(s.acts, act{verb: "apply", events: []event{s.ending(journal.Passed, 1+s.rng.IntN(2), 12, 0.2)}}, act{verb: "recover"})
	s.reboot = s.chance(0.7)
}

// decisionRefused refuses what ends a device's timer, or saves the change, after a good verdict.
func (s *story) decisionRefused() {
	a := act{verb: "apply", events: []event{s.wrongAtChange(journal.Passed, 1+s.rng.IntN(2), 1+s.rng.IntN(60), sim.Reject, sim.Reject, sim.Partial, sim.Ignore, sim.Hang, sim.Drop, sim.DropBefore)}}
	s.acts = append(s.acts, a)
	s.reboot = s.chance(0.6)
	s.perhapsRecover()
}

// powerWhileSending takes the power from the operator's machine while a device takes a change.
func (s *story) powerWhileSending() {
	kind := pick(s, journal.Before, journal.Pending, journal.Sending, journal.Sending, journal.Undoing)
	a := act{verb: "apply", events: []event{s.ending(kind, 1+s.rng.IntN(3), 6, 1)}}
	if kind == journal.Undoing {
		a.events = append(a.events, s.failing())
	}
	s.acts = append(s.acts, a)
	s.perhapsRecover()
}

// asleep puts the operator's machine to sleep, and lets somebody else take the lock meanwhile.
func (s *story) asleep() {
	kind := pick(s, journal.Before, journal.Pending, journal.Sent, journal.Reached, journal.Passed)
	span, next := time.Duration(3+s.rng.IntN(40))*time.Minute, pick(s, "recover", "recover", "apply")
	s.acts = append(s.acts, act{verb: "apply", events: []event{s.on(kind, 1+s.rng.IntN(2), "the machine sleeps", func(w *world, l *life, r journal.Record) {
		w.sleep(l, r, span, next)
	})}})
	s.perhapsRecover()
}

// oneOfWave changes one device of a wave of several after the verdict, and makes it hard to lead the others back.
func (s *story) oneOfWave() {
	s.wide = true
	reboot := s.chance(0.4)
	moved := s.on(pick(s, journal.Passed, journal.Passed, journal.Confirmed), 1, "one device of the wave changes", func(w *world, l *life, r journal.Record) {
		for _, d := range l.waveOf(r.Wave) {
			switch {
			case d == r.Device:
				continue
			case reboot:
				w.inject(sim.Fault{Kind: sim.Reboot, Device: d, For: 10 * time.Second})
			default:
				w.meddle(d)
			}
			return
		}
	})
	moved.several = true
	a := act{verb: "apply", events: []event{moved}}
	if s.chance(0.6) {
		a.events = append(a.events, s.wrongAtChange(journal.Undoing, 1, 3+s.rng.IntN(3), sim.Reject, sim.Ignore, sim.DropBefore))
	}
	if s.chance(0.4) {
		a.events = append(a.events, s.ending(journal.Undoing, 1, 8, 0.3))
	}
	s.acts = append(s.acts, a)
	if s.chance(0.5) {
		s.acts = append(s.acts, act{verb: "recover", events: []event{s.ending(pick(s, journal.Undoing, journal.Stuck, journal.Undone), 1, 6, 0.3)}})
	}
	s.perhapsRecover()
}

// changedBeforeRollback has the fabric changed between a run and its rollback: by a further change of the intent, or by hand.
func (s *story) changedBeforeRollback() {
	back := act{verb: "rollback"}
	if s.chance(0.4) {
		back.events = append(back.events, s.event("rollback"))
	}
	device := s.touched()
	switch s.rng.IntN(3) {
	case 0:
		back.events = append(back.events, s.on(journal.Started, 1, "somebody changes what is weir's on "+device, func(w *world, _ *life, _ journal.Record) { w.meddle(device) }))
		s.acts = append(s.acts, act{verb: "apply"}, back)
	default:
		back.back = pick(s, 0, 1, 1)
		s.acts = append(s.acts, act{verb: "apply"}, act{verb: "apply later"}, back)
	}
	s.perhapsRecover()
}

// timerEnds lets a device undo by its own timer what weir is about to keep.
func (s *story) timerEnds() {
	var faults []sim.Fault
	for _, d := range s.change.devices {
		if s.platform(d) == "eos" {
			delay := pick(s, time.Second, 20*time.Second, time.Minute, 3*time.Minute)
			faults = append(faults, sim.Fault{Kind: pick(s, sim.Revert, sim.Revert, sim.Revert, sim.Hang), Device: d, On: sim.Timer, Delay: delay, Times: 1 + s.rng.IntN(3)})
		}
	}
	s.acts = append(s.acts, act{verb: "apply", faults: faults})
	s.perhapsRecover()
}

// stopsInPart takes the way of one of two classes at a neighbour while a wave is judged.
func (s *story) stopsInPart() {
	s.settle.Blind, s.traffic = false, sim.Steady
	switches := slices.DeleteFunc(s.devices(), func(d string) bool { return s.platform(d) == "linux" })
	device := pick(s, switches...)
	a := act{verb: "apply", events: []event{s.on(pick(s, journal.Sending, journal.Reached), 1+s.rng.IntN(2), "a class loses its way at "+device, func(w *world, _ *life, _ journal.Record) { w.divert(device) })}}
	for _, d := range s.change.devices {
		if s.chance(0.5) {
			a.faults = append(a.faults, sim.Fault{Kind: sim.Slow, Device: d, On: s.takesBy(d), Delay: 50 * time.Second})
		}
	}
	s.acts = append(s.acts, a)
}

// turns are what goes wrong in one seed after the other, so that nothing is rare.
var turns = []string{
	string(sim.Reject), string(sim.Hang), string(sim.Slow), string(sim.Drop), string(sim.DropBefore), string(sim.Partial), string(sim.Ignore), string(sim.Lie),
	string(sim.Unsure), string(sim.Revert), string(sim.Reboot), string(sim.Cut), string(sim.Refuse), string(sim.BlackHole), string(sim.Latency),
	"power", "full", "clock", "failed", "not forced", "clock", "interrupt", "second", "cut off", "asleep",
	string(sim.Slow), string(sim.Ignore), string(sim.Drop), string(sim.Latency), string(sim.Lie), string(sim.Unsure), string(sim.Revert), string(sim.Reboot), string(sim.Cut), "second", "stranger", "stranger",
	string(sim.Reject), string(sim.Partial), string(sim.Ignore), string(sim.Unsure), string(sim.Unsure), string(sim.BlackHole), "cut off", "not forced", "failed",
}

func turnOf(n uint64) string { return turns[n%uint64(len(turns))] }

// turn is an act in which that goes wrong whose turn it is, as early as it can.
func (s *story) turn(n uint64, verb string, devices []string) {
	kind := turnOf(n)
	device := devices[0]
	able := func(platform string) bool {
		i := slices.IndexFunc(devices, func(d string) bool { return s.platform(d) == platform })
		if i >= 0 {
			device = devices[i]
		}
		return i >= 0
	}
	a := act{verb: verb}
	at := s.on(pick(s, journal.Before, journal.Pending, journal.Sending), 1, kind, nil)
	switch f := (sim.Fault{Kind: sim.FaultKind(kind), Device: device, On: s.takesBy(device)}); kind {
	case string(sim.Unsure), string(sim.Partial), string(sim.Revert):
		platform := map[string]string{string(sim.Unsure): "linux", string(sim.Revert): "eos"}[kind]
		if platform != "" && !able(platform) {
			return
		}
		if f.Device, f.On = device, s.takesBy(device); kind == string(sim.Revert) {
			f.On, f.Delay = sim.Timer, pick(s, time.Second, 30*time.Second, 2*time.Minute)
		}
		a.faults = append(a.faults, f)
	case "power":
		at = s.ending(at.kind, 1, 4, 1)
	case "full":
		at.kind = pick(s, journal.Started, journal.Marking, journal.Before, journal.Pending)
		at.do = func(_ *world, l *life, _ journal.Record) { l.gate.fill(1 + int(s.seed/7)%4) }
	case "failed":
		at.do = func(_ *world, l *life, _ journal.Record) { l.gate.lose(1 + int(s.seed/7)%6) }
	case "not forced":
		at.do = func(_ *world, l *life, _ journal.Record) { l.gate.forget(1 + int(s.seed/7)%2) }
	case "clock":
		d := pick(s, -time.Hour, -time.Minute, time.Minute, 25*time.Hour)
		at.do = func(w *world, _ *life, _ journal.Record) { w.jump(d) }
	case "interrupt":
		at.do = func(w *world, l *life, _ journal.Record) { w.count("interrupt"); l.gate.stop() }
	case "stranger":
		at.do = func(w *world, _ *life, _ journal.Record) { w.meanwhile() }
	case "second":
		who, verb := pick(s, "other@b", "other@a"), pick(s, "apply", "recover", "recover")
		at.do = func(w *world, _ *life, _ journal.Record) { w.second(who, verb) }
	case "cut off":
		at.do = func(w *world, _ *life, _ journal.Record) { w.cutOff(device, 10*time.Minute) }
	case "asleep":
		at.kind = journal.Pending
		span := time.Duration(3+s.rng.IntN(40)) * time.Minute
		at.do = func(w *world, l *life, r journal.Record) { w.sleep(l, r, span, "recover") }
	default:
		f.For = pick(s, 5*time.Second, time.Minute)
		a.faults = append(a.faults, f)
	}
	if at.do != nil {
		a.events = append(a.events, at)
	}
	s.acts = append(s.acts, a)
}

// typedMeanwhile has somebody type lines of his own while weir changes the device, and leads the wave back.
func (s *story) typedMeanwhile() {
	a := act{verb: "apply", events: []event{
		s.on(pick(s, journal.Sent, journal.Reached), 1, "somebody types lines of his own", func(w *world, _ *life, r journal.Record) { w.typed(r.Device) }),
		s.on(journal.Reached, 1, "an interrupt", func(w *world, l *life, _ journal.Record) {
			w.count("interrupt")
			l.gate.stop()
		}),
	}}
	s.acts = append(s.acts, a)
	s.perhapsRecover()
}

// usedByOthers has somebody use an object of weir's for a port of his own, before a run or within it.
func (s *story) usedByOthers() {
	use := s.on(pick(s, journal.Started, journal.Sent, journal.Confirmed), 1, "somebody uses what is weir's", func(w *world, _ *life, r journal.Record) {
		for _, d := range s.devices() {
			if r.Device == "" || r.Device == d {
				w.use(d)
			}
		}
	})
	s.acts = append(s.acts, act{verb: "apply", events: []event{use}}, act{verb: pick(s, "apply later", "rollback")})
}

// releasedMeanwhile has somebody release a device that left the inventory, who opened the repo before another one's run ended.
func (s *story) releasedMeanwhile() {
	at := s.on(pick(s, journal.Started, journal.Before, journal.Sent), 1, "somebody else releases a device", func(w *world, _ *life, _ journal.Record) { w.second("other@b", "release") })
	s.acts = append(s.acts, act{verb: "apply", events: []event{at}})
}

// twoRecover has two operators end the same run.
func (s *story) twoRecover() {
	who := pick(s, "other@a", "other@b")
	s.acts = append(s.acts, act{verb: "apply", events: []event{s.ending(pick(s, journal.Sent, journal.Reached, journal.Passed), 1, 6, 0)}},
		act{verb: "recover", events: []event{s.on(pick(s, journal.Undoing, journal.Pending, journal.Sending, journal.Confirmed), 1, "another recovers it too", func(w *world, _ *life, _ journal.Record) {
			w.second(who, "recover")
		})}})
}

// journalCut takes the last records from the journal of a run that was cut off, as somebody does who restores an old copy of it. With
// the power the end of its index would be gone as well, and nothing would tell.
func (s *story) journalCut() {
	records := 1 + s.rng.IntN(4)
	s.acts = append(s.acts, act{verb: "apply", events: []event{s.ending(pick(s, journal.Sent, journal.Reached, journal.Passed, journal.Confirmed), 1+s.rng.IntN(2), 6, 0)}},
		act{verb: "cut", back: records}, act{verb: "recover"}, act{verb: "repair"}, act{verb: "recover"})
}
