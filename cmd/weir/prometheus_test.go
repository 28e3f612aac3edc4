package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
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
	scrapeEvery = 15 * time.Second
	rateOver    = "1m" // as Grafana's $__rate_interval: several scrapes
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

// TestEveryQueryOfEveryPanelReturnsData has a real Prometheus judge what was scraped of a watch in virtual time, of a fabric in trouble of
// every kind that the dashboards show. It loads the pages, scrapes the last one itself as weir's configuration says, and evaluates
// weir's rules on it.
func TestEveryQueryOfEveryPanelReturnsData(t *testing.T) {
	binary, tool := installed(t, "prometheus"), installed(t, "promtool")
	pages, hosts := troubled(t)
	last := pages[len(pages)-1]
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		_, _ = io.WriteString(w, last.body)
	}))
	defer target.Close()
	p := startPrometheus(t, binary, strings.TrimPrefix(target.URL, "http://"), func(data string) { backfill(t, tool, data, pages) })

	const storm = `ALERTS{alertname="WeirPFCStorm",alertstate="firing"}`
	alerts := p.waitFor(t, storm)
	if len(alerts) == 0 {
		t.Errorf("a NIC storms and no alert fires; alerts: %v", p.ask(t, "query", url.Values{"query": {"ALERTS"}}))
	}
	for _, labels := range alerts {
		if host := hosts[labels["device"]+"/"+labels["port"]]; host != "gpu2" {
			t.Errorf("the alert %v names a port of %q, want one of gpu2", labels, host)
		}
	}

	during := func(expr string) []map[string]string {
		return p.ask(t, "query_range", url.Values{"query": {expr}, "start": {stamp(pages[0].at)}, "end": {stamp(last.at)}, "step": {scrapeEvery.String()}})
	}
	if len(during("sum(rate(weir_queue_ecn_marked_packets_total["+rateOver+"])) > 0")) == 0 {
		t.Error("an incast marks nothing")
	}
	queries, err := dashboards.Queries(templates.FS)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range queries {
		// What stands behind an or is there to be shown on a healthy fabric, and proves nothing here.
		expr, _, _ := strings.Cut(q.Plain(rateOver), " or ")
		if samples := during(expr); len(samples) == 0 {
			t.Errorf("%s / %s: no data: %s", q.Dashboard, q.Panel, expr)
		} else if missing := without(samples, q.Labels); len(missing) > 0 {
			t.Errorf("%s / %s: no sample has the labels %v that the panel shows: %s", q.Dashboard, q.Panel, missing, expr)
		}
	}
	t.Logf("%d queries of panels were asked of %d pages", len(queries), len(pages))
}

// without are the labels that no sample has.
func without(samples []map[string]string, labels []string) []string {
	return slices.DeleteFunc(slices.Clone(labels), func(label string) bool {
		return slices.ContainsFunc(samples, func(s map[string]string) bool { return s[label] != "" })
	})
}

// page is what /metrics said at a time.
type page struct {
	at   time.Time
	body string
}

// troubled watches a fabric that meets an incast, a NIC that storms, a value that somebody changed and a host that dies, and gives what
// was scraped meanwhile. The hosts are by the device/port that they are cabled to.
func troubled(t *testing.T) (pages []page, hosts map[string]string) {
	t.Helper()
	spec := mixed()
	spec.Hosts = 4
	onFabric(t, spec, "", func(t *testing.T, f *testFabric) {
		if result, code := f.apply(t, blind()...); code != exitDone {
			t.Fatalf("apply: exit code %d: %+v", code, result)
		}
		c := &console{out: io.Discard, err: io.Discard, lab: true, effects: f.effects}
		r, err := c.mustHold(f.dir, "")
		if err != nil {
			t.Fatal(err)
		}
		hosts = map[string]string{}
		for _, l := range r.Fabric.Links {
			for _, ends := range [][2]fabric.End{{l.A, l.B}, {l.B, l.A}} {
				hosts[ends[0].Address().String()] = ends[1].Address().Device
			}
		}
		w := r.Watch(t.Context(), r.Names, control.WatchOptions{DriftEvery: time.Minute})
		defer w.End()
		const address = "weir:9469"
		l, err := f.network.Listen(address)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Serve(l, control.Exporter{}); err != nil {
			t.Fatal(err)
		}
		client := http.Client{Transport: &http.Transport{DialContext: f.network.DialContext, DisableKeepAlives: true}}
		scrape := func(span time.Duration) {
			for range span / scrapeEvery {
				time.Sleep(scrapeEvery)
				pages = append(pages, page{time.Now(), scraped(t, &client, "http://"+address+"/metrics")})
			}
		}
		for _, trouble := range []func() error{
			func() error { return f.lab.SetTraffic(sim.Incast, "gpu1") },
			func() error { return f.lab.SetTraffic(sim.NICStorm, "gpu2") },
			func() error {
				byHand := "sonic-db-cli CONFIG_DB HSET 'WRED_PROFILE|weir_rdma_100G' green_max_threshold 9000000"
				return errors.Join(f.lab.Inject(sim.Fault{Kind: sim.ForeignEdit, Device: "leaf1", Text: byHand}), f.lab.Kill("gpu3"))
			},
		} {
			if err := trouble(); err != nil {
				t.Fatal(err)
			}
			scrape(3 * time.Minute)
		}
		scrape(3 * time.Minute) // until what was compared of the dead host is out of date
	})
	if t.Failed() || len(pages) == 0 {
		t.FailNow()
	}
	return pages, hosts
}

