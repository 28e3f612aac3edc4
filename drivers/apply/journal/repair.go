package journal

import (
	"errors"
	"fmt"
	"slices"
)

// Damaged is a journal that cannot be read to its end, and what cutting the damage off would lose.
type Damaged struct {
	*DamagedError
	Whole int      // sound records before the damage
	Lost  []Record // those after them, without their documents, as far as the index knows them
	Raw   []byte   // what stands in the journal from the damage on
}

// Damage is what is wrong with the journal of a run; nil where nothing is.
func (s Store) Damage(run string) (*Damaged, error) {
	p, err := s.read(run)
	d := &Damaged{Whole: len(p.records)}
	switch {
	case err == nil:
		if d.DamagedError = misfit(run, p.records); d.DamagedError == nil {
			return nil, nil
		}
	case !errors.As(err, &d.DamagedError):
		return nil, err
	}
	whole, index, err := s.load(run)
	if err != nil {
		return nil, err
	}
	for _, e := range index[min(len(index), len(p.records)):] {
		d.Lost = append(d.Lost, e.Record)
	}
	d.Raw = whole.body[whole.whole:]
	return d, nil
}

// misfit is the damage of a journal whose records are whole, and mean what no run does.
func misfit(run string, records []Record) *DamagedError {
	if r := Replay(records); r.Damage != "" {
		return &DamagedError{Run: run, Damage: r.Damage}
	}
	return nil
}

// Repair cuts a damaged tail off a journal, of which it keeps a copy, whose name it gives, and notes what the lost records were
// about: recovery then looks at all of that. It refuses a journal that is damaged elsewhere. The caller holds the lock.
func (s Store) Repair(run string) (kept string, err error) {
	d, err := s.Damage(run)
	if err != nil || d == nil {
		return "", err
	}
	if !d.Tail {
		return "", d.DamagedError
	}
	p, _, err := s.load(run)
	if err != nil {
		return "", err
	}
	rec := Record{Seq: len(p.records) + 1, At: s.Time(), Kind: Repaired, Text: d.DamagedError.Damage}
	rec.Wave, rec.Lost = doubtful(Replay(p.records), d.Lost)
	last, _, err := encode(rec, p.sums[len(p.sums)-1])
	if err != nil {
		return "", err
	}
	return s.replace(run, append(slices.Clone(p.body[:p.whole]), last...))
}

// replace puts a sound journal in the place of one that is not, and gives the name of the copy of that.
func (s Store) replace(run string, body []byte) (kept string, err error) {
	index, err := parse(run, body).index()
	if err != nil {
		return "", err
	}
	if kept, err = s.backend().Replace(run, Kept{body, index}); err != nil {
		return kept, fmt.Errorf("replace the journal of %s: %w", run, err)
	}
	return kept, nil
}

// doubtful are the devices that lost records were about, and the last wave that they came to. Where they are not known it is
// every device of the wave that was at work, or would have been next.
func doubtful(r Run, lost []Record) (wave int, devices []string) {
	if len(r.Waves) == 0 {
		return 0, nil
	}
	wave = r.Last
	if len(lost) == 0 {
		if r.Waves[wave].Ended {
			wave = min(wave+1, len(r.Waves)-1)
		}
		for _, d := range r.Waves[wave].Devices {
			devices = append(devices, d.Name)
		}
		return wave, devices
	}
	for _, rec := range lost {
		if rec.Wave > wave && rec.Wave < len(r.Waves) {
			wave = rec.Wave
		}
		if rec.Device != "" && !slices.Contains(devices, rec.Device) {
			devices = append(devices, rec.Device)
		}
	}
	return wave, devices
}

// GiveUp closes a run whose journal cannot be repaired: it keeps a copy of the journal, whose name it gives, and puts one in its
// place that says nothing but that the run was given up, and why. The caller holds the lock.
func (s Store) GiveUp(run, reason string) (kept string, err error) {
	was, _, err := s.outline(run)
	if err != nil {
		return "", err
	}
	start := Record{Seq: 1, At: s.Time(), Kind: Started, Verb: was.Verb, Of: was.Of, Plan: was.Plan, Audit: &was.Audit}
	for _, w := range was.Waves {
		var names []string
		for _, d := range w.Devices {
			names = append(names, d.Name)
		}
		start.Devices = append(start.Devices, names)
	}
	end := Record{Seq: 2, At: s.Time(), Kind: Ended, Outcome: Abandoned, Text: reason}
	first, sum, err := encode(start, run)
	if err != nil {
		return "", err
	}
	last, _, err := encode(end, sum)
	if err != nil {
		return "", err
	}
	return s.replace(run, append(first, last...))
}
