package linux

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
)

// findCommand is command -v: where a command lies.
func findCommand(p *process, args []string) int {
	if len(args) < 2 || args[0] != "-v" {
		return p.fail(2, "sh: %d: command: illegal option", p.line)
	}
	for _, name := range args[1:] {
		_, isTool := tools()[name]
		_, isLauncher := launchers()[name]
		switch {
		case slices.Contains(own, name):
			p.printLine("%s", name)
		case !p.finds(name):
			return 127
		case slices.Contains(inSbin, name):
			p.printLine("/usr/sbin/%s", name)
		case isTool || isLauncher:
			p.printLine("/usr/bin/%s", name)
		default:
			return 127
		}
	}
	return 0
}

// flags takes the options from the arguments, each letter by itself; those of with take a value.
func flags(args []string) (options map[byte]bool, rest []string) {
	options = map[byte]bool{}
	for i, a := range args {
		if a == "--" {
			return options, append(rest, args[i+1:]...)
		}
		if len(a) > 1 && a[0] == '-' {
			for _, letter := range []byte(a[1:]) {
				options[letter] = true
			}
			continue
		}
		rest = append(rest, a)
	}
	return options, rest
}

func echo(p *process, args []string) int {
	end := "\n"
	if len(args) > 0 && args[0] == "-n" {
		args, end = args[1:], ""
	}
	_, _ = p.stdout.Write([]byte(strings.Join(args, " ") + end)) // who no longer listens misses nothing
	return 0
}

// printf uses the format again while there are arguments that it takes.
func printf(p *process, args []string) int {
	if len(args) == 0 {
		return p.fail(2, "printf: usage: printf format [arg ...]")
	}
	format, args := args[0], args[1:]
	for {
		text, used, err := expand.Format(&expand.Config{}, format, args) // without one all calls share a buffer
		if err != nil {
			return p.fail(1, "printf: %v", err)
		}
		_, _ = p.stdout.Write([]byte(text))
		if args = args[used:]; used == 0 || len(args) == 0 {
			return 0
		}
	}
}

func cat(p *process, args []string) int {
	_, names := flags(args)
	if len(names) == 0 {
		_, _ = p.stdout.Write([]byte(p.input()))
		return 0
	}
	status := 0
	for _, name := range names {
		text, err := p.readFile(name)
		if err != nil {
			status = p.fail(1, "cat: %s: %v", name, err)
		}
		_, _ = p.stdout.Write([]byte(text))
	}
	return status
}

// head prints the first lines of a file, or of what it is given: head, head -N or head -n N; or its first bytes: head -c N.
func head(p *process, args []string) int {
	count, ofBytes := 10, len(args) > 1 && args[0] == "-c"
	if ofBytes {
		args = append([]string{"-" + args[1]}, args[2:]...)
	}
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		number := strings.TrimLeft(args[0], "-n")
		if args = args[1:]; number == "" && len(args) > 0 {
			number, args = args[0], args[1:]
		}
		n, err := strconv.Atoi(number)
		if err != nil || n < 0 {
			return p.fail(1, "head: invalid number of lines: ‘%s’", number)
		}
		count = n
	}
	var text string
	if len(args) == 0 {
		text = p.input()
	} else {
		var err error
		if text, err = p.readFile(args[0]); err != nil {
			return p.fail(1, "head: %s", unopened(args[0], err))
		}
	}
	if ofBytes {
		_, _ = p.stdout.Write([]byte(text[:min(count, len(text))]))
		return 0
	}
	lines := strings.SplitAfter(text, "\n")
	_, _ = p.stdout.Write([]byte(strings.Join(lines[:min(count, len(lines))], "")))
	return 0
}

// unopened is what head says of a file that it cannot read.
func unopened(name string, err error) string {
	if errors.Is(err, errIsDir) {
		return fmt.Sprintf("error reading '%s': %v", name, err)
	}
	return fmt.Sprintf("cannot open '%s' for reading: %v", name, err)
}

func tee(p *process, args []string) int {
	options, names := flags(args)
	text := []byte(p.input())
	status := 0
	for _, name := range names {
		if err := p.writeFile(name, text, options['a']); err != nil {
			status = p.fail(1, "tee: %s: %v", name, err)
		}
	}
	_, _ = p.stdout.Write(text)
	return status
}

// wc counts bytes or lines.
func wc(p *process, args []string) int {
	options, names := flags(args)
	var text, suffix string
	if len(names) == 0 {
		text = p.input()
	} else {
		var err error
		if text, err = p.readFile(names[0]); err != nil {
			return p.fail(1, "wc: %s: %v", names[0], err)
		}
		suffix = " " + names[0]
	}
	if options['l'] {
		return p.printLine("%d%s", strings.Count(text, "\n"), suffix)
	}
	return p.printLine("%d%s", len(text), suffix)
}

// grep finds lines in files, or in what it is given.
func grep(p *process, args []string) int {
	options, rest := flags(args)
	if len(rest) == 0 {
		return p.fail(2, "Usage: grep [OPTION]... PATTERNS [FILE]...")
	}
	expression := rest[0]
	if options['F'] {
		expression = regexp.QuoteMeta(expression)
	}
	if options['w'] {
		expression = `\b(?:` + expression + `)\b`
	}
	if options['x'] {
		expression = `^(?:` + expression + `)$`
	}
	pattern, err := regexp.Compile(expression)
	if err != nil {
		return p.fail(2, "grep: %v", err)
	}
	status, count := 1, 0
	find := func(prefix, text string) {
		for line := range strings.Lines(text) {
			if line = strings.TrimSuffix(line, "\n"); pattern.MatchString(line) != options['v'] {
				status = 0
				count++
				if !options['q'] && !options['c'] {
					p.printLine("%s%s", prefix, line)
				}
			}
		}
	}
	names := rest[1:]
	if options['r'] {
		var all []string
		for name, f := range p.d.files {
			if !f.dir && slices.ContainsFunc(names, func(dir string) bool { return strings.HasPrefix(name, strings.TrimSuffix(p.path(dir), "/")+"/") }) {
				all = append(all, name)
			}
		}
		slices.Sort(all)
		names = all
	} else if len(names) == 0 {
		find("", p.input())
	}
	for _, name := range names {
		text, err := p.readFile(name)
		switch {
		case err != nil && !options['s']:
			p.fail(2, "grep: %s: %v", name, err)
		case len(names) > 1 && !options['h'] || options['H'] || options['r'] && !options['h']:
			find(name+":", text)
		default:
			find("", text)
		}
	}
	if options['c'] {
		p.printLine("%d", count)
	}
	return status
}

