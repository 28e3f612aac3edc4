package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/cmd/control/lab"
	"github.com/weirfabric/weir/cmd/weir/view"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/inventory"
)

// demoScale is how fast the demo's devices live: slow things of real devices (loads, sessions, samples, settle windows) take
// a fortieth of their time.
const demoScale = 40

// demoPatience is how long, in wall time, the demo waits for a device whose state is in doubt. When the demo is interrupted its
// devices go away at once, and this is what a wave then waits for them in vain.
const demoPatience = 1500 * time.Millisecond

// demoReport is the JSON form of the demo. Times to detect are in seconds of the wall and of the devices.
type demoReport struct {
	Format      int           `json:"format"`
	Devices     int           `json:"devices"`
	Scale       float64       `json:"scale"`
	Applied     int           `json:"changes_applied"`
	SecondPlan  int           `json:"second_plan_changes"`
	Drift       []string      `json:"drift_detected"`
	Verdicts    []demoVerdict `json:"verdicts"`
	RolledBack  bool          `json:"rolled_back"`
	Seconds     float64       `json:"seconds"`
	Unsatisfied []string      `json:"unsatisfied"` // what should have been seen and was not
}

type demoVerdict struct {
	Check         string  `json:"check"`
	Device        string  `json:"device"`
	Port          string  `json:"port"`
	Priority      int     `json:"priority"`
	Summary       string  `json:"summary"`
	Culprit       string  `json:"culprit,omitempty"`
	Seconds       float64 `json:"seconds_to_detect"`
	DeviceSeconds float64 `json:"device_seconds_to_detect"`
}

