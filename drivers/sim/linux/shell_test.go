package linux

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/drivers/sim"
)

func TestTheShellIsOneOfPOSIX(t *testing.T) {
	for name, c := range map[string]struct {
		command, stdin string
		want           said
	}{
		"quotes inside quotes":                   {command: `echo "it's \"so\"" 'a "b" $c'`, want: said{Out: "it's \"so\" a \"b\" $c\n"}},
		"a quote as drivers escape it":           {command: `sh -c 'echo '\''a  b'\'''`, want: said{Out: "a  b\n"}},
		"a substitution":                         {command: `echo "<$(cat /etc/hostname)>"`, want: said{Out: "<gpu1>\n"}},
		"a substitution in a substitution":       {command: "echo $(echo $(echo a; echo b) `echo c`)", want: said{Out: "a b c\n"}},
		"the status of a substitution":           {command: "x=$(false) || echo bad", want: said{Out: "bad\n"}},
		"a variable is split, a quoted one not":  {command: `x="a  b"; echo $x "$x" ${y:-none} ${#x}`, want: said{Out: "a b a  b none 4\n"}},
		"arithmetic":                             {command: "echo $((2 + 3 * 4))", want: said{Out: "14\n"}},
		"standard error joins standard output":   {command: "cat /none 2>&1 >/dev/null | grep -c such", want: said{Out: "1\n"}},
		"the order of redirections":              {command: "cat /none >/dev/null 2>&1", want: said{Status: 1}},
		"the order of what both streams say":     {command: "cat /etc/hostname /none /etc/hostname 2>&1", want: said{Out: "gpu1\ncat: /none: No such file or directory\ngpu1\n", Status: 1}},
		"a here-document expands":                {command: "x=1\ncat <<EOF\n$x $(echo 2)\nEOF", want: said{Out: "1 2\n"}},
		"not with a quoted delimiter":            {command: "cat <<'EOF'\n$x `y` \\\nEOF", want: said{Out: "$x `y` \\\n"}},
		"a here-document into a file":            {command: "cat > /tmp/f <<-EOF\n\tone\n\tEOF\ncat /tmp/f", want: said{Out: "one\n"}},
		"a name that holds a semicolon":          {command: `ip link set dev 'eth0;reboot' up`, want: said{Err: "Cannot find device \"eth0;reboot\"\n", Status: 1}},
		"a variable that holds a semicolon":      {command: `n='eth0; echo no'; ip link set dev "$n" up`, want: said{Err: "Cannot find device \"eth0; echo no\"\n", Status: 1}},
		"a substitution is not run twice":        {command: `x='$(echo no)'; echo "$x"`, want: said{Out: "$(echo no)\n"}},
		"a pipeline has its last status":         {command: "false | true", want: said{}},
		"a pipeline has its last status, if bad": {command: "true | false", want: said{Status: 1}},
		"a pipeline negated":                     {command: "! true | false", want: said{}},
		"a reader that stops early":              {command: "cat /etc/hosts | head -n 1", want: said{Out: "127.0.0.1 localhost\n"}},
		"cd in a subshell":                       {command: "cd /etc; (cd /tmp; pwd); pwd; cat hostname", want: said{Out: "/tmp\n/etc\ngpu1\n"}},
		"a login begins at home":                 {command: "pwd; echo ~ $HOME; echo x > f; cat /root/f", want: said{Out: "/root\n/root /root\nx\n"}},
		"variables in a subshell":                {command: "x=1; (x=2); echo $x", want: said{Out: "1\n"}},
		"what is exported":                       {command: `a=1; export b=2; c=3 sh -c 'echo "$a$b$c"'`, want: said{Out: "23\n"}},
		"what is local and read-only":            {command: `f() { local x=2; echo $x; }; x=1; f; echo $x; readonly y='a b'; echo "$y"`, want: said{Out: "2\n1\na b\n"}},
		"a name that no variable has":            {command: "export 'a b=c'; echo no", want: said{Err: "sh: 1: export: a b: bad variable name\n", Status: 2}},
		"a value is quoted when it is exported":  {command: `export a="x;  \$(echo no)'"; sh -c 'echo "$a"'`, want: said{Out: "x;  $(echo no)'\n"}},
		"sudo forgets what is exported":          {command: "export b=2; sudo sh -c 'echo \"<$b>\"'", want: said{Out: "<>\n"}},
		"arguments of sh -c":                     {command: `sh -c 'echo "$0" "$2" $#' name 'a b' 'c  d'`, want: said{Out: "name c  d 2\n"}},
		"set -e spares conditions":               {command: "set -e; false || true; if false; then :; fi; echo on; false; echo no", want: said{Out: "on\n", Status: 1}},
		"exit":                                   {command: "(exit 3); echo $?; exit 4; echo no", want: said{Out: "3\n", Status: 4}},
		"case, while and functions":              {command: `f() { case $1 in e*) echo nic;; *) echo no;; esac; }; for n in eth0 lo; do f $n; done; i=0; while [ $i -lt 2 ]; do i=$((i+1)); done; echo $i`, want: said{Out: "nic\nno\n2\n"}},
		"a function before a tool":               {command: `echo() { printf '<%s>\n' "$1"; }; echo a`, want: said{Out: "<a>\n"}},
		"read takes one line":                    {command: "read -r a; read b c; echo \"$a|$b|$c\"; cat", stdin: "one \\ x\ntwo three\nrest\n", want: said{Out: "one \\ x|two|three\nrest\n"}},
		"lines of a pipe":                        {command: `cat /etc/rdma/modules/rdma.conf | while read m; do echo "$m"; done | grep -c ib_`, want: said{Out: "4\n"}},
		"lines of a file":                        {command: "while read a b; do echo $b; done < /etc/hosts", want: said{Out: "localhost\ngpu1\n"}},
		"sh reads its script":                    {command: "sh", stdin: "echo a\nfalse\n", want: said{Out: "a\n", Status: 1}},
		"a file of commands":                     {command: "echo 'x=5; y() { echo y$x; }' > /tmp/f; . /tmp/f; y", want: said{Out: "y5\n"}},
		"eval":                                   {command: `x='echo "a  b" | cat'; eval "$x"`, want: said{Out: "a  b\n"}},
		"a trap":                                 {command: "trap -- 'echo bye' EXIT; echo hi", want: said{Out: "hi\nbye\n"}},
		"test":                                   {command: `test -f /etc/hosts -a ! -d /etc/hosts && [ 3 -gt 2 ] && [ "$x" = "" ] && [ -s /etc/hosts ] && echo yes`, want: said{Out: "yes\n"}},
		"where a command lies":                   {command: "command -v dcb cd; command -v none || echo $?", want: said{Out: "/usr/sbin/dcb\ncd\n127\n"}},
		"command passes functions by":            {command: "dcb() { echo mine; }; command dcb", want: said{Err: "Usage: dcb [ OPTIONS ] OBJECT { COMMAND | help }\n", Status: 1}},
		"not found, with its line":               {command: "echo a\nfrobnicate || echo $?", want: said{Out: "a\n127\n", Err: "sh: 2: frobnicate: not found\n"}},
		"a builtin of bash":                      {command: "pushd /etc", want: said{Err: "sh: 1: pushd: not found\n", Status: 127}},
		"a function without a name":              {command: "() \x00A(){0", want: said{Err: "sh: 1: Syntax error: a function has no name\n", Status: 2}},
		"an empty name":                          {command: "unset ''; echo no", want: said{Err: "sh: 1: unset: : bad variable name\n", Status: 2}},
		"a construct of bash":                    {command: "echo <(echo a)", want: said{Err: "sh: 1: Syntax error: `<` must be followed by a word\n", Status: 2}},
		"nothing runs in the background":         {command: "echo a &", want: said{Err: "sh: 1: Cannot fork\n", Status: 2}},
		"nor in eval":                            {command: "eval 'echo a &'; echo b", want: said{Err: "sh: 1: Cannot fork\n", Status: 2}},
		"a file that cannot be read":             {command: "cat < /none || echo $?", want: said{Out: "1\n", Err: "sh: 1: cannot open /none: No such file or directory\n"}},
		"a file that cannot be written":          {command: "echo a > /none/f || echo $?", want: said{Out: "1\n", Err: "sh: 1: cannot create /none/f: No such file or directory\n"}},
		"a value that the kernel refuses":        {command: "echo x > /sys/class/net/eth0/mtu", want: said{Err: "echo: write error: Invalid argument\n", Status: 1}},
		"a tool that writes nothing":             {command: "sync > /sys/class/net/eth0/mtu"},
		"a file is emptied before it is read":    {command: "echo a > /tmp/f; cat /tmp/f > /tmp/f; wc -c < /tmp/f", want: said{Out: "0\n"}},
		"a star in quotes and out of them":       {command: `echo /sys/class/net/*/mtu "/sys/*" /none/*`, want: said{Out: "/sys/class/net/eth0/mtu /sys/class/net/lo/mtu /sys/* /none/*\n"}},
		"what does not end":                      {command: "while :; do :; done", want: said{Err: "sh: 1: too many commands\n", Status: 2}},
		"what calls itself":                      {command: "f() { f; }; f", want: said{Err: "sh: 1: too many commands\n", Status: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(run(t, server(newBench(nil)), c.command, c.stdin), c.want); diff != "" {
				t.Errorf("%s: got -, want +:\n%s", c.command, diff)
			}
		})
	}
}

