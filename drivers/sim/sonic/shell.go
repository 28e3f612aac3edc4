package sonic

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/weirfabric/weir/drivers/sim"
)

// serveSSH answers over SSH until ctx ends: commands, and terminals.
func (d *Device) serveSSH(ctx context.Context, s sim.Services) error {
	sshd := sim.NewSSHD(s)
	sshd.Version = "SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u6"
	sshd.Exec = func(ctx context.Context, c sim.Command) (int, error) {
		switch d.hw.Fault(sim.Session).Kind {
		case sim.Hang, sim.Reboot:
			return 0, sim.ErrHang
		case sim.Drop, sim.DropBefore, sim.Partial:
			return 0, sim.ErrDrop
		case sim.Reject:
			fmt.Fprintln(c.Stderr, "bash: fork: retry: Resource temporarily unavailable")
			return 254, nil
		}
		return d.execute(ctx, invocation{out: c.Stdout, err: c.Stderr, in: c.Stdin, root: s.User == "root"}, c.Line)
	}
	sshd.Shell = func(*sim.Terminal) sim.Shell { return &terminal{device: d, user: s.User, root: s.User == "root"} }
	return sshd.Serve(ctx, s.SSH)
}

// invocation is what a command has to do with: its streams and its rights.
type invocation struct {
	in       io.Reader
	out, err io.Writer
	root     bool
}

// terminal is a login shell. Its prompt comes after an OSC sequence that sets the window's title.
type terminal struct {
	device *Device
	user   string
	root   bool
	deep   bool // root by sudo -i
}

func (t *terminal) Prompt() (string, bool) {
	name := t.device.hostname()
	user, sign := t.user, "$"
	if t.root {
		user, sign = "root", "#"
	}
	return fmt.Sprintf("\x1b]0;%s@%s: ~\x07%s@%s:~%s ", user, name, user, name, sign), true
}

func (t *terminal) Line(ctx context.Context, line string, out io.Writer) error {
	switch strings.TrimSpace(line) {
	case "":
		return nil
	case "exit", "logout":
		if !t.deep {
			return io.EOF
		}
		t.root, t.deep = false, false
		return nil
	case "sudo -i", "sudo su", "sudo su -":
		t.deep, t.root = !t.root, true
		return nil
	}
	_, err := t.device.execute(ctx, invocation{in: strings.NewReader(""), out: out, err: out, root: t.root}, line)
	return err
}

func (t *terminal) Close() {}

func (d *Device) hostname() string {
	db, _ := d.snapshot()
	if name := db["DEVICE_METADATA"]["localhost"]["hostname"]; name != "" {
		return name
	}
	return "sonic"
}

// execute runs a line: commands after each other, joined by ;, && or ||.
func (d *Device) execute(ctx context.Context, i invocation, line string) (status int, err error) {
	words, err := split(line)
	if err != nil {
		fmt.Fprintf(i.err, "bash: %v\n", err)
		return 2, nil
	}
	var command []string
	skip, variables := false, map[string]string{}
	for _, w := range append(words, word{text: ";", operator: true}) {
		if !w.operator || w.text == ">" {
			command = append(command, w.expanded(status, variables))
			continue
		}
		if len(command) > 0 && !skip {
			name, value, assigned := strings.Cut(command[0], "=")
			switch {
			case assigned && len(command) == 1:
				variables[name] = value
			case command[0] == "exit":
				return d.exit(command[1:], status), nil
			default:
				if status, err = d.run(ctx, i, command); err != nil {
					return status, err
				}
			}
		}
		command, skip = nil, w.text == "&&" && status != 0 || w.text == "||" && status == 0
	}
	return status, nil
}

// exit is the status that a shell ends with.
func (d *Device) exit(args []string, last int) int {
	if len(args) == 0 {
		return last
	}
	status, err := strconv.Atoi(args[0])
	if err != nil {
		return 2
	}
	return status
}

// word is a word of a command line, or an operator between commands.
type word struct {
	text     string
	operator bool
	literal  bool // part of it stood in single quotes: nothing in it is expanded
}

// expanded is the word with the status of the command before it, or the value of a variable that it names.
func (w word) expanded(status int, variables map[string]string) string {
	if w.literal {
		return w.text
	}
	if name, ok := strings.CutPrefix(w.text, "$"); ok && variables[name] != "" {
		return variables[name]
	}
	return strings.ReplaceAll(w.text, "$?", strconv.Itoa(status))
}

