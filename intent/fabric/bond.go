package fabric

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/inventory"
)

// What a bond is where its profile says no more than its mode.
const (
	usualBond = "bond0"
	usualHash = "layer3+4"
)

// The modes of a bond of the kernel.
const (
	BondLACP   = "802.3ad"
	BondBackup = "active-backup"
)

// join makes a NIC a port of the bond that the nearest profile which speaks of bonds wants. Ports of which profiles want bonds of
// one name in different modes are in different bonds, which a check finds.
func (h *Host) join(n *NIC, profiles []*intent.HostProfile) {
	i := slices.IndexFunc(profiles, func(p *intent.HostProfile) bool { return p.Bond.Mode.Set() })
	if i < 0 {
		return
	}
	said := profiles[i].Bond
	b := Bond{Name: cmp.Or(said.Name.V, usualBond), Mode: said.Mode.V, MTU: n.MTU, Ports: []string{n.Name}, At: []diag.Pos{said.Mode.At}}
	switch b.Mode {
	case BondLACP:
		b.Hash = cmp.Or(said.Hash.V, usualHash)
	case BondBackup:
	default:
		return
	}
	for i := range h.Bonds {
		if o := &h.Bonds[i]; o.Name == b.Name && o.Mode == b.Mode && o.Hash == b.Hash {
			o.Ports = append(o.Ports, n.Name)
			slices.SortFunc(o.Ports, addr.Natural)
			if !slices.Contains(o.At, b.At[0]) {
				o.At = append(o.At, b.At...)
			}
			return
		}
	}
	h.Bonds = append(h.Bonds, b)
	slices.SortStableFunc(h.Bonds, func(a, b Bond) int { return addr.Natural(a.Name, b.Name) })
}

// address gives the bonds the addresses that the inventory has of them.
func (h *Host) address(d *inventory.Device) {
	for i := range h.Bonds {
		for _, known := range d.Bonds {
			if b := &h.Bonds[i]; b.Name == known.Name {
				b.Addresses = slices.SortedFunc(slices.Values(known.Addresses), netip.Prefix.Compare)
				b.At = append(b.At, known.At)
			}
		}
	}
}

// Bond is the host's bond that a NIC is a port of; nil: none.
func (h *Host) Bond(nic string) *Bond {
	for i := range h.Bonds {
		if slices.Contains(h.Bonds[i].Ports, nic) {
			return &h.Bonds[i]
		}
	}
	return nil
}

// AddressText is the bond's addresses in one line.
func (b Bond) AddressText() string {
	var out []string
	for _, a := range b.Addresses {
		out = append(out, a.String())
	}
	return strings.Join(out, " ")
}
