package eos

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// object is a JSON object. Its keys are printed in order.
type object = map[string]any

func showVersion(c *cli, _ []string) (answer, error) {
	d := c.d
	d.mu.Lock()
	defer d.mu.Unlock()
	up := d.hw.Now().Sub(d.booted)
	return answer{
		text: fmt.Sprintf("Arista %s\nHardware version: 11.00\nSerial number: %s\n\nSoftware image version: %s\nArchitecture: x86_64\n\nUptime: %s",
			d.model, serial(d.hw.Spec().Name), Version, up.Round(time.Second)),
		value: object{
			"mfgName": "Arista", "modelName": d.model, "hardwareRevision": "11.00", "serialNumber": serial(d.hw.Spec().Name),
			"version": Version, "architecture": "x86_64", "uptime": up.Seconds(), "bootupTimestamp": float64(d.booted.Unix()),
			"memTotal": 8149324, "memFree": 5311768, "isIntlVersion": false,
		},
	}, nil
}

// serial is a serial number of the lab's own.
func serial(name string) string { return "LAB-" + strings.ToUpper(name) }

func showHostname(c *cli, _ []string) (answer, error) {
	name := c.d.hostname()
	return answer{text: fmt.Sprintf("Hostname: %s\nFQDN:     %s", name, name), value: object{"hostname": name, "fqdn": name}}, nil
}

// dump prints a configuration with the heading that show gives it.
func (c *cli) dump(command string, config *node) answer {
	d := c.d
	lines := []string{
		"! Command: " + command,
		fmt.Sprintf("! device: %s (%s, EOS-%s)", d.hostname(), d.model, Version),
		"!",
		"! boot system flash:/EOS.swi",
		"!",
	}
	lines = append(append(lines, config.print()...), "!", "end")
	return answer{text: strings.Join(lines, "\n")}
}

func showRunning(c *cli, words []string) (answer, error) {
	return c.dump(strings.Join(words, " "), c.d.snapshot()), nil
}

// showRunningSection shows the global lines that say the words, with all that is inside them.
func showRunningSection(c *cli, words []string) (answer, error) {
	wanted := strings.Join(words[3:], " ")
	return answer{text: within(c.d.snapshot(), func(l *node) bool { return strings.Contains(l.text, wanted) })}, nil
}

func showRunningInterface(c *cli, words []string) (answer, error) {
	return answer{text: within(c.d.snapshot(), func(l *node) bool { return l.key == "interface "+words[3] })}, nil
}

// within prints the global lines that are wanted.
func within(config *node, wanted func(*node) bool) string {
	some := &node{}
	for _, l := range config.lines {
		if wanted(l) {
			some.lines = append(some.lines, l)
		}
	}
	return strings.Join(some.print(), "\n")
}

func showStartup(c *cli, words []string) (answer, error) {
	c.d.mu.Lock()
	config := c.d.files[startup].clone()
	c.d.mu.Unlock()
	return c.dump(strings.Join(words, " "), config), nil
}

// sessionConfig is the configuration of a session.
func sessionConfig(c *cli, name string) (answer, error) {
	c.d.mu.Lock()
	s := c.d.sessions[name]
	if s == nil || s.candidate == nil {
		c.d.mu.Unlock()
		return answer{}, noSession(name)
	}
	config := s.candidate.clone()
	c.d.mu.Unlock()
	return c.dump("show session-configuration named "+name, config), nil
}

func noSession(name string) error { return fmt.Errorf("%% Error: session %s does not exist", name) }

func showNamedDiffs(c *cli, words []string) (answer, error) {
	c.d.mu.Lock()
	s := c.d.sessions[words[3]]
	c.d.mu.Unlock()
	if s == nil {
		return answer{}, noSession(words[3])
	}
	return answer{text: c.d.sessionDiff(s)}, nil
}

