package eos

import (
	"fmt"
	"io"
	"strings"

	"github.com/weirfabric/weir/drivers/sim"
)

// command is something that can be typed outside of configuration lines. Exactly one of ask and do is set.
type command struct {
	form  string // as in statements
	where scope
	ask   func(c *cli, words []string) (answer, error) // words in full
	do    func(c *cli, words []string) (said string, err error)
}

// answer is what a show command has to say. Without a text the lab has no table for it, without a value there is no JSON.
type answer struct {
	text  string
	value any
}

// scope says in which modes a command exists.
type scope int

const (
	everywhere  scope = iota
	privileged        // and in the configuration modes
	outside           // privileged, not in the configuration modes
	inAnyConfig       // of the running configuration or a session
	inSession
)

// in says whether a command of the scope exists where the terminal is.
func (s scope) in(c *cli) bool {
	switch s {
	case privileged:
		return c.privileged
	case outside:
		return c.privileged && c.mode == commanding
	case inAnyConfig:
		return c.mode != commanding
	case inSession:
		return c.mode == drafting
	}
	return true
}

// commandTable is every command of the lab's EOS.
func commandTable() []command {
	return []command{
		{form: "enable", do: func(c *cli, _ []string) (string, error) { c.privileged = true; return "", nil }},
		{form: "disable", where: outside, do: func(c *cli, _ []string) (string, error) { c.privileged = false; return "", nil }},
		{form: "exit", do: exit},
		{form: "logout", do: func(*cli, []string) (string, error) { return "", io.EOF }},
		{form: "quit", do: exit},
		{form: "end", where: inAnyConfig, do: func(c *cli, _ []string) (string, error) { c.leave(); return "", nil }},
		{form: "terminal length|width <0-32767>", do: func(c *cli, words []string) (string, error) {
			// The lab never stops in the middle of an output, whatever the length.
			return fmt.Sprintf("Pagination is %s.", map[bool]string{true: "disabled", false: "set"}[words[2] == "0"]), nil
		}},
		{form: "configure", where: outside, do: configureTerminal},
		{form: "configure terminal", where: outside, do: configureTerminal},
		{form: "configure session <word>", where: outside, do: func(c *cli, w []string) (string, error) { return "", c.openSession(w[2]) }},
		{form: "configure session <word> commit", where: outside, do: func(c *cli, w []string) (string, error) { return "", c.d.commit(w[2], 0) }},
		{form: "configure session <word> commit timer <word>", where: outside, do: commitByName},
		{form: "configure session <word> abort", where: outside, do: func(c *cli, w []string) (string, error) { return "", c.d.abort(w[2]) }},
		{form: "configure replace <word>", where: outside, do: replace},
		{form: "commit", where: inSession, do: func(c *cli, _ []string) (string, error) { return "", c.commit(0) }},
		{form: "commit timer <word>", where: inSession, do: commitWithTimer},
		{form: "abort", where: inSession, do: func(c *cli, _ []string) (string, error) {
			name := c.session.name
			c.leave()
			return "", c.d.abort(name)
		}},
		{form: "rollback clean-config", where: inSession, do: clean},
		{form: "write", where: privileged, do: save},
		{form: "write memory", where: privileged, do: save},
		{form: "copy <word> <word>", where: outside, do: copyConfig},
		{form: "delete <word>", where: outside, do: deleteConfig},

		{form: "show version", ask: showVersion},
		{form: "show hostname", ask: showHostname},
		{form: "show running-config", where: privileged, ask: showRunning},
		{form: "show running-config section <rest>", where: privileged, ask: showRunningSection},
		{form: "show running-config interfaces <interface>", where: privileged, ask: showRunningInterface},
		{form: "show startup-config", where: privileged, ask: showStartup},
		{form: "show session-config", where: inSession, ask: func(c *cli, _ []string) (answer, error) { return sessionConfig(c, c.session.name) }},
		{form: "show session-config diffs", where: inSession, ask: func(c *cli, _ []string) (answer, error) { return answer{text: c.d.sessionDiff(c.session)}, nil }},
		{form: "show session-config named <word>", where: privileged, ask: func(c *cli, w []string) (answer, error) { return sessionConfig(c, w[3]) }},
		{form: "show session-config named <word> diffs", where: privileged, ask: showNamedDiffs},
		{form: "show configuration sessions", where: privileged, ask: showSessions},
		{form: "show configuration sessions detail", where: privileged, ask: showSessions},
		{form: "show qos maps", ask: showQosMaps},
		{form: "show qos profile", ask: showProfiles},
		{form: "show qos profile <word>", ask: showProfile},
		{form: "show priority-flow-control", ask: showPFC},
		{form: "show priority-flow-control counters", ask: showPFCCounters},
		{form: "show priority-flow-control interfaces <interface> counters", ask: showPFCCounters},
		{form: "show priority-flow-control counters watchdog", ask: showWatchdogCounters},
		{form: "show qos interfaces ecn counters queue", ask: showECNCounters},
		{form: "show lldp neighbors", ask: showLLDP},
		{form: "show interfaces priority-flow-control counters detail", ask: showPFCDetail},
		{form: "show interfaces <interface> priority-flow-control counters detail", ask: showPFCDetail},
		{form: "show interfaces status", ask: showStatus},
		{form: "show interfaces counters", ask: showCounters},
		{form: "show interfaces counters queue detail", ask: showQueueCounters},
		{form: "show interfaces flow-control", ask: showFlowControl},
	}
}

