package journal

import (
	"errors"
	"fmt"
	"path/filepath"
)

// appended is a file that grows by whole lines or not at all.
type appended struct {
	file   File
	size   int64
	broken error // what could not be mended: nothing more is written
}

// add writes a line, and forces it to disk where that is asked for. What a failure left half there is cut off; where that fails
// too the file is closed for good.
func (a *appended) add(text []byte, sync bool) error {
	if a.broken != nil {
		return a.broken
	}
	_, err := a.file.Write(text)
	if err == nil && sync {
		err = a.file.Sync()
	}
	if err == nil {
		a.size += int64(len(text))
		return nil
	}
	cut := a.file.Truncate(a.size)
	if cut == nil && sync {
		cut = a.file.Sync()
	}
	if cut != nil {
		a.broken = fmt.Errorf("closed for good, since a half-written record could not be cut off (%w): %w", cut, err)
	}
	return err
}

// temporary begins the name of a file that is being written.
const temporary = ".new-"

// replace puts a file in place so that a reader sees the old or the new content and nothing between. It is on disk when the
// call returns.
func (f folder) replace(name string, body []byte) error {
	temp, file, err := f.disk.CreateTemp(filepath.Dir(name))
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if _, err = file.Write(body); err == nil {
		err = file.Sync()
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = f.disk.Rename(temp, name)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, errors.Join(err, f.disk.Remove(temp)))
	}
	if err := f.disk.SyncDir(filepath.Dir(name)); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}
