package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

var idForm = regexp.MustCompile(`^[0-9a-f]{12}$`)

// ID tells this journal apart from all others: 12 hexadecimal digits, made the first time that somebody asks. It is called by who
// holds the lock.
func (s Store) ID() (string, error) {
	body, err := s.backend().ReadID()
	switch id := strings.TrimSpace(string(body)); {
	case err != nil:
		return "", fmt.Errorf("read which journal this is: %w", err)
	case body != nil && idForm.MatchString(id):
		return id, nil
	case body != nil:
		return "", fmt.Errorf("read which journal this is: the id in %s is not what weir writes; a new one is made where it is removed", s.Place())
	}
	o := s.owner()
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %s %s %s %s", o.Who, o.PID, o.Boot, o.Start, s.Place(), s.Time().Format(time.RFC3339Nano)))
	id := hex.EncodeToString(sum[:6])
	if err := s.backend().WriteID([]byte(id + "\n")); err != nil {
		return "", fmt.Errorf("say which journal this is: %w", err)
	}
	return id, nil
}

// Place is where the journal is, as a person finds it: an absolute folder, or what its Backend says.
func (s Store) Place() string {
	place := s.backend().Place()
	if s.Backend != nil {
		return place
	}
	if whole, err := filepath.Abs(place); err == nil {
		return whole
	}
	return place
}
