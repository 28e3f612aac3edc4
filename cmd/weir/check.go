package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/cmd/weir/view"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/source"
)

func checkCommand(c *console) *cobra.Command {
	var f liveFlags
	cmd := &cobra.Command{
		Use:   "check [DIR]",
		Short: "Load and resolve a fabric repo and run every check",
		Long: `check loads and resolves a fabric repo and runs every check on what its intent wants. With --live it runs them on what the
devices hold, whoever configured it; what is not known of a device, no check speaks of.`,
		Args: folderOnly,
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := c.open(dirArg(args), "")
			if err != nil {
				return err
			}
			if f.asked() {
				return c.checkLive(cmd.Context(), r, f)
			}
			if r.Fabric != nil {
				r.Findings = append(r.Findings, r.Unsaid(r.Names)...)
			}
			r.Findings.Sort()
			if c.json {
				err = c.printJSON(findings{1, r.Findings})
			} else {
				v := c.stdout()
				v.Findings(r.Findings)
				if f := r.Fabric; f != nil && !r.Findings.HasErrors() {
					v.Printf("%s: %s, %s, %s: the intent holds together.\n", f.Name, diag.Count(len(f.Switches), "switch"),
						diag.Count(len(f.Hosts), "host"), diag.Count(len(f.Links), "link"))
					c.stdout().States(r)
				}
			}
			if err != nil {
				return err
			}
			if r.Findings.HasErrors() {
				return exit(exitFindings)
			}
			return nil
		},
	}
	f.register(cmd)
	return cmd
}

// checkLive runs the checks on what runs.
func (c *console) checkLive(ctx context.Context, r *control.Repo, f liveFlags) error {
	if r.Fabric == nil {
		return c.refused(r.Findings)
	}
	live, err := c.running(ctx, r, f)
	if err != nil {
		return err
	}
	found := r.CheckLive(live)
	if c.json {
		err = c.printJSON(findings{1, slices.Concat(live.Findings, found)})
	} else {
		c.stdout().Findings(found)
		if !found.HasErrors() {
			c.stdout().Printf("%s: %s, %s: what is known of what runs passes every check.\n", r.Fabric.Name, diag.Count(len(live.Fabric.Switches), "switch"),
				diag.Count(len(live.Fabric.Hosts), "host"))
		}
	}
	if err == nil && found.HasErrors() {
		err = exit(exitFindings)
	}
	return err
}

// explained is the JSON form of explain.
type explained struct {
	Format  int            `json:"format"`
	Address string         `json:"address"`
	Values  []fabric.Value `json:"values"`
}

func explainCommand(c *console) *cobra.Command {
	var svg string
	var f liveFlags
	cmd := &cobra.Command{
		Use:     "explain ADDRESS [DIR]",
		Short:   "Say why every number at an address is what it is",
		Example: "  weir explain leaf1/Ethernet0/pfc/3\n  weir explain leaf1/Ethernet0 --svg port.svg",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return errors.New("explain wants one address, like: weir explain leaf1/Ethernet0/pfc/3 [DIR]")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := addr.Parse(args[0])
			if err != nil {
				return err
			}
			r, err := c.resolved(dirArg(args[1:]), "")
			if err != nil {
				return err
			}
			about := r.Fabric
			if f.asked() {
				live, err := c.running(cmd.Context(), r, f)
				if err != nil {
					return err
				}
				about = live.Fabric
			}
			values := fabric.Explain(about, a)
			if len(values) == 0 {
				return nothingAt(r, a)
			}
			if svg != "" {
				if err := drawPort(about, a, svg); err != nil {
					return err
				}
			}
			if c.json {
				return c.printJSON(explained{1, a.String(), values})
			}
			c.stdout().Values(a.String(), values)
			return nil
		},
	}
	f.register(cmd)
	cmd.Flags().StringVar(&svg, "svg", "", "draw the buffer of the switch port at the address into this file")
	return cmd
}

// nothingAt says what is wrong with an address at which there is nothing.
func nothingAt(r *control.Repo, a addr.Addr) error {
	d := r.Device(a.Device)
	switch {
	case d == nil:
		return fmt.Errorf("%s: there is nothing at this address; devices are %s%s", a, diag.First(r.Names, 8), source.DidYouMean(a.Device, r.Names))
	case a.Port == "":
		return fmt.Errorf("%s: there is nothing at this address; weir explain %s shows all of %s", a, a.Device, a.Device)
	}
	var ports []string
	for i := range d.Ports {
		ports = append(ports, d.Ports[i].Name)
	}
	if !slices.Contains(ports, a.Port) {
		return fmt.Errorf("%s: %s has no port %s%s", a, a.Device, a.Port, source.DidYouMean(a.Port, ports))
	}
	return fmt.Errorf("%s: there is nothing at this address; weir explain %s/%s shows all of the port", a, a.Device, a.Port)
}

// drawPort draws the buffer of a switch port into a file.
func drawPort(f *fabric.Fabric, a addr.Addr, file string) error {
	for _, sw := range f.Switches {
		for _, p := range sw.Ports {
			if sw.Name != a.Device || p.Name != a.Port {
				continue
			}
			pictures := fabric.Pictures(f, sw, p)
			if len(pictures) == 0 {
				return fmt.Errorf("%s: there is nothing to draw: no class is lossless or marked at this port", a)
			}
			var b bytes.Buffer
			view.PortSVG(&b, pictures)
			if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
				return fmt.Errorf("write the drawing: %w", err)
			}
			return nil
		}
	}
	return fmt.Errorf("%s: only the buffer of a switch port can be drawn: write an address like leaf1/Ethernet0", a)
}

func renderCommand(c *console) *cobra.Command {
	var out string
	var devices control.Selection
	cmd := &cobra.Command{
		Use:   "render [DIR]",
		Short: "Write the desired configuration of each device in its own language",
		Args:  folderOnly,
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := c.resolved(dirArg(args), "")
			if err != nil {
				return err
			}
			names, err := r.Written(devices)
			if err != nil {
				return err
			}
			found := append(r.Concerning(names), r.Unsaid(names)...)
			found.Sort()
			c.stderr().Findings(found)
			files := 0
			for _, name := range names {
				for _, f := range r.Print(name, r.Wanted(name)) {
					files++
					if err := control.Write(filepath.Join(out, name), strings.TrimPrefix(f.Name, "/"), f.Body, 0o644); err != nil {
						return fmt.Errorf("write the configuration: %w", err)
					}
				}
			}
			c.stderr().Printf("wrote %s of %s to %s\n", diag.Count(files, "file"), diag.Count(len(names), "device"), out)
			if found.HasErrors() {
				return exit(exitFindings)
			}
			return nil
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "rendered", "the folder to write to")
	deviceFlag(cmd, &devices, "")
	return cmd
}
