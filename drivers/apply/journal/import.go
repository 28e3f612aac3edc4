package journal

import (
	"bytes"
	"errors"
	"fmt"
)

// Import copies the runs, the manifest and the ID of another store into one that has none, and gives how many runs there are. A run without
// an end, or a damaged one, is refused before anything is copied. The caller has the locks of both.
func (s Store) Import(from Store) (int, error) {
	if err := from.Ended(); err != nil {
		return 0, err
	}
	here, err := s.list()
	if err != nil {
		return 0, err
	}
	owned, err := s.Manifest()
	if err != nil {
		return 0, err
	}
	if len(here) > 0 || len(owned) > 0 {
		return 0, fmt.Errorf("%s has runs or a manifest already: what is in %s is taken in before the first run there", s.backend().Place(), from.backend().Place())
	}
	list, err := from.list()
	if err != nil {
		return 0, err
	}
	if owned, err = from.Manifest(); err != nil {
		return 0, err
	}
	if len(list) == 0 && len(owned) == 0 {
		return 0, fmt.Errorf("nothing is recorded in %s", from.backend().Place())
	}
	id, err := from.ID()
	if err == nil {
		err = s.backend().WriteID([]byte(id + "\n"))
	}
	if err != nil {
		return 0, err
	}
	runs := 0
	for _, name := range sortedRuns(list) {
		if list[name].Records {
			err = s.copyRun(from, name)
		}
		if err == nil && list[name].Summary != nil {
			err = s.backend().Summarise(name, list[name].Summary)
		}
		if err != nil {
			return runs, fmt.Errorf("take in run %s: %w", name, err)
		}
		runs++
	}
	return runs, s.SaveManifest(owned)
}

// copyRun copies the lines of a journal as they stand.
func (s Store) copyRun(from Store, run string) error {
	p, err := from.read(run)
	if err != nil {
		return err
	}
	log, err := s.backend().Create(run)
	if err != nil {
		return err
	}
	n := 0
	for line := range bytes.Lines(p.body[:p.whole]) {
		var entry []byte
		if entry, err = encodeEntry(p.records[n], p.sums[n]); err == nil {
			err = log.Add(line, entry)
		}
		if err != nil {
			break
		}
		n++
	}
	return errors.Join(err, log.Close())
}