func ls(p *process, args []string) int {
	_, names := flags(args)
	if len(names) == 0 {
		names = []string{"."}
	}
	status := 0
	for _, name := range names {
		f := p.d.files[p.path(name)]
		switch {
		case f == nil:
			status = p.fail(2, "ls: cannot access '%s': %v", name, errNotFound)
		case f.dir:
			for _, child := range p.d.children(p.path(name)) {
				p.printLine("%s", child)
			}
		default:
			p.printLine("%s", name)
		}
	}
	return status
}

func mkdir(p *process, args []string) int {
	options, names := flags(args)
	status := 0
	for _, name := range names {
		err := p.mayWrite(name)
		if options['p'] && p.d.files[p.path(name)] != nil {
			err = nil
		}
		if err == nil {
			err = p.d.makeDir(p.path(name), options['p'])
		}
		if err != nil {
			status = p.fail(1, "mkdir: cannot create directory ‘%s’: %v", name, err)
		}
	}
	return status
}

func rm(p *process, args []string) int {
	options, names := flags(args)
	status := 0
	for _, name := range names {
		at := p.path(name)
		f := p.d.files[at]
		if options['f'] && f == nil {
			continue
		}
		err := p.mayWrite(name)
		switch {
		case err != nil:
		case f != nil && f.dir && options['r'] && !isKernels(at):
			p.d.removeTree(at)
		default:
			err = p.d.removeFile(at)
		}
		if err != nil {
			status = p.fail(1, "rm: cannot remove '%s': %v", name, err)
		}
	}
	return status
}

func rmdir(p *process, args []string) int {
	_, names := flags(args)
	status := 0
	for _, name := range names {
		err := p.mayWrite(name)
		if err == nil {
			err = p.d.removeDir(p.path(name))
		}
		if err != nil {
			status = p.fail(1, "rmdir: failed to remove '%s': %v", name, err)
		}
	}
	return status
}

// mv moves one file.
func mv(p *process, args []string) int {
	if status := cp(p, args); status != 0 {
		return status
	}
	_, names := flags(args)
	if p.path(names[0]) == p.path(names[1]) {
		return 0
	}
	if err := p.d.removeFile(p.path(names[0])); err != nil {
		return p.fail(1, "mv: cannot remove '%s': %v", names[0], err)
	}
	return 0
}

// cp copies one file to a name or into a directory.
func cp(p *process, args []string) int {
	_, names := flags(args)
	if len(names) != 2 {
		return p.fail(1, "cp: missing file operand")
	}
	from, to := names[0], p.path(names[1])
	if f := p.d.files[to]; f != nil && f.dir {
		to = path.Join(to, path.Base(from))
	}
	text, err := p.readFile(from)
	if err != nil {
		return p.fail(1, "cp: cannot stat '%s': %v", from, err)
	}
	if err = p.writeFile(to, []byte(text), false); err != nil {
		return p.fail(1, "cp: cannot create regular file '%s': %v", to, err)
	}
	return 0
}

// ln makes a second name of a file, or refuses where the name is taken: ln -T FILE NAME. The lab has no other links.
func ln(p *process, args []string) int {
	options, names := flags(args)
	if len(names) != 2 || !options['T'] || len(options) != 1 {
		return p.fail(1, "ln: the lab knows ln -T TARGET LINK_NAME only")
	}
	from, to := p.path(names[0]), p.path(names[1])
	f, err := p.d.files[from], p.mayWrite(names[1])
	switch {
	case f == nil:
		return p.fail(1, "ln: failed to access '%s': %v", names[0], errNotFound)
	case f.dir:
		return p.fail(1, "ln: %s: hard link not allowed for directory", names[0])
	case p.d.files[to] != nil:
		err = errExists
	case p.d.files[path.Dir(to)] == nil:
		err = errNotFound
	}
	if err != nil {
		return p.fail(1, "ln: failed to create hard link '%s': %v", names[1], err)
	}
	p.d.files[to] = f
	return 0
}

// onFiles is chmod and chown: the lab keeps neither modes nor owners, but the files must be there.
func onFiles(p *process, args []string) int {
	_, names := flags(args)
	for _, name := range names[min(1, len(names)):] {
		if p.d.files[p.path(name)] == nil {
			return p.fail(1, "cannot access '%s': %v", name, errNotFound)
		}
	}
	return 0
}

func uname(p *process, args []string) int {
	if len(args) > 0 && args[0] == "-r" {
		return p.printLine("6.1.0-56-amd64")
	}
	return p.printLine("Linux")
}

func id(p *process, args []string) int {
	uid, name := "1000", p.user
	if p.root {
		uid = "0"
	}
	switch options, _ := flags(args); {
	case options['u'] && options['n']:
		return p.printLine("%s", name)
	case options['u']:
		return p.printLine("%s", uid)
	}
	return p.printLine("uid=%s(%s)", uid, name)
}
