package ssh

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/intent/plan"
)

func dialBox(t *testing.T, s *server, platform string) drivers.Target {
	t.Helper()
	target, err := dialer().Dial(t.Context(), s.endpoint(t, platform))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { target.Close() })
	return target
}

func TestAFileIsPutInPlaceWhole(t *testing.T) {
	s, b := newBox(t)
	body := "it's \"quoted\"\n$HOME `x`\n"
	chunk := plan.Chunk{Send: []plan.Message{
		{Op: plan.Write, Path: "/etc/weir.conf", Body: body},
		{Op: plan.Write, Path: "/sys/class/net/eth0/mtu", Body: "9000"},
		{Op: plan.Write, Path: "/tmp/weir.json", Body: "{}"},
		{Op: plan.Remove, Path: "/etc/value"},
	}}
	if err := dialBox(t, s, "sonic").Set(t.Context(), chunk, plan.Pending{Route: plan.SSHShell}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"/etc/weir.conf": body, "/sys/class/net/eth0/mtu": "9000", "/tmp/weir.json": "{}"}, b.files); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	want := []string{
		"cat > /etc/weir.conf.weir", "cat /etc/weir.conf.weir", "mv -f /etc/weir.conf.weir /etc/weir.conf",
		"cat > /sys/class/net/eth0/mtu", "cat > /tmp/weir.json", "cat /tmp/weir.json", "rm -f /etc/value /etc/value.weir",
	}
	if diff := cmp.Diff(want, bare(t, s.said())); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

// bare are commands without what stands around each: the environment of the platform, and the marks.
func bare(t *testing.T, commands []string) []string {
	t.Helper()
	var out []string
	for _, c := range commands {
		begin, rest, _ := strings.Cut(c, "; ( ")
		inner, _, framed := strings.Cut(rest, "\n); s=$?; ")
		if !framed || !strings.HasPrefix(begin, "sh -c 'export LC_ALL=C.UTF-8 PATH=") {
			t.Errorf("%q has not the platform's environment", c)
		}
		out = append(out, inner)
	}
	return out
}

func TestChangesOnAHostGoThroughSudoUnlessTheUserIsRoot(t *testing.T) {
	chunk := plan.Chunk{Send: []plan.Message{{Op: plan.Write, Path: "/etc/value", Body: "after"}}}
	for _, asks := range []bool{false, true} {
		s, b := newBox(t)
		b.refuse(asks)
		if err := dialBox(t, s, "linux").Set(t.Context(), chunk, plan.Pending{Route: plan.SSHShell}); err != nil {
			t.Fatalf("sudo asks for a password: %v: %v", asks, err)
		}
		if got := b.holds("/etc/value"); got != "after" {
			t.Errorf("sudo asks for a password: %v: the file holds %q", asks, got)
		}
	}
	s, _ := newBox(t)
	e := s.endpoint(t, "linux")
	e.User = "root"
	target, err := dialer().Dial(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	if err := target.Set(t.Context(), chunk, plan.Pending{Route: plan.SSHShell}); err != nil || strings.Contains(s.said()[0], "sudo") {
		t.Errorf("as root: sent %q, error %v", s.said(), err)
	}
}

func TestTheFirstMessageThatFailsStopsTheChunk(t *testing.T) {
	s, b := newBox(t)
	chunk := plan.Chunk{Send: []plan.Message{
		{Op: plan.Write, Path: "/etc/a", Body: "1"},
		{Op: plan.Run, Body: "false"},
		{Op: plan.Write, Path: "/etc/b", Body: "2"},
	}}
	err := dialBox(t, s, "sonic").Set(t.Context(), chunk, plan.Pending{Route: plan.SSHBulk})
	var partial *drivers.PartialError
	var rejected *drivers.RejectedError
	if !errors.As(err, &partial) || errors.As(err, &rejected) {
		t.Fatalf("got %T: %v, want a PartialError that cannot be taken for a RejectedError", err, err)
	}
	const want = `leaf1: stopped after 1 messages: refused "false": it is not so (exit status 1)`
	if partial.Done != 1 || err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
	if b.holds("/etc/b") != "" {
		t.Error("the message after the one that failed was sent")
	}
}

func TestAFileThatArrivedShortIsNotPutInPlace(t *testing.T) {
	s, b := newBox(t)
	target := dialBox(t, s, "sonic").(*shell)
	sc := script{"write /etc/value", writer("/etc/value", "after")}
	sc.steps[0].stdin = "aft"
	var rejected *drivers.RejectedError
	if err := target.send(t.Context(), sc); !errors.As(err, &rejected) {
		t.Errorf("got %v, want a RejectedError", err)
	}
	if got := b.holds("/etc/value"); got != "before" {
		t.Errorf("the file holds %q", got)
	}
}

func TestWhatACommandsEndMeans(t *testing.T) {
	s, _ := newBox(t)
	target := dialBox(t, s, "linux")
	tests := []struct {
		command string
		missing bool
		body    string
		fails   bool
	}{
		{"cat /etc/value", false, "before", false},
		{"cat /etc/nothing", true, "", false},
		{"dcb pfc show dev eth0", false, "", true}, // there is no such tool, which says nothing of the setting
		{"pgrep -f updater", false, "", true},
		{"false", false, "", true},
		{"half", false, "", true},
	}
	for _, test := range tests {
		got, err := target.Get(t.Context(), []plan.Query{query(test.command)})
		if test.fails {
			var rejected *drivers.RejectedError
			if !errors.As(err, &rejected) || rejected.Input != test.command {
				t.Errorf("%s: got %v, want a RejectedError", test.command, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", test.command, err)
			continue
		}
		if got[0].Missing != test.missing || string(got[0].Body) != test.body {
			t.Errorf("%s: got %+v", test.command, got[0])
		}
	}
}

func TestAWordIsQuotedWhereAShellWouldActOnIt(t *testing.T) {
	for word, want := range map[string]string{"/etc/a.conf": "/etc/a.conf", "a b": "'a b'", "it's": `'it'\''s'`, "": "''", "$x": "'$x'"} {
		if got := plan.Word(word); got != want {
			t.Errorf("plan.Word(%q) = %s, want %s", word, got, want)
		}
	}
}
