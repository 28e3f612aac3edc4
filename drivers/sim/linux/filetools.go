package linux

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

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

// printf knows %s and the escapes of a newline and a tab; the format is used again while there are arguments.
func printf(p *process, args []string) int {
	if len(args) == 0 {
		return p.fail(2, "printf: usage: printf format [arg ...]")
	}
	format := strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\\`, `\`).Replace(args[0])
	args = args[1:]
	for {
		parts := strings.Split(format, "%s")
		text := parts[0]
		for _, part := range parts[1:] {
			if len(args) > 0 {
				text += args[0]
				args = args[1:]
			}
			text += part
		}
		_, _ = p.stdout.Write([]byte(strings.ReplaceAll(text, "%%", "%")))
		if len(args) == 0 || len(parts) == 1 {
			return 0
		}
	}
}

func cat(p *process, args []string) int {
	_, names := flags(args)
	if len(names) == 0 {
		_, _ = p.stdout.Write([]byte(p.stdin))
		p.stdin = ""
		return 0
	}
	status := 0
	for _, name := range names {
		text, err := p.d.readFile(name)
		if err != nil {
			status = p.fail(1, "cat: %s: %v", name, err)
		}
		_, _ = p.stdout.Write([]byte(text))
	}
	return status
}

// head prints the first lines of a file, or of what it is given: head, head -N or head -n N.
func head(p *process, args []string) int {
	count := 10
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
	text := p.stdin
	if len(args) > 0 {
		var err error
		if text, err = p.d.readFile(args[0]); err != nil {
			return p.fail(1, "head: cannot open '%s' for reading: %v", args[0], err)
		}
	}
	lines := strings.SplitAfter(text, "\n")
	_, _ = p.stdout.Write([]byte(strings.Join(lines[:min(count, len(lines))], "")))
	return 0
}

func tee(p *process, args []string) int {
	options, names := flags(args)
	status := 0
	for _, name := range names {
		err := p.mayWrite(name)
		if err == nil {
			err = p.d.writeFile(name, []byte(p.stdin), options['a'])
		}
		if err != nil {
			status = p.fail(1, "tee: %s: %v", name, err)
		}
	}
	_, _ = p.stdout.Write([]byte(p.stdin))
	return status
}

// wc counts bytes or lines.
func wc(p *process, args []string) int {
	options, names := flags(args)
	text := p.stdin
	suffix := ""
	if len(names) > 0 {
		var err error
		if text, err = p.d.readFile(names[0]); err != nil {
			return p.fail(1, "wc: %s: %v", names[0], err)
		}
		suffix = " " + names[0]
	}
	if options['l'] {
		return p.say("%d%s", strings.Count(text, "\n"), suffix)
	}
	return p.say("%d%s", len(text), suffix)
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
					p.say("%s%s", prefix, line)
				}
			}
		}
	}
	names := rest[1:]
	if options['r'] {
		var all []string
		for name, f := range p.d.files {
			if !f.dir && slices.ContainsFunc(names, func(dir string) bool { return strings.HasPrefix(name, strings.TrimSuffix(dir, "/")+"/") }) {
				all = append(all, name)
			}
		}
		slices.Sort(all)
		names = all
	} else if len(names) == 0 {
		find("", p.stdin)
	}
	for _, name := range names {
		text, err := p.d.readFile(name)
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
		p.say("%d", count)
	}
	return status
}

func ls(p *process, args []string) int {
	_, names := flags(args)
	status := 0
	for _, name := range names {
		f := p.d.files[path.Clean(name)]
		switch {
		case f == nil:
			status = p.fail(2, "ls: cannot access '%s': %v", name, errNotFound)
		case f.dir:
			for _, child := range p.d.children(path.Clean(name)) {
				p.say("%s", child)
			}
		default:
			p.say("%s", name)
		}
	}
	return status
}

// test knows -e, -f, -d, -s, -n, -z, = and !=.
func test(p *process, args []string) int {
	if n := len(args); n > 0 && args[n-1] == "]" {
		args = args[:n-1]
	}
	not := len(args) > 0 && args[0] == "!"
	if not {
		args = args[1:]
	}
	var yes bool
	switch {
	case len(args) == 2:
		f := p.d.files[path.Clean(args[1])]
		switch args[0] {
		case "-e", "-r", "-w", "-x":
			yes = f != nil
		case "-f":
			yes = f != nil && !f.dir
		case "-s":
			text, err := p.d.readFile(args[1])
			yes = err == nil && text != ""
		case "-d":
			yes = f != nil && f.dir
		case "-n":
			yes = args[1] != ""
		case "-z":
			yes = args[1] == ""
		default:
			return p.fail(2, "sh: 1: test: %s: unexpected operator", args[0])
		}
	case len(args) == 3 && args[1] == "=":
		yes = args[0] == args[2]
	case len(args) == 3 && args[1] == "!=":
		yes = args[0] != args[2]
	default:
		return p.fail(2, "sh: 1: test: unexpected operator")
	}
	if yes == not {
		return 1
	}
	return 0
}

func mkdir(p *process, args []string) int {
	options, names := flags(args)
	status := 0
	for _, name := range names {
		err := p.mayWrite(name)
		if options['p'] && p.d.files[path.Clean(name)] != nil {
			err = nil
		}
		if err == nil {
			err = p.d.makeDir(name, options['p'])
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
		name = path.Clean(name)
		if options['f'] && p.d.files[name] == nil {
			continue
		}
		err := p.mayWrite(name)
		switch f := p.d.files[name]; {
		case err != nil:
		case f != nil && f.dir && options['r'] && !isKernels(name):
			p.d.removeTree(name)
		default:
			err = p.d.removeFile(name)
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
			err = p.d.removeDir(name)
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
	if path.Clean(names[0]) == path.Clean(names[1]) {
		return 0
	}
	if err := p.d.removeFile(names[0]); err != nil {
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
	from, to := names[0], path.Clean(names[1])
	if f := p.d.files[to]; f != nil && f.dir {
		to = path.Join(to, path.Base(from))
	}
	text, err := p.d.readFile(from)
	if err != nil {
		return p.fail(1, "cp: cannot stat '%s': %v", from, err)
	}
	if err = p.mayWrite(to); err == nil {
		err = p.d.writeFile(to, []byte(text), false)
	}
	if err != nil {
		return p.fail(1, "cp: cannot create regular file '%s': %v", to, err)
	}
	return 0
}

// onFiles is chmod and chown: the lab keeps neither modes nor owners, but the files must be there.
func onFiles(p *process, args []string) int {
	_, names := flags(args)
	for _, name := range names[min(1, len(names)):] {
		if p.d.files[path.Clean(name)] == nil {
			return p.fail(1, "cannot access '%s': %v", name, errNotFound)
		}
	}
	return 0
}

func uname(p *process, args []string) int {
	if len(args) > 0 && args[0] == "-r" {
		return p.say("6.1.0-56-amd64")
	}
	return p.say("Linux")
}

func id(p *process, args []string) int {
	uid, name := "1000", p.d.user
	if p.root {
		uid, name = "0", "root"
	}
	switch options, _ := flags(args); {
	case options['u'] && options['n']:
		return p.say("%s", name)
	case options['u']:
		return p.say("%s", uid)
	}
	return p.say("uid=%s(%s)", uid, name)
}
