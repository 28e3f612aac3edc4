package linux

import (
	"context"
	"io"
	"slices"
	"strings"
)

// unitDirs are where units are looked for.
var unitDirs = []string{"/etc/systemd/system/", "/usr/lib/systemd/system/", "/lib/systemd/system/"}

// unit is the text of a unit.
func (d *Device) unit(name string) (string, bool) {
	for _, dir := range unitDirs {
		if text, err := d.readFile(dir + name); err == nil {
			return text, true
		}
	}
	return "", false
}

// startUnit runs the commands of a unit's ExecStart lines as root. It returns whether all of them went well.
func (d *Device) startUnit(ctx context.Context, j *job, name string) bool {
	d.mu.Lock()
	text, ok := d.unit(name)
	d.mu.Unlock()
	if !ok {
		return false
	}
	for line := range strings.Lines(text) {
		command, found := strings.CutPrefix(strings.TrimSpace(line), "ExecStart=")
		if !found {
			continue
		}
		command = strings.TrimSpace(command)
		mayFail := strings.HasPrefix(command, "-")
		p := &process{d: d, job: j, user: "root", root: true, dir: "/", stdout: io.Discard, stderr: io.Discard}
		if p.script(ctx, strings.TrimPrefix(command, "-"), nil, nil) != nil && !mayFail {
			return false
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.active[name] = true
	d.begin(name)
	if strings.TrimSuffix(name, ".service") == networkd {
		d.networks()
	}
	return true
}

// systemctl knows what weir and people use to make settings last.
func systemctl(ctx context.Context, p *process, args []string) error {
	options, rest, properties := []string{}, []string{}, []string{}
	for i, a := range args {
		switch {
		case i > 0 && args[i-1] == "-p":
			properties = append(properties, a)
			continue
		case a == "-p":
			continue
		}
		if strings.HasPrefix(a, "-") {
			options = append(options, a)
		} else {
			rest = append(rest, a)
		}
	}
	if len(rest) == 0 {
		return status(p.fail(1, "systemctl: no command"))
	}
	command, units := rest[0], rest[1:]
	for i, u := range units {
		if !strings.Contains(u, ".") {
			units[i] = u + ".service"
		}
	}
	asks := command == "is-enabled" || command == "is-active" || command == "cat" || command == "show"
	if !p.root && !asks {
		return status(p.fail(1, "Failed to %s: Access denied", command))
	}
	if command == "daemon-reload" {
		return status(p.locked("systemctl", func(p *process) int { p.d.reloadUnits(); return 0 }))
	}
	now := slices.Contains(options, "--now")
	for _, u := range units {
		if command == "show" {
			_ = p.locked("systemctl", func(p *process) int { return p.show(u, properties, slices.Contains(options, "--value")) })
			continue
		}
		if code := p.locked("systemctl", func(p *process) int { return p.unitCommand(command, u, now) }); code != 0 {
			return status(code)
		}
		if starts(command, now) && !p.d.startUnit(ctx, p.job, u) {
			return status(p.fail(1, "Job for %s failed because the control process exited with error code.", u))
		}
	}
	return nil
}

// starts says whether a command of systemctl runs a unit.
func starts(command string, now bool) bool {
	enables := command == "enable" || command == "reenable"
	return enables && now || slices.Contains([]string{"start", "restart", "reload-or-restart", "try-restart"}, command)
}

// unitCommand does one thing with one unit, but for running it.
func (p *process) unitCommand(command, name string, now bool) int {
	text, exists := p.d.unit(name)
	switch command {
	case "is-enabled":
		if !exists && !p.d.units[name] {
			return p.fail(1, "Failed to get unit file state for %s: %v", name, errNotFound)
		}
		return p.state(p.d.units[name], "enabled", "disabled", 1)
	case "is-active":
		return p.state(p.d.active[name], "active", "inactive", 3)
	case "disable", "stop", "mask":
		if !exists && command != "mask" {
			return p.fail(map[string]int{"disable": 1, "stop": 5}[command], "Failed to %s unit: Unit %s not loaded.", command, name)
		}
		if command != "stop" {
			delete(p.d.units, name)
		}
		if command == "stop" || now {
			delete(p.d.active, name)
		}
		return 0
	}
	if !exists {
		return p.fail(1, "Failed to %s unit: Unit file %s does not exist.", command, name)
	}
	switch command {
	case "cat":
		return p.printLine("# %s", name) + echo(p, []string{"-n", text})
	case "enable", "reenable":
		p.d.units[name] = true
	default:
		if !starts(command, now) {
			return p.fail(1, "Unknown command verb %s.", command)
		}
	}
	return 0
}

// state prints one of two words.
func (p *process) state(yes bool, if1, if0 string, status int) int {
	if yes {
		return p.printLine("%s", if1)
	}
	p.printLine("%s", if0)
	return status
}
