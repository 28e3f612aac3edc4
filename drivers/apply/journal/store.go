package journal

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Store is the journals of all runs, the manifest of what is weir's, and the lock: in a folder, or wherever Backend has them.
// Beside Dir, the zero value is what a process on a real machine wants.
type Store struct {
	Dir     string
	Disk    Disk               // where Dir is; nil: OS
	Backend Backend            // in the place of Dir; nil: Dir
	Keep    int                // how many runs that have ended keep their records; 0: all. Summaries stay
	Now     func() time.Time   // the one clock that names and dates runs; nil: time.Now
	Owner   Owner              // this process, for the lock; without a process number: Self
	Alive   func(pid int) bool // whether a process of this machine runs; nil: the machine is asked
}

// Journal is the record of one run. It may be appended to from many goroutines at once.
type Journal struct {
	Run string

	mu      sync.Mutex
	log     Log
	last    string // the checksum of the last record
	store   Store
	records []Record
	observe func(Record)
}

// Create starts the journal of a new run. observe, which may be nil, is told of each record once it is on disk.
func (s Store) Create(run string, observe func(Record)) (*Journal, error) {
	log, err := s.backend().Create(run)
	if err != nil {
		return nil, fmt.Errorf("create the journal of %s: %w", run, err)
	}
	return &Journal{Run: run, log: log, last: run, store: s, observe: observe}, nil
}

// Discard removes a journal in which nothing stands.
func (s Store) Discard(j *Journal) error {
	return errors.Join(j.Close(), s.backend().Remove(j.Run))
}

// Open continues the journal of a run that was cut off. It is called by who holds the lock.
func (s Store) Open(run string, observe func(Record)) (*Journal, error) {
	p, err := s.read(run)
	if err != nil {
		return nil, err
	}
	j := &Journal{Run: run, last: run, store: s, records: p.records, observe: observe}
	if len(p.sums) > 0 {
		j.last = p.sums[len(p.sums)-1]
	}
	index, err := p.index()
	if err == nil {
		j.log, err = s.backend().Continue(run, Kept{p.body[:p.whole], index})
	}
	if err != nil {
		return nil, fmt.Errorf("open the journal of %s: %w", run, err)
	}
	return j, nil
}

// Append writes a record and returns when it is on disk.
func (j *Journal) Append(r Record) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	r.Seq, r.At = len(j.records)+1, j.store.Time()
	body, now, err := encode(r, j.last)
	var e []byte
	if err == nil {
		e, err = encodeEntry(r, now)
	}
	if err == nil {
		err = j.log.Add(body, e)
	}
	if errors.Is(err, ErrLost) {
		err = fmt.Errorf("%w: %w", &LostError{j.Run}, err)
	}
	if err != nil {
		return fmt.Errorf("write the journal of %s: %w", j.Run, err)
	}
	j.last, j.records = now, append(j.records, r)
	if r.Kind == Ended { // so that it need not be read to be listed; where that fails it is
		_ = j.store.summarise(j.Run, Replay(j.records), j.records)
	}
	if j.observe != nil {
		j.observe(r)
	}
	return nil
}

// Records is a copy of what was written so far.
func (j *Journal) Records() []Record {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.records)
}

// Close closes the journal.
func (j *Journal) Close() error { return j.log.Close() }

// Read gives the records of a run; a *DamagedError where they are not all there, or not as they were written.
func (s Store) Read(run string) ([]Record, error) {
	p, err := s.read(run)
	return p.records, err
}

// read reads a journal and holds it against its index.
func (s Store) read(run string) (parsed, error) {
	p, index, err := s.load(run)
	if err != nil {
		return p, err
	}
	damage, tail := p.damage, p.tail
	if i := slices.IndexFunc(p.records, func(r Record) bool { return r.Kind == Repaired }); i >= 0 && len(index) > i && index[i].Sum != p.sums[i] {
		index = index[:i] // of before the repair, which was cut off before it wrote the index
	}
	for i := range min(len(index), len(p.sums)) {
		if index[i].Sum != p.sums[i] {
			return p, &DamagedError{Run: run, Damage: fmt.Sprintf("record %d is not the one that was written", i+1)}
		}
	}
	if len(index) > len(p.records) && damage == "" {
		damage, tail = fmt.Sprintf("%d records were written, and %d are there", len(index), len(p.records)), true
	}
	if damage != "" {
		over := len(index) > 0 && index[len(index)-1].Record.Kind == Ended // it must not be opened again
		return p, &DamagedError{Run: run, Damage: damage, Tail: tail && len(p.records) > 0 && !over}
	}
	return p, nil
}

// load reads a journal and its index as they stand. The index comes first: a run that goes on meanwhile is ahead of it then, and not
// behind.
func (s Store) load(run string) (parsed, []entry, error) {
	index, err := s.backend().Index(run)
	var body []byte
	if err == nil {
		body, err = s.backend().Journal(run)
	}
	if err != nil {
		return parsed{}, nil, fmt.Errorf("read the journal of %s: %w", run, err)
	}
	if body == nil && index == nil {
		list, err := s.list()
		if err != nil {
			return parsed{}, nil, err
		}
		if _, ended := list[run]; ended {
			return parsed{}, nil, fmt.Errorf("the records of run %s were removed: those of the last %d runs are there, and `weir runs` lists the others", run, s.Keep)
		}
		return parsed{}, nil, fmt.Errorf("there is no run %s in %s: `weir runs` lists them", run, s.backend().Place())
	}
	return parse(run, body), parseIndex(index), nil
}

