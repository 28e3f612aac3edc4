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
			look := func(trials []control.Trial) {
				for _, l := range trials {
					looks = append(looks, l)
					bad = bad || !l.OK
					if !c.json {
						c.printLook(l)
					}
				}
			}
			look(r.ExamineState())
			for _, name := range names {
				look(r.Examine(cmd.Context(), name))
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
	of := l.Device
	if of != "" {
		of += ": "
	}
	v.Printf("%s %s%s: %s\n", word, of, l.What, l.Text)
}
