package control

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// The bounds of files that weir reads beside the repo's own. docs/security.md lists them.
const (
	maxPlan  = 1 << 30   // bytes of a saved plan: one of 1,024 switches has some hundred MB
	maxTable = 256 << 20 // bytes of a table of routes
	maxLab   = 16 << 20  // bytes of where a lab's devices are
)

// filesOf are the files of a folder, and of no other: a link that leads out of it is not followed, so that a repo shows nothing
// of the machine that it is opened on.
func filesOf(dir string) fs.FS {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return unreadable{err}
	}
	return root.FS() // the root is closed when nothing refers to it any more
}

// unreadable are the files of a folder that cannot be opened.
type unreadable struct{ err error }

func (u unreadable) Open(string) (fs.File, error) { return nil, u.err }

// Write writes a file below a folder, and makes the folders above it. A name that leads out of the folder is an error.
func Write(folder, name string, body []byte, mode os.FileMode) error {
	local := filepath.FromSlash(name)
	if !filepath.IsLocal(local) {
		return fmt.Errorf("the name %q leads out of the folder %s", name, folder)
	}
	file := filepath.Join(folder, local)
	return errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, body, mode))
}
