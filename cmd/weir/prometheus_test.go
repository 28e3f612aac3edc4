package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/drivers/sim"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/telemetry/dashboards"
	"github.com/weirfabric/weir/templates"
)

const (
	scrapeEvery = "1s"
	rateOver    = "5s" // as Grafana's $__rate_interval: several scrapes
	askWithin   = 2 * time.Minute
)

func TestDashboardsWritesItsFilesAndSaysHowToLoadThem(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	for range 2 { // the second time over the files of the first
		var out, said bytes.Buffer
		if code := (&console{out: &out, err: &said}).main([]string{"dashboards", "-o", dir}); code != exitDone {
			t.Fatalf("exit code %d\n%s", code, said.String())
		}
		want := fmt.Sprintf("wrote 4 dashboards and 3 other files to %[1]s. Import %[1]s/grafana/*.json in Grafana; run prometheus --config.file=%[1]s/prometheus/prometheus.yml\n", dir)
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Error(diff)
		}
	}
	var got []string
	if err := fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			got = append(got, name)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	want := []string{"grafana/weir-device.json", "grafana/weir-drift.json", "grafana/weir-fabric.json", "grafana/weir-port.json",
		"prometheus/alertmanager.yml", "prometheus/alerts.yml", "prometheus/prometheus.yml"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	var out, said bytes.Buffer
	code := (&console{out: &out, err: &said}).main([]string{"dashboards", "-o", filepath.Join(dir, "grafana", "weir-port.json")})
	if code != exitError || !strings.HasPrefix(said.String(), "error: write the dashboards: ") {
		t.Errorf("a file where a folder should be: exit code %d, %q", code, said.String())
	}
}

// TestEveryQueryOfEveryPanelReturnsData has a real Prometheus scrape a running watch of a fabric in trouble of every kind that
// the dashboards show: an incast, a NIC that storms, a value that somebody changed, a host that died.
func TestEveryQueryOfEveryPanelReturnsData(t *testing.T) {
	binary := prometheusBinary(t)
	spec := mixed()
	spec.Hosts = 4
	f := newFabric(t, spec)
	if result, code := f.apply(t, "--idle", "accept"); code != exitDone {
		t.Fatalf("apply: exit code %d: %+v", code, result)
	}
	p := startPrometheus(t, binary, f.watched(t))

	if err := f.lab.SetTraffic(sim.Incast, "gpu1"); err != nil {
		t.Fatal(err)
	}
	if marked := "sum(rate(weir_queue_ecn_marked_packets_total[" + rateOver + "])) > 0"; len(p.waitFor(t, marked)) == 0 {
		t.Error("an incast marks nothing")
	}

	if err := f.lab.SetTraffic(sim.NICStorm, "gpu2"); err != nil {
		t.Fatal(err)
	}
	const storm = `ALERTS{alertname="WeirPFCStorm",alertstate="firing"}`
	alerts := p.waitFor(t, storm)[storm]
	if len(alerts) == 0 {
		t.Errorf("a NIC storms and no alert fires; alerts: %v", p.ask(t, "ALERTS"))
	}
	for _, labels := range alerts {
		if peer := f.peerOf(t, labels["device"], labels["port"]); peer != "gpu2" {
			t.Errorf("the alert %v names a port of %q, want one of gpu2", labels, peer)
		}
	}

	byHand := "sonic-db-cli CONFIG_DB HSET 'WRED_PROFILE|weir_rdma_100G' green_max_threshold 9000000"
	if err := f.lab.Inject(sim.Fault{Kind: sim.ForeignEdit, Device: "leaf1", Text: byHand}); err != nil {
		t.Fatal(err)
	}
	if err := f.lab.Kill("gpu3"); err != nil {
		t.Fatal(err)
	}
	queries, err := dashboards.Queries(templates.FS)
	if err != nil {
		t.Fatal(err)
	}
	panels := map[string][]dashboards.PanelQuery{}
	for _, q := range queries {
		// What stands behind an or is there to be shown on a healthy fabric, and proves nothing here.
		expr, _, _ := strings.Cut(q.Plain(rateOver), " or ")
		panels[expr] = append(panels[expr], q)
	}
	found := p.waitFor(t, slices.Sorted(maps.Keys(panels))...)
	for _, expr := range slices.Sorted(maps.Keys(panels)) {
		samples := found[expr]
		for _, q := range panels[expr] {
			if len(samples) == 0 {
				t.Errorf("%s / %s: no data: %s", q.Dashboard, q.Panel, expr)
			} else if missing := without(samples, q.Labels); len(missing) > 0 {
				t.Errorf("%s / %s: no sample has the labels %v that the panel shows: %s", q.Dashboard, q.Panel, missing, expr)
			}
		}
	}
	t.Logf("%d queries of panels were asked", len(queries))
}

// without are the labels that no sample has.
func without(samples []map[string]string, labels []string) []string {
	return slices.DeleteFunc(slices.Clone(labels), func(label string) bool {
		return slices.ContainsFunc(samples, func(s map[string]string) bool { return s[label] != "" })
	})
}

