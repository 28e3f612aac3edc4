package linux

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

const (
	// errBackground is what the shell does not do: nothing outlives the line that started it.
	errBackground words = "Cannot fork"
	// errNoName is what the parser lets pass, and the interpreter breaks on.
	errNoName words = "Syntax error: a function has no name"
)

// parameters that would tell of the laboratory's own process, and what they are read from instead.
var parameters = map[string]string{"$": "LAB_PID", "PPID": "LAB_PPID"}

// parse reads a script in the language of POSIX.
func parse(text string) (*syntax.File, error) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(text), "sh")
	if err != nil {
		return nil, err
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			if n.Background {
				err = errBackground
			}
		case *syntax.FuncDecl:
			if n.Name == nil {
				err = errNoName
			}
		case *syntax.ParamExp:
			if name, ours := parameters[n.Param.Value]; ours {
				n.Param.Value, n.Short = name, false
			}
		}
		return true
	})
	return file, err
}

// script is a text that was read.
type script struct {
	*syntax.File
	changes bool // something on the device
}

// mostScripts is how many texts a device remembers.
const mostScripts = 64

// parsed is parse, which remembers what it has read: who collects counters asks the same every few seconds. Nobody writes to a script.
func (d *Device) parsed(text string) (script, error) {
	d.mu.Lock()
	s, known := d.scripts[text]
	d.mu.Unlock()
	if known {
		return s, nil
	}
	file, err := parse(text)
	if err != nil {
		return script{}, err
	}
	s = script{file, changes(file)}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.scripts) >= mostScripts {
		clear(d.scripts)
	}
	d.scripts[text] = s
	return s, nil
}

// complaint is what a shell says of a text that it cannot read.
func complaint(err error) string {
	var wrong syntax.ParseError
	var foreign syntax.LangError
	switch {
	case errors.As(err, &wrong):
		return fmt.Sprintf("sh: %d: Syntax error: %s\n", wrong.Pos.Line(), wrong.Text)
	case errors.As(err, &foreign):
		return fmt.Sprintf("sh: %d: Syntax error: %s is not in POSIX\n", foreign.Pos.Line(), foreign.Feature)
	}
	return fmt.Sprintf("sh: 1: %v\n", err)
}

// changes says whether a script changes something on the device, as far as can be seen without running it.
func changes(script *syntax.File) bool {
	found := false
	syntax.Walk(script, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			found = found || slices.ContainsFunc(n.Redirs, writes)
		case *syntax.CallExpr:
			found = found || changing(literals(n.Args))
		}
		return !found
	})
	return found
}

// writes says whether a redirection writes a file with what is printed.
func writes(r *syntax.Redirect) bool {
	if r.Op != syntax.RdrOut && r.Op != syntax.AppOut || r.N != nil && r.N.Value != "1" {
		return false
	}
	return literal(r.Word) != "/dev/null"
}

// changing says whether a command changes something, also one behind sudo and sh -c.
func changing(words []string) bool {
	if at := slices.Index(words, "-c"); at >= 0 && at+1 < len(words) {
		if inner, err := parse(words[at+1]); err == nil && changes(inner) {
			return true
		}
	}
	for len(words) > 0 && (words[0] == "sudo" || strings.HasPrefix(words[0], "-")) {
		words = words[1:]
	}
	if len(words) == 0 {
		return false
	}
	has := func(any ...string) bool {
		return slices.ContainsFunc(words[1:], func(w string) bool { return slices.Contains(any, w) })
	}
	switch words[0] {
	case "mkdir", "rm", "rmdir", "mv", "cp", "ln", "tee", "chmod", "chown", "modprobe":
		return true
	case "dcb":
		return has("set", "add", "del", "replace", "flush")
	case "ip":
		return has("set", "add", "del")
	case "nmcli":
		return has("reload", "up")
	case "ethtool":
		return has("-A", "--pause")
	case "systemctl":
		return !has("is-enabled", "is-active", "status", "show", "cat")
	}
	return false
}

func literals(words []*syntax.Word) []string {
	var out []string
	for _, w := range words {
		out = append(out, literal(w))
	}
	return out
}

// literal is a word without its quotes; what is only known when it runs is left out.
func literal(w *syntax.Word) string {
	text, err := expand.Literal(&expand.Config{
		Env:      environment{},
		CmdSubst: func(io.Writer, *syntax.CmdSubst) error { return nil },
	}, w)
	if err != nil {
		return ""
	}
	return text
}
