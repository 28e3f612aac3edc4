package bond

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
)

// Refused says why weir makes no change to the host's bonds: somebody else keeps its networks, or speaks of the ports. Deltas are
// those of bonds.
func Refused(h *fabric.Host, have plan.Document, facts map[string]string, deltas []plan.Delta) diag.List {
	if len(deltas) == 0 {
		return nil
	}
	var findings diag.List
	refuse := func(summary, detail string) {
		findings.Add(diag.Diagnostic{
			Severity: diag.Error, Check: check, Addr: h.Address().Of(addr.Bond, deltas[0].Leaf.Path[1]), At: Because(h, deltas[0].Leaf),
			Summary: summary, Detail: detail,
		})
	}
	if why := facts[refusedFact]; why != "" {
		refuse(why, "Make the bond there and write bond: {mode: off}, or let systemd-networkd or NetworkManager keep the host's networks.")
	}
	if claims := facts[claimsFact]; claims != "" {
		refuse("ports of the bond stand in files that are not weir's: "+claims, "A port has one master. Take the ports out of these files; addresses of the bond go to bonds of the host in the inventory.")
	}
	for _, b := range h.Bonds {
		if stands := leavesOf(b.Name, have); stands["mode"] != "" && stands[kept] == "" && Remade(ofBond(b.Name, deltas)) {
			refuse(b.Name+" runs, and is not what it is to be, and nothing of weir's makes it", "Undone it could not be made again as it was. Remove it by hand: ip link del dev "+b.Name+".")
		}
	}
	return findings
}

// ofBond are the deltas of one bond.
func ofBond(name string, deltas []plan.Delta) []plan.Delta {
	return slices.DeleteFunc(slices.Clone(deltas), func(d plan.Delta) bool { return d.Leaf.Path[1] != name })
}

// Untried notes what no host was seen to do, where a bond is changed, and what keeps RoCE LAG from coming about.
func Untried(h *fabric.Host, facts map[string]string, deltas []plan.Delta) diag.List {
	if len(deltas) == 0 {
		return nil
	}
	var findings diag.List
	note := func(severity diag.Severity, name, summary, detail string, at []diag.Pos) {
		findings.Add(diag.Diagnostic{Severity: severity, Check: check, Addr: h.Address().Of(addr.Bond, name), At: at, Summary: summary, Detail: detail})
	}
	if !Remade(deltas) {
		return nil
	}
	note(diag.Note, deltas[0].Leaf.Path[1], "the bond is made anew, and its ports carry nothing meanwhile",
		"The files are as systemd-networkd 252 and NetworkManager 1.42 read them. How a host takes them up was tried in the laboratory, and not on a host with cards.", Because(h, deltas[0].Leaf))
	for _, b := range h.Bonds {
		var cards, virtual []string
		for _, p := range b.Ports {
			if slot, _, is := strings.Cut(facts[p+slotFact], "."); is && !slices.Contains(cards, slot) {
				cards = append(cards, slot)
			}
			if facts[p+virtualFact] != "" {
				virtual = append(virtual, p)
			}
		}
		if len(cards) > 1 {
			note(diag.Warning, b.Name, "its ports are of several cards, "+strings.Join(cards, " and "),
				"RDMA has one device for a bond of both ports of one mlx5 card, and of no others. Over several cards RDMA does not fail over.", b.At)
		}
		if len(virtual) > 0 {
			note(diag.Warning, b.Name, "ports have virtual functions: "+strings.Join(virtual, " and "),
				"SR-IOV in legacy mode keeps mlx5 from making one RDMA device of the bond (Linux commit edb31b168675).", b.At)
		}
	}
	return findings
}

// Messages make the deltas of one bond happen. Mode, ports and times are given when a bond is made, so that for another one it is
// made anew: neither master changes a bond that is there, nor removes one that it shall not make any more. Have is the document
// before the deltas, and facts are those of the state.
func Messages(h *fabric.Host, name string, have plan.Document, facts map[string]string, deltas []plan.Delta) []plan.Message {
	m, known := masterOf(facts[masterFact])
	if len(deltas) == 0 || !known {
		return nil
	}
	before, after := leavesOf(name, have), leavesOf(name, have)
	for _, d := range deltas {
		if after[d.Leaf.Path[2]] = d.Leaf.Value; d.Action == plan.Delete {
			delete(after, d.Leaf.Path[2])
		}
	}
	out := m.place(name, before[kept], after[kept])
	reload := func() {
		for _, command := range m.reload {
			out = append(out, run(command))
		}
	}
	switch {
	case !Remade(deltas):
		if before[kept] != after[kept] && after[kept] != "" {
			reload()
		}
		return append(out, live(name, before, after)...)
	case before["mode"] != "":
		out = append(out, run(plan.Command("ip link del dev", name)))
	}
	if after["mode"] != "" {
		reload()
		for _, command := range m.up(name) {
			out = append(out, run(command))
		}
		made, _ := bondOf(name, after[kept])
		out = append(out, run(ready(h, made)))
		return append(out, live(name, map[string]string{"mtu": fmt.Sprint(int64(made.MTU)), "addresses": made.AddressText()}, after)...)
	}
	if before[kept] != after[kept] { // with its files it would be made again
		reload()
	}
	return append(out, freed(h, have, strings.Fields(before["ports"]))...)
}

