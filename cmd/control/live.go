package control

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/check"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/inventory"
	"github.com/weirfabric/weir/render"
)

// Live is the fabric as it runs, in place of the one that the intent wants: what its proofs say is so now, whoever configured it.
type Live struct {
	Fabric   *fabric.Fabric
	Findings diag.List         // what is not understood, or could not be read
	Unread   map[string]string // devices that could not be read, and why
}

// Live reads every device that may be read, or the folder of what was observed where dir is not empty, and assembles what runs. Of the
// intent it takes the routing policy alone.
func (r *Repo) Live(ctx context.Context, dir string, done func(name string, err error)) Live {
	ask := r.ask
	if dir != "" {
		ask = func(_ context.Context, name string, qs []plan.Query) ([]plan.Answer, error) {
			return readAnswers(dir, name, qs)
		}
	}
	return r.assemble(func(name string, qs, before []plan.Query) ([]plan.Answer, error) {
		fresh := slices.DeleteFunc(qs, func(q plan.Query) bool { // a device is asked nothing twice
			return dir == "" && slices.ContainsFunc(before, func(b plan.Query) bool { return b.Name == q.Name })
		})
		if len(fresh) == 0 {
			return nil, nil
		}
		return ask(ctx, name, fresh)
	}, done)
}

// LiveOf is Live of what was observed already.
func (r *Repo) LiveOf(seen map[string]Observation) Live {
	return r.assemble(func(name string, _, before []plan.Query) ([]plan.Answer, error) {
		o, observed := seen[name]
		switch {
		case before != nil:
			return nil, nil
		case !observed:
			return nil, errNotObserved
		}
		return o.Answers, o.Err
	}, nil)
}

// asking asks a device. before are the queries that it has answered already; nil: none.
type asking func(name string, qs, before []plan.Query) ([]plan.Answer, error)

// assemble lifts the devices side by side.
func (r *Repo) assemble(ask asking, done func(name string, err error)) Live {
	f, _ := fabric.Resolve(r.Fabric.Intent, r.Fabric.Inventory) // whose findings are those of the repo
	out := Live{Fabric: f, Unread: map[string]string{}}
	runs := fabric.Runs{Switches: map[string]fabric.Lifted[*fabric.Switch]{}, Hosts: map[string]fabric.Lifted[*fabric.Host]{}, Unread: out.Unread}
	var mu sync.Mutex
	var all errgroup.Group
	all.SetLimit(sideBySide)
	note := func(name string, findings diag.List, err error, lifted func()) {
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			out.Unread[name] = err.Error()
		} else {
			lifted()
		}
		out.Findings = append(out.Findings, findings...)
		if done != nil {
			done(name, err)
		}
	}
	for _, sw := range f.Switches {
		if l, speaks := switchLanguages[sw.Platform]; speaks && r.readable(sw.Device) {
			id := render.IdentityOfSwitch(sw)
			all.Go(func() error {
				lifted, findings, err := lift(r, ask, l, id)
				note(sw.Name, findings, err, func() { runs.Switches[sw.Name] = lifted })
				return nil
			})
		}
	}
	for _, h := range f.Hosts {
		if l, speaks := hostLanguages[h.Platform]; speaks && r.readable(h.Device) {
			id := render.IdentityOfHost(h)
			all.Go(func() error {
				lifted, findings, err := lift(r, ask, l, id)
				note(h.Name, findings, err, func() { runs.Hosts[h.Name] = lifted })
				return nil
			})
		}
	}
	_ = all.Wait() // what failed stands in Unread
	for _, name := range sortedNames(out.Unread) {
		out.Findings.Add(diag.Diagnostic{
			Severity: diag.Warning, Check: "lift", Addr: addr.Device(name), Summary: "it could not be read: " + out.Unread[name],
			Detail: "Nothing is known of what runs there, and nothing is proven of it.",
		})
	}
	fabric.Assemble(f, runs)
	out.Findings.Sort()
	return out
}

// CheckLive runs the checks on what runs. What a check says of a setting that is not known, here or at the other end of the cable, is left
// out: it was worked out from nothing.
func (r *Repo) CheckLive(l Live) diag.List {
	f := l.Provable()
	others := map[addr.Addr]addr.Addr{}
	for _, link := range f.Links {
		a, b := link.A.Address(), link.B.Address()
		others[a], others[b] = b, a
	}
	return slices.DeleteFunc(check.Run(f, r.effects.Now()), func(d diag.Diagnostic) bool {
		other, cabled := others[addr.Port(d.Addr.Device, d.Addr.Port)]
		there := other.Of(d.Addr.Kind, d.Addr.Name).With(d.Addr.Leaf)
		return f.Unread(d.Addr) || cabled && d.Addr.Port != "" && f.Unread(there)
	})
}

// Provable is what runs as proofs take it: from NIC to NIC, or where it is known of no host what it marks from switch to switch.
func (l Live) Provable() *fabric.Fabric {
	if !l.Fabric.Marking() {
		l.Fabric.WithoutHosts()
	}
	return l.Fabric
}

// Cautious is Provable with PFC on wherever it is not known, for proofs in which PFC is what does harm.
func (l Live) Cautious() *fabric.Fabric {
	l.Provable()
	for _, sw := range l.Fabric.Switches {
		for _, p := range sw.Ports {
			for _, n := range l.Fabric.LosslessPriorities().All() {
				if _, not := sw.Unread(addr.Port(sw.Name, p.Name).Of(addr.PFC, strconv.Itoa(int(n)))); not {
					p.PFC |= qos.Priorities(n)
				}
			}
		}
	}
	return l.Fabric
}

// ClassOfDSCP is the name of the class that carries a DSCP in a fabric that runs. Where none does, the error says which there are.
func ClassOfDSCP(f *fabric.Fabric, dscp int) (string, error) {
	var known []string
	for _, c := range f.Classes {
		if c.Lossless && slices.Contains(c.DSCP, qos.DSCP(dscp)) && dscp < 64 {
			return c.Name, nil
		}
		known = append(known, c.Name)
	}
	return "", fmt.Errorf("--dscp %d: nothing marks it; the classes that run are %s", dscp, orNone(known))
}

// readable says whether a device can be there to be read, and is weir's to read.
func (r *Repo) readable(d fabric.Device) bool {
	return !slices.Contains([]inventory.State{inventory.Unmanaged, inventory.Planned}, d.State) && filesOnly[d.Platform] == ""
}

// lift asks one device who it is and what it holds, and lifts that.
func lift[D any](r *Repo, ask asking, l render.Language[D], inventory render.Identity) (fabric.Lifted[D], diag.List, error) {
	answers, err := ask(inventory.Name, l.Discover(), nil)
	if err != nil {
		return fabric.Lifted[D]{}, nil, err
	}
	id, err := l.Identify(answers)
	if err != nil {
		return fabric.Lifted[D]{}, nil, err
	}
	inventory.Catalog = r.Fabric.Inventory.Catalog
	id = id.With(inventory)
	more, err := ask(id.Name, l.Survey(id), l.Discover())
	if err != nil {
		return fabric.Lifted[D]{}, nil, err
	}
	lifted, findings := l.Lift(id, append(answers, more...))
	return lifted, findings, nil
}
