package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/weirfabric/weir/host/bond"
	"github.com/weirfabric/weir/host/memlock"
	"github.com/weirfabric/weir/host/nic"
	"github.com/weirfabric/weir/host/rdma"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/render"
)

// The queries that only say who the host is. The name is that of hostname(5), the release that of the kernel.
const (
	nameQuery    = "hostname"
	releaseQuery = "osrelease"
)

// Discover asks for the host's name, its kernel, and which netdevs have an RDMA device.
func (Language) Discover() []plan.Query {
	name, release := ask(nameQuery, "cat /etc/hostname"), ask(releaseQuery, "cat /proc/sys/kernel/osrelease")
	name.Optional, release.Optional = true, true
	return []plan.Query{name, release, ask(linksQuery, "rdma -j link")}
}

func ask(name, command string) plan.Query {
	return plan.Query{Name: name, Ways: []plan.Way{{Via: plan.SSH, Text: command}}}
}

// Identify reads who the host is. Its ports are the netdevs with an RDMA device.
func (Language) Identify(answers []plan.Answer) (render.Identity, error) {
	said := spoken(answers)
	id := render.Identity{Name: strings.TrimSpace(said[nameQuery]), Platform: "linux", Release: strings.TrimSpace(said[releaseQuery])}
	links, err := linksOf(said[linksQuery])
	if err != nil {
		return id, fmt.Errorf("read %s: %w", linksQuery, err)
	}
	for _, l := range links {
		if l.Netdev != "" {
			id.Ports = append(id.Ports, render.Port{Name: l.Netdev, RDMA: l.Device})
		}
	}
	slices.SortFunc(id.Ports, func(a, b render.Port) int { return addr.Natural(a.Name, b.Name) })
	return id, nil
}

// spoken are the answers that the host gave, by the name of the query.
func spoken(answers []plan.Answer) map[string]string {
	said := map[string]string{}
	for _, a := range answers {
		if !a.Missing {
			said[a.Name] = string(a.Body)
		}
	}
	return said
}

// Survey asks for what runs, of every priority.
func (Language) Survey(id render.Identity) []plan.Query {
	limits := ask(strings.TrimPrefix(limitsFile, "/"), plan.Command("cat", limitsFile))
	limits.Optional = true
	out := []plan.Query{ask(modulesQuery, "cat /proc/modules"), ask(linksQuery, "rdma -j link"), ask(lldpadQuery, ofUnit("is-active lldpad.service")), limits}
	out = append(append(out, memlock.Queries(id.Host())...), bond.Queries(id.Host())...)
	for _, n := range id.Host().NICs {
		out = append(append(out, nic.Queries(n)...), rdma.Survey(n)...)
	}
	return out
}

// Lift reads what runs. The files that make it so again at a reboot are not looked at: they say what will be.
func (Language) Lift(id render.Identity, answers []plan.Answer) (fabric.Lifted[*fabric.Host], diag.List) {
	h := id.Host()
	g := &fabric.Gaps{Platform: "linux", Release: id.Release}
	said := spoken(answers)
	links, err := linksOf(said[linksQuery])
	if err != nil {
		g.Strange(fmt.Sprintf("%s: %v", linksQuery, err), h.Address())
		return fabric.Lifted[*fabric.Host]{Device: h, Gaps: g.Sorted()},
			diag.List{{Severity: diag.Error, Check: check, Addr: h.Address(), Summary: fmt.Sprintf("it cannot be lifted: %s: %v", linksQuery, err)}}
	}
	liftHost(h, said, g)
	for _, n := range h.NICs {
		at := addr.Port(h.Name, n.Name)
		for _, l := range links {
			if l.Netdev == n.Name && l.Device != n.RDMA { // how it sends was asked of another device
				g.Strange(fmt.Sprintf("rdma link: %s is %s", l.Netdev, l.Device), at.Of(addr.RoCE, ""))
			}
		}
		nic.Lift(h.Name, n, said, g)
		rdma.Lift(h.Name, n, said, g)
		if state := strings.TrimSpace(said[lldpadQuery]); state == "active" {
			g.Strange("lldpad.service: "+state, at.Of(addr.PFC, ""), at.Of(addr.ETS, ""), at.Of(addr.DSCP, ""))
		}
	}
	lifted := fabric.Lifted[*fabric.Host]{Device: h, Gaps: g.Sorted()}
	return lifted, lifted.Report(h.Address())
}

