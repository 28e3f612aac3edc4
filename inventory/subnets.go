package inventory

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/source"
)

// InfiniBand is the subnets of an InfiniBand network, the routers between them, and which subnets talk.
type InfiniBand struct {
	Subnets []Subnet
	Routers []Router
	Talk    []Talk
}

// Subnet is a subnet whose switches stand in levels.
type Subnet struct {
	Name   string
	Levels []string // from the switches that hosts are plugged into to the top
	At     diag.Pos
}

// Router joins subnets.
type Router struct {
	Name  string
	Joins []Join
	At    diag.Pos
}

// Join is where a router is plugged in: into switches of a level of a subnet.
type Join struct {
	Subnet, Level string
	At            diag.Pos
}

// Talk is two subnets whose hosts talk to each other.
type Talk struct {
	A, B string
	At   diag.Pos
}

// subnetsDoc is a document of kind Subnets.
type subnetsDoc struct {
	Subnets []subnetSpec `yaml:"subnets,required" doc:"The InfiniBand subnets."`
	Routers []routerSpec `yaml:"routers" doc:"The routers between them."`
	Talk    []talkSpec   `yaml:"talk" doc:"Which subnets talk to each other. Without it no pair is checked."`
}

type subnetSpec struct {
	Name   source.Value[string]   `yaml:"name,required" form:"name" doc:"Name of the subnet."`
	Levels []source.Value[string] `yaml:"levels,required" form:"name" doc:"The levels of its switches, from those that hosts are plugged into to the top: [leaf, spine]."`
	At     diag.Pos
}

type routerSpec struct {
	identity `yaml:",inline"`
	Joins    []source.Value[string] `yaml:"joins,required" form:"join" doc:"Where it is plugged in: SUBNET/LEVEL. At the top level it stands above the subnet, at any other below the switches of that level, as a host does."`
}

type talkSpec struct {
	A  source.Value[string] `yaml:"a,required" form:"name" doc:"One subnet."`
	B  source.Value[string] `yaml:"b,required" form:"name" doc:"The other subnet."`
	At diag.Pos
}

// subnets adds the subnets, routers and pairs of a document.
func (l *loader) subnets(doc *subnetsDoc) {
	ib := &l.inventory.InfiniBand
	for _, s := range doc.Subnets {
		out := Subnet{Name: s.Name.V, At: s.Name.Or(source.Value[string]{At: s.At}).At}
		for _, level := range s.Levels {
			out.Levels = append(out.Levels, level.V)
		}
		ib.Subnets = append(ib.Subnets, out)
	}
	for _, r := range doc.Routers {
		var joins []Join
		for _, j := range r.Joins {
			subnet, level, _ := strings.Cut(j.V, "/")
			joins = append(joins, Join{subnet, level, j.At})
		}
		for _, name := range l.named(r.Name, r.Names, r.At) {
			ib.Routers = append(ib.Routers, Router{Name: name, Joins: joins, At: r.At})
		}
	}
	for _, t := range doc.Talk {
		ib.Talk = append(ib.Talk, Talk{t.A.V, t.B.V, t.At})
	}
}

// subnetsOnce finds subnets and routers that share a name, and names that no subnet or level has.
func (l *loader) subnetsOnce() {
	ib := &l.inventory.InfiniBand
	first := map[string]diag.Pos{}
	once := func(what, name string, at diag.Pos) {
		if before, taken := first[name]; taken {
			l.errorf(addr.Addr{}, "Give one of the two another name, or remove it.", []diag.Pos{before, at}, "%s %s has a name that is taken", what, name)
			return
		}
		first[name] = at
	}
	var known []string
	for _, s := range ib.Subnets {
		once("subnet", s.Name, s.At)
		l.levels(s)
		known = append(known, s.Name)
	}
	find := func(name string, at diag.Pos) *Subnet {
		if i := slices.IndexFunc(ib.Subnets, func(s Subnet) bool { return s.Name == name }); i >= 0 {
			return &ib.Subnets[i]
		}
		l.errorf(addr.Addr{}, "The subnets are "+strings.Join(known, ", ")+".", []diag.Pos{at}, "%s", fmt.Sprintf("there is no subnet %q", name)+source.DidYouMean(name, known))
		return nil
	}
	for _, r := range ib.Routers {
		once("router", r.Name, r.At)
		if len(r.Joins) < 2 {
			l.errorf(addr.Addr{}, "Write joins with a SUBNET/LEVEL for each subnet that it joins, two or more.", []diag.Pos{r.At}, "router %s joins no two subnets", r.Name)
		}
		for i, j := range r.Joins {
			if slices.ContainsFunc(r.Joins[:i], func(before Join) bool { return before.Subnet == j.Subnet && before.Level == j.Level }) {
				l.errorf(addr.Addr{}, "Write each once.", []diag.Pos{j.At}, "router %s joins %s/%s twice", r.Name, j.Subnet, j.Level)
			}
			if s := find(j.Subnet, j.At); s != nil && !slices.Contains(s.Levels, j.Level) {
				l.errorf(addr.Addr{}, "Its levels are "+strings.Join(s.Levels, ", ")+": write SUBNET/LEVEL.", []diag.Pos{j.At}, "subnet %s has no level %q", s.Name, j.Level)
			}
		}
	}
	for _, t := range ib.Talk {
		if t.A == t.B {
			l.errorf(addr.Addr{}, "Name two subnets: traffic within one needs no router.", []diag.Pos{t.At}, "subnet %s is to talk to itself", t.A)
		}
		find(t.A, t.At)
		find(t.B, t.At)
	}
}

// levels finds a subnet without levels, and levels that share a name.
func (l *loader) levels(s Subnet) {
	if len(s.Levels) == 0 {
		l.errorf(addr.Addr{}, "Write the levels of its switches, from those that hosts are plugged into to the top: [leaf, spine].", []diag.Pos{s.At}, "subnet %s has no levels", s.Name)
	}
	for i, level := range s.Levels {
		if slices.Contains(s.Levels[:i], level) {
			l.errorf(addr.Addr{}, "Give each level a name of its own.", []diag.Pos{s.At}, "subnet %s has two levels %s", s.Name, level)
		}
	}
}
