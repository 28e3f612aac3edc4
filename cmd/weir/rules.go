package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/weirfabric/weir/cmd/weir/view"
	"github.com/weirfabric/weir/intent/depend"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/render"
)

// ruled is the remedy whose rules are written: the named one, else that which loses nothing, else the first that has any.
func ruled(remedies []depend.Remedy, name string) (*depend.Remedy, error) {
	var found *depend.Remedy
	var names []string
	for i := range remedies {
		r := &remedies[i]
		if len(r.Rules) == 0 {
			continue
		}
		names = append(names, r.Name)
		if r.Name == name || name == "" && (found == nil || r.Name == depend.RemedyBump) {
			found = r
		}
	}
	switch {
	case len(names) == 0:
		return nil, errors.New("no remedy has rules: there is no cycle, or no rule was proven to break it")
	case found == nil:
		return nil, fmt.Errorf("--remedy %q: want %s", name, strings.Join(names, " or "))
	}
	return found, nil
}

// writeRules writes the rules of a remedy as OUT/DEVICE/FILE, and says what they rest on and need.
func (c *console) writeRules(f *fabric.Fabric, r *depend.Remedy, out string) error {
	chains, off, err := render.Lanes(f, r.Priorities)
	if err != nil {
		return fmt.Errorf("rules of %s: %w", r.Name, err)
	}
	var findings diag.List
	files, devices := 0, 0
	for _, b := range r.Rules {
		i := slices.IndexFunc(f.Switches, func(sw *fabric.Switch) bool { return sw.Name == b.Switch })
		if i < 0 {
			return fmt.Errorf("rules of %s: %s is not in the inventory", r.Name, b.Switch)
		}
		sw := f.Switches[i]
		language, ok := switchLanguages[sw.Platform].(render.Rewriter)
		if !ok {
			findings.Errorf("language", sw.Address(), []diag.Pos{sw.At}, "rules of priority bumping cannot be said in the language of platform %q", sw.Platform)
			continue
		}
		written, more := language.Rewrite(sw, render.Rewrite{In: b.In, Out: b.Out, Chains: chains, Off: off})
		findings = append(findings, more...)
		if len(written) > 0 {
			devices++
		}
		for _, file := range written {
			path := filepath.Join(out, sw.Name, filepath.FromSlash(file.Name))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return fmt.Errorf("write the rules: %w", err)
			}
			if err := os.WriteFile(path, file.Body, 0o644); err != nil {
				return fmt.Errorf("write the rules: %w", err)
			}
			files++
		}
	}
	v := c.say()
	v.Findings(findings)
	v.Printf("wrote %s of %s to %s: %s, proven for %s\n", view.Count(files, "file"), view.Count(devices, "switch"), out, r.Name, r.Proof)
	v.Printf("  proven: priorities only grow along a path, and inside one priority every turn goes on up, sideways and down, so that no state of the network has a cycle\n")
	for _, chain := range chains {
		for _, lane := range chain {
			if lane.New {
				v.Printf("  needed first: a class of its own, with headroom on every switch and host, and a share that another class gives up: %s\n", written(lane))
			}
		}
	}
	v.Printf("  weir plan does not know these rules and would take their rows back: load them when the plan is empty, and not while weir applies changes\n")
	if findings.HasErrors() {
		return exit(exitFindings)
	}
	return nil
}

// written is the class of a lane as the intent says it.
func written(l render.Lane) string {
	var dscp []string
	for _, d := range l.DSCP {
		dscp = append(dscp, fmt.Sprint(d))
	}
	return fmt.Sprintf("{name: %s, lossless: true, dscp: [%s], priority: %s}", l.Class, strings.Join(dscp, ", "), qos.Priorities(l.Priority))
}