// watched starts what `weir watch --listen` starts, with drift looked for every two minutes of the devices, and says where
// /metrics is.
func (f *testFabric) watched(t *testing.T) string {
	t.Helper()
	c := &console{out: io.Discard, err: io.Discard, lab: true}
	r, err := c.mustHold(f.dir, "")
	if err != nil {
		t.Fatal(err)
	}
	w := r.Watch(t.Context(), r.Names, control.WatchOptions{DriftEvery: 2 * time.Minute})
	t.Cleanup(w.End)
	address, err := c.serveMetrics(w, "127.0.0.1:0", "")
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(strings.TrimPrefix(address, "http://"), "/metrics")
}

// peerOf is the device that a port is cabled to.
func (f *testFabric) peerOf(t *testing.T, device, port string) string {
	t.Helper()
	c := &console{out: io.Discard, err: io.Discard}
	r, err := c.mustHold(f.dir, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range r.Fabric.Links {
		for _, ends := range [][2]fabric.End{{l.A, l.B}, {l.B, l.A}} {
			if at := ends[0].Address(); at.Device == device && at.Port == port {
				return ends[1].Address().Device
			}
		}
	}
	return ""
}

// prometheusBinary is where Prometheus is installed.
func prometheusBinary(t *testing.T) string {
	t.Helper()
	name, err := exec.LookPath("prometheus")
	if err == nil {
		return name
	}
	if os.Getenv("WEIR_TEST_ALL") == "1" {
		t.Fatal("prometheus is missing: install the package prometheus")
	}
	t.Skip("prometheus is missing: install the package prometheus")
	return ""
}

// testPrometheus is a Prometheus that runs until the test ends.
type testPrometheus struct{ address string }

// startPrometheus runs a Prometheus on what weir dashboards writes, with the target and the intervals of the test.
func startPrometheus(t *testing.T, binary, target string) *testPrometheus {
	t.Helper()
	dir := t.TempDir()
	config := writtenConfig(t, dir, target)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &testPrometheus{free.Addr().String()}
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, binary, "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.listen-address="+p.address, "--log.level=warn")
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		_ = cmd.Wait() // it was told to end
		if t.Failed() {
			t.Logf("prometheus said:\n%s", said.String())
		}
	})
	return p
}

// writtenConfig has weir write its files below dir and gives prometheus.yml the target and the intervals of the test. Nobody
// is alerted.
func writtenConfig(t *testing.T, dir, target string) string {
	t.Helper()
	var out, said bytes.Buffer
	if code := (&console{out: &out, err: &said}).main([]string{"dashboards", "-o", dir}); code != exitDone {
		t.Fatalf("weir dashboards: exit code %d\n%s", code, said.String())
	}
	name := filepath.Join(dir, "prometheus", "prometheus.yml")
	body, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Global    map[string]string `yaml:"global"`
		RuleFiles []string          `yaml:"rule_files"`
		Alerting  any               `yaml:"alerting,omitempty"`
		Scrape    []struct {
			Job     string `yaml:"job_name"`
			Targets []struct {
				Targets []string `yaml:"targets"`
			} `yaml:"static_configs"`
		} `yaml:"scrape_configs"`
	}
	strict := yaml.NewDecoder(bytes.NewReader(body))
	strict.KnownFields(true)
	if err := strict.Decode(&config); err != nil {
		t.Fatal(err)
	}
	for key := range config.Global {
		config.Global[key] = scrapeEvery
	}
	config.Alerting = nil
	config.Scrape[0].Targets[0].Targets = []string{target}
	if body, err = yaml.Marshal(config); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, body, 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// waitFor asks until each of the expressions has returned a sample, or for as long as is waited, and gives the labels of what
// was returned first, by expression.
func (p *testPrometheus) waitFor(t *testing.T, exprs ...string) map[string][]map[string]string {
	t.Helper()
	deadline := time.After(askWithin)
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	found := map[string][]map[string]string{}
	for {
		for _, expr := range exprs {
			if found[expr] == nil {
				if samples := p.ask(t, expr); samples != nil {
					found[expr] = samples
				}
			}
		}
		if len(found) == len(exprs) {
			return found
		}
		select {
		case <-deadline:
			return found
		case <-tick.C:
		}
	}
}

// ask is the labels of the samples that an expression has now; none while Prometheus does not answer yet.
func (p *testPrometheus) ask(t *testing.T, expr string) []map[string]string {
	t.Helper()
	client := http.Client{Timeout: 5 * time.Second}
	resp, err := client.Get("http://" + p.address + "/api/v1/query?" + url.Values{"query": {expr}}.Encode())
	if err != nil {
		return nil
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusServiceUnavailable {
		return nil // it is starting
	}
	var answer struct {
		Status, Error string
		Data          struct {
			Result []struct{ Metric map[string]string }
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || answer.Status != "success" {
		t.Fatalf("%s: %v %s", expr, err, answer.Error)
	}
	var out []map[string]string
	for _, r := range answer.Data.Result {
		out = append(out, r.Metric)
	}
	return out
}