func demoCommand(c *console) *cobra.Command {
	var once bool
	var scale float64
	var listen string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Everything above on a built-in fabric: one command, nothing to install",
		Long: `demo scaffolds a fabric of SONiC and EOS switches with GPU hosts in a temporary folder, serves simulated devices for it on
loopback, and does the whole job on them with the real protocols: check, plan, apply in waves, watch, find who is at fault in
an incast and a NIC storm, and undo a change that makes the network drop. Without --once it goes on watching until Ctrl-C.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.demo(cmd.Context(), once, scale, listen)
		},
	}
	cmd.Flags().BoolVar(&once, "once", false, "end by itself, with a summary and an exit code")
	cmd.Flags().Float64Var(&scale, "scale", demoScale, "device seconds in a wall second")
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:0", "where /metrics is served; empty: nowhere")
	return cmd
}

// demo is the demo while it runs.
type demo struct {
	*console
	dir     string
	repo    *control.Repo
	lab     *lab.Lab
	watch   *control.Watching
	settle  control.Settle
	metrics string // where they are served; empty: nowhere
	report  demoReport
}

func (c *console) demo(ctx context.Context, once bool, scale float64, listen string) (err error) {
	began := time.Now()
	dir, err := os.MkdirTemp("", "weir-demo-")
	if err != nil {
		return fmt.Errorf("make the demo's folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	quiet := *c
	quiet.lab = true
	d := &demo{console: &quiet, dir: filepath.Join(dir, "pod1"), settle: control.Settle{Idle: "accept", Patience: demoPatience}}
	d.report = demoReport{Format: 1, Scale: scale, Drift: []string{}, Verdicts: []demoVerdict{}, Unsatisfied: []string{}}
	defer d.end()
	for _, part := range []func(context.Context) error{
		func(ctx context.Context) error { return d.build(ctx, scale) },
		d.rollOut, d.drift,
		func(ctx context.Context) error { return d.beginWatch(ctx, listen) },
		d.incast, d.storm, d.badChange,
	} {
		err := part(ctx)
		if ctx.Err() != nil {
			d.console.stderr().Printf("interrupted\n")
			return exit(exitError)
		}
		if err != nil {
			return err
		}
	}
	d.report.Seconds = time.Since(began).Seconds()
	if err := d.sum(); err != nil || once {
		return err
	}
	goesOn := "It goes on until Ctrl-C."
	if d.metrics != "" {
		goesOn += " Metrics: " + d.metrics
	}
	d.heading("%s", goesOn)
	if err := d.lab.SetTraffic(lab.Steady); err != nil {
		return err
	}
	return d.showHealth(ctx, d.repo, d.watch, false)
}

// end takes everything down again.
func (d *demo) end() {
	if d.watch != nil {
		d.watch.End()
	}
	if d.lab != nil {
		_ = d.lab.Close()
	}
}

// heading and narrate are for people; programs get the report only.
func (d *demo) heading(format string, args ...any) {
	if !d.json {
		d.stdout().Printf("\n%s\n", d.stdout().Bold(fmt.Sprintf(format, args...)))
	}
}

func (d *demo) narrate(format string, args ...any) {
	if !d.json {
		d.stdout().Printf("  "+format+"\n", args...)
	}
}

// missed notes what should have been seen.
func (d *demo) missed(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	d.report.Unsatisfied = append(d.report.Unsatisfied, text)
	d.narrate("%s", d.stdout().Bad("not seen: "+text))
}

// build scaffolds the repo, starts the lab and checks the intent.
func (d *demo) build(ctx context.Context, scale float64) error {
	spec := inventory.ClosSpec{Name: "pod1", Leaves: 6, Spines: 2, Hosts: 8, NICs: 1, Ports: 6,
		Leaf: []string{"sonic", "eos"}, Spine: []string{"eos", "sonic"}}
	if _, err := scaffold(d.dir, spec); err != nil {
		return err
	}
	labless := *d.console
	labless.lab = false
	r, err := labless.mustHold(d.dir, "")
	if err != nil {
		return err
	}
	d.heading("1. A fabric repo and simulated devices for it (weir init, weir check, weir lab)")
	d.narrate("%s, %s: the intent holds together, %s.", diag.Count(len(r.Fabric.Switches), "switch"), diag.Count(len(r.Fabric.Hosts), "host"), view.FindingCount(r.Findings))
	d.report.Devices = len(r.Names)
	if d.lab, err = lab.Start(ctx, r, lab.Options{Network: d.network, Scale: scale}); err != nil {
		return err
	}
	if d.repo, err = d.mustHold(d.dir, ""); err != nil {
		return err
	}
	if err := d.lab.SetTraffic(lab.Steady); err != nil {
		return err
	}
	d.narrate("Devices speak gNMI and SSH on loopback and live %gx as fast as real ones.", scale)
	return nil
}

// plan makes a plan and says what it holds.
func (d *demo) planned(ctx context.Context) (plan.Plan, error) {
	p, err := d.plan(ctx, d.repo, planFlags{})
	if err != nil {
		return p, err
	}
	if p.Findings.HasErrors() {
		d.console.stderr().Findings(p.Findings)
		return p, exit(exitFindings)
	}
	return p, nil
}

// carryOut applies a plan as `weir apply` would, and says how the waves went.
func (d *demo) carryOut(ctx context.Context, p plan.Plan) (control.Result, error) {
	if err := (control.Consent{Adopt: true, Flap: true, Single: true}).Covers(p); err != nil {
		return control.Result{}, err
	}
	return d.repo.Apply(ctx, p, control.RunOptions{Settle: d.settle, Observe: func(r control.Record) {
		if r.Kind == control.Passed {
			d.narrate("wave %d: %s: %s", r.Wave+1, diag.First(devicesOf(p.Waves[r.Wave]), 3), d.passed(r.Text))
		}
		if d.observed != nil {
			d.observed(r)
		}
	}})
}

// passed says in a few words why a wave stays.
func (d *demo) passed(verdict string) string {
	if strings.HasPrefix(verdict, "nothing proven") {
		return "stays, though the counters prove nothing yet"
	}
	return d.stdout().Good("stays: nothing is lost, " + verdict)
}

func devicesOf(wave []plan.Step) []string {
	var names []string
	for _, s := range wave {
		names = append(names, s.Device)
	}
	return names
}

// rollOut plans, applies, and plans again.
func (d *demo) rollOut(ctx context.Context) error {
	p, err := d.planned(ctx)
	if err != nil {
		return err
	}
	s := p.Summary
	d.heading("2. Plan and apply in waves (weir plan, weir apply)")
	d.narrate("%s: %d to create, %d to update, %d to delete, on factory devices with other people's settings in them.", diag.Count(s.Devices, "device"), s.Create, s.Update, s.Delete)
	d.narrate("Hosts that are not configured yet do not send in the lossless class: that proves nothing, and is accepted here (--idle accept).")
	result, err := d.carryOut(ctx, p)
	if err != nil {
		return err
	}
	if result.Outcome != control.Applied {
		d.missed("the rollout ends applied: it ended %s: %s", result.Outcome, result.Why)
		return nil
	}
	d.report.Applied = s.Create + s.Update + s.Delete
	again, err := d.planned(ctx)
	if err != nil {
		return err
	}
	d.report.SecondPlan = again.Summary.Create + again.Summary.Update + again.Summary.Delete
	if d.report.SecondPlan > 0 {
		d.missed("a second plan is empty: it has %d changes", d.report.SecondPlan)
	} else {
		d.narrate("%s applied; a second plan is empty.", diag.Count(d.report.Applied, "change"))
	}
	return nil
}

// drift has somebody change one value on a switch, behind weir's back, and finds it.
func (d *demo) drift(ctx context.Context) error {
	d.heading("3. Somebody changes one value on a switch by hand (weir drift)")
	name, command := d.meddle()
	d.narrate("%s$ %s", name, command)
	t, err := d.repo.Dial(ctx, name)
	if err != nil {
		return err
	}
	err = t.Set(ctx, plan.Chunk{Send: []plan.Message{{Op: plan.Run, Body: command}}}, plan.Pending{Device: name, Name: "by-hand", Route: plan.SSHBulk})
	if closed := t.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	found := d.repo.Drift(d.repo.Names, d.repo.Observe(ctx, d.repo.Names, "", nil))
	for _, dev := range found {
		for _, change := range dev.Changes {
			d.report.Drift = append(d.report.Drift, change.Addr.String())
			d.narrate("%s is %s, the intent wants %s", d.stdout().Bad(change.Addr.String()), change.Before, change.After)
		}
	}
	if len(d.report.Drift) != 1 {
		d.missed("drift names exactly the one value: it names %d", len(d.report.Drift))
	}
	p, err := d.planned(ctx)
	if err != nil {
		return err
	}
	result, err := d.carryOut(ctx, p)
	if err == nil && result.Outcome != control.Applied {
		d.missed("the value is set back: the run ended %s: %s", result.Outcome, result.Why)
	}
	return err
}

// meddle is what somebody types on the first switch whose marking curve is a row of a database.
func (d *demo) meddle() (device, command string) {
	for _, s := range d.repo.Fabric.Switches {
		for _, l := range d.repo.Wanted(s.Name) {
			if len(l.Path) == 3 && l.Path[0] == "WRED_PROFILE" && l.Path[2] == "green_max_threshold" {
				return s.Name, fmt.Sprintf("sudo sonic-db-cli CONFIG_DB HSET 'WRED_PROFILE|%s' green_max_threshold 9000000", l.Path[1])
			}
		}
	}
	return "", ""
}

// beginWatch begins to judge the fabric, and waits until the counters have come twice: before that a verdict has nothing to rest on.
func (d *demo) beginWatch(ctx context.Context, listen string) error {
	d.heading("4. Stream the counters of all devices, and judge them (weir watch)")
	var err error
	// What its sources meet on the way is not logged: on a machine with much else to do, devices that live so fast are late.
	d.watch = d.repo.Watch(ctx, d.repo.Names, control.WatchOptions{})
	if listen != "" {
		if d.metrics, err = d.serveMetrics(d.watch, listen, ""); err != nil {
			return err
		}
		d.narrate("Metrics for Prometheus: %s", d.metrics)
	}
	tick := time.NewTicker(d.watch.Every)
	defer tick.Stop()
	for {
		if verdicts, rounds := d.watch.Verdicts(); rounds >= roundsOfWarmth {
			if len(verdicts) == 0 {
				d.narrate("Under steady traffic all is well.")
			}
			for _, v := range verdicts {
				d.narrate("%s", view.VerdictLine(d.stdout(), v))
			}
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// incast has all hosts send to one, and waits until the verdict names the port in front of it.
func (d *demo) incast(ctx context.Context) error {
	victim := d.repo.Fabric.Hosts[0]
	d.narrate("All other hosts begin to send to %s at once.", victim.Name)
	ports := map[string]bool{}
	for _, n := range victim.NICs {
		if n.Peer != nil {
			ports[n.Peer.Device+"/"+n.Peer.Port] = true
		}
	}
	return d.provoke(ctx, lab.Incast, victim.Name, func(v control.Verdict) bool {
		return v.Check == control.CheckIncast && (ports[v.Device+"/"+v.Port] || v.Culprit != nil && ports[v.Culprit.Device+"/"+v.Culprit.Port])
	})
}

// storm has one NIC send PAUSE without end, and waits until the verdict names port and host.
func (d *demo) storm(ctx context.Context) error {
	host := d.repo.Fabric.Hosts[len(d.repo.Fabric.Hosts)-1].Name
	d.heading("5. The NIC of %s sends PAUSE without end", host)
	return d.provoke(ctx, lab.NICStorm, host, func(v control.Verdict) bool {
		return v.Check == control.CheckPFCStorm && v.Culprit != nil && v.Culprit.Device == host
	})
}

// detectWithin is how long, in device time, the demo waits for a verdict.
const detectWithin = 3 * time.Minute

// provoke changes the traffic, waits for the verdict, and makes the traffic steady again.
func (d *demo) provoke(ctx context.Context, traffic lab.Traffic, host string, expected func(control.Verdict) bool) error {
	if err := d.lab.SetTraffic(traffic, host); err != nil {
		return err
	}
	began := time.Now()
	deadline := time.NewTimer(d.repo.InWall(detectWithin))
	defer deadline.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		verdicts, _ := d.watch.Verdicts()
		if i := slices.IndexFunc(verdicts, expected); i >= 0 {
			d.found(verdicts[i], time.Since(began))
			break
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-deadline.C:
			d.missed("%s about %s: %d other verdicts stand", traffic, host, len(verdicts))
			return d.lab.SetTraffic(lab.Steady)
		case <-tick.C:
		}
	}
	return d.lab.SetTraffic(lab.Steady)
}

func (d *demo) found(v control.Verdict, after time.Duration) {
	out := demoVerdict{Check: string(v.Check), Device: v.Device, Port: v.Port, Summary: v.Summary, Seconds: after.Seconds(), DeviceSeconds: after.Seconds() * d.repo.Scale()}
	if v.Priority != nil {
		out.Priority = int(*v.Priority)
	}
	if v.Culprit != nil {
		out.Culprit = v.Culprit.String()
	}
	d.report.Verdicts = append(d.report.Verdicts, out)
	d.narrate("%s", view.VerdictLine(d.stdout(), v))
	d.narrate("found %.2f s after it began, which is %.0f s for the devices", out.Seconds, out.DeviceSeconds)
}

// badChange applies a change that takes PFC off one leaf, with the check that forbids it waived, under an incast: the counters
// refuse it, and the wave is led back.
func (d *demo) badChange(ctx context.Context) error {
	victim := d.repo.Fabric.Hosts[0]
	leaf := victim.NICs[0].Peer.Device
	d.heading("6. A change that makes the network drop: PFC off on %s, with the check against it waived", leaf)
	body := fmt.Sprintf(`kind: Override
name: experiment
select: {device: %[1]s}
pfc: off
---
kind: Fabric
accept:
  - {check: link-priorities, address: %[1]s, reason: "the demo shows what happens", expires: %[2]s}
`, leaf, time.Now().AddDate(0, 0, 7).Format(time.DateOnly))
	if err := writeFile(filepath.Join(d.dir, "intent", "experiment.yaml"), []byte(body)); err != nil {
		return err
	}
	good := d.repo
	defer func() { d.repo = good }()
	var err error
	if d.repo, err = d.mustHold(d.dir, ""); err != nil {
		return err
	}
	if err := d.lab.SetTraffic(lab.Incast, victim.Name); err != nil {
		return err
	}
	p, err := d.planned(ctx)
	if err != nil {
		return err
	}
	// Now that the hosts send, counters that prove nothing are no reason to keep a change: what the intent says holds.
	usual := d.settle
	d.settle.Idle, d.settle.Window = "", d.repo.InWall(time.Minute)
	result, err := d.carryOut(ctx, p)
	d.settle = usual
	if err != nil {
		return err
	}
	d.report.RolledBack = result.Outcome == control.AsBefore
	if !d.report.RolledBack {
		d.missed("the bad wave is led back: the run ended %s: %s", result.Outcome, result.Why)
	} else {
		d.narrate("wave 1: %s: %s", leaf, d.stdout().Bad(result.Why))
		d.narrate("%s is led back, and reads as before: %s", leaf, d.stdout().Good("nothing of the change is left"))
	}
	return d.lab.SetTraffic(lab.Steady)
}

// sum prints the summary and says whether all was seen.
func (d *demo) sum() error {
	r := d.report
	if d.json {
		if err := d.printJSON(r); err != nil {
			return err
		}
	} else {
		d.heading("Summary")
		d.narrate("%s, %s applied, %d in a second plan, %s found, %s named, bad change led back: %t, %.1f s.",
			diag.Count(r.Devices, "device"), diag.Count(r.Applied, "change"), r.SecondPlan, diag.Count(len(r.Drift), "drifted value"),
			diag.Count(len(r.Verdicts), "fault"), r.RolledBack, r.Seconds)
	}
	if len(r.Unsatisfied) > 0 {
		return exit(exitError)
	}
	return nil
}
