package linux

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// words are what the kernel or a tool says of what it does not do, in its own spelling.
type words string

func (w words) Error() string { return string(w) }

// refusal makes words.
func refusal(format string, args ...any) error { return words(fmt.Sprintf(format, args...)) }

// What the kernel says. Tools put their own words before.
const (
	errNotFound  words = "No such file or directory"
	errExists    words = "File exists"
	errIsDir     words = "Is a directory"
	errNotDir    words = "Not a directory"
	errNotEmpty  words = "Directory not empty"
	errDenied    words = "Permission denied"
	errForbidden words = "Operation not permitted"
	errInvalid   words = "Invalid argument"
	errNoDevice  words = "No such device"

	errUnsupported words = "Operation not supported"
)

// file is one file of the device. The kernel's files answer by functions.
type file struct {
	dir   bool
	body  []byte
	read  func() string            // nil: body
	write func(value string) error // nil: body, or read-only where read is set
}

// volatile are the places that a reboot empties.
var volatile = []string{"/proc/", "/sys/", "/run/", "/tmp/", "/dev/"}

func isVolatile(name string) bool {
	return slices.ContainsFunc(volatile, func(v string) bool { return strings.HasPrefix(name+"/", v) })
}

// isKernels says whether only the kernel makes files there.
func isKernels(name string) bool {
	return strings.HasPrefix(name+"/", "/sys/") || strings.HasPrefix(name+"/", "/proc/")
}

// marks says whether a file says which run of weir changes the host, and is no configuration.
func marks(name string) bool { return name == "/etc/weir" || strings.HasPrefix(name, "/etc/weir.") }

// marking says whether a command line makes or removes that file: it changes no configuration, and what is to go wrong with a
// change does not go wrong with it.
func marking(line string) bool {
	return strings.Contains(line, "/etc/weir.") || strings.Contains(line, "/etc/weir;")
}

// put adds a file and the directories above it.
func (d *Device) put(name string, f *file) {
	d.files[name] = f
	for dir := path.Dir(name); d.files[dir] == nil; dir = path.Dir(dir) {
		d.files[dir] = &file{dir: true}
	}
}

// readFile is what a file says.
func (d *Device) readFile(name string) (string, error) {
	f := d.files[path.Clean(name)]
	switch {
	case f == nil:
		return "", errNotFound
	case f.dir:
		return "", errIsDir
	case f.read != nil:
		return f.read(), nil
	}
	return string(f.body), nil
}

// create finds or makes a file to write to, which is empty then unless what is written is to be added. The kernel's files
// are not made, and not emptied either.
func (d *Device) create(name string, add bool) (*file, error) {
	f := d.files[name]
	switch {
	case f == nil && isKernels(name):
		return nil, d.missing(name, errDenied)
	case f == nil:
		if parent := d.files[path.Dir(name)]; parent == nil {
			return nil, errNotFound
		} else if !parent.dir {
			return nil, errNotDir
		}
		f = &file{}
		d.files[name] = f
	case f.dir:
		return nil, errIsDir
	case f.write != nil:
	case f.read != nil:
		return nil, errDenied
	case !add:
		f.body = nil
	}
	return f, nil
}

// store adds to a file. The kernel's files take the value or refuse it.
func (f *file) store(body []byte) error {
	if f.write != nil {
		return f.write(strings.TrimSuffix(string(body), "\n"))
	}
	f.body = append(f.body, body...)
	return nil
}

// writeFile replaces what a file says, or adds to it.
func (d *Device) writeFile(name string, body []byte, add bool) error {
	f, err := d.create(name, add)
	if err != nil {
		return err
	}
	return f.store(body)
}

// missing is why a new file cannot be: its directory is not there, or else why.
func (d *Device) missing(name string, why error) error {
	if d.files[path.Dir(name)] == nil {
		return errNotFound
	}
	return why
}

// makeDir makes a directory. In configfs that makes what belongs to it.
func (d *Device) makeDir(name string, parents bool) error {
	name = path.Clean(name)
	if f := d.files[name]; f != nil {
		if parents && f.dir {
			return nil
		}
		return errExists
	}
	if d.files[path.Dir(name)] == nil {
		if !parents {
			return errNotFound
		}
		if err := d.makeDir(path.Dir(name), true); err != nil {
			return err
		}
	}
	if path.Dir(name) == configfs {
		return d.makeRDMA(path.Base(name))
	}
	if isKernels(name) {
		return errForbidden
	}
	d.put(name, &file{dir: true})
	return nil
}

// children are the names in a directory.
func (d *Device) children(dir string) []string {
	var out []string
	prefix := strings.TrimSuffix(dir, "/") + "/"
	for name := range d.files {
		if child, inside := strings.CutPrefix(name, prefix); inside && child != "" && !strings.Contains(child, "/") {
			out = append(out, child)
		}
	}
	slices.Sort(out)
	return out
}

// glob is the files whose path matches a pattern, in order.
func (d *Device) glob(pattern string) []string {
	var out []string
	for name := range d.files {
		if ok, err := path.Match(pattern, name); ok && err == nil {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// removeDir removes an empty directory; one of configfs goes with what the kernel put into it.
func (d *Device) removeDir(name string) error {
	name = path.Clean(name)
	f := d.files[name]
	switch {
	case f == nil:
		return errNotFound
	case !f.dir:
		return errNotDir
	case path.Dir(name) == configfs:
		d.removeTree(name)
		return nil
	case isKernels(name):
		return errForbidden
	case len(d.children(name)) > 0:
		return errNotEmpty
	}
	delete(d.files, name)
	return nil
}

// removeTree removes a file, and everything in it.
func (d *Device) removeTree(name string) {
	for other := range d.files {
		if other == name || strings.HasPrefix(other, name+"/") {
			delete(d.files, other)
		}
	}
}

// removeFile removes a file that is no directory.
func (d *Device) removeFile(name string) error {
	name = path.Clean(name)
	switch f := d.files[name]; {
	case f == nil:
		return errNotFound
	case f.dir:
		return errIsDir
	case isKernels(name):
		return errForbidden
	}
	delete(d.files, name)
	return nil
}
