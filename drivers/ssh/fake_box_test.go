package ssh

import (
	"fmt"
	"io"
	"strings"
	"sync"
)

// box is a device with files and one fault to come.
type box struct {
	mu      sync.Mutex
	files   map[string]string
	next    error    // after the next command that takes effect
	sudo    bool     // sudo asks for a password
	noise   string   // that the files of the login print
	dcb     []string // what dcb complains of, command by command
	instead string   // what is printed, and nothing is run
	barred  bool     // sudo refuses the user
}

func (b *box) fault(wrong error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.next = wrong
}

// refuse makes sudo ask for a password, or not.
func (b *box) refuse(asks bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sudo = asks
}

func (b *box) asks() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.sudo
}

func (b *box) isBarred() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.barred
}

func (b *box) fail() error {
	err := b.next
	b.next = nil
	return err
}

// exec is a login with a shell for the few commands that are sent here.
func (b *box) exec(command string, in io.Reader, out, errs io.Writer) (uint32, error) {
	b.mu.Lock()
	io.WriteString(out, b.noise)
	io.WriteString(errs, b.noise)
	instead := b.instead
	b.mu.Unlock()
	if instead != "" {
		io.WriteString(out, instead)
		return 0, nil
	}
	return b.login(command, in, out, errs, false)
}

func (b *box) login(command string, in io.Reader, out, errs io.Writer, root bool) (uint32, error) {
	if inner, ok := strings.CutPrefix(command, "sudo -n sh -c "); ok {
		if b.asks() {
			fmt.Fprintln(errs, "sudo: a password is required")
			return 1, nil
		}
		command, root = strings.ReplaceAll(strings.Trim(inner, "'"), `'\''`, "'"), true
	}
	if inner, ok := strings.CutPrefix(command, "sudo -S -p '' sh -c "); ok {
		given := make([]byte, len(password)+1)
		if _, err := io.ReadFull(in, given); err != nil || string(given) != password+"\n" {
			return 1, nil
		}
		if b.isBarred() {
			fmt.Fprintln(errs, "admin is not in the sudoers file.")
			return 1, nil
		}
		command, root = strings.ReplaceAll(strings.Trim(inner, "'"), `'\''`, "'"), true
	}
	if inner, ok := strings.CutPrefix(command, "sh -c "); ok {
		command = strings.ReplaceAll(strings.Trim(inner, "'"), `'\''`, "'")
	}
	if begin, rest, framed := strings.Cut(command, "; ( "); framed {
		inner, _, _ := strings.Cut(rest, "\n);")
		if !strings.HasPrefix(begin, "export LC_ALL=C PATH=") && !strings.HasPrefix(begin, "export LC_ALL=C.UTF-8 PATH=") {
			return 2, nil
		}
		fmt.Fprintln(out, mark)
		fmt.Fprintln(errs, mark)
		status, err := b.login(inner, in, out, errs, root)
		if err == nil {
			io.WriteString(out, mark)
		}
		return status, err
	}
	words := strings.Fields(command)
	path := words[len(words)-1]
	body, _ := io.ReadAll(in)
	b.mu.Lock()
	defer b.mu.Unlock()
	content, there := b.files[path]
	switch {
	case words[0] == "cat" && words[1] == ">":
		b.files[path] = string(body)
		return 0, nil
	case words[0] == "mv":
		b.files[path] = b.files[words[2]]
		delete(b.files, words[2])
		return 0, b.fail()
	case words[0] == "rm":
		for _, name := range words[2:] {
			delete(b.files, name)
		}
		return 0, b.fail()
	case words[0] == "cat" && there && path == "/etc/shadow" && !root:
		fmt.Fprintf(errs, "cat: %s: Permission denied\n", path)
		return 1, nil
	case words[0] == "cat" && there:
		_, _ = io.WriteString(out, content)
		return 0, nil
	case words[0] == "cat":
		fmt.Fprintf(errs, "cat: %s: No such file or directory\n", path)
		return 1, nil
	case words[0] == "pgrep":
		return 1, nil
	case words[0] == "half":
		fmt.Fprintln(out, "one file")
		fmt.Fprintln(errs, "cat: another: No such file or directory")
		return 1, nil
	case words[0] == "dcb" && len(b.dcb) > 0:
		said := b.dcb[0]
		b.dcb = b.dcb[1:]
		fmt.Fprint(errs, said)
		if words[1] == "app" || said == "" {
			return 0, nil
		}
		return 1, nil
	case words[0] == "false":
		fmt.Fprintln(errs, "it is not so")
		return 1, nil
	}
	fmt.Fprintf(errs, "sh: 1: %s: not found\n", words[0])
	return 127, nil
}

func (b *box) holds(path string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.files[path]
}
