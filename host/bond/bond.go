// Package bond is what a Linux host says of bonds: NIC ports that the kernel makes one netdev of, by LACP or with one that sends
// while the others wait. What runs is in the kernel's files; what makes it so again after a reboot is with the one program that
// keeps the host's networks, which is found on the host: systemd-networkd or NetworkManager. Others are refused by their names.
//
// With mlx5 a bond of both ports of one card, and of no others, has one RDMA device in place of two (RoCE LAG: Linux commit
// 7907f23adc18). Keys are those of systemd.netdev(5), systemd.network(5) and nm-settings-keyfile(5); the kernel's files those of
// Documentation/networking/bonding.rst.
package bond

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
)

const check = "language"

// What every bond of weir's is set to. A port that goes down is seen within a tenth of a second. With LACP both ends speak every
// second and not every thirty; without it the bond takes the address of the port that sends, since RDMA-CM tells applications of a
// change only then (observed with Linux 6.1).
const (
	monitoring  = "100" // ms
	lacpRate    = "fast"
	failOverMAC = "active"
)

// Part begins the paths of this package's leaves.
const Part = "bond"

// kept is the leaf of what makes the bond again after a reboot.
const kept = "kept"

// Write is what the host's bonds must be: what runs, and what is kept of it.
func Write(h *fabric.Host) (plan.Document, diag.List) {
	var doc plan.Document
	var findings diag.List
	for _, b := range h.Bonds {
		doc = append(doc, leaf(h.Name, b.Name, kept, textOf(b)))
		doc = append(doc, running(h.Name, b)...)
		findings = append(findings, devices(h, b)...)
	}
	return doc, findings
}

// running are the leaves of a bond in the kernel.
func running(host string, b fabric.Bond) plan.Document {
	doc := plan.Document{
		leaf(host, b.Name, "mode", b.Mode), leaf(host, b.Name, "miimon", monitoring), leaf(host, b.Name, "ports", strings.Join(b.Ports, " ")),
		leaf(host, b.Name, "mtu", strconv.FormatInt(int64(b.MTU), 10)), leaf(host, b.Name, "addresses", b.AddressText()),
	}
	if b.Mode == fabric.BondLACP {
		return append(doc, leaf(host, b.Name, "hash", b.Hash), leaf(host, b.Name, "lacp-rate", lacpRate))
	}
	return append(doc, leaf(host, b.Name, "fail-over-mac", failOverMAC))
}

func leaf(host, bond, name, value string) plan.Leaf {
	return plan.Leaf{Path: []string{Part, bond, name}, Value: value, Addr: addr.Device(host).Of(addr.Bond, bond).With(name)}
}

// devices finds bonds whose RDMA device the inventory does not name. Ports of mlx5 share one; ports of others keep their own.
func devices(h *fabric.Host, b fabric.Bond) diag.List {
	var names []string
	lag := len(b.Ports) == 2
	for _, n := range h.NICs {
		if on := h.Bond(n.Name); on == nil || on.Name != b.Name {
			continue
		}
		names = append(names, n.RDMA)
		lag = lag && n.Model != nil && strings.HasPrefix(n.Model.Name, "ConnectX")
	}
	if !lag || len(names) != 2 || names[0] == names[1] {
		return nil
	}
	return diag.List{{
		Severity: diag.Error, Check: check, Addr: h.Address().Of(addr.Bond, b.Name), At: b.At,
		Summary: fmt.Sprintf("its ports have two RDMA devices in the inventory, %s and %s, and in a bond they have one", names[0], names[1]),
		Detail:  "The driver calls it mlx5_bond_0. Write the name that \"rdma link\" shows of the bond as rdma of both ports. Ports of two cards stay two RDMA devices and are no bond for RDMA.",
	}}
}

// textOf is a bond in one line, and bondOf reads it back.
func textOf(b fabric.Bond) string {
	words := []string{"mode", b.Mode}
	if b.Hash != "" {
		words = append(words, "hash", b.Hash)
	}
	words = append(words, "mtu", strconv.FormatInt(int64(b.MTU), 10), "ports", strings.Join(b.Ports, ","))
	if len(b.Addresses) > 0 {
		words = append(words, "addresses", strings.ReplaceAll(b.AddressText(), " ", ","))
	}
	return strings.Join(words, " ")
}

func bondOf(name, text string) (fabric.Bond, bool) {
	b := fabric.Bond{Name: name}
	words := strings.Fields(text)
	for i := 0; i+1 < len(words); i += 2 {
		switch value := words[i+1]; words[i] {
		case "mode":
			b.Mode = value
		case "hash":
			b.Hash = value
		case "mtu":
			b.MTU = bytesOf(value)
		case "ports":
			b.Ports = strings.Split(value, ",")
		case "addresses":
			b.Addresses = prefixes(strings.Split(value, ","))
		}
	}
	return b, textOf(b) == text
}

// Impact of a change: the ports leave the network while a bond is made, and applications lose the RDMA devices of its ports. What
// is kept for the next boot does nothing now, nor do addresses that come; of MTU weir takes it that it drains the ports.
func Impact(l plan.Leaf) plan.Impact {
	switch l.Path[2] {
	case kept, "addresses":
		return plan.None
	case "mtu":
		return plan.Drains
	}
	return plan.Flaps
}

// Because are the places in the repo that a bond comes from; those of the host where it is to go.
func Because(h *fabric.Host, l plan.Leaf) []diag.Pos {
	for _, b := range h.Bonds {
		if b.Name == l.Path[1] {
			return b.At
		}
	}
	return h.At
}
