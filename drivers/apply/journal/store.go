package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
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
	Alive func(pid int) bool // whether a process of this machine runs; nil: the machine is asked
}

// Journal is the record of one run. It may be appended to from many goroutines at once.
type Journal struct {
	Run string

	mu      sync.Mutex
	file    File
	now     func() time.Time
	records []Record
	observe func(Record)
}

// Create starts the journal of a new run. observe, which may be nil, is told of each record once it is on disk.
func (s Store) Create(run string, observe func(Record)) (*Journal, error) {
	if err := s.disk().MkdirAll(s.runs()); err != nil {
		return nil, fmt.Errorf("make the journal folder: %w", err)
	}
	f, err := s.disk().Create(s.path(run))
	if err != nil {
		return nil, fmt.Errorf("create the journal of %s: %w", run, err)
	}
	return &Journal{Run: run, file: f, now: s.Time, observe: observe}, nil
}

// Open continues the journal of a run that was cut off.
func (s Store) Open(run string, observe func(Record)) (*Journal, error) {
	records, whole, err := s.read(run)
	if err != nil {
		return nil, err
	}
	f, err := s.disk().Append(s.path(run))
	if err != nil {
		return nil, fmt.Errorf("open the journal of %s: %w", run, err)
	}
	if err := f.Truncate(whole); err != nil {
		f.Close()
		return nil, fmt.Errorf("cut the half-written record off the journal of %s: %w", run, err)
	}
	return &Journal{Run: run, file: f, now: s.Time, records: records, observe: observe}, nil
}

// Append writes a record and returns when it is on disk.
func (j *Journal) Append(r Record) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	r.Seq, r.At = len(j.records)+1, j.now()
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("write the journal of %s: %w", j.Run, err)
	}
	if _, err := j.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("write the journal of %s: %w", j.Run, err)
	}
	if err := j.file.Sync(); err != nil {
		return fmt.Errorf("write the journal of %s: %w", j.Run, err)
	}
	j.records = append(j.records, r)
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

// Close closes the file.
func (j *Journal) Close() error { return j.file.Close() }

// Read gives the records of a run.
func (s Store) Read(run string) ([]Record, error) {
	records, _, err := s.read(run)
	return records, err
}

// read gives the records and the length of the file up to the last whole one: a process that is killed while it writes
// leaves a half line, which announces nothing that has happened.
func (s Store) read(run string) ([]Record, int64, error) {
	body, err := s.disk().ReadFile(s.path(run))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, fmt.Errorf("there is no run %s in %s: `weir runs` lists them", run, s.Dir)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read the journal of %s: %w", run, err)
	}
	whole := bytes.LastIndexByte(body, '\n') + 1
	var records []Record
	scan := bufio.NewScanner(bytes.NewReader(body[:whole]))
	scan.Buffer(nil, len(body)+1)
	for scan.Scan() {
		var r Record
		if err := json.Unmarshal(scan.Bytes(), &r); err != nil {
			return nil, 0, fmt.Errorf("read record %d of the journal of %s: %w", len(records)+1, run, err)
		}
		records = append(records, r)
	}
	return records, int64(whole), scan.Err()
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
		if run, journal := strings.CutSuffix(n, extension); journal {
			runs = append(runs, run)
		}
	}
	slices.Sort(runs)
	return runs, nil
}

// Begun is what the journals of all runs mean, oldest first. A run that was killed before its first record did nothing, and
// is left out.
func (s Store) Begun() ([]Run, error) {
	names, err := s.Runs()
	if err != nil {
		return nil, err
	}
	var begun []Run
	for _, name := range names {
		r, err := s.Replay(name)
		if err != nil {
			return nil, err
		}
		if r.Records > 0 {
			begun = append(begun, r)
		}
	}
	return begun, nil
}

// Unfinished lists the runs that have no end.
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

// Free says why who (user@host) may not begin a run: a *LockedError where another one goes on, an *UnfinishedError where one
// was cut off. Nil where nothing is in the way.
func (s Store) Free(who string) error {
	held, err := s.Locked()
	if err != nil {
		return err
	}
	if held != nil && s.Running(*held, who) {
		return &LockedError{*held}
	}
	open, err := s.Unfinished()
	if err == nil && len(open) > 0 {
		err = &UnfinishedError{open[0]}
	}
	return err
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

// extension ends the name of a journal's file; the run's name stands before it.
const extension = ".jsonl"

func (s Store) runs() string           { return filepath.Join(s.Dir, "runs") }
func (s Store) path(run string) string { return filepath.Join(s.runs(), run+extension) }
