package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirfabric/weir/cmd/weir/view"
	"github.com/weirfabric/weir/drivers/sim"
	simeos "github.com/weirfabric/weir/drivers/sim/eos"
	simlinux "github.com/weirfabric/weir/drivers/sim/linux"
	simsonic "github.com/weirfabric/weir/drivers/sim/sonic"
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

// labFile tells other commands where the simulated devices are. It stands in DIR/.weir/lab while a lab runs.
type labFile struct {
	Format     int                     `json:"format"`
	Scale      float64                 `json:"scale"`
	Devices    map[string]labAddresses `json:"devices"`
	CA         string                  `json:"ca"`
	KnownHosts string                  `json:"known_hosts"`
	User       string                  `json:"user"`
	Password   string                  `json:"password"` // a reference
}

type labAddresses struct {
	GNMI string `json:"gnmi"`
	SSH  string `json:"ssh"`
}

// labDir is where the lab of a repo keeps its files and the journal of what is done to it.
func labDir(dir string) string { return filepath.Join(dir, ".weir", "lab") }

func readLab(dir string) (*labFile, error) {
	body, err := os.ReadFile(filepath.Join(labDir(dir), "lab.json"))
	if err != nil {
		return nil, fmt.Errorf("no lab runs for %s (weir lab %s starts one): %w", dir, dir, err)
	}
	var l labFile
	if err := json.Unmarshal(body, &l); err != nil {
		return nil, fmt.Errorf("read where the lab is: %w", err)
	}
	return &l, nil
}

func labCommand(c *console) *cobra.Command {
	var o sim.Options
	var files, traffic string
	cmd := &cobra.Command{
		Use:   "lab [DIR]",
		Short: "Serve simulated devices for a fabric repo on loopback",
		Long: `lab serves every device of a fabric repo on loopback, each with the protocols, the manners and the faults of the real one.
Other commands reach it with --lab. Commands may be typed while it runs:
  traffic quiet|steady|incast [HOST]|nic-storm [HOST]|dropped-class [HOST [SWITCH]]
  fault DEVICE set|get|commit|session|subscribe reject|hang|drop|drop-early|partial|reboot
  kill DEVICE, revive DEVICE, reboot DEVICE, config DEVICE, quit`,
		Args: folderOnly,
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := dirArg(args)
			r, err := c.mustHold(dir, "")
			if err != nil {
				return err
			}
			names, err := c.reached(r, "")
			if err != nil {
				return err
			}
			lab, err := startLab(cmd.Context(), r, o, files)
			if err != nil {
				return err
			}
			defer lab.Close()
			defer func() { _ = os.Remove(filepath.Join(labDir(dir), "lab.json")) }()
			if err := lab.SetTraffic(sim.Traffic(traffic)); err != nil {
				return err
			}
			v := c.view()
			v.Printf("%s at %g times real time. Reach them with --lab, for example: weir plan %s --lab\n", view.Count(len(names), "device"), lab.Scale(), dir)
			for _, name := range names {
				gnmi, ssh := lab.Endpoint(name)
				v.Printf("  %-12s gNMI %-22s SSH %s\n", name, gnmi, ssh)
			}
			user, password := lab.Credentials()
			v.Printf("user %s, password %s, CA %s, host keys %s\n", user, password, lab.CAFile(), lab.KnownHosts())
			return c.steer(cmd.Context(), lab, os.Stdin)
		},
	}
	cmd.Flags().Float64Var(&o.Scale, "scale", 10, "device seconds in a wall second")
	cmd.Flags().IntVar(&o.BasePort, "base-port", 0, "first TCP port; device n listens on this plus 2n and 2n+1 (default any free ports)")
	cmd.Flags().StringVar(&files, "files", "", "a folder with DEVICE/FILE: configuration to start from, by the device's own names (default factory)")
	cmd.Flags().StringVar(&traffic, "traffic", "steady", "what the hosts send at first")
	return cmd
}

