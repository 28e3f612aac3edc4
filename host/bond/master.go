package bond

import (
	"fmt"
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/intent/qos"
)

// master is a program that keeps a host's networks.
type master struct {
	name   string // as systemd calls its service
	dir    string
	prefix string // of weir's files in it
	files  func(b fabric.Bond) map[string]string
	read   func(name string, files map[string]string) fabric.Bond
	reload []string // has it read its files and make what is missing
	up     func(name string) []string
	secret bool // it passes over files that others can read
}

// masters are those that weir writes for.
var masters = []master{
	{
		name: "systemd-networkd", dir: "/etc/systemd/network/", prefix: "10-weir-", files: networkdFiles, read: readNetworkd,
		// A netdev is made when it starts, and what it has made stays when it ends: systemd-networkd.service(8).
		reload: []string{"systemctl restart systemd-networkd.service"}, up: func(string) []string { return nil },
	},
	{
		name: "NetworkManager", dir: "/etc/NetworkManager/system-connections/", prefix: "weir-", files: managerFiles, read: readManager,
		reload: []string{"nmcli connection reload"}, secret: true,
		up: func(name string) []string { return []string{plan.Command("nmcli connection up", "weir-"+name)} },
	},
}

func masterOf(name string) (master, bool) {
	i := slices.IndexFunc(masters, func(m master) bool { return m.name == name })
	if i < 0 {
		return master{}, false
	}
	return masters[i], true
}

// networkdFiles have keys of systemd.netdev(5) and systemd.network(5).
func networkdFiles(b fabric.Bond) map[string]string {
	netdev := fmt.Sprintf("[NetDev]\nName=%s\nKind=bond\nMTUBytes=%d\n\n[Bond]\nMode=%s\nMIIMonitorSec=%sms\n", b.Name, b.MTU, b.Mode, monitoring)
	if b.Mode == fabric.BondLACP {
		netdev += "TransmitHashPolicy=" + b.Hash + "\nLACPTransmitRate=" + lacpRate + "\n"
	} else {
		netdev += "FailOverMACPolicy=" + failOverMAC + "\n"
	}
	network := "[Match]\nName=" + b.Name + "\n\n[Network]\n"
	for _, a := range b.Addresses {
		network += "Address=" + a.String() + "\n"
	}
	return map[string]string{
		b.Name + ".netdev":        written + netdev,
		b.Name + "-ports.network": written + "[Match]\nName=" + strings.Join(b.Ports, " ") + "\n\n[Network]\nBond=" + b.Name + "\n",
		b.Name + ".network":       written + network,
	}
}

// written begins every file.
const written = "# Written by weir.\n"

func readNetworkd(name string, files map[string]string) fabric.Bond {
	netdev, ports, network := sections(files[name+".netdev"]), sections(files[name+"-ports.network"]), sections(files[name+".network"])
	return fabric.Bond{
		Name: name, Mode: last(netdev["Bond.Mode"]), Hash: last(netdev["Bond.TransmitHashPolicy"]), MTU: bytesOf(last(netdev["NetDev.MTUBytes"])),
		Ports: strings.Fields(last(ports["Match.Name"])), Addresses: prefixes(network["Network.Address"]),
	}
}

