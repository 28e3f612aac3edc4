package linux

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// bond is a bond of the kernel. What it is set to stands in its files: Documentation/networking/bonding.rst.
type bond struct {
	name, mode, hash, rate, failOver string
	monitoring                       int // ms
	mtu, index                       int
	addresses                        []netip.Prefix
}

// Words of a bond's options, with the numbers that the kernel shows beside them.
var bondOptions = map[string]int{
	"balance-rr": 0, "active-backup": 1, "802.3ad": 4, "layer2": 0, "layer3+4": 1, "layer2+3": 2, "slow": 0, "fast": 1, "none": 0, "active": 1, "follow": 2,
}

// newBond makes a bond, as a master of networks asks the kernel for it.
func (d *Device) newBond(b bond) {
	if d.bonds[b.name] != nil || d.nics[b.name] != nil {
		return // what is there stays as it is
	}
	d.loadModule("bonding")
	b.index = 100 + len(d.bonds)
	for _, o := range []struct {
		word  *string
		usual string
	}{{&b.mode, "balance-rr"}, {&b.hash, "layer2"}, {&b.rate, "slow"}, {&b.failOver, "none"}} {
		if *o.word == "" {
			*o.word = o.usual
		}
	}
	if b.mtu == 0 {
		b.mtu = 1500
	}
	made := &b
	d.bonds[b.name] = made
	dir := "/sys/class/net/" + b.name + "/"
	option := func(word *string) func() string {
		return func() string { return fmt.Sprintln(*word, bondOptions[*word]) }
	}
	d.show(dir+"bonding/mode", option(&made.mode))
	d.show(dir+"bonding/xmit_hash_policy", option(&made.hash))
	d.show(dir+"bonding/lacp_rate", option(&made.rate))
	d.show(dir+"bonding/fail_over_mac", option(&made.failOver))
	d.show(dir+"bonding/miimon", func() string { return fmt.Sprintln(made.monitoring) })
	d.show(dir+"bonding/slaves", func() string {
		if ports := d.portsOf(made.name); len(ports) > 0 {
			return strings.Join(ports, " ") + "\n"
		}
		return ""
	})
	d.put(dir+"mtu", &file{read: func() string { return fmt.Sprintln(made.mtu) }, write: func(v string) error {
		mtu, err := strconv.Atoi(v)
		if err != nil || mtu < lowestMTU || mtu > highestMTU {
			return errInvalid
		}
		made.mtu = mtu
		return nil
	}})
}

// portsOf are the NICs in a bond.
func (d *Device) portsOf(name string) []string {
	var out []string
	for _, n := range d.sorted() {
		if n.bond == name {
			out = append(out, n.port.Name)
		}
	}
	return out
}

// enslave puts a NIC into a bond, whose MTU it gets.
func (d *Device) enslave(name, into string) {
	n, b := d.nics[name], d.bonds[into]
	if n == nil || b == nil || n.bond != "" {
		return
	}
	n.bond, n.alone, n.mtu, n.up = into, n.mtu, b.mtu, true
	d.lag()
}

// release takes the NICs out of a bond: they are down then, and have the MTU that they had.
func (d *Device) release(name string) {
	for _, n := range d.nics {
		if n.bond == name {
			n.bond, n.mtu, n.up = "", n.alone, false
		}
	}
	d.lag()
}

// linkDelete removes a bond; NICs cannot be removed.
func linkDelete(p *process, name string) int {
	switch {
	case !p.root:
		return p.fail(2, "RTNETLINK answers: %v", errForbidden)
	case p.d.nics[name] != nil:
		return p.fail(2, "RTNETLINK answers: %v", errUnsupported)
	case p.d.bonds[name] == nil:
		return p.fail(1, "Cannot find device \"%s\"", name)
	}
	p.d.release(name)
	delete(p.d.bonds, name)
	p.d.removeTree("/sys/class/net/" + name)
	return 0
}

