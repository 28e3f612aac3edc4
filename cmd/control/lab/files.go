package lab

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/weirfabric/weir/drivers"
	simeos "github.com/weirfabric/weir/drivers/sim/eos"
	simsonic "github.com/weirfabric/weir/drivers/sim/sonic"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/source"
	"github.com/weirfabric/weir/inventory"
)

// startFile is the one file that a simulated switch starts from, by platform. Hosts take any.
var startFile = map[string]string{"sonic": simsonic.ConfigFile, "eos": simeos.ConfigFile}

// knownFolders finds what stands in the folder of configurations to start from and belongs to no device that is served: a name that is
// misspelt would be a device in its factory state.
func knownFolders(folder string, served map[string]bool) error {
	if folder == "" {
		return nil
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return fmt.Errorf("--files %s: %w", folder, err)
	}
	names := slices.SortedFunc(maps.Keys(served), addr.Natural)
	names = slices.DeleteFunc(names, func(name string) bool { return !served[name] })
	for _, e := range entries {
		if hidden(e) || e.IsDir() && served[e.Name()] {
			continue
		}
		meant := source.DidYouMean(e.Name(), names)
		if meant == "" {
			meant = ": there are " + diag.First(names, 8)
		}
		return fmt.Errorf("--files %s: %s is not the folder of a device that the lab serves%s", folder, e.Name(), meant)
	}
	return nil
}

func hidden(e fs.DirEntry) bool { return strings.HasPrefix(e.Name(), ".") }

// startFiles reads FOLDER/<device>/ with all that is below it; nil where there is nothing.
func startFiles(folder string, d *inventory.Device) (map[string][]byte, error) {
	if folder == "" {
		return nil, nil
	}
	dir := filepath.Join(folder, d.Name.V)
	files := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		inside, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(inside)
		if only := startFile[d.Platform.V]; only != "" && name != only {
			return fmt.Errorf("%s: a device of platform %s starts from %s", path, d.Platform.V, only)
		}
		files[name], err = drivers.ReadFile(path, drivers.MaxAnswer)
		return err
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("%s: read the configuration to start from: %w", d.Name.V, err)
	}
	return files, nil
}
