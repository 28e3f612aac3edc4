// Package eos is the software of an Arista switch, for the laboratory: a command line over SSH with configuration sessions,
// and gNMI with OpenConfig state. It accepts the configuration lines of statements.go, which are those that a source
// confirms, and prints configurations and counters in the shapes that clients of real devices read.
package eos

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/weirfabric/weir/drivers/sim"
)

// Version is the release that the device says it runs. It decides the shapes of answers that changed over time.
const Version = "4.36.1F"

// Device is one switch. It may be used from many goroutines.
type Device struct {
	hw      sim.Hardware
	grammar *grammar
	model   string
	leaves  []leaf
	work    sync.WaitGroup // that outlives the connection which asked for it

	mu       sync.Mutex
	booted   time.Time
	running  *node
	files    map[string]*node // configurations in flash, by name
	sessions map[string]*session
	shown    *node     // while it lies: the configuration of before a commit
	lies     time.Time // until then, in device time
	settings []setting // of the ports, of the running configuration; replaced, never changed
}

// New is a switch that starts from Spec.Files["startup-config"], or from a factory configuration.
func New(hw sim.Hardware) sim.Personality {
	spec := hw.Spec()
	var ports []string
	for _, p := range spec.Ports {
		ports = append(ports, p.Name)
	}
	d := &Device{hw: hw, model: spec.SKU, grammar: newGrammar(familyOf(spec.SKU), ports), files: map[string]*node{}}
	if d.model == "" {
		d.model = "DCS-7060CX-32S"
	}
	text, ok := spec.Files[startup]
	if !ok {
		text = []byte(factory(spec))
	}
	d.files[startup] = d.load(string(text))
	d.leaves = newLeaves(d)
	d.Restart()
	return d
}

// startup is the name of the configuration that the device starts with.
const startup = "startup-config"

// ConfigFile is the name under which a Spec brings the configuration to start from.
const ConfigFile = startup

// familyOf tells the ASIC from the model: 7280R, 7500R and 7800R are Jericho's, which EOS calls Sand; all others count as
// Strata.
func familyOf(sku string) family {
	for _, model := range []string{"7280", "7500", "7800"} {
		if strings.Contains(sku, model) {
			return sand
		}
	}
	return strata
}

// factory is the configuration of a device that somebody has put into a network but not made lossless. Much of it is
// nobody's business but the operator's.
func factory(spec sim.Spec) string {
	lines := []string{
		"logging host 192.0.2.10",
		"hostname " + spec.Name,
		"ntp server 192.0.2.1",
		"spanning-tree mode none",
		"username admin privilege 15 role network-admin nopassword",
		"management api gnmi", indent + "transport grpc default", indent + indent + "port 6030",
	}
	for _, p := range spec.Ports {
		lines = append(lines, "interface "+p.Name)
		if p.PeerDevice != "" {
			lines = append(lines, indent+"description to "+p.PeerDevice+" "+p.PeerPort)
		}
		lines = append(lines, indent+"no switchport")
	}
	return strings.Join(append(lines, "ip routing", "ip route 0.0.0.0/0 192.0.2.254"), "\n")
}

// empty is a configuration with nothing in it but the ports, which are always there.
func (d *Device) empty() *node {
	root := &node{}
	e := editor{grammar: d.grammar, path: []*node{root}}
	for _, name := range d.grammar.interfaces {
		_ = e.enter("interface " + name) // the grammar knows them all
	}
	return root
}

// load reads a configuration.
func (d *Device) load(text string) *node {
	root := d.empty()
	e := editor{grammar: d.grammar, path: []*node{root}}
	e.load(text)
	return root
}

// Serves says that the device has both protocols.
func (d *Device) Serves() sim.Protocols { return sim.Protocols{GNMI: true, SSH: true} }

// Serve answers both protocols until ctx ends.
func (d *Device) Serve(ctx context.Context, s sim.Services) error {
	server := sim.NewSSHD(s)
	server.Exec, server.Shell = d.exec, d.shell
	failed := make(chan error, 2)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { failed <- server.Serve(ctx, s.SSH); cancel() }()
	go func() { failed <- d.serveGNMI(ctx, s); cancel() }()
	return errors.Join(<-failed, <-failed)
}

// Restart is a reboot: the startup configuration becomes the running one, and all sessions are gone.
func (d *Device) Restart() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range d.sessions {
		if s.stop != nil {
			s.stop()
		}
	}
	d.sessions, d.shown = map[string]*session{}, nil
	d.running = d.files[startup].clone()
	d.booted = d.hw.Now()
	d.apply()
}

// Wait returns when nothing is running that outlived its connection.
func (d *Device) Wait() { d.work.Wait() }

// Config is the running configuration as the device prints it.
func (d *Device) Config() []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	return []byte(strings.Join(d.running.print(), "\n") + "\n")
}

// apply makes the hardware do what the running configuration says. The caller holds the lock.
func (d *Device) apply() {
	spec := d.hw.Spec()
	d.settings = make([]setting, len(spec.Ports))
	for i, p := range spec.Ports {
		d.settings[i] = settingOf(d.running, p.Name)
	}
	d.hw.Apply(behaviour(spec, d.running))
}

// snapshot is the configuration of the moment as the device shows it: the running one, unless it lies.
func (d *Device) snapshot() *node {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.shown != nil && d.hw.Now().Before(d.lies) {
		return d.shown.clone()
	}
	return d.running.clone()
}

// hostname is the name in the prompt.
func (d *Device) hostname() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if name, ok := d.running.value("hostname"); ok {
		return name
	}
	return "localhost"
}
