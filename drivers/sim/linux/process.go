package linux

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
)

// process runs commands for somebody. The caller of its methods holds the device's lock.
type process struct {
	d              *Device
	root           bool
	strict         bool // set -e: the first failure ends the script
	stdin          string
	stdout, stderr io.Writer
}

// list runs pipelines one after another and returns the status of the last one that ran.
func (p *process) list(l list) int {
	status := 0
	for _, step := range l {
		if step.after == "&&" && status != 0 || step.after == "||" && status == 0 {
			continue
		}
		if status = p.pipeline(step.pipe); status != 0 && p.strict {
			return status
		}
	}
	return status
}

// pipeline feeds each command with what the one before it said.
func (p *process) pipeline(pipe []simple) int {
	status := 0
	stdin := p.stdin
	for i, s := range pipe {
		stage := *p
		stage.stdin = stdin
		var out bytes.Buffer
		if i < len(pipe)-1 {
			stage.stdout = &out
		}
		status = stage.simple(s)
		p.strict = p.strict || len(pipe) == 1 && stage.strict
		if len(pipe) == 1 {
			p.stdin = stage.stdin
		}
		stdin = out.String()
	}
	return status
}

// simple runs one command with its redirections.
func (p *process) simple(s simple) int {
	stage := *p
	var sinks []func() error
	for _, r := range s.files {
		switch {
		case r.file == "":
			stage.stderr = stage.stdout
		case r.stream == 0:
			body, err := p.d.readFile(r.file)
			if err != nil {
				return p.fail(1, "sh: 1: cannot open %s: %v", r.file, err)
			}
			stage.stdin = body
		default:
			buffer := &bytes.Buffer{}
			if r.stream == 1 {
				stage.stdout = buffer
			} else {
				stage.stderr = buffer
			}
			if r.file != "/dev/null" {
				if err := p.mayWrite(r.file); err != nil {
					return p.fail(2, "sh: 1: cannot create %s: %v", r.file, err)
				}
			}
			sinks = append(sinks, func() error { return p.d.writeFile(r.file, buffer.Bytes(), r.appendTo) })
		}
	}
	var status int
	if s.group != nil {
		status = stage.list(s.group)
	} else {
		status = stage.command(p.d.expand(s.words))
	}
	for i, sink := range sinks {
		if err := sink(); err != nil {
			status = p.fail(1, "sh: 1: cannot create %s: %v", s.files[i].file, err)
		}
	}
	p.strict, p.stdin = stage.strict, stage.stdin
	return status
}

// mayWrite says whether a file may be made or changed. Everybody may write to /tmp and to their home.
func (p *process) mayWrite(name string) error {
	if p.root || strings.HasPrefix(name, "/tmp/") || strings.HasPrefix(name, "/home/") {
		return nil
	}
	return errDenied
}

// fail says why and returns a status.
func (p *process) fail(status int, format string, args ...any) int {
	fmt.Fprintf(p.stderr, format+"\n", args...)
	return status
}

// say prints a line.
func (p *process) say(format string, args ...any) int {
	fmt.Fprintf(p.stdout, format+"\n", args...)
	return 0
}

// command runs a command by its words.
func (p *process) command(words []string) int {
	if len(words) == 0 {
		return 0
	}
	name := words[0][strings.LastIndexByte(words[0], '/')+1:]
	run, ok := tools()[name]
	if !ok {
		said, status := missingCommand(words[0])
		fmt.Fprint(p.stderr, said)
		return status
	}
	return run(p, words[1:])
}

