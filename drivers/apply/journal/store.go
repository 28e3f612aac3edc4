package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Store is the folder that holds the journals of all runs, the manifest of what is weir's, and the lock. Beside Dir, the
// zero value is what a process on a real machine wants.
type Store struct {
	Dir   string
	Disk  Disk               // where Dir is; nil: OS
	Now   func() time.Time   // the one clock that names and dates runs; nil: time.Now
	Owner Owner              // this process, for the lock; without a process number: Self
	Alive func(pid int) bool // whether a process of this machine runs; nil: the machine is asked
}

// Journal is the record of one run. It may be appended to from many goroutines at once.
type Journal struct {
	Run string

	mu      sync.Mutex
	file    appended
	index   appended // without a file: none could be made, and one is made again when it is missed
	last    string   // the checksum of the last record
	store   Store
	records []Record
	observe func(Record)
}

// Create starts the journal of a new run. observe, which may be nil, is told of each record once it is on disk.
func (s Store) Create(run string, observe func(Record)) (*Journal, error) {
	if err := s.disk().MkdirAll(s.runs()); err != nil {
		return nil, fmt.Errorf("make the journal folder: %w", err)
	}
	j := &Journal{Run: run, last: run, store: s, observe: observe}
	for _, f := range []struct {
		to   *appended
		name string
	}{{&j.index, s.indexFile(run)}, {&j.file, s.path(run)}} {
		file, err := s.disk().Create(f.name)
		if err != nil {
			return nil, fmt.Errorf("create the journal of %s: %w", run, errors.Join(err, j.Close()))
		}
		f.to.file = file
	}
	for _, folder := range []string{s.runs(), s.Dir} {
		if err := s.disk().SyncDir(folder); err != nil {
			return nil, fmt.Errorf("create the journal of %s: %w", run, errors.Join(err, j.Close()))
		}
	}
	return j, nil
}

// Discard removes a journal in which nothing stands.
func (s Store) Discard(j *Journal) error {
	err := j.Close()
	for _, name := range []string{s.path(j.Run), s.indexFile(j.Run)} {
		err = errors.Join(err, s.disk().Remove(name))
	}
	return err
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
	if j.file.file, err = s.disk().Append(s.path(run)); err != nil {
		return nil, fmt.Errorf("open the journal of %s: %w", run, err)
	}
	j.file.size = p.whole
	if err := j.file.file.Truncate(p.whole); err != nil {
		return nil, fmt.Errorf("cut the half-written record off the journal of %s: %w", run, errors.Join(err, j.Close()))
	}
	if err := s.reindex(run, p); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	if j.index.file, err = s.disk().Append(s.indexFile(run)); err != nil {
		return nil, fmt.Errorf("open the index of %s: %w", run, errors.Join(err, j.Close()))
	}
	body, err := s.disk().ReadFile(s.indexFile(run))
	if err != nil {
		return nil, fmt.Errorf("open the index of %s: %w", run, errors.Join(err, j.Close()))
	}
	j.index.size = int64(len(body))
	return j, nil
}

// reindex writes the index of a run again where it does not say what the journal says. The journal is forced to disk before: a
// process that was killed may have left it unforced, and the index must never be ahead of it.
func (s Store) reindex(run string, p parsed) error {
	var body []byte
	for i, r := range p.records {
		e, err := encodeEntry(r, p.sums[i])
		if err != nil {
			return fmt.Errorf("write the index of %s: %w", run, err)
		}
		body = append(body, e...)
	}
	if err := s.force(run); err != nil {
		return err
	}
	if now, err := s.disk().ReadFile(s.indexFile(run)); err == nil && string(now) == string(body) {
		return nil
	}
	return s.replace(s.indexFile(run), body)
}

// force forces to disk what stands in a journal. What a process that was killed has written and not forced is read, and is gone when
// the machine loses its power: whoever builds on it forces it first.
func (s Store) force(run string) error {
	f, err := s.disk().Append(s.path(run))
	if err == nil {
		err = errors.Join(f.Sync(), f.Close(), s.disk().SyncDir(s.runs()))
	}
	if err != nil {
		return fmt.Errorf("force the journal of %s to disk: %w", run, err)
	}
	return nil
}