// joinKind joins "ethernet 1/1" to one word, as EOS reads both.
func joinKind(words []string) []string {
	for i := 0; i+1 < len(words); i++ {
		w := strings.ToLower(words[i])
		if len(w) >= 2 && strings.HasPrefix("ethernet", w) && isDigit(words[i+1][0]) {
			joined := append([]string{}, words[:i]...)
			return append(append(joined, words[i]+words[i+1]), words[i+2:]...)
		}
	}
	return words
}

// lookUp finds the command that a line means, and its words in full.
func (c *cli) lookUp(text string) (*command, []string, error) {
	g := &grammar{forms: map[place][]form{}, interfaces: c.d.grammar.interfaces}
	table := commandTable()
	for i, cmd := range table {
		if cmd.where.in(c) {
			tokens := strings.Fields(cmd.form)
			g.forms[global] = append(g.forms[global], form{tokens: tokens, key: len(tokens), rank: i})
		}
	}
	lines, err := g.parse(global, joinKind(strings.Fields(text)), false)
	if err != nil {
		return nil, nil, err
	}
	return &table[lines[0].form.rank], strings.Fields(lines[0].text), nil
}

// exit leaves the innermost mode, and in the end the device.
func exit(c *cli, _ []string) (string, error) {
	switch {
	case c.mode == commanding:
		return "", io.EOF
	case len(c.where) > 0:
		c.where = c.where[:len(c.where)-1]
	default:
		c.leave()
	}
	return "", nil
}

func configureTerminal(c *cli, _ []string) (string, error) {
	c.mode, c.where = configuring, nil
	return "", nil
}

func commitByName(c *cli, words []string) (string, error) {
	timer, err := parseTimer(words[5])
	if err != nil {
		return "", err
	}
	return "", c.d.commit(words[2], timer)
}

func commitWithTimer(c *cli, words []string) (string, error) {
	timer, err := parseTimer(words[2])
	if err != nil {
		return "", err
	}
	return "", c.commit(timer)
}

// clean makes the session's configuration an empty one.
func clean(c *cli, _ []string) (string, error) {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	c.session.candidate, c.where = c.d.empty(), nil
	return "", nil
}

// done is what EOS says when files have been copied.
const done = "Copy completed successfully."

// save makes the running configuration the one to start with.
func save(c *cli, _ []string) (string, error) {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	c.d.files[startup] = c.d.running.clone()
	return done, nil
}

// fileName is the name of a configuration without the file system before it.
func fileName(s string) string {
	s = strings.TrimPrefix(s, "flash:")
	return strings.TrimPrefix(s, "/")
}

// copyConfig copies configurations between running-config, startup-config and flash.
func copyConfig(c *cli, words []string) (string, error) {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	from, to := fileName(words[1]), fileName(words[2])
	source := c.d.files[from]
	if strings.HasPrefix("running-config", from) && len(from) > 2 {
		source = c.d.running
	}
	if source == nil {
		return "", fmt.Errorf("%% Error copying %s to %s (No such file or directory)", words[1], words[2])
	}
	if to == "running-config" { // what is copied there is merged: entered line by line
		e := editor{grammar: c.d.grammar, path: []*node{c.d.running}}
		e.load(strings.Join(source.print(), "\n"))
		c.d.apply()
		return done, nil
	}
	c.d.files[to] = source.clone()
	return done, nil
}

func deleteConfig(c *cli, words []string) (string, error) {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	name := fileName(words[1])
	if c.d.files[name] == nil || name == startup {
		return "", fmt.Errorf("%% Error deleting %s (No such file or directory)", words[1])
	}
	delete(c.d.files, name)
	return "", nil
}

// replace makes a file the running configuration, whole.
func replace(c *cli, words []string) (string, error) {
	if f := c.d.hw.Fault(sim.Commit).Kind; f != sim.NoFault {
		return "", fmt.Errorf("%% Error: cannot replace the configuration: %s", f)
	}
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	source := c.d.files[fileName(words[2])]
	if source == nil {
		return "", fmt.Errorf("%% Error opening %s (No such file or directory)", words[2])
	}
	c.d.running = source.clone()
	c.d.apply()
	return "", nil
}