// Announced is the records of a run without what they hold of devices, as far as its index has them: what is read of a run that goes on.
func (s Store) Announced(run string) ([]Record, error) {
	index, err := s.backend().Index(run)
	if err != nil {
		return nil, fmt.Errorf("read the index of %s: %w", run, err)
	}
	var records []Record
	for _, e := range parseIndex(index) {
		records = append(records, e.Record)
	}
	return records, nil
}

// Replay says what the journal of a run means.
func (s Store) Replay(run string) (Run, error) {
	records, err := s.Read(run)
	if err != nil {
		return Run{}, err
	}
	r := Replay(records)
	r.Name = run
	return r, nil
}

// Runs lists the runs, oldest first.
func (s Store) Runs() ([]string, error) {
	list, err := s.list()
	return sortedRuns(list), err
}

func (s Store) list() (map[string]Listed, error) {
	list, err := s.backend().List()
	if err != nil {
		return nil, fmt.Errorf("list the runs: %w", err)
	}
	return list, nil
}

// Begun is what the journals of all runs mean, oldest first, without what they hold of devices. A run that was killed before its
// first record did nothing, and is left out. What is damaged says so, and does not keep the others from being listed. The journal of
// a run that has its end is not read.
func (s Store) Begun() ([]Run, error) {
	begun, _, err := s.begun()
	return begun, err
}

// begun is Begun, and which of those that have ended have no summary.
func (s Store) begun() (begun []Run, bare []string, err error) {
	list, err := s.list()
	if err != nil {
		return nil, nil, err
	}
	for _, name := range sortedRuns(list) {
		r, summarised := summaryOf(name, list[name].Summary)
		if !summarised {
			if r, summarised, err = s.outline(name); err != nil {
				return nil, nil, err
			}
		}
		if r.Records == 0 && r.Damage == "" {
			continue
		}
		begun = append(begun, r)
		if r.Ended && !summarised {
			bare = append(bare, name)
		}
	}
	return begun, bare, nil
}

// Over says whether a run has its end, also where its records were removed.
func (s Store) Over(run string) (bool, error) {
	list, err := s.list()
	if err != nil {
		return false, err
	}
	if _, over := summaryOf(run, list[run].Summary); over {
		return true, nil
	}
	r, err := s.Replay(run)
	return r.Ended, err
}

// outline is what a journal means, or how it is damaged. It writes the summary of a run that has ended, where it can.
func (s Store) outline(run string) (r Run, summarised bool, err error) {
	p, err := s.read(run)
	var damaged *DamagedError
	switch {
	case errors.As(err, &damaged):
		_, index, err := s.load(run)
		if err != nil {
			return Run{}, false, err
		}
		r := replayIndex(run, index)
		if r.Records < len(p.records) {
			r = Replay(p.records)
		}
		r.Name, r.Ended, r.Outcome, r.Damage, r.Mendable = run, false, "", damaged.Damage, damaged.Tail
		return r, false, nil
	case err != nil:
		return Run{}, false, err
	}
	r = Replay(p.records)
	r.Name = run
	if r.Ended && r.Damage == "" && s.backend().Sync(run) == nil { // where it cannot be written, it is read again
		summarised = s.summarise(run, r, p.records) == nil
	}
	return r, summarised, nil
}

func replayIndex(run string, index []entry) Run {
	var records []Record
	for _, e := range index {
		records = append(records, e.Record)
	}
	r := Replay(records)
	r.Name = run
	return r
}

// Unfinished lists the runs that have no end, damaged ones among them.
func (s Store) Unfinished() ([]string, error) {
	begun, err := s.Begun()
	if err != nil {
		return nil, err
	}
	var open []string
	for _, r := range begun {
		if !r.Ended {
			open = append(open, r.Name)
		}
	}
	return open, nil
}

// Free says why this process may not begin a run: a *LockedError where another one goes on, an *UnfinishedError where one was cut
// off, a *DamagedError where that cannot be known. Nil where nothing is in the way.
func (s Store) Free() error {
	held, err := s.Locked()
	if err != nil {
		return err
	}
	if held != nil && (s.Running(*held) || s.where(*held) == away) {
		return &LockedError{*held, s.stale(*held)}
	}
	return s.Ended()
}

// Ended says which run has no end: an *UnfinishedError or a *DamagedError. Nil where all have one, on disk. What it says holds
// for who has the lock.
func (s Store) Ended() error {
	begun, bare, err := s.begun()
	if err != nil {
		return err
	}
	for _, r := range begun {
		switch {
		case !r.Ended && r.Damage != "":
			return &DamagedError{r.Name, r.Damage, r.Mendable}
		case !r.Ended:
			return &UnfinishedError{r.Name}
		}
	}
	for _, name := range bare {
		if err := s.backend().Sync(name); err != nil {
			return err
		}
	}
	return nil
}

// Time is now, by the store's clock.
func (s Store) Time() time.Time {
	if s.Now != nil {
		return s.Now().UTC()
	}
	return time.Now().UTC()
}

// backend is where the store has what it holds.
func (s Store) backend() Backend {
	if s.Backend != nil {
		return s.Backend
	}
	if s.Disk != nil {
		return folder{s.Dir, s.Disk}
	}
	return folder{s.Dir, OS{}}
}