// managerFiles are as nmcli --offline of NetworkManager 1.42 writes them.
func managerFiles(b fabric.Bond) map[string]string {
	bond := "[connection]\nid=weir-" + b.Name + "\ntype=bond\nautoconnect-slaves=1\ninterface-name=" + b.Name + "\n\n[ethernet]\nmtu=" +
		strconv.FormatInt(int64(b.MTU), 10) + "\n\n[bond]\n"
	if b.Mode == fabric.BondLACP {
		bond += "lacp_rate=" + lacpRate + "\n"
	} else {
		bond += "fail_over_mac=" + failOverMAC + "\n"
	}
	bond += "miimon=" + monitoring + "\nmode=" + b.Mode + "\n"
	if b.Hash != "" {
		bond += "xmit_hash_policy=" + b.Hash + "\n"
	}
	v4, v6 := "", ""
	for _, a := range b.Addresses {
		if a.Addr().Is4() {
			v4 += fmt.Sprintf("address%d=%s\n", strings.Count(v4, "\n")+1, a)
		} else {
			v6 += fmt.Sprintf("address%d=%s\n", strings.Count(v6, "\n")+1, a)
		}
	}
	bond += "\n[ipv4]\n" + v4 + "method=" + method(v4, "disabled") + "\n\n[ipv6]\n" + v6 + "method=" + method(v6, "link-local") + "\n"
	out := map[string]string{b.Name + ".nmconnection": written + bond}
	for _, p := range b.Ports {
		out[b.Name+"-"+p+".nmconnection"] = written + "[connection]\nid=weir-" + b.Name + "-" + p + "\ntype=ethernet\ninterface-name=" + p + "\nmaster=" + b.Name +
			"\nslave-type=bond\n\n[ethernet]\nmtu=" + strconv.FormatInt(int64(b.MTU), 10) + "\n"
	}
	return out
}

func method(addresses, without string) string {
	if addresses == "" {
		return without
	}
	return "manual"
}

func readManager(name string, files map[string]string) fabric.Bond {
	bond := sections(files[name+".nmconnection"])
	b := fabric.Bond{Name: name, Mode: last(bond["bond.mode"]), Hash: last(bond["bond.xmit_hash_policy"]), MTU: bytesOf(last(bond["ethernet.mtu"]))}
	for file := range files {
		if port, is := strings.CutPrefix(strings.TrimSuffix(file, ".nmconnection"), name+"-"); is {
			b.Ports = append(b.Ports, port)
		}
	}
	slices.Sort(b.Ports)
	for _, family := range []string{"ipv4", "ipv6"} {
		for i := 1; len(bond[family+".address"+strconv.Itoa(i)]) > 0; i++ {
			b.Addresses = append(b.Addresses, prefixes(bond[family+".address"+strconv.Itoa(i)])...)
		}
	}
	return b
}

// sections are the values of a file of sections, by SECTION.KEY.
func sections(text string) map[string][]string {
	out := map[string][]string{}
	section := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if name, is := strings.CutPrefix(line, "["); is {
			section = strings.TrimSuffix(name, "]")
		} else if key, value, is := strings.Cut(line, "="); is && line[0] != '#' {
			out[section+"."+key] = append(out[section+"."+key], value)
		}
	}
	return out
}

func last(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[len(values)-1]
}

// bytesOf is a number of bytes; 0 for another text.
func bytesOf(text string) qos.Bytes {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0
	}
	return qos.Bytes(n)
}

// prefixes are addresses with the lengths of their subnets, in order; what is none is left out.
func prefixes(texts []string) []netip.Prefix {
	var out []netip.Prefix
	for _, t := range texts {
		if p, err := netip.ParsePrefix(t); err == nil {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, netip.Prefix.Compare)
	return out
}

// on are a bond's files with their whole paths.
func (m master) on(b fabric.Bond) map[string]string {
	out := map[string]string{}
	for name, text := range m.files(b) {
		out[m.dir+m.prefix+name] = text
	}
	return out
}

// valueOf is what weir's files of a bond amount to: the bond in one line where they are just what would be written for it, and
// else the files themselves.
func (m master) valueOf(name string, files map[string]string) string {
	short := map[string]string{}
	for file, text := range files {
		short[strings.TrimPrefix(path.Base(file), m.prefix)] = text
	}
	if b := m.read(name, short); equal(m.on(b), files) {
		if text := textOf(b); b.Mode != "" {
			return text
		}
	}
	return archive(files)
}

func equal(a, b map[string]string) bool {
	for name, text := range a {
		if other, ok := b[name]; !ok || other != text {
			return false
		}
	}
	return len(a) == len(b)
}
