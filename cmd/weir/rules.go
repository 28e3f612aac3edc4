package main

import (
	"fmt"
	"path/filepath"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/intent/depend"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
)

// writeRules writes the rules of a remedy as OUT/DEVICE/FILE, and says what they rest on and need.
func (c *console) writeRules(f *fabric.Fabric, r *depend.Remedy, out string) error {
	rules, err := control.RulesOf(f, r)
	if err != nil {
		return err
	}
	files := 0
	for name, written := range rules.Files {
		for _, file := range written {
			if err := control.Write(filepath.Join(out, name), file.Name, file.Body, 0o644); err != nil {
				return fmt.Errorf("write the rules: %w", err)
			}
			files++
		}
	}
	v := c.stderr()
	v.Findings(rules.Findings)
	v.Printf("wrote %s of %s to %s: %s, proven for %s\n", diag.Count(files, "file"), diag.Count(len(rules.Files), "switch"), out, r.Name, r.Proof)
	v.Printf("  proven: priorities only grow along a path, and inside one priority every turn goes on up, sideways and down, so that no state of the network has a cycle\n")
	for _, class := range rules.Needed {
		v.Printf("  needed first: a class of its own, with headroom on every switch and host, and a share that another class gives up: %s\n", class)
	}
	v.Printf("  weir plan does not know these rules and would take their rows back: load them when the plan is empty, and not while weir applies changes\n")
	if rules.Findings.HasErrors() {
		return exit(exitFindings)
	}
	return nil
}
