package ssh

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirfabric/weir/drivers"
)

var own = drivers.Marker{Run: "20260301-120000.000", Verb: "apply", Who: "ada@ws", Journal: "/it's; rm -rf /", ID: "0123456789ab", Since: time.Unix(0, 0)}

// TestAMarkerThatCannotBeMadeIsAnErrorInTheDevicesWords has devices that answer what a shell does where the marker cannot be made.
func TestAMarkerThatCannotBeMadeIsAnErrorInTheDevicesWords(t *testing.T) {
	const gone = "head: cannot open '/etc/weir' for reading: No such file or directory\n"
	for name, c := range map[string]struct {
		out, errs string
		status    uint32
		want      string
		none      bool
	}{
		"the disk is full":            {"", "sh: 1: printf: I/O error: No space left on device\n" + gone, 1, "No space left on device", false},
		"the disk is read-only":       {"", "sh: 1: cannot create /etc/weir.x: Read-only file system\n" + gone, 1, "Read-only file system", false},
		"root may not":                {"", "sh: 1: cannot create /etc/weir.x: Permission denied\n" + gone, 1, "Permission denied", false},
		"the user may not":            {"", "bob is not in the sudoers file.\n", 1, "the user may not write it: bob is not in the sudoers file.", true},
		"there is no ln":              {"", "sh: 1: ln: not found\n" + gone, 1, "ln: not found", false},
		"it cannot be read":           {"", "head: error reading '/etc/weir': Input/output error\n", 1, "Input/output error", false},
		"the shell does not begin":    {"", "sh: 0: Cannot fork\n", 254, "Cannot fork", false},
		"half of it, and an error":    {`{"run":`, "head: error reading '/etc/weir': Input/output error\n", 1, "Input/output error", false},
		"words that act on terminals": {"", "\x1b[2J no\n", 3, `\x1b[2J no`, false},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := newBox(t, func(s *server) {
				s.exec = func(_ string, _ io.Reader, out, errs io.Writer) (uint32, error) {
					fmt.Fprint(out, mark+"\n"+c.out+mark)
					fmt.Fprint(errs, mark+"\n"+c.errs)
					return c.status, nil
				}
			})
			target, err := dialer().Dial(t.Context(), s.endpoint(t, "linux"))
			if err != nil {
				t.Fatal(err)
			}
			defer target.Close()
			_, err = target.(drivers.Marking).Claim(t.Context(), own)
			told(t, err, c.want)
			if _, none := err.(*drivers.NoMarkerError); none != c.none {
				t.Errorf("got %T", err)
			}
		})
	}
}

// TestWhatAMarkerHoldsIsOneWordOfAShell looks at what is sent.
func TestWhatAMarkerHoldsIsOneWordOfAShell(t *testing.T) {
	var sent []string
	s, _ := newBox(t, func(s *server) {
		s.exec = func(command string, _ io.Reader, out, errs io.Writer) (uint32, error) {
			sent = append(sent, command)
			fmt.Fprint(errs, "head: cannot open: No such file or directory\n")
			return 1, nil
		}
	})
	target, err := dialer().Dial(t.Context(), s.endpoint(t, "sonic"))
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	_, err = target.(drivers.Marking).Claim(t.Context(), own)
	told(t, err, "No such file or directory")
	evil := own
	evil.Run, evil.ID = "x; reboot", "$(id)"
	_, err = target.(drivers.Marking).Claim(t.Context(), evil)
	told(t, err, "is not one plain word")
	if !slices.ContainsFunc(sent, func(c string) bool { return strings.Contains(c, `/it`) }) || slices.ContainsFunc(sent, func(c string) bool { return strings.Contains(c, "reboot") }) {
		t.Errorf("sent: %q", sent)
	}
	for _, c := range sent {
		inner, ok := strings.CutPrefix(c, "sudo -n sh -c '")
		if inner = strings.ReplaceAll(inner, `'\''`, `"`); !ok || !strings.Contains(inner, `"\""s; rm -rf /`) {
			t.Errorf("it is not quoted twice: %s", c)
		}
	}
}

func TestASwitchWhoseSessionsCannotBeListedIsNotTakenForUnmarked(t *testing.T) {
	s, v := newSwitch(t, func(_ *server, v *vsw) { v.sessions = map[string]string{"\x01": "pending"} }) // which is no JSON
	target := dialSwitch(t, s).(drivers.Marking)
	if got, err := target.Markers(t.Context()); err == nil {
		t.Errorf("got %v", got)
	}
	if _, err := target.Claim(t.Context(), own); err == nil {
		t.Error("it is claimed")
	}
	if slices.ContainsFunc(v.lines(), func(l string) bool { return strings.HasPrefix(l, "configure") }) {
		t.Errorf("typed: %q", v.lines())
	}
}

// TestASessionThatIsNoMarkerIsNotAborted has somebody ask for that.
func TestASessionThatIsNoMarkerIsNotAborted(t *testing.T) {
	s, v := newSwitch(t, func(_ *server, v *vsw) {
		v.sessions = map[string]string{"weir-1": "pendingCommitTimer", "anna": "pending"}
	})
	target := dialSwitch(t, s).(drivers.Marking)
	for _, name := range []string{"weir-1", "anna", ""} {
		if err := target.Unclaim(t.Context(), drivers.Marker{Text: name}); err == nil {
			t.Errorf("%s is no marker", name)
		}
	}
	if states := v.states(); states["anna"] != "pending" || states["weir-1"] != "pendingCommitTimer" {
		t.Errorf("got %v", states)
	}
}
