package plan

import (
	"os/exec"
	"testing"
)

// TestAShellTakesEveryTextAsOneWord asks the shell of the machine itself.
func TestAShellTakesEveryTextAsOneWord(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell")
	}
	for _, text := range []string{
		"eth0", "", "a b", "eth0;id>/x;#", "$(id)", "`id`", `a"b`, "a'b", "''", `'\''`, "a\nid", "a\tb", "*", "~", "!x", "a&&b", "|", "{a,b}", "\x1b[31m", "é", "#x", `\`,
	} {
		out, err := exec.Command(sh, "-c", Command("printf %s", text)).Output()
		if err != nil || string(out) != text {
			t.Errorf("%q came as %q: %v", text, out, err)
		}
	}
}