// Append writes a record and returns when it is on disk.
func (j *Journal) Append(r Record) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	r.Seq, r.At = len(j.records)+1, j.store.Time()
	body, now, err := encode(r, j.last)
	if err == nil {
		err = j.file.add(body, true)
	}
	if err != nil {
		return fmt.Errorf("write the journal of %s: %w", j.Run, err)
	}
	j.last, j.records = now, append(j.records, r)
	if e, err := encodeEntry(r, now); err == nil && j.index.broken == nil {
		// One that has a gap says nothing of what comes after it.
		j.index.broken = j.index.add(e, false)
	}
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

// Close closes the files.
func (j *Journal) Close() error {
	var err error
	for _, f := range []File{j.file.file, j.index.file} {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	return err
}

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

// load reads a journal and its index as they stand.
func (s Store) load(run string) (parsed, []entry, error) {
	body, err := s.disk().ReadFile(s.path(run))
	gone := errors.Is(err, fs.ErrNotExist)
	if err != nil && !gone {
		return parsed{}, nil, fmt.Errorf("read the journal of %s: %w", run, err)
	}
	indexed, err := s.disk().ReadFile(s.indexFile(run))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return parsed{}, nil, fmt.Errorf("read the index of %s: %w", run, err)
	}
	index := parseIndex(indexed)
	if gone && err != nil {
		return parsed{}, nil, fmt.Errorf("there is no run %s in %s: `weir runs` lists them", run, s.Dir)
	}
	return parse(run, body), index, nil
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
	names, err := s.disk().ReadDir(s.runs())
	if err != nil {
		return nil, fmt.Errorf("list the runs: %w", err)
	}
	var runs []string
	for _, n := range names {
		for _, end := range []string{extension, indexExtension, summaryExtension} {
			if run, ours := strings.CutSuffix(n, end); ours {
				runs = append(runs, run)
			}
		}
	}
	slices.Sort(runs)
	return slices.Compact(runs), nil
}

// Begun is what the journals of all runs mean, oldest first, without what they hold of devices. A run that was killed before its
// first record did nothing, and is left out. What is damaged says so, and does not keep the others from being listed. The journal of
// a run that has its end is not read.
func (s Store) Begun() ([]Run, error) {
	names, err := s.Runs()
	if err != nil {
		return nil, err
	}
	var begun []Run
	for _, name := range names {
		r, ok := s.summary(name)
		if !ok {
			if r, err = s.outline(name); err != nil {
				return nil, err
			}
		}
		if r.Records > 0 || r.Damage != "" {
			begun = append(begun, r)
		}
	}
	return begun, nil
}

// outline is what a journal means, or how it is damaged.
func (s Store) outline(run string) (Run, error) {
	p, err := s.read(run)
	var damaged *DamagedError
	switch {
	case errors.As(err, &damaged):
		_, index, err := s.load(run)
		if err != nil {
			return Run{}, err
		}
		r := replayIndex(run, index)
		if r.Records < len(p.records) {
			r = Replay(p.records)
		}
		r.Name, r.Ended, r.Outcome, r.Damage, r.Mendable = run, false, "", damaged.Damage, damaged.Tail
		return r, nil
	case err != nil:
		return Run{}, err
	}
	r := Replay(p.records)
	r.Name = run
	if r.Ended && r.Damage == "" && s.force(run) == nil { // where it cannot be written, it is read again
		_ = s.summarise(run, r, p.records)
	}
	return r, nil
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
	begun, err := s.Begun()
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
		if _, ok := s.summary(r.Name); !ok {
			if err := s.force(r.Name); err != nil {
				return err
			}
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

func (s Store) disk() Disk {
	if s.Disk != nil {
		return s.Disk
	}
	return OS{}
}

// Extensions end the names of a journal's file, of its index, and of the summary of a run that has ended; the run's name stands
// before them.
const (
	extension        = ".jsonl"
	indexExtension   = ".index"
	summaryExtension = ".ended"
)

func (s Store) runs() string                { return filepath.Join(s.Dir, "runs") }
func (s Store) path(run string) string      { return filepath.Join(s.runs(), run+extension) }
func (s Store) indexFile(run string) string { return filepath.Join(s.runs(), run+indexExtension) }
