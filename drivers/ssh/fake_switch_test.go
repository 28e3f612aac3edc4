package ssh

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// vsw is a switch with configuration sessions and one setting: value.
type vsw struct {
	mu       sync.Mutex
	value    string
	sessions map[string]string // name -> state
	timed    string            // session whose commit waits
	previous string            // value before that commit
	next     error             // at the next commit, after it took effect
	enable   bool              // logins start at the user level, and enable asks for the password
	foreign  string            // what every new session already holds
	modern   bool              // the session whose commit waits is named at the top, and its state is "committed"
	typed    []string
}

func (v *vsw) fault(wrong error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.next = wrong
}

// lines is all that was typed.
func (v *vsw) lines() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.typed)
}

// states are the sessions'.
func (v *vsw) states() map[string]string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return maps.Clone(v.sessions)
}

func (v *vsw) expire() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.timed != "" {
		v.value, v.sessions[v.timed], v.timed = v.previous, "completed", ""
	}
}

func (v *vsw) holds() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.value
}

func (v *vsw) list() string {
	var all []string
	for name, state := range v.sessions {
		all = append(all, fmt.Sprintf(`"%s": {"state": "%s", "instances": {}}`, name, state))
	}
	slices.Sort(all)
	if v.modern && v.timed != "" {
		all[len(all)-1] += fmt.Sprintf(`}, "commitTimerExpireTime": 4711.5, "commitTimerSessionName": "%s", "more": {`, v.timed)
	}
	return fmt.Sprintf("{\n    \"maxOpenSessions\": 5,\n    \"sessions\": {%s}\n}", strings.Join(all, ", "))
}

// vty is one terminal of it.
type vty struct {
	*vsw
	level string // "user", "password", "exec" or the name of the session that is open
	wants string // the value that the session would set
}

func (v *vty) prompt() string {
	switch v.level {
	case "user":
		return "leaf1>"
	case "password":
		return "Password: "
	case "exec":
		return "leaf1#"
	}
	return fmt.Sprintf("leaf1(config-s-%.6s)#", v.level)
}

func (v *vty) hidden() bool { return v.level == "password" }

func (v *vty) line(text string) (string, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.typed = append(v.typed, text)
	switch v.level {
	case "user":
		if text == "enable" {
			v.level = "password"
			return "", nil
		}
		return "% Invalid input (privileged mode required)", nil
	case "password":
		if text == password {
			v.level = "exec"
			return "", nil
		}
		return "% Bad secret", nil
	case "exec":
		return v.exec(text)
	}
	return v.configure(text)
}

func (v *vty) exec(text string) (string, error) {
	words := strings.Fields(text)
	switch {
	case text == "":
		return "", nil
	case text == "show configuration sessions detail | json":
		return v.list(), nil
	case text == "show value":
		return "value " + v.value, nil
	case text == "show banner":
		return "a\nb\nc\nd\n% Invalid input\nleaf1# is a prompt\nleaf1#\ne", nil
	case words[0] == "terminal", text == "write memory":
		return "", nil
	case len(words) == 3 && words[0] == "configure":
		v.level, v.wants = words[2], v.value
		v.sessions[v.level] = "pending"
		return "", nil
	case len(words) == 4 && words[3] == "abort":
		if v.timed == words[2] {
			v.value, v.timed = v.previous, ""
		}
		v.sessions[words[2]] = "aborted"
		return "", nil
	case len(words) == 4 && words[3] == "commit" && v.timed == words[2]:
		v.sessions[words[2]], v.timed = "completed", ""
		return "", nil
	}
	return "       ^\n% Invalid input (at token 0: '" + words[0] + "')", nil
}

func (v *vty) configure(text string) (string, error) {
	word, rest, _ := strings.Cut(text, " ")
	switch {
	case text == "show session-config diffs":
		if v.wants == v.value {
			return v.foreign, nil
		}
		return "--- system:/running-config\n+++ session:/x-session-config\n@@ -1 +1 @@\n-value " + v.value + "\n+value " + v.wants, nil
	case word == "value" && rest == "bad":
		return "% Invalid input (at token 1: 'bad')", nil
	case word == "value":
		v.wants = rest
		return "", nil
	case word == "interface":
		return "", nil
	case text == "abort":
		v.sessions[v.level], v.level = "aborted", "exec"
		return "", nil
	case word == "commit":
		return v.commit(rest)
	}
	return "% Invalid input", nil
}

func (v *vty) commit(timer string) (string, error) {
	if v.wants == "unlucky" {
		return "% Cannot commit: value is out of luck", nil
	}
	name := v.level
	v.sessions[name], v.level = "completed", "exec"
	if timer != "" {
		v.sessions[name], v.timed, v.previous = "pendingCommitTimer", name, v.value
		if v.modern {
			v.sessions[name] = "committed"
		}
	}
	v.value = v.wants
	wrong := v.next
	v.next = nil
	return "", wrong
}
