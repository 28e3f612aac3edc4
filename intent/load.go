package intent

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/intent/source"
)

// loadCheck is the name under which Load reports what the documents say together.
const loadCheck = "intent"

// mainFile is where a fabric repo begins.
const mainFile = "fabric.yaml"

// Load reads the intent of a fabric repo: fabric.yaml, and every YAML file below intent/ in the order of their names. What is
// wrong is in the findings, and what could be read is in the fabric. Routing and Apply are complete, with their defaults;
// settings are as they were written, and Defaults has the rest.
func Load(fsys fs.FS) (*Fabric, diag.List) {
	f := &Fabric{}
	names, err := source.Files(fsys, "intent")
	if err != nil {
		return f, diag.List{{Severity: diag.Error, Check: loadCheck, Summary: err.Error(), At: []diag.Pos{{File: "intent"}}}}
	}
	if _, err := fs.Stat(fsys, mainFile); err == nil {
		names = append([]string{mainFile}, names...)
	}
	documents, findings := grammar().Load(fsys, names)
	for _, d := range documents {
		switch v := d.Value.(type) {
		case *Fabric:
			findings = append(findings, source.Merge(f, v)...)
		case *Override:
			f.Overrides = append(f.Overrides, *v)
		case *HostProfile:
			f.Hosts = append(f.Hosts, *v)
		}
	}
	if !f.Name.Set() && !findings.HasErrors() {
		findings.Add(diag.Diagnostic{
			Severity: diag.Error, Check: loadCheck, Summary: "nothing says the fabric's name",
			Detail: "Write a document of kind Fabric with a name into " + mainFile + ".", At: []diag.Pos{{File: mainFile, Line: 1, Column: 1}},
		})
	}
	findings = append(findings, f.duplicates()...)
	routing, apply := DefaultRouting(), DefaultApply()
	f.Routing.Policy, f.Routing.Routed = f.Routing.Policy.Or(routing.Policy), f.Routing.Routed.Or(routing.Routed)
	f.Apply.Settle, f.Apply.Idle, f.Apply.Share = f.Apply.Settle.Or(apply.Settle), f.Apply.Idle.Or(apply.Idle), f.Apply.Share.Or(apply.Share)
	return f, findings
}

// duplicates finds things of one kind that share a name.
func (f *Fabric) duplicates() diag.List {
	var findings diag.List
	first := map[addr.Addr]diag.Pos{}
	define := func(kind addr.Kind, what string, name source.Value[string]) {
		a := addr.Addr{Kind: kind, Name: name.V}
		if before, taken := first[a]; taken && name.Set() {
			findings.Add(diag.Diagnostic{
				Severity: diag.Error, Check: loadCheck, Addr: a, Summary: fmt.Sprintf("%s %s is defined twice", what, name.V),
				Detail: "Give one of the two another name, or remove it.", At: []diag.Pos{before, name.At},
			})
			return
		}
		first[a] = name.At
	}
	for _, c := range f.Classes {
		define(addr.Class, "class", c.Name)
	}
	for _, o := range f.Overrides {
		define(addr.Override, "override", o.Name)
	}
	for _, h := range f.Hosts {
		define(addr.Hosts, "host profile", h.Name)
	}
	return findings
}

// Digest is the same for repos whose fabric.yaml, intent/ and inventory/ hold YAML files of the same meaning and tables of the same
// bytes: a comment makes no plan stale.
func Digest(fsys fs.FS) (plan.Digest, error) {
	names := []string{mainFile}
	for _, folder := range []string{"intent", "inventory"} {
		more, err := source.FilesAndTables(fsys, folder)
		if err != nil {
			return "", err
		}
		names = append(names, more...)
	}
	h := sha256.New()
	for _, name := range names {
		body, err := source.ReadFile(fsys, name)
		if err != nil {
			return "", fmt.Errorf("read %s: %w", name, err)
		}
		if path.Ext(name) != ".ini" {
			if meaning, err := source.Meaning(body); err == nil { // what is no YAML is told where it is loaded
				body = meaning
			}
		}
		fmt.Fprintf(h, "%s %d\n%s", name, len(body), body)
	}
	return plan.Digest(hex.EncodeToString(h.Sum(nil))), nil
}
