package bond

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
)

// The queries.
const (
	bondsQuery   = "bonds"
	addressQuery = "bond-addresses"
)

// The headings in the answer to the first one.
const (
	ofUnit  = "unit "
	ofPlan  = "netplan "
	ofClaim = "claim "
	ofFile  = "file "
)

// services are those that keep networks.
const services = "NetworkManager systemd-networkd networking"

// configured are where networks are configured. A file that names a port and is not weir's makes it somebody else's.
var configured = []string{
	"/etc/network/interfaces", "/etc/network/interfaces.d/*", "/etc/systemd/network/*", "/run/systemd/network/*",
	"/etc/NetworkManager/system-connections/*", "/run/NetworkManager/system-connections/*", "/etc/sysconfig/network-scripts/*",
}

// Queries ask who keeps the host's networks, for weir's files there, for the kernel's bonds, and for what else speaks of the
// ports that are to be in one.
func Queries(h *fabric.Host) []plan.Query {
	script := []string{
		"for u in " + services + `; do echo "unit $u $(systemctl is-active $u.service)"; done`,
		`for f in /etc/netplan/*; do [ ! -e "$f" ] || echo "netplan $f"; done`,
	}
	if ports := portsOf(h); len(ports) > 0 {
		var names, files []string
		for _, p := range ports {
			names = append(names, regexp.QuoteMeta(p))
			files = append(files, plan.Word("/sys/class/net/"+p+"/device/uevent"), plan.Word("/sys/class/net/"+p+"/device/sriov_numvfs"))
		}
		script = append(script,
			"for f in "+strings.Join(configured, " ")+`; do [ ! -f "$f" ] || ! grep -qw -E `+plan.Word(strings.Join(names, "|"))+` "$f" || echo "claim $f"; done`,
			"grep -Hs '' "+strings.Join(files, " "))
	}
	var ours []string
	for _, m := range masters {
		ours = append(ours, m.dir+m.prefix+"*")
	}
	script = append(script,
		"for f in "+strings.Join(ours, " ")+`; do [ ! -e "$f" ] || { echo "file $f"; grep -H '' "$f"; }; done`,
		`for b in /sys/class/net/*/bonding; do [ ! -e "$b" ] || grep -H '' "$b/mode" "$b/xmit_hash_policy" "$b/lacp_rate" "$b/miimon" "$b/fail_over_mac" "$b/slaves" "${b%/bonding}/mtu"; done`,
		"echo end")
	ask := func(name, command string) plan.Query {
		return plan.Query{Name: name, Ways: []plan.Way{{Via: plan.SSH, Text: command}}}
	}
	return []plan.Query{ask(bondsQuery, strings.Join(script, "\n")), ask(addressQuery, "ip -j address show")}
}

// portsOf are the ports of all bonds of a host.
func portsOf(h *fabric.Host) []string {
	var out []string
	for _, b := range h.Bonds {
		out = append(out, b.Ports...)
	}
	return out
}

// seen is what a host said of its bonds.
type seen struct {
	units   map[string]string
	netplan []string
	claims  []string
	files   map[string]string            // weir's, by path
	bonds   map[string]map[string]string // what runs: by bond and the name of the kernel's file
	ports   map[string]map[string]string // of a port's device
	address map[string][]netip.Prefix    // by netdev
}

// look reads the answers.
func look(answers map[string]string) (seen, error) {
	s := seen{units: map[string]string{}, files: map[string]string{}, bonds: map[string]map[string]string{}, ports: map[string]map[string]string{}}
	text := answers[bondsQuery]
	if !strings.HasSuffix("\n"+text, "\nend\n") {
		return s, fmt.Errorf("the host does not say all of its bonds")
	}
	for line := range strings.Lines(text) {
		s.line(strings.TrimSuffix(line, "\n"))
	}
	for unit := range strings.FieldsSeq(services) {
		if s.units[unit] == "" {
			return s, fmt.Errorf("the host says nothing of the unit %s", unit)
		}
	}
	var err error
	s.address, err = addresses(answers[addressQuery])
	return s, err
}

func (s *seen) line(line string) {
	file, value, _ := strings.Cut(line, ":")
	switch words := strings.Fields(line); {
	case strings.HasPrefix(line, ofUnit) && len(words) == 3:
		s.units[words[1]] = words[2]
	case strings.HasPrefix(line, ofPlan):
		s.netplan = append(s.netplan, strings.TrimPrefix(line, ofPlan))
	case strings.HasPrefix(line, ofClaim):
		if path := strings.TrimPrefix(line, ofClaim); !ours(path) {
			s.claims = append(s.claims, path)
		}
	case strings.HasPrefix(line, ofFile):
		s.files[strings.TrimPrefix(line, ofFile)] = ""
	case strings.HasPrefix(line, "/sys/class/net/"):
		name, rest, _ := strings.Cut(strings.TrimPrefix(file, "/sys/class/net/"), "/")
		into := s.bonds
		if strings.HasPrefix(rest, "device/") {
			into = s.ports
		}
		if into[name] == nil {
			into[name] = map[string]string{}
		}
		if key, slot, is := strings.Cut(value, "="); is { // of a uevent file, whose lines are keys and values
			rest, value = key, slot
		}
		into[name][path.Base(rest)] = value
	default:
		if text, is := s.files[file]; is {
			s.files[file] = text + value + "\n"
		}
	}
}

// ours says whether a file is weir's.
func ours(file string) bool {
	return slices.ContainsFunc(masters, func(m master) bool { return strings.HasPrefix(file, m.dir+m.prefix) })
}

