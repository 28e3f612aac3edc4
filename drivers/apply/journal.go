package apply

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/weirfabric/weir/intent/plan"
)

// Store is the folder that holds the journals of all runs, the manifest of what is weir's, and the lock.
type Store struct {
	Dir string
}

// Journal is the record of one run. It may be appended to from many goroutines at once.
type Journal struct {
	Run string

	mu      sync.Mutex
	file    *os.File
	records []Record
	observe func(Record)
}

// Create starts the journal of a new run. observe, which may be nil, is told of each record once it is on disk.
func (s Store) Create(run string, observe func(Record)) (*Journal, error) {
	if err := os.MkdirAll(s.runs(), 0o700); err != nil {
		return nil, fmt.Errorf("make the journal folder: %w", err)
	}
	f, err := os.OpenFile(s.path(run), os.O_CREATE|os.O_EXCL|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create the journal of %s: %w", run, err)
	}
	return &Journal{Run: run, file: f, observe: observe}, nil
}

// Open continues the journal of a run that was cut off.
func (s Store) Open(run string, observe func(Record)) (*Journal, error) {
	records, whole, err := s.read(run)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(s.path(run), os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the journal of %s: %w", run, err)
	}
	if err := f.Truncate(whole); err != nil {
		f.Close()
		return nil, fmt.Errorf("cut the half-written record off the journal of %s: %w", run, err)
	}
	return &Journal{Run: run, file: f, records: records, observe: observe}, nil
}

// Append writes a record and returns when it is on disk.
func (j *Journal) Append(r Record) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	r.Seq, r.At = len(j.records)+1, time.Now().UTC()
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
	body, err := os.ReadFile(s.path(run))
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

// Runs lists the runs, oldest first.
func (s Store) Runs() ([]string, error) {
	names, err := filepath.Glob(filepath.Join(s.runs(), "*.jsonl"))
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	for i, n := range names {
		base := filepath.Base(n)
		names[i] = base[:len(base)-len(".jsonl")]
	}
	return names, nil
}

// Unfinished lists the runs that have no end.
func (s Store) Unfinished() ([]string, error) {
	runs, err := s.Runs()
	if err != nil {
		return nil, err
	}
	var open []string
	for _, run := range runs {
		records, err := s.Read(run)
		if err != nil {
			return nil, err
		}
		if len(records) > 0 && records[len(records)-1].Kind != Ended {
			open = append(open, run)
		}
	}
	return open, nil
}

// Free says why who (user@host) may not begin a run: a *LockedError where another one goes on, an *UnfinishedError where one was cut
// off. Nil where nothing is in the way.
func (s Store) Free(who string) error {
	held, err := s.Locked()
	if err != nil {
		return err
	}
	if held != nil && held.Alive(who) {
		return &LockedError{*held}
	}
	open, err := s.Unfinished()
	if err == nil && len(open) > 0 {
		err = &UnfinishedError{open[0]}
	}
	return err
}

// Manifest is what is weir's on each device.
func (s Store) Manifest() (plan.Manifest, error) {
	m := plan.Manifest{}
	body, err := os.ReadFile(s.manifest())
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err == nil {
		err = json.Unmarshal(body, &m)
	}
	if err != nil {
		return nil, fmt.Errorf("read the manifest of what is weir's: %w", err)
	}
	return m, nil
}

// SaveManifest replaces the manifest. It is on disk when the call returns.
func (s Store) SaveManifest(m plan.Manifest) error {
	for device, objects := range m {
		slices.Sort(objects)
		m[device] = slices.Compact(objects)
	}
	body, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return fmt.Errorf("make the journal folder: %w", err)
	}
	return writeWhole(s.manifest(), append(body, '\n'))
}

// writeWhole puts a file in place so that a reader sees the old or the new content and nothing between.
func writeWhole(name string, body []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".new-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // gone already when it was put in place
	if _, err = f.Write(body); err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

func (s Store) runs() string           { return filepath.Join(s.Dir, "runs") }
func (s Store) path(run string) string { return filepath.Join(s.runs(), run+".jsonl") }
func (s Store) manifest() string       { return filepath.Join(s.Dir, "owned.json") }