// liftHost lifts what the host has as a whole: the modules that are loaded, and what the file that weir would write limits.
func liftHost(h *fabric.Host, said map[string]string, g *fabric.Gaps) {
	device := h.Address()
	modules, answered := said[modulesQuery]
	if !answered {
		g.Unset(device.Of(addr.Module, ""))
	}
	for line := range strings.Lines(modules) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		h.Modules = append(h.Modules, fabric.Module{Name: name})
	}
	slices.SortFunc(h.Modules, func(a, b fabric.Module) int { return strings.Compare(a.Name, b.Name) })
	bond.Lift(h, said, g)
	at := device.Of(addr.Hosts, "").With("memlock")
	limits, answered := said[strings.TrimPrefix(limitsFile, "/")]
	if !answered {
		g.Unset(at)
	}
	for line := range strings.Lines(limits) {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		limit, ok := "", len(words) == 4 && words[0] == "@rdma" && (words[1] == "soft" || words[1] == "hard") && words[2] == "memlock"
		if ok {
			limit, ok = locked(words[3])
		}
		if !ok || h.Memlock != "" && h.Memlock != limit {
			g.Strange(diag.Excerpt(line), at)
		}
		h.Memlock = limit
	}
	memlock.Lift(h, said, g)
}

// locked is a limit of limits.conf as an operator writes it: unlimited, or a size; the file counts KiB.
func locked(limit string) (string, bool) {
	if limit == "unlimited" {
		return limit, true
	}
	kib, err := strconv.ParseInt(limit, 10, 53)
	return qos.Bytes(kib * 1024).String(), err == nil && kib > 0
}

// link is an RDMA device and its netdev, as rdma tells of them.
type link struct {
	Device string `json:"ifname"`
	Netdev string `json:"netdev"`
}

func linksOf(text string) ([]link, error) {
	var links []link
	err := json.Unmarshal([]byte(text), &links)
	if err == nil && links == nil {
		err = errors.New("it is no list")
	}
	return links, err
}

// Exclusions are what a host does not give back as it was written.
func (Language) Exclusions() []render.Exclusion {
	of := func(k addr.Kind, leaf string) addr.Addr { return addr.Addr{Kind: k, Leaf: leaf} }
	const alias = "It is another name of rpcrdma, which is loaded then: Linux, net/sunrpc/xprtrdma/module.c."
	nothing := func(string) string { return "" }
	const files = "Only the driver of MLNX_OFED has files of it, and weir writes them for mlx5 alone; elsewhere it is a matter of firmware."
	return []render.Exclusion{
		{Of: of(addr.Cable, ""), Back: "nothing", Silent: true, Why: "weir neither sets nor reads a length of cable on a host."},
		{Of: of(addr.DSCP, ""), Back: "nothing where the PCP is trusted", Silent: true, Why: "Trust in the PCP is a table without entries."},
		{Of: of(addr.ETS, "share"), Back: "whole percent", As: wholeBack, Why: "ETS takes whole percents, and a strict class has none."},
		{Of: of(addr.RoCE, "dcqcn"), Back: "not known without the files", Silent: true, Why: files},
		{Of: of(addr.RoCE, "cnp-dscp"), Back: "not known without the files", Silent: true, Why: files},
		{Of: of(addr.RoCE, "cnp-priority"), Back: "not known without the files", Silent: true, Why: files},
		{Of: of(addr.Hosts, "memlock"), Back: "nothing where it is not managed", Silent: true, Why: "Files of others under /etc/security are not read."},
		{Of: of(addr.Memlock, ""), Back: "services of which drop-ins of weir's stand", Silent: true, Why: "Drop-ins of others are not read."},
		{Of: addr.Addr{Kind: addr.Module, Name: "xprtrdma"}, Back: "nothing", As: nothing, Why: alias},
		{Of: addr.Addr{Kind: addr.Module, Name: "svcrdma"}, Back: "nothing", As: nothing, Why: alias},
	}
}

func wholeBack(written string) string {
	share, err := qos.ParsePercent(written)
	if err != nil {
		return written
	}
	return qos.Percent(int(share + 0.5)).String()
}
