package linux

import (
	"fmt"
	"slices"
	"strings"
)

// services are those of the factory that run for ever, with what they do for weir: nothing but to lock memory.
var services = []string{"containerd", "slurmd", "ssh"}

// usualMemlock is systemd's DefaultLimitMEMLOCK, 8 MiB: systemd-system.conf(5).
const usualMemlock = "8388608"

// service is what systemd has read of a unit, and what runs of it.
type service struct {
	limit, runs string // LimitMEMLOCK, and that with which it was started; empty: it does not run
	pid         int
}

// reloadUnits reads units and their drop-ins anew. What runs keeps what it was started with.
func (d *Device) reloadUnits() {
	if d.services == nil {
		d.services = map[string]*service{}
	}
	for i, name := range services {
		s := d.services[name]
		if s == nil {
			s = &service{pid: 700 + i}
			d.services[name] = s
		}
		s.limit = usualMemlock
		for _, file := range d.glob("/etc/systemd/system/" + name + ".service.d/*.conf") {
			if limit := sectionsOf(string(d.files[file].body)).last("Service.LimitMEMLOCK"); limit != "" {
				s.limit = limit
			}
		}
	}
}

// startServices starts those that the host always has.
func (d *Device) startServices() {
	d.services = nil
	d.reloadUnits()
	for _, name := range services {
		d.units[name+".service"], d.active[name+".service"] = true, true
		d.begin(name + ".service")
	}
}

// begin starts a service with what systemd has read of it.
func (d *Device) begin(unit string) {
	s := d.services[strings.TrimSuffix(unit, ".service")]
	if s == nil {
		return
	}
	s.runs = s.limit
	d.show(fmt.Sprintf("/proc/%d/limits", s.pid), func() string {
		runs := strings.Replace(s.runs, "infinity", "unlimited", 1)
		return "Limit                     Soft Limit           Hard Limit           Units     \n" +
			fmt.Sprintf("%-25s %-20s %-20s %-10s\n", "Max locked memory", runs, runs, "bytes")
	})
}

// show prints properties of a unit, in systemd's order and not in that of the question.
func (p *process) show(unit string, properties []string, values bool) int {
	load, limit, pid := "not-found", usualMemlock, 0
	if _, exists := p.d.unit(unit); exists {
		load = "loaded"
	}
	if s := p.d.services[strings.TrimSuffix(unit, ".service")]; s != nil {
		limit = s.limit
		if p.d.active[unit] {
			pid = s.pid
		}
	}
	for _, row := range [][2]string{{"MainPID", fmt.Sprint(pid)}, {"LimitMEMLOCK", limit}, {"LoadState", load}} {
		if !slices.Contains(properties, row[0]) {
			continue
		}
		if values {
			p.printLine("%s", row[1])
		} else {
			p.printLine("%s=%s", row[0], row[1])
		}
	}
	return 0
}
