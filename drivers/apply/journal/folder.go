package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/weirfabric/weir/intent/plan"
)

// folder is the Backend of one machine, or of several that share a file system.
type folder struct {
	dir  string
	disk Disk
}

func (f folder) Place() string { return f.dir }

func (f folder) ReadID() ([]byte, error) { return f.read(f.idFile()) }

func (f folder) WriteID(id []byte) error { return f.replace(f.idFile(), id) }

// Room is there until a write says otherwise: what a journal takes on a disk is little.
func (f folder) Room() error { return nil }

// Guard takes the kernel's lock.
func (f folder) Guard() (io.Closer, error) {
	if err := f.disk.MkdirAll(f.dir); err != nil {
		return nil, fmt.Errorf("make the journal folder: %w", err)
	}
	guard, err := f.disk.Lock(filepath.Join(f.dir, "held"))
	if err != nil && !errors.Is(err, ErrHeld) {
		return nil, fmt.Errorf("take the lock of %s: %w", f.dir, err)
	}
	return guard, err
}

func (f folder) ReadLock() ([]byte, time.Duration, error) {
	body, err := f.read(f.lockFile())
	return body, -1, err
}

// TakeLock removes what processes left that were killed while they wrote a file anew: nobody else writes files under the lock.
func (f folder) TakeLock(_, body []byte) error {
	for _, in := range []string{f.dir, f.runs()} {
		names, err := f.disk.ReadDir(in)
		if err != nil {
			return fmt.Errorf("list the journal folder: %w", err)
		}
		for _, n := range names {
			if strings.HasPrefix(n, temporary) {
				if err := f.disk.Remove(filepath.Join(in, n)); err != nil {
					return fmt.Errorf("tidy the journal folder: %w", err)
				}
			}
		}
	}
	return f.replace(f.lockFile(), body)
}

func (f folder) RenewLock(body []byte) error { return f.replace(f.lockFile(), body) }

func (f folder) DropLock(_, note []byte) error {
	if note != nil {
		name := filepath.Join(f.dir, "broken.jsonl")
		body, err := f.read(name)
		if err != nil {
			return fmt.Errorf("read which locks were broken: %w", err)
		}
		if err := f.replace(name, append(body, note...)); err != nil {
			return err
		}
	}
	return f.remove(f.lockFile())
}

func (f folder) List() (map[string]Listed, error) {
	names, err := f.disk.ReadDir(f.runs())
	if err != nil {
		return nil, err
	}
	runs := map[string]Listed{}
	for _, n := range names {
		for _, end := range []string{extension, indexExtension} {
			if run, ours := strings.CutSuffix(n, end); ours {
				runs[run] = Listed{Summary: runs[run].Summary, Records: true}
			}
		}
		if run, ours := strings.CutSuffix(n, summaryExtension); ours {
			body, err := f.read(f.summaryFile(run))
			if err != nil { // it is made again
				body = nil
			}
			runs[run] = Listed{Summary: body, Records: runs[run].Records}
		}
	}
	return runs, nil
}

func (f folder) Journal(run string) ([]byte, error) { return f.read(f.path(run)) }

func (f folder) Index(run string) ([]byte, error) { return f.read(f.indexFile(run)) }

func (f folder) Create(run string) (Log, error) {
	if err := f.disk.MkdirAll(f.runs()); err != nil {
		return nil, fmt.Errorf("make the journal folder: %w", err)
	}
	l := &folderLog{}
	for _, part := range []struct {
		to   *appended
		name string
	}{{&l.index, f.indexFile(run)}, {&l.journal, f.path(run)}} {
		file, err := f.disk.Create(part.name)
		if err != nil {
			return nil, errors.Join(err, l.Close())
		}
		part.to.file = file
	}
	for _, in := range []string{f.runs(), f.dir} {
		if err := f.disk.SyncDir(in); err != nil {
			return nil, errors.Join(err, l.Close())
		}
	}
	return l, nil
}

func (f folder) Continue(run string, k Kept) (Log, error) {
	l := &folderLog{journal: appended{size: int64(len(k.Journal))}, index: appended{size: int64(len(k.Index))}}
	var err error
	if l.journal.file, err = f.disk.Append(f.path(run)); err != nil {
		return nil, err
	}
	if err := l.journal.file.Truncate(l.journal.size); err != nil {
		return nil, fmt.Errorf("cut the half-written record off: %w", errors.Join(err, l.Close()))
	}
	if err := f.reindex(run, k.Index); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	if l.index.file, err = f.disk.Append(f.indexFile(run)); err != nil {
		return nil, fmt.Errorf("open the index: %w", errors.Join(err, l.Close()))
	}
	return l, nil
}

