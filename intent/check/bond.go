package check

import (
	"fmt"
	"slices"

	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
)

// bondUnwritten finds addresses that somebody relies on to move: weir reads that and does nothing.
func bondUnwritten(f *fabric.Fabric) diag.List {
	var findings diag.List
	for _, h := range f.Intent.Hosts {
		if h.Bond.Mode.V == "active-active" {
			findings = append(findings, finding(diag.Warning, "bond: {mode: active-active} is written down, and weir moves no addresses",
				"The addresses of a port that goes down move to no other one by this. Set it up by hand, and write bond: {mode: off} until weir does it; 802.3ad and active-backup it does.", []diag.Pos{h.Bond.Mode.At}))
		}
	}
	return findings
}

// bondPorts finds bonds that cannot be, or that carry nothing.
func bondPorts(f *fabric.Fabric) diag.List {
	var findings diag.List
	for _, h := range f.Hosts {
		made := map[string]bool{}
		for _, b := range h.Bonds {
			if made[b.Name] {
				findings = append(findings, finding(diag.Error, fmt.Sprintf("profiles want %s of %s in several ways", b.Name, h.Name),
					"One bond has one mode and one hash. Give the bonds names of their own, or say the same of all their ports.", b.At))
			}
			made[b.Name] = true
			findings = append(findings, bondWhole(h, b)...)
		}
		findings = append(findings, bondsUnmade(f, h)...)
	}
	return findings
}

// bondWhole finds what one bond lacks.
func bondWhole(h *fabric.Host, b fabric.Bond) diag.List {
	var findings diag.List
	if len(b.Ports) < 2 {
		findings = append(findings, finding(diag.Error, fmt.Sprintf("%s of %s has one port, %s", b.Name, h.Name, b.Ports[0]),
			"Nothing stands in for it. Select the other ports as well, or write bond: {mode: off}.", b.At))
	}
	if len(b.Addresses) == 0 {
		findings = append(findings, finding(diag.Error, fmt.Sprintf("%s of %s has no address in the inventory", b.Name, h.Name),
			"RoCE v2 is sent from an IP address, and that of a port cannot stay on a port of a bond. Write bonds: [{name: "+b.Name+", addresses: [...]}] at the host.", b.At))
	}
	for _, n := range h.NICs {
		if on := h.Bond(n.Name); on == nil || on.Name != b.Name {
			continue
		}
		if n.MTU != b.MTU {
			findings = append(findings, finding(diag.Error, fmt.Sprintf("%s of %s has ports of several MTUs, %s and %s", b.Name, h.Name, b.MTU, n.MTU),
				"The kernel gives ports of a bond the bond's MTU. Set all of them alike.", slices.Concat(b.At, n.Origin.MTU)))
			break
		}
	}
	return findings
}

// bondsUnmade finds addresses of bonds that no profile makes, on hosts that profiles select.
func bondsUnmade(f *fabric.Fabric, h *fabric.Host) diag.List {
	var findings diag.List
	for _, d := range f.Inventory.Devices {
		if d.Name.V != h.Name || len(h.At) == 0 {
			continue
		}
		for _, known := range d.Bonds {
			if !slices.ContainsFunc(h.Bonds, func(b fabric.Bond) bool { return b.Name == known.Name }) {
				findings = append(findings, finding(diag.Warning, fmt.Sprintf("no host profile makes %s of %s", known.Name, h.Name),
					"Its addresses are written down, and nothing has them. Write bond: {mode: 802.3ad, name: "+known.Name+"} in a host profile.", []diag.Pos{known.At}))
			}
		}
	}
	return findings
}
