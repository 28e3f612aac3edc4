package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/intent/diag"
)

func dashboardsCommand(c *console) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "dashboards [DIR]",
		Short: "Write Grafana dashboards, and the files of Prometheus and Alertmanager",
		Long: `dashboards writes what shows and alerts on the metrics of weir watch --listen:
  DIR/grafana/*.json               dashboards: the fabric, a device, a port, plan and drift; import them in Grafana, or put
                                   them where one of its dashboard providers reads
  DIR/prometheus/prometheus.yml    an example of a Prometheus that scrapes weir watch --listen :9469
  DIR/prometheus/alerts.yml        alert rules, to be named under rule_files
  DIR/prometheus/alertmanager.yml  an example of an Alertmanager that tells of each trouble once; the receiver is yours
DIR is the folder to write to, and may be given with -o as well. Files of an earlier weir are overwritten.`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) > 1:
				return fmt.Errorf("dashboards takes only the folder to write to, and %d arguments were given: %s", len(args), strings.Join(args, " "))
			case len(args) == 1 && cmd.Flags().Changed("out") && args[0] != out:
				return fmt.Errorf("the folder to write to is given twice: %s, and -o %s", args[0], out)
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				out = args[0]
			}
			boards, others, err := writeDashboards(out)
			if err != nil {
				return err
			}
			c.stdout().Printf("wrote %s and %s to %s. Import %s in Grafana; run prometheus --config.file=%s\n",
				diag.Count(boards, "dashboard"), diag.Count(others, "other file"), out,
				filepath.Join(out, "grafana", "*.json"), filepath.Join(out, "prometheus", "prometheus.yml"))
			return nil
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "dashboards", "the folder to write to")
	return cmd
}

// writeDashboards writes the dashboards and the rules below dir and says how many are dashboards and how many are not.
func writeDashboards(dir string) (boards, others int, err error) {
	files, err := control.Dashboards()
	if err != nil {
		return 0, 0, err
	}
	for _, f := range files {
		if err := writeFile(filepath.Join(dir, filepath.FromSlash(f.Name)), f.Body); err != nil {
			return 0, 0, fmt.Errorf("write the dashboards: %w", err)
		}
		if strings.HasPrefix(f.Name, "grafana/") {
			boards++
		} else {
			others++
		}
	}
	return boards, others, nil
}
