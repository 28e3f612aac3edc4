// Package host is the language of a Linux server with RDMA NICs: files under /etc, files of the kernel, and a few commands.
// The kernel forgets what it is told at a reboot, so the same commands also stand in a script that a systemd unit of weir's
// runs at boot. Nothing else of the host is touched, and a host that no profile selects is left alone.
//
// Facts are of Debian 12: iproute2 6.1 and Linux 6.1, with the kernel's own mlx5 driver or MLNX_OFED's.
package host

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weirfabric/weir/host/bond"
	"github.com/weirfabric/weir/host/memlock"
	"github.com/weirfabric/weir/host/nic"
	"github.com/weirfabric/weir/host/rdma"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/render"
)

// check is the name of this package's findings.
const check = "language"

// Language is that of a Linux host. The zero value is ready to use.
type Language struct{}

var _ render.Language[*fabric.Host] = Language{}

// Write is what the host must be: what runs, and the files that make it so again at a reboot.
func (Language) Write(h *fabric.Host) (plan.Document, diag.List) {
	if len(h.At) == 0 {
		return nil, nil
	}
	var findings diag.List
	var doc plan.Document
	for _, n := range managed(h) {
		port, said := nic.Write(h.Name, n)
		doc, findings = append(doc, port...), append(findings, said...)
		device, said := rdma.Write(h.Name, n)
		doc, findings = append(doc, own(h, n, device)...), append(findings, said...)
	}
	bonds, said := bond.Write(h)
	doc, findings = append(doc, bonds...), append(findings, said...)
	services, said := memlock.Write(h)
	doc, findings = append(doc, services...), append(findings, said...)
	files, said := files(h, doc)
	doc = append(doc, files...)
	doc.Sort()
	return doc, append(findings, said...)
}

// managed are the NICs that a host profile selects.
func managed(h *fabric.Host) []*fabric.NIC {
	var out []*fabric.NIC
	for _, n := range h.NICs {
		if n.RoCE > 0 {
			out = append(out, n)
		}
	}
	return out
}

// own leaves out how an RDMA device sends where an earlier NIC has the same one: ports of a bond share theirs.
func own(h *fabric.Host, n *fabric.NIC, device plan.Document) plan.Document {
	first := slices.IndexFunc(managed(h), func(m *fabric.NIC) bool { return m.RDMA == n.RDMA })
	if n.RDMA == "" || managed(h)[first] == n {
		return device
	}
	return slices.DeleteFunc(device, func(l plan.Leaf) bool { return l.Path[1] == "roce" })
}

// The queries that are about the host as a whole, beside those of its files.
const (
	modulesQuery    = "modules"
	netdevsQuery    = "netdevs"
	linksQuery      = "rdma-links"
	unitQuery       = "unit"
	lldpadQuery     = "lldpad"
	unfinishedQuery = "unfinished"
)

// ofUnit asks systemctl a question to which no is a failure. That there is no systemctl is one too, and no answer.
func ofUnit(question string) string {
	return "systemctl " + question + " || [ $? -lt 126 ] || exit 127"
}

// Queries ask for all that Write states, and for what would spoil it.
func (Language) Queries(h *fabric.Host) []plan.Query {
	if len(h.At) == 0 {
		return nil
	}
	out := []plan.Query{
		ask(modulesQuery, "cat /proc/modules"),
		ask(netdevsQuery, "ls /sys/class/net"),
		ask(linksQuery, "rdma -j link"),
		ask(unitQuery, ofUnit("is-enabled "+unit)),
		ask(lldpadQuery, ofUnit("is-active lldpad.service")),
		ask(unfinishedQuery, unfinishedCommand()),
	}
	for _, path := range paths {
		q := ask(strings.TrimPrefix(path, "/"), plan.Command("cat", path))
		q.Optional = true
		out = append(out, q)
	}
	out = append(append(out, memlock.Queries(h)...), bond.Queries(h)...)
	for _, n := range managed(h) {
		out = append(append(out, nic.Queries(n)...), rdma.Queries(n)...)
	}
	return out
}

