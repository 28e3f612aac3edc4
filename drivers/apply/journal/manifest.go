package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/weirfabric/weir/intent/plan"
)

// Manifest is what is weir's on each device.
func (s Store) Manifest() (plan.Manifest, error) {
	m := plan.Manifest{}
	body, err := s.disk().ReadFile(s.manifest())
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
	if err := s.disk().MkdirAll(s.Dir); err != nil {
		return fmt.Errorf("make the journal folder: %w", err)
	}
	return s.replace(s.manifest(), append(body, '\n'))
}

func (s Store) manifest() string { return filepath.Join(s.Dir, "owned.json") }
