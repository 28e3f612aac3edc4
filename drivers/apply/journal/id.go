package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

var idForm = regexp.MustCompile(`^[0-9a-f]{12}$`)

// ID tells this journal apart from all others: 12 hexadecimal digits, made the first time that somebody asks. It is called by who
// holds the lock.
func (s Store) ID() (string, error) {
	name := filepath.Join(s.Dir, "id")
	body, err := s.disk().ReadFile(name)
	switch id := strings.TrimSpace(string(body)); {
	case err == nil && idForm.MatchString(id):
		return id, nil
	case err == nil:
		return "", fmt.Errorf("read which journal this is: %s holds what weir does not write; a new one is made where it is removed", name)
	case !errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("read which journal this is: %w", err)
	}
	o := s.owner()
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %s %s %s %s", o.Who, o.PID, o.Boot, o.Start, s.Dir, s.Time().Format(time.RFC3339Nano)))
	id := hex.EncodeToString(sum[:6])
	if err := s.replace(name, []byte(id+"\n")); err != nil {
		return "", fmt.Errorf("say which journal this is: %w", err)
	}
	return id, nil
}
