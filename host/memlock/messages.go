package memlock

import (
	"fmt"
	"path"
	"slices"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
)

// Refused finds wanted services that the host has not, and Possible leaves them out.
func Refused(h *fabric.Host, facts map[string]string) diag.List {
	var findings diag.List
	for _, s := range h.MemlockServices {
		if facts[s+absentFact] != "" {
			findings.Add(diag.Diagnostic{
				Severity: diag.Error, Check: check, Addr: h.Address().Of(addr.Memlock, s), At: h.At,
				Summary: "the host has no service of this name", Detail: "Write the name that \"systemctl list-unit-files\" shows, without .service, or install the service first.",
			})
		}
	}
	return findings
}

// Possible says whether a delta is about a service that the host has.
func Possible(facts map[string]string, d plan.Delta) bool {
	return facts[d.Leaf.Path[1]+absentFact] == ""
}

// Older finds services that run with another limit than systemd has for them by now.
func Older(h *fabric.Host, facts map[string]string) diag.List {
	var findings diag.List
	for _, s := range h.MemlockServices {
		if runs := facts[s+olderFact]; runs != "" {
			findings.Add(diag.Diagnostic{
				Severity: diag.Warning, Check: check, Addr: h.Address().Of(addr.Memlock, s), At: h.At,
				Summary: fmt.Sprintf("the service runs with a limit of %s that it was started with", runs),
				Detail:  "weir starts no service again: jobs may run in it. systemctl restart " + s + " when it may be.",
			})
		}
	}
	return findings
}

// Messages make the deltas happen, in both directions.
func Messages(deltas []plan.Delta) []plan.Message {
	if len(deltas) == 0 {
		return nil
	}
	var out []plan.Message
	run := func(command string) { out = append(out, plan.Message{Op: plan.Run, Body: command}) }
	for _, d := range deltas {
		if d.Leaf.Path[2] != dropIn {
			continue
		}
		name := file(d.Leaf.Path[1])
		if d.Action == plan.Delete {
			out = append(out, plan.Message{Op: plan.Remove, Path: name})
			run(plan.Command("rmdir", path.Dir(name)) + " 2> /dev/null || true") // others may have drop-ins in it
			continue
		}
		run(plan.Command("mkdir -p", path.Dir(name)))
		out = append(out, plan.Message{Op: plan.Write, Path: name, Body: d.Leaf.Value})
	}
	run("systemctl daemon-reload")
	return out
}

// Path is the file that a leaf is; empty: it is none.
func Path(l plan.Leaf) string {
	if l.Path[0] != Part || l.Path[2] != dropIn {
		return ""
	}
	return file(l.Path[1])
}

// Lift puts the services that may lock what logins may into the model, of those that have a drop-in of weir's.
func Lift(h *fabric.Host, answers map[string]string, g *fabric.Gaps) {
	at := h.Address().Of(addr.Memlock, "")
	services, err := look(answers)
	if err != nil {
		g.Strange(diag.Excerpt(err.Error()), at)
		return
	}
	limit, err := limitOf(h.Memlock)
	for name, s := range services {
		if s.limit != limit || err != nil || h.Memlock == "" {
			g.Strange(fmt.Sprintf("%s.service: LimitMEMLOCK=%s", name, diag.Excerpt(s.limit)), at)
			continue
		}
		h.MemlockServices = append(h.MemlockServices, name)
	}
	slices.Sort(h.MemlockServices)
}