// addressShow prints addresses of bonds. The lab's NICs have none of their own.
func addressShow(p *process, args []string, asJSON bool) int {
	only := ""
	if i := slices.Index(args, "dev"); i >= 0 && i+1 < len(args) {
		only = args[i+1]
	}
	if only != "" && p.d.bonds[only] == nil && p.d.nics[only] == nil {
		return p.fail(1, "Device \"%s\" does not exist.", only)
	}
	links := []map[string]any{}
	if only == "" {
		links = append(links, map[string]any{"ifname": "lo", "addr_info": []map[string]any{{"family": "inet", "local": "127.0.0.1", "prefixlen": 8, "scope": "host"}}})
	}
	for _, name := range p.d.bondNames() {
		b := p.d.bonds[name]
		if only != "" && only != name {
			continue
		}
		info := []map[string]any{}
		for _, a := range b.addresses {
			family := "inet"
			if a.Addr().Is6() {
				family = "inet6"
			}
			info = append(info, map[string]any{"family": family, "local": a.Addr().String(), "prefixlen": a.Bits(), "scope": "global"})
			if !asJSON {
				p.printLine("%d: %s    %s %s scope global %s\\       valid_lft forever preferred_lft forever", b.index, name, family, a, name)
			}
		}
		links = append(links, map[string]any{"ifname": name, "addr_info": info})
	}
	if asJSON {
		return p.json(links)
	}
	return 0
}

func (d *Device) bondNames() []string {
	var out []string
	for name := range d.bonds {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// slot is where a NIC is plugged in: two ports make a card.
func (n *nic) slot() string { return fmt.Sprintf("0000:%02x:00.%d", (n.index-2)/2+1, (n.index-2)%2) }

// lagDevice begins the name of the RDMA device of both ports of a card in one bond: Linux commit 7907f23adc18. What those of a second
// bond are called no source says; the lab counts them by the names of their bonds.
const lagDevice = "mlx5_bond_"

// lag gives both ports of one card one RDMA device while they alone are in one bond, and each its own otherwise.
func (d *Device) lag() {
	want := map[*nic]string{}
	nics := d.sorted()
	for i, n := range nics {
		want[n] = ownRDMA(n.port, n.index-2)
		for _, o := range nics {
			card := n.bond != "" && n != o && n.bond == o.bond && n.slot()[:len("0000:00:00")] == o.slot()[:len("0000:00:00")]
			if card && len(d.portsOf(n.bond)) == 2 && nics[i].port.RDMA != "" {
				want[n] = lagDevice + strconv.Itoa(slices.Index(d.bondNames(), n.bond))
			}
		}
	}
	for _, n := range nics {
		if n.rdma != want[n] && n.rdma != "" {
			d.removeTree("/sys/class/infiniband/" + n.rdma)
			d.removeTree(configfs + "/" + n.rdma)
			d.removeTree("/sys/class/net/" + n.port.Name + "/device/infiniband")
		}
	}
	for _, n := range nics {
		if n.rdma == want[n] {
			continue
		}
		n.rdma, n.mode, n.tos = want[n], defaultMode, 0
		d.put("/sys/class/net/"+n.port.Name+"/device/infiniband/"+n.rdma, &file{dir: true})
		if d.byRDMA(n.rdma) == n {
			d.rdmaFiles(n)
		}
	}
}

// setMTU gives a bond an MTU, and its ports with it.
func (p *process) setMTU(b *bond, text string) int {
	mtu, err := strconv.Atoi(text)
	if err != nil || mtu < lowestMTU || mtu > highestMTU {
		return p.fail(2, "RTNETLINK answers: %v", errInvalid)
	}
	b.mtu = mtu
	for _, n := range p.d.nics {
		if n.bond == b.name {
			n.mtu = mtu
		}
	}
	return 0
}

// addressSet adds an address to a bond or takes it away.
func addressSet(p *process, verb, text, name string) int {
	b := p.d.bonds[name]
	a, err := netip.ParsePrefix(text)
	there := b != nil && slices.Contains(b.addresses, a)
	switch {
	case b == nil:
		return p.fail(1, "Cannot find device \"%s\"", name)
	case err != nil:
		return p.fail(1, "Error: any valid prefix is expected rather than \"%s\".", text)
	case !p.root:
		return p.fail(2, "RTNETLINK answers: %v", errForbidden)
	case verb == "add" && there:
		return p.fail(2, "RTNETLINK answers: %v", errExists)
	case verb == "del" && !there:
		return p.fail(2, "RTNETLINK answers: Cannot assign requested address")
	case verb == "add":
		b.addresses = append(b.addresses, a)
	default:
		b.addresses = slices.DeleteFunc(b.addresses, func(o netip.Prefix) bool { return o == a })
	}
	return 0
}
