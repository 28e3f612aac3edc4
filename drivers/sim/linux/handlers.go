package linux

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"

	"mvdan.cc/sh/v3/interp"
)

// The handlers are the interpreter's ways out: commands and files. None of them leads to the real system, and the builtins
// that would look there by themselves are not reached.

// at is the process that runs a command now: with the streams, the directory and the variables of the place in the script.
func (s *shell) at(ctx context.Context) *process {
	c := interp.HandlerCtx(ctx)
	p := s.process
	p.stdin, p.stdout, p.stderr, p.dir, p.line, p.variables = c.Stdin, c.Stdout, c.Stderr, c.Dir, max(1, c.Pos.Line()), c.Env
	return &p
}

func (s *shell) exec(ctx context.Context, args []string) error {
	args[0] = strings.TrimPrefix(args[0], external)
	return s.at(ctx).command(ctx, args)
}

func (s *shell) open(ctx context.Context, name string, flag int, _ os.FileMode) (io.ReadWriteCloser, error) {
	p := s.at(ctx)
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	if flag&(os.O_WRONLY|os.O_RDWR) == 0 {
		text, err := p.readFile(name)
		if err != nil {
			return nil, &fs.PathError{Op: "sh: 1: cannot open", Path: name, Err: err}
		}
		return s.job.contents(text)
	}
	if p.pretends {
		return nowhere{}, nil
	}
	err := p.mayWrite(name)
	if err == nil {
		var f *file
		if f, err = s.d.create(p.path(name), flag&os.O_APPEND != 0); err == nil {
			return &openFile{s.d, f}, nil
		}
	}
	return nil, &fs.PathError{Op: "sh: 1: cannot create", Path: name, Err: err}
}

func (s *shell) stat(_ context.Context, name string, _ bool) (fs.FileInfo, error) {
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	return s.d.info(path.Clean(name))
}

func (s *shell) readDir(_ context.Context, name string) ([]fs.DirEntry, error) {
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	name = path.Clean(name)
	switch f := s.d.files[name]; {
	case f == nil:
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	case !f.dir:
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.ENOTDIR}
	}
	var out []fs.DirEntry
	for _, child := range s.d.children(name) {
		out = append(out, fs.FileInfoToDirEntry(fileInfo{name: child, file: s.d.files[path.Join(name, child)]}))
	}
	return out, nil
}

func (s *shell) access(_ context.Context, name string, mode interp.AccessMode) error {
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	if _, err := s.d.info(path.Clean(name)); err != nil {
		return err
	}
	if mode&interp.AccessWrite != 0 {
		return s.mayWrite(name)
	}
	return nil
}