// TestTheShellStaysInItsDevice tries every way out that the interpreter, or a real shell, would have.
func TestTheShellStaysInItsDevice(t *testing.T) {
	const secret = "of-the-real-machine"
	t.Setenv("WEIR_SECRET", secret)
	t.Setenv("TMPDIR", t.TempDir())
	real := t.TempDir()
	for name, body := range map[string]string{
		"file": secret + "\n", "script": "#!/bin/sh\necho " + secret + "\n", secret: "", "source": "x=" + secret + "; echo " + secret + "\n",
	} {
		if err := os.WriteFile(filepath.Join(real, name), []byte(body), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	before := listing(t, real, os.TempDir())
	for _, command := range []string{
		"cat REAL/file", "cat < REAL/file", "read x < REAL/file; echo $x", "echo $(cat REAL/file)", "echo $(< REAL/file)",
		"head REAL/file", "grep . REAL/file", "cp REAL/file /tmp/x; cat /tmp/x", "exec < REAL/file; cat",
		"cd REAL && cat file", "cd REAL; pwd -P", "ls REAL", "echo REAL/*", "echo REAL/o*l-machin?", "cd REAL; echo *",
		"sh REAL/script", "REAL/script", ". REAL/source", "source REAL/source", "exec REAL/script", "command REAL/script", "command . REAL/source",
		"PATH=REAL; script", "PATH=REAL; . source; echo $x", "PATH=REAL; command -v script", "PATH=REAL; type script", "PATH=REAL; hash script",
		"eval '. REAL/source'", "trap '. REAL/source' EXIT", "eval 'cat <(cat REAL/file)'", "cat <(cat REAL/file)", "trap 'cat <(cat REAL/file)' EXIT",
		"sh -c 'cat REAL/file'", "sudo cat REAL/file", "sudo sh -c 'cat REAL/file'", "mapfile x < REAL/file", "builtin . REAL/source",
		"test -e REAL/file && echo SECRET", "[ -r REAL/file ] && echo SECRET", "[ -d REAL ] && echo SECRET", "[ -O REAL/file ] && echo SECRET",
		"[ -e /etc -a -x REAL/script ] && echo SECRET", "test -O /etc/hosts && echo SECRET", "test -N /etc/hosts && echo SECRET", "test -t 0 && echo SECRET",
		"echo $WEIR_SECRET", "sh -c 'echo $WEIR_SECRET'", "env", "printenv", "set", "export", "export -p", "declare -p WEIR_SECRET", "echo $TMPDIR",
		"touch REAL/new", "/usr/bin/touch REAL/new", "/bin/touch REAL/new", "exec touch REAL/new", "command -p touch REAL/new", "sudo touch REAL/new",
		"/bin/sh -c 'touch REAL/new'", "/usr/bin/env touch REAL/new", "PATH=/bin:/usr/bin touch REAL/new", "touch REAL/new &",
		"echo x > REAL/new", "echo x >> REAL/file", "echo x >| REAL/new", "echo x <> REAL/new", "echo x | tee REAL/new", "cp /etc/hosts REAL/new", "mv REAL/file REAL/new",
		"rm -rf REAL", "mkdir REAL/new", "exec > REAL/new; echo x", "exec 2> REAL/new; none", "cat > REAL/new <<EOF\nx\nEOF",
		"echo x > TEMP/sh-interp-x", "mkdir -p TEMP; echo x > TEMP/sh-interp-x", "TMPDIR=TEMP; mkdir -p TEMP; echo x > TEMP/sh-interp-x",
		"kill -9 $$", "kill PID", "echo $$", "echo $PPID", "eval 'echo $$'", "ulimit -a", "umask 777", "times", "coproc cat", "echo ~daemon", "echo ~nobody/x",
	} {
		command := strings.NewReplacer("REAL", real, "TEMP", os.TempDir(), "SECRET", secret).Replace(command)
		got := run(t, server(newBench(nil)), command, "")
		for _, leak := range []string{secret, os.TempDir() + "\n"} {
			if strings.Contains(got.Out+got.Err, leak) {
				t.Errorf("%s: it tells of the real machine: %+v", command, got)
			}
		}
		if diff := cmp.Diff(listing(t, real, os.TempDir()), before); diff != "" {
			t.Fatalf("%s: it changed the real machine: is -, was +:\n%s", command, diff)
		}
	}
	for command, want := range map[string]string{"echo $$ $PPID": "1042 1041\n", "eval 'echo $$'": "1042\n", "echo ~daemon ~root": "~daemon /root\n", `echo "<$TMPDIR>"`: "<>\n"} {
		if got := run(t, server(newBench(nil)), command, ""); got.Out != want {
			t.Errorf("%s: got %q, want %q", command, got.Out, want)
		}
	}
}

// listing is the files below folders, with what they say.
func listing(t *testing.T, folders ...string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(name string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				out[name] = ""
				return err
			}
			body, err := os.ReadFile(name)
			out[name] = string(body)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func TestTheShellEndsInABubble(t *testing.T) {
	long := strings.Repeat("a line of sixteen\n", 20_000) // more than a pipe holds
	for command, want := range map[string]string{
		"cat /tmp/long | cat | wc -l":                            "20000\n",
		"cat /tmp/long | head -n 1":                              "a line of sixteen\n",
		"echo $(cat /tmp/long | wc -l)":                          "20000\n",
		"echo \"$(cat /tmp/long)\" | wc -l":                      "20000\n",
		"cat <<EOF | wc -l\n" + long + "EOF":                     "20000\n",
		"true <<EOF\n" + long + "EOF\necho on":                   "on\n",
		"true < /tmp/long; wc -l < /tmp/long":                    "20000\n",
		"exec < /tmp/long; echo on":                              "on\n",
		"cat /tmp/long | while read a b; do echo $b; exit; done": "line of sixteen\n",
		"cat":             "typed later\n",
		"read x; echo $x": "typed later\n",
	} {
		synctest.Test(t, func(t *testing.T) {
			d := server(newBench(map[string]string{"/tmp/long": long}))
			d.put("/tmp/long", &file{body: []byte(long)})
			stdin, typed := io.Pipe()
			go func() {
				time.Sleep(time.Hour) // of virtual time, while the command waits for its input
				_, _ = io.WriteString(typed, "typed later\n")
				typed.Close()
			}()
			var out bytes.Buffer
			status, err := d.exec(t.Context(), sim.Command{Line: command, Stdin: stdin, Stdout: &out, Stderr: &out})
			if status != 0 || err != nil || out.String() != want {
				t.Errorf("%.60s: got %d, %v and %.60q, want %q", command, status, err, out.String(), want)
			}
			time.Sleep(2 * time.Hour)
			stdin.Close()
		})
	}
}

func TestATerminalIsOneShell(t *testing.T) {
	d := server(newBench(nil))
	terminal := d.shell(&sim.Terminal{})
	defer terminal.Close()
	var out bytes.Buffer
	for _, line := range []string{"cd /etc", "x='a  b'; f() { echo \"<$x>\"; }", "false", "echo $?", "f", "cat hostname", "echo 'open"} {
		if err := terminal.Line(t.Context(), line, &out); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
	if want := "1\n<a  b>\ngpu1\nsh: 1: Syntax error: reached EOF without closing quote `'`\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
	if err := terminal.Line(t.Context(), "true && exit", &out); !errors.Is(err, io.EOF) {
		t.Errorf("after exit: got %v", err)
	}
}

func TestAShellEndsWithItsConnection(t *testing.T) {
	d := server(newBench(nil))
	ctx, cancel := context.WithCancel(t.Context())
	stdin, typed := io.Pipe()
	go func() {
		cancel()
		typed.Close()
	}()
	_, err := d.exec(ctx, sim.Command{Line: "cat; while a=1; do b=2; done", Stdin: stdin, Stdout: io.Discard, Stderr: io.Discard})
	if !errors.Is(err, sim.ErrDrop) {
		t.Errorf("got %v", err)
	}
}

func TestTheShellRefusesOtherStreams(t *testing.T) {
	for _, command := range []string{"echo a 3>/tmp/f", "echo a >&3", "echo a >| /tmp/f", "cat <> /etc/hosts"} {
		if got := run(t, server(newBench(nil)), command, ""); got.Status == 0 || got.Out != "" || got.Err == "" {
			t.Errorf("%s: got %+v", command, got)
		}
	}
}