// Remade says whether deltas of a bond have it made anew, or gone.
func Remade(deltas []plan.Delta) bool {
	return slices.ContainsFunc(deltas, func(d plan.Delta) bool {
		return d.Action != plan.Update || !slices.Contains([]string{kept, "mtu", "addresses"}, d.Leaf.Path[2])
	}) && slices.ContainsFunc(deltas, func(d plan.Delta) bool { return d.Leaf.Path[2] != kept })
}

// leavesOf are the leaves of one bond, by their names.
func leavesOf(name string, doc plan.Document) map[string]string {
	out := map[string]string{}
	for _, l := range doc {
		if l.Path[0] == Part && l.Path[1] == name {
			out[l.Path[2]] = l.Value
		}
	}
	return out
}

// live changes what the kernel changes of a bond that is there; its ports get its MTU as well.
func live(name string, before, after map[string]string) []plan.Message {
	var out []plan.Message
	if after["mtu"] != before["mtu"] {
		out = append(out, run(plan.Command("ip link set dev", name, "mtu", after["mtu"])))
	}
	had, has := strings.Fields(before["addresses"]), strings.Fields(after["addresses"])
	for _, a := range has {
		if !slices.Contains(had, a) {
			out = append(out, run(plan.Command("ip address add", a, "dev", name)))
		}
	}
	for _, a := range had {
		if !slices.Contains(has, a) {
			out = append(out, run(plan.Command("ip address del", a, "dev", name)))
		}
	}
	return out
}

// freed are what ports get that are in no bond any more: the kernel takes them down and gives them the MTU that they had when they
// came into it (drivers/net/bonding/bond_main.c).
func freed(h *fabric.Host, have plan.Document, ports []string) []plan.Message {
	var out []plan.Message
	for _, p := range ports {
		out = append(out, run(plan.Command("ip link set dev", p, "up")))
		for _, l := range have {
			if len(l.Path) == 2 && l.Path[0] == p && l.Path[1] == "mtu" {
				out = append(out, run(plan.Command("ip link set dev", p, "mtu", l.Value)))
			}
		}
	}
	if test := apart(h, ports); test != "" {
		out = append(out, run(wait(test)))
	}
	return out
}

// apart is the test that ports which were in a bond have their own RDMA devices again; empty: none has one.
func apart(h *fabric.Host, ports []string) string {
	var all []string
	for _, n := range h.NICs {
		if slices.Contains(ports, n.Name) && h.Bond(n.Name) == nil && n.RDMA != "" {
			all = append(all, "[ -e "+plan.Word("/sys/class/infiniband/"+n.RDMA)+" ]")
		}
	}
	return strings.Join(all, " && ")
}

// Has says whether a leaf says that a NIC is a port of a bond that runs.
func Has(l plan.Leaf, nic string) bool {
	return l.Path[2] == "ports" && slices.Contains(strings.Fields(l.Value), nic)
}

// place writes the files of the bond and removes those that it has no more.
func (m master) place(name, before, after string) []plan.Message {
	if before == after {
		return nil
	}
	old, files := m.filesOf(name, before), m.filesOf(name, after)
	var out []plan.Message
	for _, path := range slices.Sorted(maps.Keys(files)) {
		out = append(out, plan.Message{Op: plan.Write, Path: path, Body: files[path]})
		if m.secret {
			out = append(out, run(plan.Command("chmod 600", path)))
		}
	}
	for _, path := range slices.Sorted(maps.Keys(old)) {
		if _, stays := files[path]; !stays {
			out = append(out, plan.Message{Op: plan.Remove, Path: path})
		}
	}
	return out
}

// filesOf are the files that a value of what is kept stands for.
func (m master) filesOf(name, value string) map[string]string {
	if files := unarchive(value); files != nil {
		return files
	}
	if b, ok := bondOf(name, value); ok {
		return m.on(b)
	}
	return nil
}

// patience is how long a bond may take to have its ports, its addresses and its RDMA device, in seconds. An address comes when a
// partner has answered over LACP, which takes a second or two (observed), and mlx5 makes the RDMA device on its own.
const patience = 30

// ready waits until the bond is what it is to be, and fails where it is not by then.
func ready(h *fabric.Host, b fabric.Bond) string {
	var all []string
	for _, p := range b.Ports {
		all = append(all, plan.Command("grep -qw", p, "/sys/class/net/"+b.Name+"/bonding/slaves"))
	}
	for _, a := range b.Addresses {
		all = append(all, plan.Command("ip -o address show dev", b.Name)+" | "+plan.Command("grep -qF", " "+a.String()+" "))
	}
	if device := shared(h, b); device != "" {
		all = append(all, "[ -e "+plan.Word("/sys/class/infiniband/"+device)+" ]")
	}
	return wait(strings.Join(all, " && "))
}

// wait is a command that ends well as soon as a test does, and badly after a while.
func wait(test string) string {
	return fmt.Sprintf(`n=0; while ! { %s; } && [ "$n" -lt %d ]; do sleep 1; n=$((n+1)); done; %s`, test, patience, test)
}

// shared is the RDMA device that all ports of a bond have; empty: they have their own.
func shared(h *fabric.Host, b fabric.Bond) string {
	var names []string
	for _, n := range h.NICs {
		if slices.Contains(b.Ports, n.Name) && !slices.Contains(names, n.RDMA) {
			names = append(names, n.RDMA)
		}
	}
	if len(names) != 1 {
		return ""
	}
	return names[0]
}

func run(command string) plan.Message { return plan.Message{Op: plan.Run, Body: command} }
