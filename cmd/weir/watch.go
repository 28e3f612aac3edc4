package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/intent/diag"
)

func watchCommand(c *console) *cobra.Command {
	var listen, webConfig string
	var devices control.Selection
	var drifting time.Duration
	var once bool
	cmd := &cobra.Command{
		Use:   "watch [DIR]",
		Short: "Stream counters and judge the health of the fabric",
		Long: `watch streams the counters of every device, judges them, and shows the verdicts live; with --listen it serves /metrics for
Prometheus. It follows the repo: what is merged is watched within a minute. On anything but a terminal it prints a line when a verdict begins or ends; with --json a line of JSON, with event: begin or end.`,
		Args: folderOnly,
		RunE: func(cmd *cobra.Command, args []string) error {
			r, names, err := c.devices(dirArg(args), devices)
			if err != nil {
				return err
			}
			w := r.Watch(cmd.Context(), names, control.WatchOptions{DriftEvery: drifting, Reread: rereadEvery, Devices: devices, Log: c.log()})
			defer w.End()
			if listen != "" {
				address, err := c.serveMetrics(w, listen, webConfig)
				if err != nil {
					return err
				}
				c.stderr().Printf("metrics at %s\n", address)
			}
			return c.showHealth(cmd.Context(), r, w, once)
		},
	}
	cmd.Flags().StringVar(&listen, "listen", "", "serve /metrics at this address, for example :9469, which is loopback alone; all interfaces are 0.0.0.0:9469 or [::]:9469")
	cmd.Flags().StringVar(&webConfig, "web.config.file", "", "serve /metrics with the TLS and the authentication of this file, as of any Prometheus exporter (github.com/prometheus/exporter-toolkit)")
	deviceFlag(cmd, &devices, "; the others are not judged")
	cmd.Flags().DurationVar(&drifting, "drift-every", 10*time.Minute, "how often the configuration is read and compared; 0: never")
	cmd.Flags().BoolVar(&once, "once", false, "judge once, when two readings of every counter have come, and end; exit code 2 on a warning or an error")
	return cmd
}

// rereadEvery is how often a watch looks whether its repo has changed.
const rereadEvery = time.Minute

// serveMetrics serves /metrics for as long as the watch goes on, and gives where. It warns loudly of what is open to others.
func (c *console) serveMetrics(w *control.Watching, listen, webConfig string) (address string, err error) {
	e := control.Exporter{Config: webConfig, Log: c.log()}
	l, err := net.Listen("tcp", control.ListenAddress(listen))
	if err != nil {
		return "", fmt.Errorf("serve metrics: %w", err)
	}
	open, err := e.Exposed(l.Addr())
	if err == nil {
		err = w.Serve(l, e)
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("serve metrics: %w", err), l.Close())
	}
	if open != "" {
		c.stderr().Printf("%s: metrics are served at %s %s. --web.config.file FILE gives TLS and authentication; --listen :PORT is this machine alone\n",
			c.stderr().Bad("INSECURE"), l.Addr(), open)
	}
	scheme := "http"
	if e.Encrypts() {
		scheme = "https"
	}
	return scheme + "://" + l.Addr().String() + "/metrics", nil
}

// showHealth shows the verdicts until ctx ends: as a picture on a terminal, else as lines.
func (c *console) showHealth(ctx context.Context, r *control.Repo, w *control.Watching, once bool) error {
	tick := time.NewTicker(w.Every)
	defer tick.Stop()
	live := !c.json && !once && terminal(c.out)
	var last control.Verdicts
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		verdicts, rounds := w.Verdicts()
		switch {
		case once && rounds < 2*roundsOfWarmth:
			continue
		case once:
			return c.healthOnce(r, w, verdicts)
		case live:
			c.stdout().Clear()
			c.stdout().Health(w.Topology(), verdicts, time.Now())
			c.stdout().States(r)
		default:
			if err := c.printChanges(last, verdicts); err != nil {
				return err
			}
		}
		last = verdicts
	}
}

// roundsOfWarmth is how many judgements pass until counters of a usual interval have come twice.
const roundsOfWarmth = 5

func (c *console) healthOnce(r *control.Repo, w *control.Watching, verdicts control.Verdicts) error {
	if c.json {
		if verdicts == nil {
			verdicts = control.Verdicts{}
		}
		if err := c.printJSON(judged{1, verdicts}); err != nil {
			return err
		}
	} else {
		c.stdout().Health(w.Topology(), verdicts, time.Now())
		c.stdout().States(r)
	}
	if slices.ContainsFunc(verdicts, func(v control.Verdict) bool { return v.Severity > diag.Note }) {
		return exit(exitChanges)
	}
	return nil
}

// judged is the JSON form of one judgement.
type judged struct {
	Format   int              `json:"format"`
	Verdicts control.Verdicts `json:"verdicts"`
}

// verdictEvent is a line of JSON of a watch: a verdict that began, or ended and is as it was last.
type verdictEvent struct {
	Format  int             `json:"format"`
	At      time.Time       `json:"at"`
	Event   string          `json:"event"` // begin or end
	Verdict control.Verdict `json:"verdict"`
}

// printChanges prints the verdicts that begin and end.
func (c *console) printChanges(before, now control.Verdicts) error {
	at := time.Now()
	if !c.json {
		c.stdout().HealthChanges(before, now, at)
		return nil
	}
	var err error
	for _, x := range before.Without(now) {
		err = errors.Join(err, c.printLine(verdictEvent{1, at, "end", x}))
	}
	for _, x := range now.Without(before) {
		err = errors.Join(err, c.printLine(verdictEvent{1, at, "begin", x}))
	}
	return err
}
