package journal

import (
	"fmt"
	"slices"
)

// Replay says what the records of a run mean, from the first on; it is the only place that knows. Any sequence has a meaning:
// what no run writes is named in Damage, and the rest is read as well as it can be. The run shares documents with the records.
func Replay(records []Record) Run {
	var p replay
	for _, rec := range records {
		if damage := p.add(rec); damage != "" && p.Damage == "" {
			p.Damage = fmt.Sprintf("record %d (%s): %s", p.Records, rec.Kind, damage)
		}
	}
	for _, w := range p.Waves {
		p.Stays = p.Stays || slices.ContainsFunc(w.Devices, func(d Device) bool { return d.Outcome == Applied })
	}
	p.Recovery = Undo
	if p.Last < len(p.Waves) {
		switch w := p.Waves[p.Last]; {
		case w.Ended:
			p.Recovery = Nothing
		case w.Passed:
			p.Recovery = Finish
		}
	}
	return p.Run
}

// replay is a run while its records are read.
type replay struct {
	Run
	index []map[string]int // device -> its place in the wave
}

// add gives what is wrong with the record after those before it; empty: nothing.
func (p *replay) add(rec Record) (damage string) {
	first, closed := p.Records == 0, p.Ended
	p.Records++
	p.Ended, p.Outcome, p.Why = rec.Kind == Ended, "", ""
	if first {
		p.start(rec)
	}
	switch {
	case rec.Kind == Ended:
		p.Outcome, p.Why = rec.Outcome, rec.Text
		return ""
	case closed:
		damage = "the run had ended"
	case first != (rec.Kind == Started):
		damage = "a run is started by its first record, and only by it"
	}
	if rec.Kind == Started {
		return damage
	}
	if rec.Wave < 0 || rec.Wave >= len(p.Waves) {
		return fmt.Sprintf("the run has no wave %d", rec.Wave)
	}
	if rec.Kind == Marking || rec.Kind == Unmarked {
		return p.mark(rec, damage)
	}
	p.Repaired = p.Repaired || rec.Kind == Repaired
	if order := p.enter(rec.Wave); damage == "" {
		damage = order
	}
	w := &p.Waves[rec.Wave]
	var wrong string
	switch rec.Kind {
	case Passed:
		wrong = w.pass()
	case Repaired:
		p.repair(rec)
	case WaveEnded:
		wrong = w.end()
	default:
		i, ok := p.index[rec.Wave][rec.Device]
		if !ok {
			wrong = fmt.Sprintf("wave %d has no device %q", rec.Wave, rec.Device)
			break
		}
		if rec.Kind == Confirmed && !w.Passed {
			wrong = "the wave has no good verdict"
		}
		if w.Ended {
			wrong = "the wave had ended"
		}
		if own := w.Devices[i].add(rec); own != "" {
			wrong = own
		}
		p.Sent = p.Sent || rec.Kind == Pending
		if rec.Kind == Undoing || rec.Kind == Undone {
			w.Passed, w.Undoing = false, true
		}
	}
	if damage == "" {
		damage = wrong
	}
	return damage
}

// mark notes whether the run's marker stands on a device. It may come off whenever the run is not over, and says nothing of how far
// the run is.
func (p *replay) mark(rec Record, damage string) string {
	i, ok := p.index[rec.Wave][rec.Device]
	if !ok {
		if damage == "" {
			damage = fmt.Sprintf("wave %d has no device %q", rec.Wave, rec.Device)
		}
		return damage
	}
	p.Waves[rec.Wave].Devices[i].Marked = rec.Kind == Marking
	return damage
}

// start reads what the first record says of the run.
func (p *replay) start(rec Record) {
	p.Verb, p.Of, p.Plan, p.Content, p.Begun = rec.Verb, rec.Of, rec.Plan, rec.Content, rec.At
	if rec.Audit != nil {
		p.Audit = *rec.Audit
	}
	for n, names := range rec.Devices {
		w, index := Wave{}, map[string]int{}
		for _, name := range names {
			index[name] = len(w.Devices)
			w.Devices = append(w.Devices, Device{Name: name, Wave: n})
		}
		p.Waves, p.index = append(p.Waves, w), append(p.index, index)
	}
}

// enter makes n the last wave where it is a later one. Waves come one after the other.
func (p *replay) enter(n int) (damage string) {
	switch {
	case n < p.Last:
		return fmt.Sprintf("wave %d was begun", p.Last)
	case n > p.Last && (n > p.Last+1 || !p.Waves[p.Last].Ended) && !p.Repaired:
		damage = fmt.Sprintf("wave %d had not ended", n-1)
	}
	p.Last = n
	return damage
}

// repair notes that records are lost: what they were about is in doubt, and a good verdict counts no more.
func (p *replay) repair(rec Record) {
	for n := range p.Waves[:rec.Wave+1] {
		w := &p.Waves[n]
		if w.Ended {
			continue
		}
		w.Passed, w.Undoing = false, true
		for i := range w.Devices {
			d := &w.Devices[i]
			d.Doubt = d.Doubt || slices.Contains(rec.Lost, d.Name)
		}
	}
}

func (w *Wave) pass() (damage string) {
	if w.Undoing {
		return "the wave was being undone"
	}
	if slices.ContainsFunc(w.Devices, func(d Device) bool { return d.Phase != Reached }) {
		damage = "not every device was read back"
	}
	w.Passed = true
	return damage
}

func (w *Wave) end() (damage string) {
	if slices.ContainsFunc(w.Devices, func(d Device) bool { return d.Outcome != Applied }) {
		damage = "not every device is confirmed"
	}
	w.Ended = true
	return damage
}

func (d *Device) add(rec Record) (damage string) {
	if d.Known == (rec.Kind == Before) {
		damage = "what the device was before is written down once, and first"
	}
	switch rec.Kind {
	case Before:
		if !d.Known {
			d.Known, d.Before, d.Objects, d.Rest = true, rec.Owned, rec.Objects, rec.Rest
		}
	case Validated: // nothing was sent
		return damage
	case Pending:
		if rec.Pending == nil {
			return "it does not say what is sent"
		}
		d.Pending, d.Timer, d.Chunks = rec.Pending, !rec.Pending.Deadline.IsZero(), 0
		d.Changes = append(d.Changes, rec.Changes...)
	case Sending:
	case Sent:
		d.Chunks = rec.Chunk + 1
	case Reached:
		d.Reached, d.Parts, d.Lines = rec.Digest, rec.Parts, rec.Lines
	case Confirmed:
		d.Timer, d.Outcome = false, Applied
	case Undoing:
		d.Outcome = ""
	case Undone:
		d.Pending, d.Timer, d.Outcome, d.Doubt = nil, false, AsBefore, false
	case Stuck:
		d.Outcome, d.Why, d.Leaves = "", rec.Text, rec.Leaves
	default:
		return fmt.Sprintf("there is no record %q", rec.Kind)
	}
	if sending := rec.Kind == Pending || rec.Kind == Sending || rec.Kind == Sent; !sending || d.Phase != Undoing {
		d.Phase = rec.Kind
	}
	return damage
}
