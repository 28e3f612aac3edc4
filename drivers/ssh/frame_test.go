package ssh

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/intent/plan"
)

// What dcb complains of: iproute2 6.1, observed.
const (
	protocol = "Attribute write: Protocol error\n"
	there    = "Attribute write: File exists\n"
	refused  = "Attribute write: Invalid argument\nCould not add new APP entries\n"
)

func TestWhatTheFilesOfALoginPrintIsNoAnswer(t *testing.T) {
	s, b := newBox(t)
	b.noise = "Welcome! cat: /etc/motd: No such file or directory\n"
	target := dialBox(t, s, "linux")
	got, err := target.Get(t.Context(), []plan.Query{query("cat /etc/value"), query("cat /etc/nothing")})
	if err != nil || string(got[0].Body) != "before" || !got[1].Missing {
		t.Errorf("got %v, %v", got, err)
	}
	var rejected *drivers.RejectedError
	if _, err := target.Get(t.Context(), []plan.Query{query("false")}); !errors.As(err, &rejected) || strings.Contains(err.Error(), "Welcome") {
		t.Errorf("got %v, want a refusal in the words of the command", err)
	}
}

func TestAnAnswerThatIsNotOfTheCommandIsAnError(t *testing.T) {
	for name, said := range map[string]string{"nothing was run": "This account is not available.\n", "the answer is cut": mark + "\nhalf of it"} {
		s, b := newBox(t)
		b.instead = said
		target := dialBox(t, s, "linux")
		if got, err := target.Get(t.Context(), []plan.Query{query("cat /etc/value")}); err == nil {
			t.Errorf("%s: %q was believed", name, got[0].Body)
		}
		chunk := plan.Chunk{Send: []plan.Message{{Op: plan.Run, Body: "dcb pfc set dev eth0 prio-pfc 3:on"}}}
		err := target.Set(t.Context(), chunk, plan.Pending{})
		var rejected *drivers.RejectedError
		var unknown *drivers.UnknownError
		if ran := strings.Contains(said, mark); ran != errors.As(err, &unknown) || ran == errors.As(err, &rejected) {
			t.Errorf("%s: got %T: %v", name, err, err)
		}
	}
}

func TestAChangeOfWhichNothingIsKnownIsSentAgain(t *testing.T) {
	const set, add = "dcb pfc set dev eth0 prio-pfc 3:on", "dcb app add dev eth0 dscp-prio 26:3"
	for name, c := range map[string]struct {
		command string
		says    []string
		want    any // nil: it is done
		left    int
	}{
		"the second time is well":            {set, []string{protocol, "", "x"}, nil, 1},
		"it was there at the second time":    {add, []string{protocol, there, "x"}, nil, 1},
		"it was there before":                {add, []string{there, "x"}, new(*drivers.RejectedError), 1},
		"it is refused, and the status is 0": {add, []string{refused, "x"}, new(*drivers.RejectedError), 1},
		"it never says":                      {set, slices.Repeat([]string{protocol}, 9), new(*drivers.UnknownError), 9 - attempts},
	} {
		s, b := newBox(t)
		b.dcb = c.says
		err := dialBox(t, s, "linux").Set(t.Context(), plan.Chunk{Send: []plan.Message{{Op: plan.Run, Body: c.command}}}, plan.Pending{})
		if (err == nil) != (c.want == nil) || err != nil && !errors.As(err, c.want) {
			t.Errorf("%s: got %T: %v", name, err, err)
		}
		if len(b.dcb) != c.left {
			t.Errorf("%s: dcb ran %d times", name, len(c.says)-len(b.dcb))
		}
	}
}

func TestWhatOnlyRootMayReadIsReadAsRoot(t *testing.T) {
	for name, c := range map[string]struct {
		asks, barred bool
		want         string
	}{
		"sudo does not ask":     {want: ""},
		"sudo asks":             {asks: true, want: ""},
		"sudo refuses the user": {asks: true, barred: true, want: "cat: /etc/shadow: Permission denied, and as root: admin is not in the sudoers file."},
	} {
		s, b := newBox(t)
		b.sudo, b.barred, b.files["/etc/shadow"] = c.asks, c.barred, "of root"
		got, err := dialBox(t, s, "linux").Get(t.Context(), []plan.Query{query("cat /etc/shadow")})
		if c.want == "" && (err != nil || string(got[0].Body) != "of root") {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
		if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}
