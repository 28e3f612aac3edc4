package proof

import (
	"fmt"
	"math"
	"strconv"

	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/depend"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
)

// asLabel is the label by which an operator says the AS of a switch.
const asLabel = "as"

// planner turns what the intent says of BGP into a plan by the index of each switch.
type planner struct {
	fabric   *fabric.Fabric
	findings diag.List
}

// ASPlan is what the intent says of BGP, for routes to the destinations. A switch without an AS is a finding, as is a
// selection of nothing; with findings the plan is of no use.
func ASPlan(f *fabric.Fabric, destinations []depend.Destination) (*depend.Plan, diag.List) {
	p := planner{fabric: f}
	bgp := &f.Intent.Routing.BGP
	out := &depend.Plan{AS: p.numbers(bgp), AllowASIn: make([]int, len(f.Switches))}
	for _, a := range bgp.AllowASIn {
		for _, i := range p.picked(a.Select, a.At) {
			out.AllowASIn[i] = a.Times.V
		}
	}
	for _, s := range bgp.NoExportUp {
		out.NoExportUp = append(out.NoExportUp, p.picked(s, s.At)...)
	}
	for _, s := range bgp.Default {
		out.Default = append(out.Default, p.picked(s, s.At)...)
	}
	for _, a := range bgp.Aggregates {
		one := depend.Aggregate{Name: a.Name.V, At: p.picked(a.Select, a.At), SummaryOnly: a.SummaryOnly.V}
		covered := map[int]bool{}
		for _, i := range p.picked(a.Of, a.At) {
			covered[i] = true
		}
		for i, destination := range destinations {
			if covered[destination.At[0]] {
				one.Of = append(one.Of, i)
			}
		}
		out.Aggregates = append(out.Aggregates, one)
	}
	return out, p.findings
}

// numbers are the ASes by the index of each switch.
func (p *planner) numbers(bgp *intent.BGP) []uint32 {
	as := make([]uint32, len(p.fabric.Switches))
	for _, e := range bgp.AS {
		picked := p.picked(e.Select, e.At)
		if last := e.Number.V + len(picked) - 1; e.Each.V && last > math.MaxUint32 {
			p.add(addr.Addr{}, fmt.Sprintf("counted up from %d, the AS of the last of %d switches is %d", e.Number.V, len(picked), last),
				"The largest AS is 4294967295. Begin with a lower number.", e.Number.At)
		}
		next := uint32(e.Number.V)
		for _, i := range picked {
			as[i] = next
			if e.Each.V && next < math.MaxUint32 {
				next++
			}
		}
	}
	for i, sw := range p.fabric.Switches {
		text := sw.Labels[asLabel]
		if number, err := strconv.ParseUint(text, 10, 32); err == nil && number > 0 {
			as[i] = uint32(number)
		} else if text != "" {
			p.add(sw.Address(), fmt.Sprintf("the label as is %q", text), "The AS of a switch is a whole number from 1 to 4294967295.", sw.At)
		} else if as[i] == 0 {
			p.add(sw.Address(), "policy bgp, and nothing says the AS of this switch",
				"Which routes BGP takes depends on the AS of every switch. Write routing.bgp.as, or the label as.", p.fabric.Intent.Routing.Policy.At, sw.At)
		}
	}
	return as
}

func (p *planner) add(a addr.Addr, summary, detail string, at ...diag.Pos) {
	p.findings.Add(diag.Diagnostic{Severity: diag.Error, Summary: summary, Detail: detail, Addr: a, At: at})
}

// picked are the switches that a selector picks, in the order of their names.
func (p *planner) picked(sel intent.Selector, at diag.Pos) []int {
	var out []int
	for i, sw := range p.fabric.Switches {
		if sel.Matches(intent.Subject{Device: sw.Name, Role: sw.Role, Platform: sw.Platform, Labels: sw.Labels}) {
			out = append(out, i)
		}
	}
	if len(out) == 0 {
		p.findings.Add(sel.PicksNothing(at, "switch"))
	}
	return out
}