// Read is what the host is. What was not answered and is not optional is an error, never something that is not set.
func (Language) Read(h *fabric.Host, answers []plan.Answer) (plan.State, error) {
	state := plan.State{Facts: map[string]string{}}
	said := map[string]string{}
	for _, a := range answers {
		if a.Missing {
			state.Facts[a.Name] = missing
		} else {
			said[a.Name] = string(a.Body)
		}
	}
	if err := answered(h, said); err != nil {
		return plan.State{}, err
	}
	for _, name := range rdma.Unloaded(h, said[modulesQuery]) {
		state.Facts[moduleFact+name] = missing
	}
	state.Owned = readFiles(h.Name, said)
	for _, n := range managed(h) {
		port, err := nic.Read(h.Name, n, said)
		if err != nil {
			return plan.State{}, err
		}
		state.Owned = append(append(state.Owned, port...), own(h, n, rdma.Read(h.Name, n, said))...)
	}
	bonds, err := bond.Read(h, said, state.Facts)
	if err != nil {
		return plan.State{}, err
	}
	services, err := memlock.Read(h, said, state.Facts)
	if err != nil {
		return plan.State{}, err
	}
	state.Owned = append(append(state.Owned, bonds...), services...)
	if strings.TrimSpace(said[lldpadQuery]) == "active" {
		state.Facts[lldpadQuery] = "active"
	}
	if err := readLinks(said[linksQuery], state.Facts); err != nil {
		return plan.State{}, fmt.Errorf("%s: read %s: %w", h.Name, linksQuery, err)
	}
	state.Owned.Sort()
	return state, nil
}

// answered says what of the host as a whole is not known, or which of its NICs are not there.
func answered(h *fabric.Host, said map[string]string) error {
	for _, name := range []string{modulesQuery, netdevsQuery, linksQuery} {
		if strings.TrimSpace(said[name]) == "" {
			return fmt.Errorf("%s: the host says nothing of its %s", h.Name, name)
		}
	}
	for _, name := range []string{unitQuery, lldpadQuery} { // which may be empty: there is no such unit
		if _, ok := said[name]; !ok {
			return fmt.Errorf("%s: the host says nothing of the unit %s", h.Name, name)
		}
	}
	if word := strings.TrimSpace(said[lldpadQuery]); word != "" && !slices.Contains(strings.Fields(unitStates), word) {
		return fmt.Errorf("%s: the host says %q of the unit %s, which is no state of a unit", h.Name, diag.Excerpt(word), lldpadQuery)
	}
	if !strings.HasSuffix(said[unfinishedQuery], "end\n") {
		return fmt.Errorf("%s: the host says nothing of files that were cut off", h.Name)
	}
	there := strings.Fields(said[netdevsQuery])
	for _, n := range managed(h) {
		if !slices.Contains(there, n.Name) {
			return fmt.Errorf("%s: the host has no such NIC, it has %s: write the name that \"ip link\" shows, or wait until its driver has made it",
				addr.Port(h.Name, n.Name), strings.Join(there, ", "))
		}
	}
	return nil
}

// unitStates are what systemctl is-active may say (systemd, unit-def.c).
const unitStates = "active reloading inactive failed activating deactivating maintenance refreshing unknown"

// moduleFact begins the fact that a module is not loaded.
const moduleFact = "module/"

// missing is the fact that the host has nothing that could answer a query.
const missing = "missing"

// readLinks notes which RDMA device each netdev has, as the fact NIC/rdma, and which there are, as the fact rdma/DEVICE.
func readLinks(text string, facts map[string]string) error {
	links, err := linksOf(text)
	for _, l := range links {
		facts["rdma/"+l.Device] = "there"
		if l.Netdev != "" {
			facts[l.Netdev+"/rdma"] = l.Device
		}
	}
	return err
}

// Print is the host's files. The script among them has all that is no file.
func (Language) Print(doc plan.Document) []render.File {
	var out []render.File
	for _, l := range doc {
		if l.Path[0] == "file" {
			out = append(out, render.File{Name: strings.TrimPrefix(l.Path[1], "/"), Body: []byte(l.Value)})
		}
		if path := memlock.Path(l); path != "" {
			out = append(out, render.File{Name: strings.TrimPrefix(path, "/"), Body: []byte(l.Value)})
		}
	}
	return out
}