// reindex writes an index again where it is another. The journal is forced to disk before: a process that was killed may have left
// it unforced, and the index must never be ahead of it.
func (f folder) reindex(run string, index []byte) error {
	if err := f.Sync(run); err != nil {
		return err
	}
	if now, err := f.disk.ReadFile(f.indexFile(run)); err == nil && string(now) == string(index) {
		return nil
	}
	return f.replace(f.indexFile(run), index)
}

func (f folder) Replace(run string, k Kept) (kept string, err error) {
	body, err := f.read(f.path(run))
	if err != nil {
		return "", err
	}
	for n := 1; kept == ""; n++ {
		name := fmt.Sprintf("%s.damaged-%d", f.path(run), n)
		if _, err := f.disk.ReadFile(name); errors.Is(err, fs.ErrNotExist) {
			kept = name
		}
	}
	if err := f.replace(kept, body); err != nil {
		return kept, err
	}
	if err := f.remove(f.summaryFile(run)); err != nil {
		return kept, err
	}
	// The index last: a journal that lacks what the index of before knows is still damaged.
	if err := f.replace(f.path(run), k.Journal); err != nil {
		return kept, err
	}
	return kept, f.reindex(run, k.Index)
}

func (f folder) Summarise(run string, body []byte) error { return f.replace(f.summaryFile(run), body) }

func (f folder) Sync(run string) error {
	file, err := f.disk.Append(f.path(run))
	if err == nil {
		err = errors.Join(file.Sync(), file.Close(), f.disk.SyncDir(f.runs()))
	}
	if err != nil {
		return fmt.Errorf("force the journal of %s to disk: %w", run, err)
	}
	return nil
}

func (f folder) Remove(runs ...string) error {
	var failed error
	for _, run := range runs {
		failed = errors.Join(failed, f.remove(f.path(run)), f.remove(f.indexFile(run)))
	}
	return failed
}

func (f folder) Manifest() (plan.Manifest, error) {
	m := plan.Manifest{}
	body, err := f.read(f.manifestFile())
	if err == nil && body != nil {
		err = json.Unmarshal(body, &m)
	}
	return m, err
}

func (f folder) SaveManifest(m plan.Manifest) error {
	body, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return err
	}
	if err := f.disk.MkdirAll(f.dir); err != nil {
		return fmt.Errorf("make the journal folder: %w", err)
	}
	return f.replace(f.manifestFile(), append(body, '\n'))
}

// read is the content of a file; nil where there is none.
func (f folder) read(name string) ([]byte, error) {
	body, err := f.disk.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if body == nil && err == nil {
		body = []byte{}
	}
	return body, err
}

// remove removes a file, if it is there.
func (f folder) remove(name string) error {
	if err := f.disk.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Extensions end the names of a journal's file, of its index, and of the summary of a run that has ended; the run's name stands
// before them.
const (
	extension        = ".jsonl"
	indexExtension   = ".index"
	summaryExtension = ".ended"
)

func (f folder) idFile() string                { return filepath.Join(f.dir, "id") }
func (f folder) lockFile() string              { return filepath.Join(f.dir, "lock") }
func (f folder) manifestFile() string          { return filepath.Join(f.dir, "owned.json") }
func (f folder) runs() string                  { return filepath.Join(f.dir, "runs") }
func (f folder) path(run string) string        { return filepath.Join(f.runs(), run+extension) }
func (f folder) indexFile(run string) string   { return filepath.Join(f.runs(), run+indexExtension) }
func (f folder) summaryFile(run string) string { return filepath.Join(f.runs(), run+summaryExtension) }

// folderLog is a journal's file and its index.
type folderLog struct{ journal, index appended }

func (l *folderLog) Add(record, entry []byte) error {
	if err := l.journal.add(record, true); err != nil {
		return err
	}
	if l.index.broken == nil {
		// One that has a gap says nothing of what comes after it.
		l.index.broken = l.index.add(entry, false)
	}
	return nil
}

func (l *folderLog) Close() error {
	var err error
	for _, file := range []File{l.journal.file, l.index.file} {
		if file != nil {
			err = errors.Join(err, file.Close())
		}
	}
	return err
}

// sortedRuns are the names in a list, oldest first.
func sortedRuns(list map[string]Listed) []string {
	names := make([]string, 0, len(list))
	for name := range list {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
