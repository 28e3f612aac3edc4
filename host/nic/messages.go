package nic

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/plan"
)

// Messages are the commands that make the deltas of one netdev happen: what keeps it from losing packets first, what
// classifies them last. Each object of dcb is set by one command, since the kernel checks it as a whole; only what differs
// is said, but that the shares of all classes stand in every command about ETS: sharing is what Sharing makes of them. Backwards
// the order is the opposite.
func Messages(nic string, deltas []plan.Delta, sharing string, backwards bool) []plan.Message {
	deltas = slices.Clone(deltas)
	slices.SortFunc(deltas, func(a, b plan.Delta) int {
		return cmp.Or(addr.Natural(a.Leaf.Path[1], b.Leaf.Path[1]), slices.CompareFunc(a.Leaf.Path, b.Leaf.Path, addr.Natural))
	})
	nic = plan.Word(nic)
	shared := func(nic string, deltas []plan.Delta) []plan.Message { return ets(nic, deltas, sharing) }
	sets := []func(string, []plan.Delta) []plan.Message{dcbx, pfc, shared, flowControl, mtu, dscp}
	if backwards {
		slices.Reverse(sets)
	}
	var out []plan.Message
	for _, set := range sets {
		out = append(out, set(nic, deltas)...)
	}
	return out
}

// of are the deltas of a netdev's part.
func of(deltas []plan.Delta, part ...string) []plan.Delta {
	var out []plan.Delta
	for _, d := range deltas {
		if path := d.Leaf.Path[1:]; len(path) >= len(part) && slices.Equal(path[:len(part)], part) {
			out = append(out, d)
		}
	}
	return out
}

// pairs are the words NUMBER:VALUE of what is set, after the name of the list.
func pairs(list string, deltas []plan.Delta) string {
	words := []string{list}
	for _, d := range deltas {
		words = append(words, plan.Word(d.Leaf.Path[len(d.Leaf.Path)-1]+":"+d.Leaf.Value))
	}
	if len(words) == 1 {
		return ""
	}
	return strings.Join(words, " ")
}

// words are the words of a value, each as one of a command.
func words(value string) string {
	var out []string
	for word := range strings.FieldsSeq(value) {
		out = append(out, plan.Word(word))
	}
	return strings.Join(out, " ")
}

func dcbx(nic string, deltas []plan.Delta) []plan.Message {
	var out []plan.Message
	for _, d := range of(deltas, "dcbx") {
		out = append(out, command("dcb dcbx set dev", nic, words(d.Leaf.Value)))
	}
	return out
}

func pfc(nic string, deltas []plan.Delta) []plan.Message {
	if words := pairs("prio-pfc", of(deltas, "pfc")); words != "" {
		return []plan.Message{command("dcb pfc set dev", nic, words)}
	}
	return nil
}

// ets has the shares last, of every class: dcb reads the whole, changes what it is told and checks that all shares add up to 100
// (iproute2, dcb/dcb_ets.c), and mlx5's driver reports 100 for each class that is strict or the vendor's
// (drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c).
func ets(nic string, deltas []plan.Delta, sharing string) []plan.Message {
	if len(of(deltas, "ets")) == 0 {
		return nil
	}
	var words []string
	for _, d := range of(deltas, "ets", "willing") {
		words = append(words, "willing "+plan.Word(d.Leaf.Value))
	}
	for _, list := range []struct{ name, part string }{{"prio-tc", "prio-tc"}, {"tc-tsa", "tsa"}} {
		if said := pairs(list.name, of(deltas, "ets", list.part)); said != "" {
			words = append(words, said)
		}
	}
	return []plan.Message{command("dcb ets set dev", nic, strings.Join(append(words, sharing), " "))}
}

// Sharing is how a netdev's classes share it, in dcb's words, once the deltas are made to a document. Classes that are not ETS
// have no share, which dcb is told as 0.
func Sharing(nic string, doc plan.Document, deltas []plan.Delta) string {
	share := map[string]string{}
	set := func(l plan.Leaf, there bool) {
		if len(l.Path) != 4 || l.Path[0] != nic || l.Path[1] != "ets" || l.Path[2] != "bw" {
			return
		}
		delete(share, l.Path[3])
		if there {
			share[l.Path[3]] = l.Value
		}
	}
	for _, l := range doc {
		set(l, true)
	}
	for _, d := range deltas {
		set(d.Leaf, d.Action != plan.Delete)
	}
	words := []string{"tc-bw"}
	for tc := range 8 {
		name := strconv.Itoa(tc)
		words = append(words, plan.Word(name+":"+cmp.Or(share[name], "0")))
	}
	return strings.Join(words, " ")
}

func flowControl(nic string, deltas []plan.Delta) []plan.Message {
	var words []string
	for _, d := range of(deltas, "flowcontrol") {
		words = append(words, plan.Word(d.Leaf.Path[2]), plan.Word(d.Leaf.Value))
	}
	if len(words) == 0 {
		return nil
	}
	return []plan.Message{command("ethtool -A", nic, strings.Join(words, " "))}
}

func mtu(nic string, deltas []plan.Delta) []plan.Message {
	var out []plan.Message
	for _, d := range of(deltas, "mtu") {
		out = append(out, command("ip link set dev", nic, "mtu", plan.Word(d.Leaf.Value)))
	}
	return out
}

// dscp says the new entries before the old ones go, so that the netdev trusts the DSCP all the time. Replace makes an entry
// the only one of its DSCP; the entries of a DSCP that is to have several come after that.
func dscp(nic string, deltas []plan.Delta) []plan.Message {
	var replaced, added, gone []string
	for _, d := range of(deltas, "dscp") {
		name := d.Leaf.Path[2]
		priorities := strings.Split(d.Leaf.Value, ",")
		for i, p := range priorities {
			entry := plan.Word(name + ":" + p)
			switch {
			case d.Action == plan.Delete:
				gone = append(gone, entry)
			case i == 0:
				replaced = append(replaced, entry)
			default:
				added = append(added, entry)
			}
		}
	}
	var out []plan.Message
	for _, c := range []struct {
		verb    string
		entries []string
	}{{"replace", replaced}, {"add", added}, {"del", gone}} {
		if len(c.entries) > 0 {
			out = append(out, command("dcb app", c.verb, "dev", nic, "dscp-prio", strings.Join(c.entries, " ")))
		}
	}
	return out
}