// tools are the commands that the host has.
func tools() map[string]func(p *process, args []string) int {
	return map[string]func(p *process, args []string) int{
		":": ok, "true": ok, "sync": ok, "export": ok, "udevadm": ok,
		"false":     func(*process, []string) int { return 1 },
		"set":       func(p *process, args []string) int { p.strict = p.strict || slices.Contains(args, "-e"); return 0 },
		"echo":      echo,
		"printf":    printf,
		"cat":       cat,
		"head":      head,
		"tee":       tee,
		"wc":        wc,
		"grep":      grep,
		"ls":        ls,
		"test":      test,
		"[":         test,
		"mkdir":     mkdir,
		"rm":        rm,
		"rmdir":     rmdir,
		"mv":        mv,
		"cp":        cp,
		"chmod":     onFiles,
		"chown":     onFiles,
		"sudo":      sudo,
		"sh":        sh,
		"bash":      sh,
		"modprobe":  modprobe,
		"lsmod":     func(p *process, _ []string) int { fmt.Fprint(p.stdout, p.d.lsmod()); return 0 },
		"systemctl": systemctl,
		"uname":     uname,
		"hostname":  func(p *process, _ []string) int { return p.say("%s", p.d.hw.Spec().Name) },
		"id":        id,
		"date":      func(p *process, _ []string) int { return p.say("%d", p.d.hw.Now().Unix()) },
		"dcb":       dcb,
		"ip":        ip,
		"ethtool":   ethtool,
		"rdma":      rdma,
	}
}

func ok(*process, []string) int { return 0 }

// sudo raises privileges: the laboratory's user may do everything without a password, and need not be asked for one.
func sudo(p *process, args []string) int {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		switch args[0] {
		case "-S": // reads the password, one line
			_, p.stdin, _ = strings.Cut(p.stdin, "\n")
		case "-p":
			args = args[1:]
		case "-v":
			return 0
		}
		args = args[1:]
	}
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	raised := *p
	raised.root = true
	return raised.command(args)
}

// sh runs a script: the text after -c, or a file.
func sh(p *process, args []string) int {
	inner := *p
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		flags := args[0]
		args = args[1:]
		inner.strict = inner.strict || strings.Contains(flags, "e")
		if strings.Contains(flags, "c") {
			if len(args) == 0 {
				return p.fail(2, "sh: 0: -c requires an argument")
			}
			return inner.script(args[0])
		}
	}
	if len(args) == 0 {
		return inner.script(p.stdin)
	}
	text, err := p.d.readFile(args[0])
	if err != nil {
		return p.fail(2, "sh: 0: cannot open %s: %v", args[0], err)
	}
	return inner.script(text)
}

func (p *process) script(text string) int {
	l, ok := parse(text)
	if !ok {
		return p.fail(2, "sh: 1: %v", errSyntax)
	}
	return p.list(l)
}

// walk visits every command of a script, also those behind sudo and sh -c.
func walk(l list, visit func(words []string, files []redirection)) {
	for _, step := range l {
		for _, s := range step.pipe {
			walk(s.group, visit)
			var words []string
			for _, t := range s.words {
				words = append(words, t.text)
			}
			visit(words, s.files)
			at := slices.Index(words, "-c")
			if at < 0 || at+1 >= len(words) {
				continue
			}
			if inner, ok := parse(words[at+1]); ok {
				walk(inner, visit)
			}
		}
	}
}

// changes says whether a script changes something on the device.
func changes(l list) bool {
	found := false
	walk(l, func(words []string, files []redirection) {
		for _, r := range files {
			found = found || r.stream == 1 && r.file != "/dev/null"
		}
		for len(words) > 0 && (words[0] == "sudo" || strings.HasPrefix(words[0], "-")) {
			words = words[1:]
		}
		if len(words) == 0 {
			return
		}
		has := func(any ...string) bool {
			return slices.ContainsFunc(words[1:], func(w string) bool { return slices.Contains(any, w) })
		}
		switch words[0] {
		case "mkdir", "rm", "rmdir", "mv", "cp", "tee", "chmod", "chown", "modprobe":
			found = true
		case "dcb":
			found = found || has("set", "add", "del", "replace", "flush")
		case "ip":
			found = found || has("set", "add", "del")
		case "ethtool":
			found = found || has("-A", "--pause")
		case "systemctl":
			found = found || !has("is-enabled", "is-active", "status", "show", "cat")
		}
	})
	return found
}

// reads says whether a script reads what is sent to it.
func reads(l list) bool {
	found := false
	walk(l, func(words []string, _ []redirection) {
		for len(words) > 0 && words[0] == "sudo" {
			words = words[1:]
			for len(words) > 0 && strings.HasPrefix(words[0], "-") {
				found = found || words[0] == "-S"
				words = words[1:]
			}
		}
		if len(words) > 0 {
			found = found || slices.Contains([]string{"cat", "tee", "wc", "sh", "grep", "head"}, words[0])
		}
	})
	return found
}
