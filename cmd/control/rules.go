package control

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/weirfabric/weir/intent/depend"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/proof/deadlock"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/render"
)

// Rules are those of a remedy against a cycle of buffers, in the languages of the switches.
type Rules struct {
	Files    map[string][]render.File // by switch
	Needed   []string                 // classes that the intent must get first, as it says them
	Findings diag.List                // what the languages cannot say
}

// RemedyWithRules is the remedy whose rules are written: the named one, else that which loses nothing, else the first that has any.
func RemedyWithRules(remedies []depend.Remedy, name string) (*depend.Remedy, error) {
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

// RulesOf puts the rules of a remedy into the languages of the switches of a fabric.
func RulesOf(f *fabric.Fabric, r *depend.Remedy) (Rules, error) {
	out := Rules{Files: map[string][]render.File{}}
	chains, off, err := deadlock.Lanes(f, r.Priorities)
	if err != nil {
		return out, fmt.Errorf("rules of %s: %w", r.Name, err)
	}
	for _, b := range r.Rules {
		i := slices.IndexFunc(f.Switches, func(sw *fabric.Switch) bool { return sw.Name == b.Switch })
		if i < 0 {
			return out, fmt.Errorf("rules of %s: %s is not in the inventory", r.Name, b.Switch)
		}
		sw := f.Switches[i]
		language, ok := switchLanguages[sw.Platform].(render.Rewriter)
		if !ok {
			out.Findings.Errorf("language", sw.Address(), []diag.Pos{sw.At}, "rules of priority bumping cannot be said in the language of platform %q", sw.Platform)
			continue
		}
		files, more := language.Rewrite(sw, render.Rewrite{In: b.In, Out: b.Out, Chains: chains, Off: off})
		out.Findings = append(out.Findings, more...)
		if len(files) > 0 {
			out.Files[sw.Name] = append(out.Files[sw.Name], files...)
		}
	}
	for _, lane := range slices.Concat(chains...) {
		if lane.New {
			out.Needed = append(out.Needed, classOf(lane))
		}
	}
	return out, nil
}

// classOf is the class of a lane as the intent says it.
func classOf(l deadlock.Lane) string {
	var dscp []string
	for _, d := range l.DSCP {
		dscp = append(dscp, fmt.Sprint(d))
	}
	return fmt.Sprintf("{name: %s, lossless: true, dscp: [%s], priority: %s}", l.Class, strings.Join(dscp, ", "), qos.Priorities(l.Priority))
}
