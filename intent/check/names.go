package check

import (
	"fmt"
	"slices"

	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/source"
	"github.com/weirfabric/weir/inventory"
)

func names(f *fabric.Fabric) diag.List {
	var l diag.List
	for i := range f.Intent.Hosts {
		p := &f.Intent.Hosts[i]
		a := addr.Addr{Kind: addr.Hosts, Name: p.Name.V}
		className(&l, f, a, p.RoCE.Class)
		className(&l, f, a, p.RoCE.CNP)
		if !selects(f.Inventory.Devices, p.Select, (*inventory.Device).Host) {
			l.Add(selectsNothing(a, p.Select, p.At, "host"))
		}
	}
	for i := range f.Intent.Overrides {
		o := &f.Intent.Overrides[i]
		a := addr.Addr{Kind: addr.Override, Name: o.Name.V}
		for j := range o.Classes {
			className(&l, f, a, o.Classes[j].Name)
		}
		if !selects(f.Inventory.Devices, o.Select, func(*inventory.Device) bool { return true }) {
			l.Add(selectsNothing(a, o.Select, o.At, "device or port"))
		}
	}
	canary(&l, f)
	return l
}

// className reports a name that no class has.
func className(l *diag.List, f *fabric.Fabric, a addr.Addr, name source.Value[string]) {
	for _, d := range f.UnknownClass(name) {
		d.Addr = a
		l.Add(d)
	}
}

// selects says whether the selector picks any device of a sort, or any port of one.
func selects(devices []*inventory.Device, sel intent.Selector, sort func(*inventory.Device) bool) bool {
	return slices.ContainsFunc(devices, func(d *inventory.Device) bool {
		s := intent.Subject{Device: d.Name.V, Role: d.Role.V, Platform: d.Platform.V, Labels: d.Labels}
		if !sort(d) {
			return false
		}
		if !sel.Port.Set() {
			return sel.Matches(s)
		}
		return slices.ContainsFunc(d.Ports, func(p inventory.Port) bool {
			s.Port = p.Name
			return sel.Matches(s)
		})
	})
}

// selectsNothing is the finding about a selector of the document at an address.
func selectsNothing(a addr.Addr, sel intent.Selector, at diag.Pos, what string) diag.Diagnostic {
	d := sel.PicksNothing(at, what)
	d.Addr = a
	return d
}

func canary(l *diag.List, f *fabric.Fabric) {
	name := f.Intent.Apply.Canary
	if !name.Set() {
		return
	}
	var known []string
	for _, d := range f.Inventory.Devices {
		if known = append(known, d.Name.V); d.Name.V == name.V && d.StateOf() != inventory.Active {
			l.Add(finding(diag.Warning, fmt.Sprintf("the canary %s is not changed: its state is %s", name.V, d.StateOf()),
				"Name a device that is, or no device goes first.", []diag.Pos{name.At, d.State.At}))
		}
	}
	if !slices.Contains(known, name.V) {
		l.Add(finding(diag.Error, fmt.Sprintf("the canary %q is not in the inventory", name.V)+source.DidYouMean(name.V, known),
			"Name the device that is to be changed first.", []diag.Pos{name.At}))
	}
}
