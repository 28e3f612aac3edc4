package journal

import (
	"fmt"
	"slices"

	"github.com/weirfabric/weir/intent/plan"
)

// Manifest is what is weir's on each device.
func (s Store) Manifest() (plan.Manifest, error) {
	m, err := s.backend().Manifest()
	if err != nil {
		return nil, fmt.Errorf("read the manifest of what is weir's: %w", err)
	}
	return m, nil
}

// Recorded is what of a manifest counts: the entries of devices that a run on record in this store was about. The others are named;
// whoever wrote them down, no run of this store did.
func (s Store) Recorded(m plan.Manifest) (counts plan.Manifest, others []string, err error) {
	if len(m) == 0 {
		return m, nil, nil
	}
	begun, err := s.Begun()
	if err != nil {
		return nil, nil, err
	}
	known := map[string]bool{}
	for _, r := range begun {
		for _, w := range r.Waves {
			for _, d := range w.Devices {
				known[d.Name] = true
			}
		}
	}
	counts = plan.Manifest{}
	for device, objects := range m {
		if known[device] {
			counts[device] = objects
		} else if len(objects) > 0 {
			others = append(others, device)
		}
	}
	slices.Sort(others)
	return counts, others, nil
}

// Strike takes the entries out of the manifest that do not count. The caller holds the lock.
func (s Store) Strike() error {
	m, err := s.Manifest()
	if err != nil {
		return err
	}
	counts, others, err := s.Recorded(m)
	if err != nil || len(others) == 0 {
		return err
	}
	return s.SaveManifest(counts)
}

// SaveManifest replaces the manifest. It is on disk when the call returns.
func (s Store) SaveManifest(m plan.Manifest) error {
	for device, objects := range m {
		slices.Sort(objects)
		m[device] = slices.Compact(objects)
	}
	if err := s.backend().SaveManifest(m); err != nil {
		return fmt.Errorf("write the manifest of what is weir's: %w", err)
	}
	return nil
}