// scraped is what an exporter answers now.
func scraped(t *testing.T, client *http.Client, address string) string {
	t.Helper()
	resp, err := client.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s: %v", address, resp.Status, err)
	}
	return string(body)
}

// backfill loads pages into the data of a Prometheus that does not run yet, as its own scrapes would have.
func backfill(t *testing.T, promtool, data string, pages []page) {
	t.Helper()
	var all strings.Builder
	for _, p := range pages {
		for line := range strings.Lines(p.body) {
			line = strings.TrimSpace(line)
			if line == "" || line[0] == '#' {
				continue // without their types, counters may be called what they are in both forms of a page
			}
			series, value, _ := strings.Cut(line[strings.LastIndexByte(line, '}')+1:], " ")
			labels := strings.TrimSuffix(line[:strings.LastIndexByte(line, '}')+1], "}")
			if labels == "" {
				labels = series + "{"
			} else if !strings.HasSuffix(labels, "{") {
				labels += ","
			}
			fmt.Fprintf(&all, "%sjob=\"weir\",instance=\"scraped\"} %s %s\n", labels, value, stamp(p.at))
		}
	}
	all.WriteString("# EOF\n")
	name := filepath.Join(t.TempDir(), "pages.om")
	if err := os.WriteFile(name, []byte(all.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(promtool, "tsdb", "create-blocks-from", "openmetrics", "--quiet", name, data).CombinedOutput(); err != nil {
		t.Fatalf("promtool: %v\n%s", err, out)
	}
}

// stamp is a time in Prometheus's words.
func stamp(at time.Time) string { return strconv.FormatInt(at.Unix(), 10) }

// TestMetricsAreServedWhereTheyAreSaidToBe asks where serveMetrics says that it serves.
func TestMetricsAreServedWhereTheyAreSaidToBe(t *testing.T) {
	var said bytes.Buffer
	c := &console{out: io.Discard, err: &said}
	r, err := c.mustHold("../../examples/pod1", "")
	if err != nil {
		t.Fatal(err)
	}
	w := r.Watch(t.Context(), nil, control.WatchOptions{})
	defer w.End()
	address, err := c.serveMetrics(w, "127.0.0.1:0", "")
	if err != nil {
		t.Fatal(err)
	}
	if body := scraped(t, &http.Client{}, strings.TrimSuffix(address, "metrics")); body != "weir: see /metrics\n" || said.Len() > 0 {
		t.Errorf("got %q, and it says %q", body, said.String())
	}
	_ = scraped(t, &http.Client{}, address)
}

// installed is where a program of the package prometheus is.
func installed(t *testing.T, program string) string {
	t.Helper()
	name, err := exec.LookPath(program)
	if err == nil {
		return name
	}
	if os.Getenv("WEIR_TEST_ALL") == "1" {
		t.Fatalf("%s is missing: install the package prometheus", program)
	}
	t.Skipf("%s is missing: install the package prometheus", program)
	return ""
}

// testPrometheus is a Prometheus that runs until the test ends.
type testPrometheus struct{ address string }

// startPrometheus runs a Prometheus on what weir dashboards writes, with the target and the intervals of the test, and the data that load
// brings.
func startPrometheus(t *testing.T, binary, target string, load func(data string)) *testPrometheus {
	t.Helper()
	dir := t.TempDir()
	config, data := writtenConfig(t, dir, target), filepath.Join(dir, "data")
	load(data)
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
	cmd := exec.CommandContext(ctx, binary, "--config.file="+config, "--storage.tsdb.path="+data,
		"--storage.tsdb.retention.time=100y",
		"--query.lookback-delta="+(2*scrapeEvery).String(), // what is loaded does not say where a series ended
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
		config.Global[key] = "1s"
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

// waitFor asks until the expression returns a sample, or for as long as is waited, and gives the labels of what was returned.
func (p *testPrometheus) waitFor(t *testing.T, expr string) []map[string]string {
	t.Helper()
	deadline := time.After(askWithin)
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for {
		if samples := p.ask(t, "query", url.Values{"query": {expr}}); samples != nil {
			return samples
		}
		select {
		case <-deadline:
			return nil
		case <-tick.C:
		}
	}
}

// ask is the labels of the series that a query returns; none while Prometheus does not answer yet.
func (p *testPrometheus) ask(t *testing.T, endpoint string, query url.Values) []map[string]string {
	t.Helper()
	client := http.Client{Timeout: askWithin}
	resp, err := client.Get("http://" + p.address + "/api/v1/" + endpoint + "?" + query.Encode())
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
		t.Fatalf("%s: %v %s", query, err, answer.Error)
	}
	var out []map[string]string
	for _, r := range answer.Data.Result {
		out = append(out, r.Metric)
	}
	return out
}
