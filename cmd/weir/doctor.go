package main

import (
	"github.com/spf13/cobra"
	"github.com/weirfabric/weir/cmd/control"
)

func doctorCommand(c *console) *cobra.Command {
	var devices control.Selection
	cmd := &cobra.Command{
		Use:   "doctor [DIR]",
		Short: "Can each device be reached, trusted, logged into and read",
		Args:  folderOnly,
		RunE: func(cmd *cobra.Command, args []string) error {
			r, names, err := c.devices(dirArg(args), devices)
			if err != nil {
				return err
			}
			looks := []control.Trial{}
			bad := false
			for _, name := range names {
				for _, l := range r.Examine(cmd.Context(), name) {
					looks = append(looks, l)
					bad = bad || !l.OK
					if !c.json {
						c.printLook(l)
					}
				}
			}
			if c.json {
				err = c.printJSON(struct {
					Format int             `json:"format"`
					Looks  []control.Trial `json:"looks"`
				}{1, looks})
			}
			if err == nil && bad {
				err = exit(exitError)
			}
			return err
		},
	}
	deviceFlag(cmd, &devices, "")
	return cmd
}

func (c *console) printLook(l control.Trial) {
	v := c.stdout()
	word := v.Good("ok ")
	if !l.OK {
		word = v.Bad("bad")
	}
	v.Printf("%s %s: %s: %s\n", word, l.Device, l.What, l.Text)
}
