package drivers_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/drivers"
)

func TestAMarkerIsReadAsItWasWritten(t *testing.T) {
	m := drivers.Marker{Run: "20260301-120000.000", Verb: "apply", Who: "ada@ws", Journal: "/repo/.weir", ID: "0123456789ab",
		Since: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	got := drivers.ParseMarker(m.Line())
	if got.Text != m.Line() {
		t.Errorf("got the text %q", got.Text)
	}
	got.Text = ""
	if diff := cmp.Diff(m, got); diff != "" {
		t.Error(diff)
	}
	if named := drivers.ParseMarker(m.Name()); !named.Same(m) || !named.Of(m.Run) {
		t.Errorf("by its name: got %+v", named)
	}
	if want := "run 20260301-120000.000 (apply by ada@ws, since 2026-03-01T12:00:00Z; its journal is /repo/.weir there)"; m.String() != want {
		t.Errorf("got %q", m)
	}
}

func TestAMarkerIsBoundedWhateverItsFieldsHold(t *testing.T) {
	long := strings.Repeat("\x00é", drivers.MaxMarker)
	line := drivers.Marker{Run: long, Verb: long, Who: long, Journal: long, ID: long}.Line()
	if len(line) >= drivers.MaxMarker || strings.ContainsAny(line, "\x00\n") {
		t.Errorf("%d bytes: %q", len(line), line)
	}
	if m := drivers.ParseMarker(line); m.Run == "" {
		t.Error("it is not read")
	}
}

func TestWhatWeirDidNotWriteIsNoRunAndCannotActOnATerminal(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":                       "",
		"a word":                        "busy",
		"JSON of somebody else":         `{"owner":"ansible"}`,
		"JSON without a journal":        `{"run":"1"}`,
		"JSON that is cut":              `{"run":"1","id":"2"`,
		"control characters":            "\x1b[2Jgone\x07",
		"a name of something else":      "nightly-backup-cafe",
		"more than anybody should read": strings.Repeat("\x1b", drivers.MaxMarker),
	} {
		m := drivers.ParseMarker(text)
		if m.Run != "" || m.Same(m) || m.Of("") {
			t.Errorf("%s: got %+v", name, m)
		}
		if said := m.String(); strings.ContainsFunc(said, func(r rune) bool { return r < ' ' }) || len(said) > 3000 {
			t.Errorf("%s: %d bytes: %q", name, len(said), said)
		}
	}
	long := drivers.ParseMarker(`{"run":"1","id":"2","who":"` + strings.Repeat("a", 3000) + `"}`)
	if n := len(long.String()); n > 1000 {
		t.Errorf("%d bytes: %s", n, long)
	}
	evil := drivers.ParseMarker(`{"run":"1\u001b[2J","id":"2","who":"\u0007a@b","journal":"/x\u202e"}`)
	if strings.ContainsAny(evil.String(), "\x1b\x07\u202e") {
		t.Errorf("got %q", evil)
	}
}
