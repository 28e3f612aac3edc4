package linux

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
)

// environment is the exported variables of a shell.
type environment map[string]string

// Get is a variable. The interpreter asks for the home of a user as "HOME user", and asks the real system where there is no
// answer: a user that the device does not know stays as it was written.
func (e environment) Get(name string) expand.Variable {
	value, set := e[name]
	if user, asks := strings.CutPrefix(name, "HOME "); asks {
		value, set = "~"+user, true
		switch user {
		case e["USER"]:
			value = e["HOME"]
		case "root":
			value = "/root"
		}
	}
	if !set {
		return expand.Variable{}
	}
	return expand.Variable{Set: true, Exported: true, Kind: expand.String, Str: value}
}

// Each visits every variable.
func (e environment) Each(visit func(name string, v expand.Variable) bool) {
	for name := range e {
		if !visit(name, e.Get(name)) {
			return
		}
	}
}

// exported is what a command gets of a shell's variables.
func exported(from expand.Environ) environment {
	out := environment{}
	from.Each(func(name string, v expand.Variable) bool {
		if v.Exported && v.Kind == expand.String {
			out[name] = v.Str
		} else {
			delete(out, name) // it hides one further out
		}
		return true
	})
	return out
}

// The paths where commands are looked for: Debian's of root and of everybody else.
const (
	rootPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	userPath = "/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games"
)

// inSbin are the tools that lie in /usr/sbin and nowhere else, as Debian 12 has them.
var inSbin = []string{"dcb", "ethtool", "modprobe"}

// finds says whether a command is found by the PATH, or named with its folder.
func (p *process) finds(command string) bool {
	if strings.Contains(command, "/") || !slices.Contains(inSbin, command) {
		return true
	}
	path := plainEnvironment(p.user)["PATH"]
	if p.variables != nil {
		path = exported(p.variables)["PATH"]
	}
	return slices.ContainsFunc(strings.Split(path, ":"), func(dir string) bool { return dir == "/usr/sbin" || dir == "/sbin" })
}

// loginEnvironment is what a user has who has just logged in, or whom sudo has raised. The caller holds the lock.
func (d *Device) loginEnvironment(user string) environment {
	e := plainEnvironment(user)
	if text, err := d.readFile("/etc/default/locale"); err == nil {
		for line := range strings.Lines(text) {
			if name, value, assigns := strings.Cut(strings.TrimSpace(line), "="); assigns {
				e[name] = value
			}
		}
	}
	return e
}

func plainEnvironment(user string) environment {
	home, uid, path := "/home/"+user, "1000", userPath
	if user == "root" {
		home, uid, path = "/root", "0", rootPath
	}
	return environment{
		"HOME": home, "USER": user, "LOGNAME": user, "SHELL": "/bin/bash", "UID": uid, "EUID": uid, "GID": uid,
		"PATH":    path,
		"LAB_PID": "1042", "LAB_PPID": "1041",
	}
}