// startLab serves the devices of a repo and writes down where they are.
func startLab(ctx context.Context, r *repo, o sim.Options, files string) (*sim.Lab, error) {
	specs, err := specsOf(r.fabric, files)
	if err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(labDir(r.dir))
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the lab's folder: %w", err)
	}
	o.Dir, o.Personalities = dir, personalities
	lab, err := sim.New(specs, o)
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

func writeLab(dir string, lab *sim.Lab, specs []sim.Spec) error {
	user, password := lab.Credentials()
	secret := filepath.Join(dir, "password")
	if err := os.WriteFile(secret, []byte(password), 0o600); err != nil {
		return fmt.Errorf("write where the lab is: %w", err)
	}
	f := labFile{Format: 1, Scale: lab.Scale(), Devices: map[string]labAddresses{}, CA: lab.CAFile(), KnownHosts: lab.KnownHosts(),
		User: user, Password: "file:" + secret}
	for _, s := range specs {
		gnmi, ssh := lab.Endpoint(s.Name)
		f.Devices[s.Name] = labAddresses{gnmi, ssh}
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

// specsOf turns the inventory into devices to simulate: those that weir talks to, and the links between them.
func specsOf(f *fabric.Fabric, files string) ([]sim.Spec, error) {
	peers := map[[2]string][2]string{}
	cables := map[[2]string]qos.Metres{}
	for _, l := range f.Links {
		a, b := l.A.Address(), l.B.Address()
		if l.A.Switch != nil && filesOnly[l.A.Switch.Platform] || l.B.Switch != nil && filesOnly[l.B.Switch.Platform] {
			continue
		}
		ka, kb := [2]string{a.Device, a.Port}, [2]string{b.Device, b.Port}
		peers[ka], peers[kb] = kb, ka
		cables[ka], cables[kb] = l.Length, l.Length
	}
	var specs []sim.Spec
	for _, d := range f.Inventory.Devices {
		if filesOnly[d.Platform.V] {
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

// startFiles reads FOLDER/<device>/*; nil where there is nothing.
func startFiles(folder string, d *inventory.Device) (map[string][]byte, error) {
	if folder == "" {
		return nil, nil
	}
	dir := filepath.Join(folder, d.Name.V)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: read the configuration to start from: %w", d.Name.V, err)
	}
	files := map[string][]byte{}
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		if files[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			return nil, fmt.Errorf("%s: read the configuration to start from: %w", d.Name.V, err)
		}
	}
	return files, nil
}

// steer takes commands from in until it ends with quit or ctx ends. An input that ends by itself leaves the lab running.
func (c *console) steer(ctx context.Context, lab *sim.Lab, in io.Reader) error {
	lines := make(chan string)
	go func() {
		scan := bufio.NewScanner(in)
		for scan.Scan() {
			select {
			case lines <- scan.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return nil
		case line := <-lines:
			words := strings.Fields(line)
			if len(words) == 0 {
				continue
			}
			if words[0] == "quit" {
				return nil
			}
			if err := c.steerOne(lab, words); err != nil {
				c.say().Printf("%s: %v\n", c.say().Bad("error"), err)
			} else {
				c.view().Printf("done: %s\n", line)
			}
		}
	}
}

func (c *console) steerOne(lab *sim.Lab, words []string) error {
	arg := func(n int) string {
		if n < len(words) {
			return words[n]
		}
		return ""
	}
	switch words[0] {
	case "traffic":
		return lab.SetTraffic(sim.Traffic(arg(1)), words[min(2, len(words)):]...)
	case "fault":
		return lab.Inject(arg(1), arg(2), sim.Fault(arg(3)))
	case "kill":
		return lab.Kill(arg(1))
	case "revive":
		return lab.Revive(arg(1))
	case "reboot":
		return lab.Reboot(arg(1))
	case "config":
		body, err := lab.Config(arg(1))
		if err == nil {
			c.view().Printf("%s\n", body)
		}
		return err
	}
	return fmt.Errorf("%s: there are traffic, fault, kill, revive, reboot, config and quit", words[0])
}
