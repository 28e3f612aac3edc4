package ssh

import (
	"fmt"
	"io"
	"strings"
	"sync"
)

// box is a device with files and one fault to come.
type box struct {
	mu    sync.Mutex
	files map[string]string
	next  error // after the next command that takes effect
	sudo  bool  // sudo asks for a password
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

func (b *box) fail() error {
	err := b.next
	b.next = nil
	return err
}

// exec is a shell that knows the few commands that are sent here.
func (b *box) exec(command string, in io.Reader, out, errs io.Writer) (uint32, error) {
	if inner, ok := strings.CutPrefix(command, "sudo -n sh -c "); ok {
		if b.asks() {
			fmt.Fprintln(errs, "sudo: a password is required")
			return 1, nil
		}
		command = strings.ReplaceAll(strings.Trim(inner, "'"), `'\''`, "'")
	}
	if inner, ok := strings.CutPrefix(command, "sudo -S -p '' sh -c "); ok {
		given := make([]byte, len(password)+1)
		if _, err := io.ReadFull(in, given); err != nil || string(given) != password+"\n" {
			return 1, nil
		}
		command = strings.ReplaceAll(strings.Trim(inner, "'"), `'\''`, "'")
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
		delete(b.files, path)
		return 0, b.fail()
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
