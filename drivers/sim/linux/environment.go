package linux

import (
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

// loginEnvironment is what a user has who has just logged in.
func loginEnvironment(user string) environment {
	home, uid := "/home/"+user, "1000"
	if user == "root" {
		home, uid = "/root", "0"
	}
	return environment{
		"HOME": home, "USER": user, "LOGNAME": user, "SHELL": "/bin/bash", "UID": uid, "EUID": uid, "GID": uid,
		"PATH":    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"LAB_PID": "1042", "LAB_PPID": "1041",
	}
}
