package source

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
)

// Files are the YAML files below a folder, in lexical order; none where there is no such folder.
func Files(fsys fs.FS, folder string) ([]string, error) {
	return filesWith(fsys, folder, ".yaml", ".yml")
}

// FilesAndTables are the YAML files below a folder and the tables (.ini) that they may name.
func FilesAndTables(fsys fs.FS, folder string) ([]string, error) {
	return filesWith(fsys, folder, ".yaml", ".yml", ".ini")
}

func filesWith(fsys fs.FS, folder string, endings ...string) ([]string, error) {
	var names []string
	var bytes int64
	err := fs.WalkDir(fsys, folder, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() || !slices.Contains(endings, path.Ext(name)) {
			return nil
		}
		names = append(names, name)
		if info, err := d.Info(); err == nil {
			bytes += info.Size()
		}
		if len(names) > mostFiles || bytes > mostBytes {
			return fmt.Errorf("it holds more than %d files, or more than %d bytes in all, which weir does not read", mostFiles, mostBytes)
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list %s: %w", folder, err)
	}
	return names, nil
}

// Load reads files side by side, as many at once as there are processors, and gives their documents in the order of names.
// A file that cannot be read is a finding.
func (g *Grammar) Load(fsys fs.FS, names []string) ([]Document, diag.List) {
	documents, findings := make([][]Document, len(names)), make([]diag.List, len(names))
	var readers errgroup.Group
	var stoodFor atomic.Int64
	readers.SetLimit(runtime.GOMAXPROCS(0))
	for i, name := range names {
		readers.Go(func() error {
			documents[i], findings[i] = g.load(fsys, name, &stoodFor)
			return nil
		})
	}
	_ = readers.Wait() // what goes wrong with a file is a finding
	var all []Document
	var wrong diag.List
	for i := range names {
		all, wrong = append(all, documents[i]...), append(wrong, findings[i]...)
	}
	return all, wrong
}

func (g *Grammar) load(fsys fs.FS, name string, stoodFor *atomic.Int64) ([]Document, diag.List) {
	body, err := ReadFile(fsys, name)
	if err != nil {
		var findings diag.List
		findings.Errorf(Check, addr.Addr{}, []diag.Pos{{File: name}}, "the file cannot be read: %v", err)
		return nil, findings
	}
	return g.read(name, body, stoodFor)
}
