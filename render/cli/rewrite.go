package cli

import (
	"fmt"
	"slices"
	"strings"
	"text/template"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/render"
)

// rewriteView is what the layout of the rules is given.
type rewriteView struct {
	Device   string
	In       []string
	Lossless bool // some traffic goes on in another lossless class
	Lanes    []laneView
}

type laneView struct {
	Class            string
	DSCP             []int
	NextDSCP, NextTC int
}

var _ render.Rewriter = (*Language)(nil)

// Rewrite lays the rules out as far as the language has words for them. What it has no words for stands in the file and is a
// finding.
func (l *Language) Rewrite(sw *fabric.Switch, r render.Rewrite) ([]render.File, diag.List) {
	var findings diag.List
	if l.rewrite == nil {
		findings.Errorf(check, sw.Address(), []diag.Pos{sw.At}, "rules of priority bumping cannot be said: no source shows how this language rewrites the DSCP of some packets")
		return nil, findings
	}
	v := rewriteView{Device: sw.Name, In: r.In}
	for _, chain := range r.Chains {
		for i, lane := range chain {
			next := r.Off
			if i+1 < len(chain) {
				next, v.Lossless = chain[i+1], true
			}
			out := laneView{Class: lane.Class, NextDSCP: int(next.DSCP[0]), NextTC: int(next.TC)}
			for _, d := range lane.DSCP {
				out.DSCP = append(out.DSCP, int(d))
			}
			v.Lanes = append(v.Lanes, out)
		}
	}
	for _, p := range sw.Ports {
		if slices.Contains(r.In, p.Name) && p.Trust != qos.TrustDSCP {
			findings.Errorf(check, addr.Port(sw.Name, p.Name), originOf(p).Trust, "the rules go by DSCP, and the port trusts %s", p.Trust)
		}
	}
	detail := l.pack.Rewrite.Says
	if v.Lossless {
		detail += " " + l.pack.Rewrite.Loses
	}
	findings.Add(diag.Diagnostic{Severity: diag.Warning, Check: check, Addr: sw.Address(), Summary: "the rules cannot be said completely: the file is for a person to complete", Detail: detail, At: []diag.Pos{sw.At}})
	var text strings.Builder
	if err := l.rewrite.Execute(&text, v); err != nil {
		findings.Errorf(check, sw.Address(), nil, "the layout of the rules has a mistake: %v", err)
		return nil, findings
	}
	return []render.File{{Name: l.pack.Rewrite.File, Body: []byte(text.String())}}, findings
}

// parse reads a template of the pack.
func parse(name string, text []byte) (*template.Template, error) {
	t, err := template.New(name).Option("missingkey=error").Parse(string(text))
	if err != nil {
		return nil, fmt.Errorf("read the layout %s: %w", name, err)
	}
	return t, nil
}
