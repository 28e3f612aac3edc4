package linux

import (
	"path"
	"strings"
	"time"

	"github.com/weirfabric/weir/drivers/sim"
)

// The lab's own files of a host. They are not on the device: they say which one it is.
const (
	labFiles = "/lab/"
	nicFile  = "/lab/nic"      // upstream: the NICs follow the kernel's own mlx5 driver; else they store what they are told
	netFile  = "/lab/networks" // who keeps the host's networks, a line each: systemd-networkd, which it is without the file, NetworkManager, networking
	lateFile = "/lab/late"     // lines of a NIC and how long after a boot its driver makes it: eth1 20s
)

func ofLab(name string) bool { return strings.HasPrefix(path.Clean("/"+name), labFiles) }

// card is what NICs a host has. The zero value stores what it is told and is there from the start.
type card struct {
	upstream bool // of Linux 6.1: drivers/net/ethernet/mellanox/mlx5/core/en_dcbnl.c
	late     map[string]time.Duration
	masters  []string // the services that keep networks
}

// cardOf reads the lab's own files. What it cannot read is not there.
func cardOf(files map[string][]byte) card {
	c := card{late: map[string]time.Duration{}, masters: []string{networkd}}
	for name, body := range files {
		switch text := strings.TrimSpace(string(body)); path.Clean("/" + name) {
		case nicFile:
			c.upstream = text == "upstream"
		case netFile:
			c.masters = strings.Fields(text)
		case lateFile:
			for line := range strings.Lines(text) {
				name, after, _ := strings.Cut(strings.TrimSpace(line), " ")
				if d, err := time.ParseDuration(after); err == nil {
					c.late[name] = d
				}
			}
		}
	}
	return c
}

// upstreamDCB is what the kernel's own driver begins with. To be confirmed on a card.
func upstreamDCB() dcbState {
	s := dcbState{dcbx: []string{"host", "cee", "ieee"}, delay: 7, prioTC: [8]int{1, 0, 2, 3, 4, 5, 6, 7}}
	for i := range 8 {
		s.tsa[i], s.bw[i] = "vendor", allBandwidth
	}
	s.sizes[0] = totalBuffer
	return s
}

// allBandwidth is the share that the driver reports of each class that is not ETS: MLX5E_MAX_BW_ALLOC.
const allBandwidth = 100

// accepts makes of a new state what the driver makes of it, or says why it refuses it.
func (c card) accepts(s *dcbState, object string) error {
	if !c.upstream {
		return nil
	}
	switch object {
	case "ets":
		for i := range 8 {
			if s.tsa[i] != "ets" {
				s.bw[i] = allBandwidth
			}
		}
	case "app":
		for _, a := range s.apps {
			if a.selector != "dscp-prio" {
				return refusal("Attribute write: %v", errUnsupported)
			}
		}
	case "dcbx":
		host := false
		for _, flag := range s.dcbx {
			host = host || flag == "host"
		}
		if !host {
			return refusal("Attribute write: %v", errInvalid)
		}
	}
	return nil
}

// appear makes a NIC that was late, unless the host was started again meanwhile, and starts the units that it wants.
func (d *Device) appear(born int, p sim.PortSpec, i int) {
	d.mu.Lock()
	if d.born != born {
		d.mu.Unlock()
		return
	}
	d.nics[p.Name] = d.card.newNIC(p, i)
	d.nicFiles(d.nics[p.Name])
	d.networks()
	var wanted []string
	for unit := range d.units {
		if text, ok := d.unit(unit); ok && strings.Contains(text, "sys-subsystem-net-devices-"+p.Name+".device") {
			wanted = append(wanted, unit)
		}
	}
	d.mu.Unlock()
	d.startUnits(wanted)
}
