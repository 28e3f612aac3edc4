// Package lab serves simulated devices for a fabric repo: the twin of the fabric that the repo describes.
package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/drivers/sim"
	simeos "github.com/weirfabric/weir/drivers/sim/eos"
	simlinux "github.com/weirfabric/weir/drivers/sim/linux"
	simsonic "github.com/weirfabric/weir/drivers/sim/sonic"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/inventory"
)

// personalities are the simulated devices, by platform. A new one is a line here.
var personalities = map[string]func(sim.Hardware) sim.Personality{
	"sonic": simsonic.New,
	"eos":   simeos.New,
	"linux": simlinux.New,
}

// Lab is a set of simulated devices.
type Lab = sim.Lab

// Network is one in memory, on which a lab can stand in the place of loopback.
type Network = sim.Network

// Traffic is what the hosts of a lab send.
type Traffic = sim.Traffic

// What the hosts may be told to send.
const (
	Steady   = sim.Steady
	Incast   = sim.Incast
	NICStorm = sim.NICStorm
)

// Options of a lab. The zero value is real time on any free ports, from factory configuration.
type Options struct {
	Network   *Network       // the lab is in memory, on this network; nil: it is on loopback
	Authority *sim.Authority // whose keys the devices show; nil: keys are made for this lab
	Scale     float64        // device seconds in a wall second; 0 means 1
	BasePort  int            // device n listens on BasePort+2n (gNMI) and BasePort+2n+1 (SSH); 0: any free ports
	Files     string         // a folder with DEVICE/FILE: configuration to start from, by the device's own names; empty: factory
	Password  string         // empty: the lab's usual one
}

// Start serves the devices of a repo until ctx ends or the lab is closed, and writes down where they are.
func Start(ctx context.Context, r *control.Repo, o Options) (*Lab, error) {
	specs, err := specsOf(r.Fabric, o.Files)
	if err != nil {
		return nil, err
	}
	if other := control.RunningLab(ctx, r.Dir); other != nil {
		return nil, fmt.Errorf("a lab of %s runs already%s: end it first, or reach its devices with --lab; if no lab answers there, remove %s",
			r.Dir, process(other), control.LabFile(r.Dir))
	}
	dir, err := filepath.Abs(control.LabDir(r.Dir))
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the lab's folder: %w", err)
	}
	lab, err := sim.New(specs, sim.Options{Dir: dir, Personalities: personalities, Scale: o.Scale, BasePort: o.BasePort, Password: o.Password,
		Network: o.Network, Authority: o.Authority})
	if err != nil {
		return nil, err
	}
	if err := lab.Start(ctx); err != nil {
		return nil, errors.Join(err, lab.Close())
	}
	if err := writeLab(dir, lab, specs); err != nil {
		return nil, errors.Join(err, lab.Close())
	}
	return lab, nil
}

// process names the process of a lab.
func process(l *control.Lab) string {
	if l.PID == 0 {
		return ""
	}
	return fmt.Sprintf(", in process %d", l.PID)
}

func writeLab(dir string, lab *Lab, specs []sim.Spec) error {
	user, password := lab.Credentials()
	secret := filepath.Join(dir, "password")
	if err := os.WriteFile(secret, []byte(password), 0o600); err != nil {
		return fmt.Errorf("write where the lab is: %w", err)
	}
	f := control.Lab{Format: 1, PID: os.Getpid(), Scale: lab.Scale(), Devices: map[string]control.LabAddress{}, CA: lab.CAFile(), KnownHosts: lab.KnownHosts(),
		User: user, Password: "file:" + secret}
	for _, s := range specs {
		gnmi, ssh := lab.Endpoint(s.Name)
		f.Devices[s.Name] = control.LabAddress{GNMI: gnmi, SSH: ssh}
	}
	body, err := json.MarshalIndent(f, "", " ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "lab.json"), body, 0o600); err != nil {
		return fmt.Errorf("write where the lab is: %w", err)
	}
	return nil
}

// specsOf turns the inventory into devices to simulate: those that weir talks to or will talk to again after their maintenance, and
// the links between them. What is planned or somebody else's is not there, and its cables end in the dark.
func specsOf(f *fabric.Fabric, files string) ([]sim.Spec, error) {
	simulated := map[string]bool{}
	for _, d := range f.Inventory.Devices {
		simulated[d.Name.V] = simulates(d)
	}
	peers := map[[2]string][2]string{}
	cables := map[[2]string]qos.Metres{}
	for _, l := range f.Links {
		a, b := l.A.Address(), l.B.Address()
		if !simulated[a.Device] || !simulated[b.Device] {
			continue
		}
		ka, kb := [2]string{a.Device, a.Port}, [2]string{b.Device, b.Port}
		peers[ka], peers[kb] = kb, ka
		cables[ka], cables[kb] = l.Length, l.Length
	}
	if err := knownFolders(files, simulated); err != nil {
		return nil, err
	}
	var specs []sim.Spec
	for _, d := range f.Inventory.Devices {
		if !simulated[d.Name.V] {
			continue
		}
		s := sim.Spec{Name: d.Name.V, Platform: d.Platform.V, SKU: d.SKU.V, Host: d.Host()}
		if chip := f.Inventory.Catalog.BySKU(s.SKU); chip != nil {
			s.Buffer = chip.Buffer
		}
		for _, p := range d.Ports {
			key := [2]string{s.Name, p.Name}
			s.Ports = append(s.Ports, sim.PortSpec{Name: p.Name, Speed: p.Speed, RDMA: p.RDMA, Cable: cables[key],
				PeerDevice: peers[key][0], PeerPort: peers[key][1]})
		}
		var err error
		if s.Files, err = startFiles(files, d); err != nil {
			return nil, err
		}
		specs = append(specs, s)
	}
	return specs, nil
}

// simulates says whether a lab serves a device.
func simulates(d *inventory.Device) bool {
	there := d.StateOf() == inventory.Active || d.StateOf() == inventory.Maintenance
	return there && control.FilesOnly(d.Platform.V) == ""
}

// Served are the devices that a lab of the repo serves, and those that it does not, as people count.
func Served(r *control.Repo) (served, dark []string) {
	for _, d := range r.Fabric.Inventory.Devices {
		if simulates(d) {
			served = append(served, d.Name.V)
		} else {
			dark = append(dark, d.Name.V)
		}
	}
	slices.SortFunc(served, addr.Natural)
	slices.SortFunc(dark, addr.Natural)
	return served, dark
}

// Steer carries out one command of an operator of the lab, such as: traffic incast gpu1. It gives what the command prints.
func Steer(lab *Lab, words []string) (string, error) {
	arg := func(n int) string {
		if n < len(words) {
			return words[n]
		}
		return ""
	}
	switch words[0] {
	case "traffic":
		return "", lab.SetTraffic(sim.Traffic(arg(1)), words[min(2, len(words)):]...)
	case "fault":
		return "", lab.Inject(sim.Fault{Device: arg(1), On: sim.Operation(arg(2)), Kind: sim.FaultKind(arg(3))})
	case "edit":
		return "", lab.Inject(sim.Fault{Device: arg(1), Kind: sim.ForeignEdit, Text: strings.Join(words[min(2, len(words)):], " ")})
	case "kill":
		return "", lab.Kill(arg(1))
	case "revive":
		return "", lab.Revive(arg(1))
	case "reboot":
		return "", lab.Reboot(arg(1))
	case "config":
		body, err := lab.Config(arg(1))
		return string(body) + "\n", err
	}
	return "", fmt.Errorf("%s: there are traffic, fault, edit, kill, revive, reboot, config and quit", words[0])
}