// showSessions has the shape of EOS 4.32 and later: a session whose commit timer runs is committed, and named at the top.
func showSessions(c *cli, _ []string) (answer, error) {
	d := c.d
	d.mu.Lock()
	defer d.mu.Unlock()
	sessions := object{}
	value := object{
		"sessions": sessions, "maxSavedSessions": 1, "maxOpenSessions": maxPending, "mergeOnCommit": false,
		"saveToStartupConfigOnCommit": false,
	}
	text := []string{"Maximum number of completed sessions: 1", fmt.Sprintf("Maximum number of pending sessions: %d", maxPending), ""}
	if s := d.timed(); s != nil {
		value["commitTimerSessionName"] = s.name
		value["commitTimerExpireTime"] = s.expiry.Sub(d.booted).Seconds()
		left := s.expiry.Sub(d.hw.Now()).Truncate(time.Second)
		text = append(text, "Session with pending commit timer: "+s.name,
			fmt.Sprintf("Time left until commit timer expiry: in %d:%02d:%02d", int(left.Hours()), int(left.Minutes())%60, int(left.Seconds())%60), "")
	}
	text = append(text, "  Name                 State         User", "  -------------------- ------------- ----------")
	for _, name := range slices.Sorted(maps.Keys(d.sessions)) {
		s := d.sessions[name]
		one := object{"state": s.state, "commitUser": "", "description": "", "instances": object{}}
		if s.state != pending {
			one["completedTime"] = float64(s.completed.UnixMilli()) / 1e3
			one["commitUser"] = "admin"
		}
		sessions[name] = one
		text = append(text, strings.TrimRight(fmt.Sprintf("  %-20s %-13s %s", name, s.state, one["commitUser"]), " "))
	}
	return answer{text: strings.Join(text, "\n"), value: value}, nil
}

// showQosMaps prints the effective maps. The layout is recalled from Arista's manual and not verified.
func showQosMaps(c *cli, _ []string) (answer, error) {
	config := c.d.snapshot()
	mapped := func(key string, n, otherwise int) int {
		if v, ok := config.value(fmt.Sprintf(key, n)); ok {
			return int(number(v[strings.LastIndexByte(v, ' ')+1:]))
		}
		return otherwise
	}
	row := func(title string, width int, cell func(int) int) string {
		out := "     " + title
		for n := range 8 {
			out += fmt.Sprintf("%*d", width, cell(n))
		}
		return out
	}
	itself := func(n int) int { return n }
	text := []string{
		"   Number of Traffic Classes supported: 8",
		"   Number of Transmit Queues supported: 8",
		"   Cos Rewrite: " + enabled(config.has("qos rewrite cos")),
		"   Dscp Rewrite: " + enabled(config.has("qos rewrite dscp")),
		"",
		"   Cos-tc map:",
		row("cos: ", 3, itself),
		"     " + strings.Repeat("-", 29),
		row("tc:  ", 3, func(n int) int { return mapped("qos map cos %d", n, defaultCosTC(n)) }),
		"",
		"   Dscp-tc map:",
		"     d1 :  d2 0  1  2  3  4  5  6  7  8  9",
		"     " + strings.Repeat("-", 38),
	}
	classes := trafficClasses(config)
	for tens := range 7 {
		line := fmt.Sprintf("     %2d :     ", tens)
		for ones := range min(10, 64-10*tens) {
			line += fmt.Sprintf("%02d ", classes[10*tens+ones])
		}
		text = append(text, strings.TrimRight(line, " "))
	}
	queue := "qos map traffic-class %d to tx-queue"
	if c.d.grammar.family == strata && strings.Contains(strings.Join(config.print(), "\n"), " to uc-tx-queue ") {
		queue = "qos map traffic-class %d to uc-tx-queue"
	}
	text = append(text, "",
		"   Tc - tx-queue map:",
		row("tc:       ", 3, itself),
		"     "+strings.Repeat("-", 34),
		row("tx-queue: ", 3, func(n int) int { return mapped(queue, n, n) }),
	)
	return answer{text: strings.Join(text, "\n")}, nil
}

func enabled(yes bool) string {
	if yes {
		return "Enabled"
	}
	return "Disabled"
}

func showProfiles(c *cli, _ []string) (answer, error) {
	return answer{text: within(c.d.snapshot(), func(l *node) bool { return strings.HasPrefix(l.key, "qos profile ") })}, nil
}

func showProfile(c *cli, words []string) (answer, error) {
	return answer{text: within(c.d.snapshot(), func(l *node) bool { return l.key == "qos profile "+words[3] })}, nil
}

// showLLDP knows the cabling: the lab's devices all speak LLDP.
func showLLDP(c *cli, _ []string) (answer, error) {
	neighbors := []object{}
	text := []string{"Port          Neighbor Device ID       Neighbor Port ID    TTL"}
	for _, p := range c.d.hw.Spec().Ports {
		if p.PeerDevice == "" || !c.d.hw.Counters(p.Name).Up {
			continue
		}
		neighbors = append(neighbors, object{"port": p.Name, "neighborDevice": p.PeerDevice, "neighborPort": p.PeerPort, "ttl": 120})
		text = append(text, fmt.Sprintf("%-13s %-24s %-19s 120", shortName(p.Name), p.PeerDevice, p.PeerPort))
	}
	return answer{text: strings.Join(text, "\n"), value: object{"lldpNeighbors": neighbors}}, nil
}
