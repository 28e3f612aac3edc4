package drivers

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/weirfabric/weir/intent/diag"
)

// Marker says on a device which run is changing it, so that runs with journals of their own keep off each other. It holds no
// secret: whoever may read the device's files may read it.
type Marker struct {
	Run     string    `json:"run"`
	Verb    string    `json:"verb,omitempty"`
	Who     string    `json:"who,omitempty"`     // user@machine
	Journal string    `json:"journal,omitempty"` // the folder of the run's journal on that machine
	ID      string    `json:"id"`                // of that journal
	Since   time.Time `json:"since,omitzero"`

	// Text is the marker as it stands on the device, which removes it only as it was read; empty before it stands.
	Text string `json:"-"`
}

// Marking is a Target whose device may hold markers. Where it cannot, each method returns a *NoMarkerError. A failed Claim may be
// repeated.
type Marking interface {
	// Claim puts m on the device where no marker stands, whole and at once, and gives those that stand then: m alone where the
	// device is claimed. Of two that claim a device at once, at most one is alone.
	Claim(ctx context.Context, m Marker) ([]Marker, error)
	// Markers are those that stand on the device.
	Markers(ctx context.Context) ([]Marker, error)
	// Unclaim removes a marker as it was read. One that does not stand any more, or is another by now, is no error.
	Unclaim(ctx context.Context, m Marker) error
}

// NoMarkerError says that a device cannot hold a marker, and why.
type NoMarkerError struct{ Device, Why string }

func (e *NoMarkerError) Error() string {
	return diag.Plain(fmt.Sprintf("%s: no marker can stand on it: %s", e.Device, e.Why))
}

// MaxMarker is how many bytes of a marker are read. One of weir has less.
const MaxMarker = 4096

// longestField is how many bytes a field of a marker has: all of them together, each byte as an escape, stay below MaxMarker.
const longestField = 160

// Name is the marker as one plain word, for devices that hold nothing else. It names run and journal.
func (m Marker) Name() string { return plainRun(m.Run) + "-" + m.ID }

// Line is the marker as one line.
func (m Marker) Line() string {
	body, err := json.Marshal(m.bounded())
	if err != nil {
		panic(err) // a time of this millennium and strings
	}
	return string(body)
}

// bounded is the marker with no field longer than weir writes it.
func (m Marker) bounded() Marker {
	for _, field := range []*string{&m.Run, &m.Verb, &m.Who, &m.Journal, &m.ID} {
		if len(*field) > longestField {
			*field = strings.ToValidUTF8((*field)[:longestField], "")
		}
	}
	return m
}

// ParseMarker reads a line, or a name. One that weir did not write has no run.
func ParseMarker(text string) Marker {
	var m Marker
	run, id, named := cutLast(text, "-")
	switch err := json.Unmarshal([]byte(text), &m); {
	case err == nil && m.Run != "" && m.ID != "":
	case named && strings.Trim(run, "0123456789-") == "" && strings.Trim(id, "0123456789abcdef") == "":
		m = Marker{Run: run, ID: id}
	default:
		m = Marker{}
	}
	m = m.bounded()
	m.Text = text
	return m
}

// Same says whether two markers are of the same run of the same journal.
func (m Marker) Same(other Marker) bool {
	return m.ID == other.ID && m.Run != "" && plainRun(m.Run) == plainRun(other.Run)
}

// Of says whether the marker is that of a run by name, in either spelling.
func (m Marker) Of(run string) bool { return m.Run != "" && plainRun(m.Run) == plainRun(run) }

// plainRun is the name of a run as devices take it.
func plainRun(run string) string { return strings.ReplaceAll(run, ".", "-") }

func cutLast(text, sep string) (before, after string, found bool) {
	i := strings.LastIndex(text, sep)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(sep):], true
}

// String says whose the marker is, for an operator.
func (m Marker) String() string {
	if m.Run == "" {
		return fmt.Sprintf("%q, which weir did not write", diag.Excerpt(m.Text))
	}
	text := "run " + m.Run
	if m.Who != "" {
		text += fmt.Sprintf(" (%s by %s, since %s; its journal is %s there)", m.Verb, m.Who, m.Since.Format(time.RFC3339), m.Journal)
	} else if m.ID != "" {
		text += fmt.Sprintf(" of journal %s", m.ID)
	}
	return diag.Plain(text)
}
