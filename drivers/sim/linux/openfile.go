package linux

import (
	"io"
	"io/fs"
	"time"
)

// openFile is a file that a shell writes to. Each write is a store, as the kernel's files take it.
type openFile struct {
	d *Device
	f *file
}

func (o *openFile) Write(b []byte) (int, error) {
	o.d.mu.Lock()
	defer o.d.mu.Unlock()
	if err := o.f.store(b); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Read finds nothing: the file was opened for writing.
func (o *openFile) Read([]byte) (int, error) { return 0, io.EOF }

func (o *openFile) Close() error { return nil }

// fileInfo is what there is to know of a file. The lab keeps neither modes nor times.
type fileInfo struct {
	name string
	file *file
	size int64
}

// info describes a file by its path.
func (d *Device) info(name string) (fs.FileInfo, error) {
	f := d.files[name]
	if f == nil {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
	}
	size := len(f.body)
	if f.read != nil {
		size = len(f.read())
	}
	return fileInfo{name, f, int64(size)}, nil
}

// Name is the file's last element.
func (i fileInfo) Name() string { return i.name }

// Size is in bytes.
func (i fileInfo) Size() int64 { return i.size }

// Mode says whether it is a directory.
func (i fileInfo) Mode() fs.FileMode {
	if i.file.dir {
		return fs.ModeDir | 0o755
	}
	return 0o644
}

// ModTime is not known.
func (i fileInfo) ModTime() time.Time { return time.Time{} }

// IsDir says whether it is a directory.
func (i fileInfo) IsDir() bool { return i.file.dir }

// Sys is nil: no real file stands behind it.
func (i fileInfo) Sys() any { return nil }

// nowhere takes what is written to a file that is not changed.
type nowhere struct{}

func (nowhere) Read([]byte) (int, error)    { return 0, io.EOF }
func (nowhere) Write(b []byte) (int, error) { return len(b), nil }
func (nowhere) Close() error                { return nil }
