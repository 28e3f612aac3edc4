package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/cmd/control/lab"
	"github.com/weirfabric/weir/intent/diag"
)

func labCommand(c *console) *cobra.Command {
	var o lab.Options
	var traffic string
	cmd := &cobra.Command{
		Use:   "lab [DIR]",
		Short: "Serve simulated devices for a fabric repo on loopback",
		Long: `lab serves every device of a fabric repo on loopback, each with the protocols, the manners and the faults of the real one.
Other commands reach it with --lab. Commands may be typed while it runs:
  traffic quiet|steady|incast [HOST]|nic-storm [HOST]|dropped-class [HOST [SWITCH]]
  fault DEVICE get|set|commit|session|subscribe reject|hang|slow|drop|drop-early|partial|ignore|lie|reboot
  fault DEVICE timer hang|revert
  edit DEVICE LINE: somebody else's change, in the device's own words
  kill DEVICE, revive DEVICE, reboot DEVICE, config DEVICE, quit`,
		Args: folderOnly,
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := dirArg(args)
			r, err := c.resolved(dir, "")
			if err != nil {
				return err
			}
			twin, err := lab.Start(cmd.Context(), r, o)
			if err != nil {
				return err
			}
			defer twin.Close()
			defer func() { _ = os.Remove(control.LabFile(dir)) }()
			if _, err := lab.Steer(twin, []string{"traffic", traffic}); err != nil {
				return err
			}
			v := c.stdout()
			served, dark := lab.Served(r)
			v.Printf("%s at %g times real time. Reach them with --lab, for example: weir plan %s --lab\n", diag.Count(len(served), "device"), twin.Scale(), dir)
			for _, name := range served {
				gnmi, ssh := twin.Endpoint(name)
				v.Printf("  %-12s gNMI %-22s SSH %s\n", name, gnmi, ssh)
			}
			if len(dark) > 0 {
				v.Printf("not served: %s\n", diag.First(dark, 8))
			}
			user, password := twin.Credentials()
			v.Printf("user %s, password %s, CA %s, host keys %s\n", user, password, twin.CAFile(), twin.KnownHosts())
			return c.steer(cmd.Context(), os.Stdin, func(words []string) (string, error) { return lab.Steer(twin, words) })
		},
	}
	cmd.Flags().Float64Var(&o.Scale, "scale", 10, "device seconds in a wall second")
	cmd.Flags().IntVar(&o.BasePort, "base-port", 0, "first TCP port; device n listens on this plus 2n and 2n+1 (default any free ports)")
	cmd.Flags().StringVar(&o.Files, "files", "", "a folder with DEVICE/FILE: configuration to start from, by the device's own names (default factory)")
	cmd.Flags().StringVar(&traffic, "traffic", "steady", "what the hosts send at first")
	return cmd
}

// steer carries out commands from in until it ends with quit or ctx ends. An input that ends by itself leaves the lab running.
func (c *console) steer(ctx context.Context, in io.Reader, one func(words []string) (string, error)) error {
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
			text, err := one(words)
			if err != nil {
				c.stderr().Printf("%s: %v\n", c.stderr().Bad("error"), err)
			} else {
				c.stdout().Printf("%sdone: %s\n", text, line)
			}
		}
	}
}