// addresses are the addresses of each netdev that somebody gave it, not those that it has by itself.
func addresses(text string) (map[string][]netip.Prefix, error) {
	var links []struct {
		Name      string `json:"ifname"`
		Addresses []struct {
			Local   string `json:"local"`
			Length  int    `json:"prefixlen"`
			Dynamic bool   `json:"dynamic"` // it was learnt, and goes by itself
		} `json:"addr_info"`
	}
	if err := json.Unmarshal([]byte(text), &links); err != nil || len(links) == 0 {
		return nil, fmt.Errorf("read %s: the host says %q", addressQuery, diag.Excerpt(text))
	}
	out := map[string][]netip.Prefix{}
	for _, l := range links {
		for _, a := range l.Addresses {
			ip, err := netip.ParseAddr(a.Local)
			if err != nil {
				return nil, fmt.Errorf("read %s: address %q of %s", addressQuery, diag.Excerpt(a.Local), l.Name)
			}
			if !ip.IsLinkLocalUnicast() && !a.Dynamic {
				out[l.Name] = append(out[l.Name], netip.PrefixFrom(ip, a.Length))
			}
		}
		slices.SortFunc(out[l.Name], netip.Prefix.Compare)
	}
	return out, nil
}

// master is the program that keeps the host's networks, and why weir does not write for it.
func (s seen) master() (string, string) {
	active := func(unit string) bool { return s.units[unit] == "active" }
	switch {
	case len(s.netplan) > 0:
		return "", "netplan keeps the host's networks (" + strings.Join(s.netplan, ", ") + "), and weir writes none of its files"
	case active("NetworkManager") && active("systemd-networkd"):
		return "", "NetworkManager and systemd-networkd run both, and a bond can have one master"
	case active("NetworkManager"):
		return "NetworkManager", ""
	case active("systemd-networkd"):
		return "systemd-networkd", ""
	case active("networking"):
		return "", "ifupdown keeps the host's networks (/etc/network/interfaces), and weir writes none of its files"
	}
	return "", "neither systemd-networkd nor NetworkManager runs, which would keep a bond"
}

// Facts of a state.
const (
	masterFact  = "network/master"
	refusedFact = "network/refused"
	claimsFact  = "network/claims"
	slotFact    = "/slot"
	virtualFact = "/virtual-functions"
)

// Read is what the host's bonds are: those that are wanted, and those of which weir's files stand.
func Read(h *fabric.Host, answers map[string]string, facts map[string]string) (plan.Document, error) {
	s, err := look(answers)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", h.Name, err)
	}
	master, refused := s.master()
	for name, value := range map[string]string{masterFact: master, refusedFact: refused, claimsFact: strings.Join(s.claims, ", ")} {
		if value != "" {
			facts[name] = value
		}
	}
	for _, p := range portsOf(h) {
		if slot := s.ports[p]["PCI_SLOT_NAME"]; slot != "" {
			facts[p+slotFact] = slot
		}
		if count := s.ports[p]["sriov_numvfs"]; count != "" && count != "0" {
			facts[p+virtualFact] = count
		}
	}
	byBond := s.owned(h)
	var doc plan.Document
	for _, name := range slices.Sorted(maps.Keys(byBond)) {
		if files := byBond[name]; len(files) > 0 {
			m, _ := masterOf(master)
			value := archive(files)
			if m.name != "" {
				value = m.valueOf(name, files)
			}
			doc = append(doc, leaf(h.Name, name, kept, value))
		}
		doc = append(doc, s.running(h.Name, name)...)
	}
	return doc, nil
}

// owned are weir's files by their bonds, and the wanted bonds without any.
func (s seen) owned(h *fabric.Host) map[string]map[string]string {
	out := map[string]map[string]string{}
	for _, b := range h.Bonds {
		out[b.Name] = map[string]string{}
	}
	stem := func(file string) string {
		name := strings.TrimPrefix(strings.TrimPrefix(path.Base(file), "10-"), "weir-")
		return strings.TrimSuffix(name, path.Ext(name))
	}
	for file := range s.files {
		if last(sections(s.files[file])["NetDev.Kind"]) == "bond" || last(sections(s.files[file])["connection.type"]) == "bond" {
			if out[stem(file)] == nil {
				out[stem(file)] = map[string]string{}
			}
		}
	}
	names := slices.SortedFunc(maps.Keys(out), func(a, b string) int { return len(b) - len(a) })
	for file, text := range s.files {
		of := stem(strings.TrimSuffix(file, plan.Unfinished))
		if i := slices.IndexFunc(names, func(n string) bool { return of == n || strings.HasPrefix(of, n+"-") }); i >= 0 {
			of = names[i]
		} else if out[of] == nil {
			out[of] = map[string]string{}
		}
		out[of][file] = text
	}
	return out
}

// running are the leaves of a bond in the kernel; none where there is no such bond.
func (s seen) running(host, name string) plan.Document {
	said := s.bonds[name]
	if len(said) == 0 {
		return nil
	}
	word := func(file string) string { // of an option the kernel has its name and its number
		first, _, _ := strings.Cut(said[file], " ")
		return first
	}
	ports := strings.Fields(said["slaves"])
	slices.SortFunc(ports, addr.Natural)
	b := fabric.Bond{Addresses: s.address[name]}
	doc := plan.Document{
		leaf(host, name, "mode", word("mode")), leaf(host, name, "miimon", word("miimon")), leaf(host, name, "ports", strings.Join(ports, " ")),
		leaf(host, name, "mtu", word("mtu")), leaf(host, name, "addresses", b.AddressText()),
	}
	switch word("mode") {
	case fabric.BondLACP:
		doc = append(doc, leaf(host, name, "hash", word("xmit_hash_policy")), leaf(host, name, "lacp-rate", word("lacp_rate")))
	case fabric.BondBackup:
		doc = append(doc, leaf(host, name, "fail-over-mac", word("fail_over_mac")))
	}
	return doc
}
