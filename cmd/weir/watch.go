package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirfabric/weir/cmd/weir/view"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/telemetry"
	"github.com/weirfabric/weir/telemetry/health"
)

func watchCommand(c *console) *cobra.Command {
	var listen, device string
	var drifting time.Duration
	var once bool
	cmd := &cobra.Command{
		Use:   "watch [DIR]",
		Short: "Stream counters and judge the health of the fabric",
		Long: `watch streams the counters of every device, judges them, and shows the verdicts live; with --listen it serves /metrics for
Prometheus. On anything but a terminal it prints a line when a verdict begins or ends; with --json a line of JSON.`,
		Args: folderOnly,
		RunE: func(cmd *cobra.Command, args []string) error {
			r, names, err := c.devices(dirArg(args), device)
			if err != nil {
				return err
			}
			w, err := c.startWatch(cmd.Context(), r, names, drifting)
			if err != nil {
				return err
			}
			defer w.end()
			if listen != "" {
				address, err := serveMetrics(w.gathering, listen)
				if err != nil {
					return err
				}
				c.say().Printf("metrics at http://%s/metrics\n", address)
			}
			return c.showHealth(cmd.Context(), w, once)
		},
	}
	cmd.Flags().StringVar(&listen, "listen", "", "serve /metrics at this address, for example :9469")
	cmd.Flags().StringVar(&device, "device", "", "only devices whose names match this glob")
	cmd.Flags().DurationVar(&drifting, "drift-every", 10*time.Minute, "how often the configuration is read and compared; 0: never")
	cmd.Flags().BoolVar(&once, "once", false, "judge once, when two readings of every counter have come, and end; exit code 2 when something is not well")
	return cmd
}

// watching judges what is gathered, over and over.
type watching struct {
	*gathering
	repo     *repo
	topology health.Topology
	every    time.Duration

	mu       sync.Mutex
	verdicts []health.Verdict
	rounds   int
	flaps    map[addr.Addr]time.Time
}

// judgeEvery is how often the fabric is judged, in device time.
const judgeEvery = 5 * time.Second

func (c *console) startWatch(ctx context.Context, r *repo, names []string, drifting time.Duration) (*watching, error) {
	log := slog.New(slog.NewTextHandler(c.err, &slog.HandlerOptions{Level: slog.LevelError}))
	if c.json {
		log = slog.New(slog.NewJSONHandler(c.err, &slog.HandlerOptions{Level: slog.LevelError}))
	}
	g, err := r.gather(ctx, names, log)
	if err != nil {
		return nil, err
	}
	w := &watching{gathering: g, repo: r, topology: topologyOf(r.fabric), every: r.inWall(judgeEvery), flaps: map[addr.Addr]time.Time{}}
	ctx, stop := context.WithCancel(ctx)
	stopBefore := g.stop
	g.stop = func() { stop(); stopBefore() }
	g.all.Go(func() { w.judgeAlways(ctx) })
	if drifting > 0 {
		g.all.Go(func() { w.driftAlways(ctx, names, r.inWall(drifting)) })
	}
	return w, nil
}

func (w *watching) judgeAlways(ctx context.Context) {
	tick := time.NewTicker(w.every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			w.judge(now)
		}
	}
}

// judge judges what is known now, and exports the verdicts.
func (w *watching) judge(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	window := health.Window{Now: now, Series: w.store.Series(nil), Earlier: w.verdicts, Flaps: w.flaps}
	w.verdicts = health.Judge(window, w.topology, health.Policy{Scale: w.repo.scale()})
	for _, v := range w.verdicts {
		w.store.Doubt(v.Doubts...)
	}
	w.rounds++
	w.store.Put(health.Matrix(w.verdicts, w.topology, now, w.every))
}

// now is the newest judgement, and how many there were.
func (w *watching) now() ([]health.Verdict, int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.verdicts, w.rounds
}

// driftAlways reads the configuration of the devices now and then and exports how much differs.
func (w *watching) driftAlways(ctx context.Context, names []string, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		seen := w.repo.observe(ctx, names, "", nil)
		if ctx.Err() != nil {
			return
		}
		var samples []telemetry.Sample
		for _, d := range w.repo.drift(names, seen, time.Now()) {
			if d.Error == "" {
				samples = append(samples, telemetry.Sample{Metric: telemetry.DriftChanges, Addr: addr.Device(d.Device), Value: float64(len(d.Changes)), At: time.Now(), Every: every})
			}
		}
		w.store.Put(samples)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// serveMetrics serves /metrics for as long as counters are gathered, and says where.
func serveMetrics(g *gathering, listen string) (address string, err error) {
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return "", fmt.Errorf("serve metrics: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", g.store.Handler())
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "weir: see /metrics\n")
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	g.all.Go(func() { _ = server.Serve(l) }) // ends with Close
	stop := g.stop
	g.stop = func() {
		stop()
		_ = server.Close()
	}
	return l.Addr().String(), nil
}

// showHealth shows the verdicts until ctx ends: as a picture on a terminal, else as lines.
func (c *console) showHealth(ctx context.Context, w *watching, once bool) error {
	tick := time.NewTicker(w.every)
	defer tick.Stop()
	live := !c.json && !once && terminal(c.out)
	var last []health.Verdict
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		verdicts, rounds := w.now()
		switch {
		case once && rounds < 2*roundsOfWarmth:
			continue
		case once:
			return c.healthOnce(w, verdicts)
		case live:
			c.view().Printf("\x1b[H\x1b[2J")
			c.view().Health(w.topology, verdicts, time.Now())
		default:
			if err := c.tellChanges(last, verdicts); err != nil {
				return err
			}
		}
		last = verdicts
	}
}

// roundsOfWarmth is how many judgements pass until counters of a usual interval have come twice.
const roundsOfWarmth = 5

func (c *console) healthOnce(w *watching, verdicts []health.Verdict) error {
	if c.json {
		if verdicts == nil {
			verdicts = []health.Verdict{}
		}
		if err := c.printJSON(struct {
			Format   int              `json:"format"`
			Verdicts []health.Verdict `json:"verdicts"`
		}{1, verdicts}); err != nil {
			return err
		}
	} else {
		c.view().Health(w.topology, verdicts, time.Now())
	}
	if len(verdicts) > 0 {
		return exit(exitChanges)
	}
	return nil
}

// tellChanges prints the verdicts that begin and end.
func (c *console) tellChanges(before, now []health.Verdict) error {
	var err error
	v := c.view()
	for _, x := range now {
		if !holds(before, x) {
			if c.json {
				err = errors.Join(err, c.printJSON(x))
			} else {
				v.Printf("%s %s\n", time.Now().Format(time.TimeOnly), view.VerdictLine(v, x))
			}
		}
	}
	for _, x := range before {
		if !holds(now, x) && !c.json {
			v.Printf("%s %s %s: %s\n", time.Now().Format(time.TimeOnly), v.Good("over"), x.At(), x.Check)
		}
	}
	return err
}

func holds(list []health.Verdict, v health.Verdict) bool {
	for _, x := range list {
		if x.Check == v.Check && x.At() == v.At() && x.State == v.State {
			return true
		}
	}
	return false
}
