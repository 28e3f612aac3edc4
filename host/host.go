// Package host is the language of a Linux server with RDMA NICs: files under /etc, files of the kernel, and a few commands.
// The kernel forgets what it is told at a reboot, so the same commands also stand in a script that a systemd unit of weir's
// runs at boot. Nothing else of the host is touched, and a host that no profile selects is left alone.
//
// Facts are of Debian 12: iproute2 6.1 and Linux 6.1, with the kernel's own mlx5 driver or MLNX_OFED's.
package host

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/weirfabric/weir/host/nic"
	"github.com/weirfabric/weir/host/rdma"
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
	doc := rdma.WriteModules(h)
	for _, n := range managed(h) {
		port, said := nic.Write(h.Name, n)
		doc, findings = append(doc, port...), append(findings, said...)
		device, said := rdma.Write(h.Name, n)
		doc, findings = append(doc, device...), append(findings, said...)
	}
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

// The queries that are about the host as a whole, beside those of its files.
const (
	modulesQuery = "modules"
	linksQuery   = "rdma-links"
	unitQuery    = "unit"
	lldpadQuery  = "lldpad"
)

// Queries ask for all that Write states, and for what would spoil it.
func (Language) Queries(h *fabric.Host) []plan.Query {
	if len(h.At) == 0 {
		return nil
	}
	ask := func(name, command string) plan.Query {
		return plan.Query{Name: name, Ways: []plan.Way{{Via: plan.SSH, Text: command}}}
	}
	out := []plan.Query{
		ask(modulesQuery, "cat /proc/modules"),
		ask(linksQuery, "rdma -j link"),
		ask(unitQuery, "systemctl is-enabled "+unit+" || true"), // a unit that is not enabled is a failure to systemctl
		ask(lldpadQuery, "systemctl is-active lldpad.service || true"),
	}
	for _, path := range paths {
		out = append(out, ask(strings.TrimPrefix(path, "/"), plan.Command("cat", path)))
	}
	for _, n := range managed(h) {
		out = append(append(out, nic.Queries(n)...), rdma.Queries(n)...)
	}
	return out
}

// Read is what the host is.
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
	state.Owned = append(rdma.ReadModules(h, said[modulesQuery]), readFiles(h.Name, said)...)
	for _, n := range managed(h) {
		port, err := nic.Read(h.Name, n, said)
		if err != nil {
			return plan.State{}, err
		}
		state.Owned = append(append(state.Owned, port...), rdma.Read(h.Name, n, said)...)
	}
	if strings.TrimSpace(said[lldpadQuery]) == "active" {
		state.Facts[lldpadQuery] = "active"
	}
	if err := readLinks(said[linksQuery], state.Facts); err != nil {
		return plan.State{}, fmt.Errorf("%s: read %s: %w", h.Name, linksQuery, err)
	}
	state.Owned.Sort()
	return state, nil
}

// missing is the fact that the host has nothing that could answer a query.
const missing = "missing"

// readLinks notes which RDMA device each netdev has, as the fact NIC/rdma.
func readLinks(text string, facts map[string]string) error {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	var links []struct {
		Device string `json:"ifname"`
		Netdev string `json:"netdev"`
	}
	if err := json.Unmarshal([]byte(text), &links); err != nil {
		return err
	}
	for _, l := range links {
		if l.Netdev != "" {
			facts[l.Netdev+"/rdma"] = l.Device
		}
	}
	return nil
}

// Print is the host's files. The script among them has all that is no file.
func (Language) Print(doc plan.Document) []render.File {
	var out []render.File
	for _, l := range doc {
		if l.Path[0] == "file" {
			out = append(out, render.File{Name: strings.TrimPrefix(l.Path[1], "/"), Body: []byte(l.Value)})
		}
	}
	return out
}