// split takes a command line apart as a shell does, as far as quotes, backslashes, ;, &&, ||, parentheses, > and >&2 go.
func split(line string) ([]word, error) {
	var words []word
	var text strings.Builder
	begun, literal := false, false
	flush := func() {
		if begun {
			words = append(words, word{text: text.String(), literal: literal})
		}
		text.Reset()
		begun, literal = false, false
	}
	for i := 0; i < len(line); i++ {
		switch c := line[i]; c {
		case ' ', '\t', '\r', '\n':
			flush()
		case '>':
			flush()
			if strings.HasPrefix(line[i:], toErrors) {
				words = append(words, word{text: toErrors})
				i += len(toErrors) - 1
				continue
			}
			words = append(words, word{text: ">", operator: true})
		case ';', '(', ')': // a shell of its own ends like a command, as far as the lab's commands can tell
			flush()
			words = append(words, word{text: ";", operator: true})
		case '&', '|':
			if i+1 == len(line) || line[i+1] != c {
				return nil, errors.New("the lab's shell has neither pipes nor jobs")
			}
			flush()
			words = append(words, word{text: line[i : i+2], operator: true})
			i++
		case '\'', '"':
			end := strings.IndexByte(line[i+1:], c)
			if end < 0 {
				return nil, errors.New("unexpected EOF while looking for matching `" + string(c) + "'")
			}
			text.WriteString(line[i+1 : i+1+end])
			begun, literal = true, literal || c == '\''
			i += end + 1
		case '\\':
			if i++; i < len(line) {
				text.WriteByte(line[i])
				begun = true
			}
		default:
			text.WriteByte(c)
			begun = true
		}
	}
	flush()
	return words, nil
}

// toErrors sends what a command says where errors go.
const toErrors = ">&2"

// run runs one command.
func (d *Device) run(ctx context.Context, i invocation, args []string) (int, error) {
	if args[0] == "sudo" {
		i.root = true
		if args = args[1:]; len(args) > 0 && args[0] == "-n" {
			args = args[1:]
		}
		if len(args) == 0 {
			fmt.Fprintln(i.err, "usage: sudo -h | -K | -k | -V")
			return 1, nil
		}
	}
	if args[0] == "timeout" && len(args) > 2 {
		args = args[2:] // no command of the lab takes longer than anybody would wait
	}
	if d.removed(args[0]) {
		args = []string{args[0]}
		fmt.Fprintf(i.err, "bash: %s: command not found\n", args[0])
		return 127, nil
	}
	switch args[0] {
	case "config":
		return d.config(ctx, i, args[1:])
	case "pfcwd":
		return d.bigRedSwitch(i, args[1:])
	case "test":
		return d.test(args[1:]), nil
	case "printf":
		return d.printf(i, args[1:])
	case "ln":
		return d.link(i, args[1:]), nil
	case "head":
		return d.head(i, args[1:])
	case "grep":
		return d.grep(i, args[1:]), nil
	case "mktemp":
		return d.mktemp(i, args[1:])
	case "find":
		return d.find(i, args[1:]), nil
	case "show":
		return d.show(i, args[1:])
	case "sonic-cfggen":
		if len(args) == 3 && args[1] == "-d" && args[2] == "--print-data" {
			_, err := i.out.Write(d.told().print())
			return 0, err
		}
		fmt.Fprintln(i.err, "usage: sonic-cfggen -d --print-data")
		return 1, nil
	case "sonic-db-cli":
		return d.dbCLI(i, args[1:])
	case "sh", "bash":
		if len(args) == 3 && args[1] == "-c" {
			return d.execute(ctx, i, args[2])
		}
		return 0, nil
	case "cat", "rm", "mv", "ls":
		return d.file(i, args)
	case "pgrep":
		return d.pgrep(i, args[1:])
	case "echo":
		to := i.out
		if len(args) > 1 && args[len(args)-1] == toErrors {
			to, args = i.err, args[:len(args)-1]
		}
		fmt.Fprintln(to, strings.Join(args[1:], " "))
		return 0, nil
	case "true", "sync", "export":
		return 0, nil
	case "whoami":
		if i.root {
			fmt.Fprintln(i.out, "root")
		} else {
			fmt.Fprintln(i.out, "admin")
		}
		return 0, nil
	case "hostname":
		fmt.Fprintln(i.out, d.hostname())
		return 0, nil
	}
	fmt.Fprintf(i.err, "bash: %s: command not found\n", args[0])
	return 127, nil
}
