package journal

import (
	"fmt"
	"slices"
)

// Ready removes the records of old runs, and says why no run may begin that could not be written down to its end. It never removes
// those of a run that has no end, of the last Keep that have one, and of the run that is named: the one that is to be undone. The
// caller holds the lock.
func (s Store) Ready(of string) error {
	if s.Keep > 0 {
		list, err := s.list()
		if err != nil {
			return err
		}
		var old []string
		ended := 0
		for _, name := range slices.Backward(sortedRuns(list)) {
			if _, over := summaryOf(name, list[name].Summary); !over {
				continue
			}
			if ended++; ended > s.Keep && list[name].Records && name != of {
				old = append(old, name)
			}
		}
		if len(old) > 0 {
			if err := s.backend().Remove(old...); err != nil {
				return fmt.Errorf("remove the records of old runs: %w", err)
			}
		}
	}
	return s.backend().Room()
}
