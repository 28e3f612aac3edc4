package linux

import (
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"
)

// The services that keep networks.
const (
	networkd = "systemd-networkd"
	manager  = "NetworkManager"
)

// startNetworks starts the services that keep the host's networks, which make what their files say.
func (d *Device) startNetworks() {
	for _, unit := range d.card.masters {
		d.active[unit+".service"], d.units[unit+".service"] = true, true
	}
	d.networks()
	if d.active[manager+".service"] {
		d.reloadProfiles()
		for id := range d.profile {
			d.activate(id)
		}
	}
}

// networks makes what systemd-networkd's files say and is not there yet: systemd-networkd.service(8). What is there stays as it is,
// also where its file is gone.
func (d *Device) networks() {
	if !d.active[networkd+".service"] {
		return
	}
	for _, name := range d.glob("/etc/systemd/network/*.netdev") {
		said := sectionsOf(string(d.files[name].body))
		if said.last("NetDev.Kind") != "bond" {
			continue
		}
		monitoring, _ := strconv.Atoi(strings.TrimSuffix(said.last("Bond.MIIMonitorSec"), "ms"))
		mtu, _ := strconv.Atoi(said.last("NetDev.MTUBytes"))
		d.newBond(bond{
			name: said.last("NetDev.Name"), mode: said.last("Bond.Mode"), hash: said.last("Bond.TransmitHashPolicy"), rate: said.last("Bond.LACPTransmitRate"),
			failOver: said.last("Bond.FailOverMACPolicy"), monitoring: monitoring, mtu: mtu,
		})
	}
	taken := map[string]bool{} // the first file that matches a netdev is the one that counts
	for _, name := range d.glob("/etc/systemd/network/*.network") {
		said := sectionsOf(string(d.files[name].body))
		for match := range strings.FieldsSeq(said.last("Match.Name")) {
			for _, netdev := range slices.Concat(d.portNames(), d.bondNames()) {
				if fits, err := path.Match(match, netdev); err != nil || !fits || taken[netdev] {
					continue
				}
				taken[netdev] = true
				d.enslave(netdev, said.last("Network.Bond"))
				if b := d.bonds[netdev]; b != nil {
					b.addresses = prefixesOf(said["Network.Address"])
				}
			}
		}
	}
}

func (d *Device) portNames() []string {
	var out []string
	for _, n := range d.sorted() {
		out = append(out, n.port.Name)
	}
	return out
}

// profile is what a file of NetworkManager says.
type profile struct{ said sections }

// reloadProfiles reads NetworkManager's files. The lab keeps no modes of files, so it passes over none that others can read.
func (d *Device) reloadProfiles() {
	d.profile = map[string]profile{}
	for _, name := range d.glob("/etc/NetworkManager/system-connections/*.nmconnection") {
		said := sectionsOf(string(d.files[name].body))
		if id := said.last("connection.id"); id != "" {
			d.profile[id] = profile{said}
		}
	}
}

// activate brings a profile up; one of a bond that is to bring up its ports does so.
func (d *Device) activate(id string) bool {
	p, ok := d.profile[id]
	if !ok {
		return false
	}
	said, name := p.said, p.said.last("connection.interface-name")
	if said.last("connection.type") != "bond" {
		d.enslave(name, said.last("connection.master"))
		return d.nics[name] != nil
	}
	monitoring, _ := strconv.Atoi(said.last("bond.miimon"))
	mtu, _ := strconv.Atoi(said.last("ethernet.mtu"))
	d.newBond(bond{
		name: name, mode: said.last("bond.mode"), hash: said.last("bond.xmit_hash_policy"), rate: said.last("bond.lacp_rate"),
		failOver: said.last("bond.fail_over_mac"), monitoring: monitoring, mtu: mtu,
	})
	if b := d.bonds[name]; b != nil {
		b.addresses = nil
		for _, key := range []string{"ipv4.address", "ipv6.address"} {
			for i := 1; len(said[key+strconv.Itoa(i)]) > 0; i++ {
				b.addresses = append(b.addresses, prefixesOf(said[key+strconv.Itoa(i)])...)
			}
		}
	}
	if said.last("connection.autoconnect-slaves") == "1" {
		for _, other := range d.profile {
			if other.said.last("connection.master") == name {
				d.enslave(other.said.last("connection.interface-name"), name)
			}
		}
	}
	return true
}

// nmcli knows connection reload and connection up.
func nmcli(p *process, args []string) int {
	switch {
	case !p.d.active[manager+".service"]:
		return p.fail(8, "Error: NetworkManager is not running.")
	case !p.root:
		return p.fail(1, "Error: Not authorized.")
	case len(args) == 2 && args[0] == "connection" && args[1] == "reload":
		p.d.reloadProfiles()
		return 0
	case len(args) == 3 && args[0] == "connection" && args[1] == "up":
		if !p.d.activate(args[2]) {
			return p.fail(10, "Error: unknown connection '%s'.", args[2])
		}
		return p.printLine("Connection successfully activated (D-Bus active path: /org/freedesktop/NetworkManager/ActiveConnection/1)")
	}
	return p.fail(2, "Error: argument '%s' not understood. Try passing --help instead.", strings.Join(args, " "))
}

// sections are the values of a file of sections, by SECTION.KEY.
type sections map[string][]string

func sectionsOf(text string) sections {
	out, section := sections{}, ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = strings.Trim(line, "[]")
		} else if key, value, assigns := strings.Cut(line, "="); assigns && line[0] != '#' {
			out[section+"."+key] = append(out[section+"."+key], value)
		}
	}
	return out
}

func (s sections) last(key string) string {
	if values := s[key]; len(values) > 0 {
		return values[len(values)-1]
	}
	return ""
}

func prefixesOf(texts []string) []netip.Prefix {
	var out []netip.Prefix
	for _, t := range texts {
		if p, err := netip.ParsePrefix(t); err == nil {
			out = append(out, p)
		}
	}
	return out
}
