package dashboards

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/weirfabric/weir/telemetry"
	"github.com/weirfabric/weir/telemetry/health"
	"github.com/weirfabric/weir/templates"
)

func files(t *testing.T) map[string][]byte {
	t.Helper()
	fs, err := Files(templates.FS)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for _, f := range fs {
		out[f.Name] = f.Body
	}
	return out
}

func TestDashboardsAreWhatGrafanaReads(t *testing.T) {
	uids := map[string]bool{}
	boards := 0
	for name, body := range files(t) {
		if !strings.HasPrefix(name, "grafana/") {
			continue
		}
		boards++
		var d struct {
			UID    string
			Panels []struct {
				ID          int
				Title, Type string
				GridPos     struct{ X, Y, W, H int }
				Targets     []struct{ Expr, RefID string }
				FieldConfig struct{ Defaults struct{ Mappings []any } }
			}
		}
		if err := json.Unmarshal(body, &d); err != nil {
			t.Errorf("%s: %v\n%s", name, err, body)
			continue
		}
		if uids[d.UID] || d.UID == "" {
			t.Errorf("%s: uid %q is empty or taken", name, d.UID)
		}
		uids[d.UID] = true
		taken := map[[2]int]string{}
		for _, p := range d.Panels {
			if p.Type == "table" && len(p.FieldConfig.Defaults.Mappings) > 0 {
				t.Errorf("%s: panel %q would show the words of its values for labels too: priority 3 as an error", name, p.Title)
			}
			if len(p.Targets) == 0 || p.GridPos.X+p.GridPos.W > columns || p.GridPos.W == 0 || p.GridPos.H == 0 {
				t.Errorf("%s: panel %q has no query or no place: %+v", name, p.Title, p.GridPos)
			}
			for x := range p.GridPos.W {
				for y := range p.GridPos.H {
					cell := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
					if other, ok := taken[cell]; ok {
						t.Fatalf("%s: panels %q and %q overlap", name, p.Title, other)
					}
					taken[cell] = p.Title
				}
			}
		}
	}
	if boards != 4 {
		t.Errorf("got %d dashboards, want 4", boards)
	}
}

// TestAMatrixShowsEveryCheck also means that a new check gets its column.
func TestAMatrixShowsEveryCheck(t *testing.T) {
	var want []string
	for _, c := range health.Checks() {
		want = append(want, string(c.Name))
	}
	boards, err := read(templates.FS)
	if err != nil {
		t.Fatal(err)
	}
	matrices := 0
	for _, d := range boards {
		for _, p := range d.Panels {
			if p.Kind != "matrix" {
				continue
			}
			matrices++
			if diff := cmp.Diff(want, p.Columns); diff != "" {
				t.Errorf("%s / %s: grafana/dashboards.yaml: columns (-checks +columns)\n%s", d.Title, p.Title, diff)
			}
		}
	}
	if matrices == 0 {
		t.Error("there is no matrix")
	}
}

func TestAPanelSaysWhatItsValuesMean(t *testing.T) {
	boards, err := read(templates.FS)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range boards {
		for _, p := range d.Panels {
			switch p.Kind {
			case "stat":
				if !p.Judged() && strings.Contains(p.Queries[0].Expr, " bool ") {
					t.Errorf("%s / %s: troubles are counted, and no number is bad", d.Title, p.Title)
				}
				if !p.Instant || len(p.Queries) != 1 {
					t.Errorf("%s / %s: a stat shows one number of now", d.Title, p.Title)
				}
			case "timeseries":
				if p.Unit == "" {
					t.Errorf("%s / %s: no unit", d.Title, p.Title)
				}
				for _, q := range p.Queries {
					if q.Legend == "" {
						t.Errorf("%s / %s: no legend for %s", d.Title, p.Title, q.Expr)
					}
				}
			case "table":
				if p.Value == "" || len(p.Columns) == 0 || p.None == "" {
					t.Errorf("%s / %s: a table has a heading for its values, columns, and something to say when it is empty", d.Title, p.Title)
				}
			case "matrix":
				if len(p.Words) == 0 {
					t.Errorf("%s / %s: a matrix of bare numbers", d.Title, p.Title)
				}
			default:
				t.Errorf("%s / %s: no kind %q", d.Title, p.Title, p.Kind)
			}
			for _, q := range p.Queries {
				if strings.Contains(q.Expr, "vector(") {
					t.Errorf("%s / %s: %s shows a number when nothing is known", d.Title, p.Title, q.Expr)
				}
			}
		}
	}
}

// names finds the metrics of an expression.
var names = regexp.MustCompile(`\bweir_[a-z0-9_]+`)

func TestEveryMetricThatIsAskedForIsInTheCatalog(t *testing.T) {
	queries, err := Queries(templates.FS)
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, q := range queries {
		found := names.FindAllString(q.Expr, -1)
		if len(found) == 0 {
			t.Errorf("%s / %s: %s asks for no metric of weir", q.Dashboard, q.Panel, q.Expr)
		}
		for _, n := range found {
			used[n] = true
			if telemetry.Find(n) == nil {
				t.Errorf("%s / %s: no metric %s in the catalog", q.Dashboard, q.Panel, n)
			}
		}
		if plain := q.Plain("1m"); strings.Contains(plain, "$") {
			t.Errorf("%s / %s: a variable is left in %s", q.Dashboard, q.Panel, plain)
		}
	}
	for _, n := range names.FindAllString(string(files(t)["prometheus/alerts.yml"]), -1) {
		if telemetry.Find(n) == nil {
			t.Errorf("alerts.yml: no metric %s in the catalog", n)
		}
	}
	if len(used) < 15 {
		t.Errorf("only %d metrics are shown", len(used))
	}
}

// checked finds the checks that an expression names.
var checked = regexp.MustCompile(`check=~?"([^"]+)"`)

func TestEveryCheckThatAlertsExists(t *testing.T) {
	known := map[string]bool{}
	for _, c := range health.Checks() {
		known[string(c.Name)] = true
	}
	found := checked.FindAllStringSubmatch(string(files(t)["prometheus/alerts.yml"]), -1)
	if len(found) < 5 {
		t.Fatalf("got %v", found)
	}
	for _, m := range found {
		for name := range strings.SplitSeq(m[1], "|") {
			if !known[name] {
				t.Errorf("alerts.yml: no check %q", name)
			}
		}
	}
}

// promtool runs Debian's promtool in a folder that holds the files of templates/prometheus and the alert tests.
func promtool(t *testing.T, extra map[string][]byte, args ...string) {
	t.Helper()
	tool, err := exec.LookPath("promtool")
	if err != nil {
		if os.Getenv("WEIR_TEST_ALL") == "1" {
			t.Fatal("promtool is missing: install the package prometheus")
		}
		t.Skip("promtool is missing: the package prometheus has it")
	}
	folder := t.TempDir()
	for name, body := range files(t) {
		if strings.HasPrefix(name, "prometheus/") {
			extra[filepath.Base(name)] = body
		}
	}
	for name, body := range extra {
		if err := os.WriteFile(filepath.Join(folder, name), body, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(tool, args...)
	cmd.Dir = folder
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func TestTheConfigurationAndItsRulesAreValid(t *testing.T) {
	promtool(t, map[string][]byte{}, "check", "config", "prometheus.yml")
}

func TestEveryAlertFiresAndStaysQuiet(t *testing.T) {
	body, err := os.ReadFile("testdata/alerts_test.yml")
	if err != nil {
		t.Fatal(err)
	}
	alert := regexp.MustCompile(`alert: (\w+)`)
	for _, m := range alert.FindAllStringSubmatch(string(files(t)["prometheus/alerts.yml"]), -1) {
		if !strings.Contains(string(body), "alertname: "+m[1]+"\n        exp_alerts:") {
			t.Errorf("no test in which %s fires", m[1])
		}
	}
	promtool(t, map[string][]byte{"alerts_test.yml": body}, "test", "rules", "alerts_test.yml")
}

// TestEveryQueryIsPromQL lets promtool parse the panels' queries as recording rules.
func TestEveryQueryIsPromQL(t *testing.T) {
	queries, err := Queries(templates.FS)
	if err != nil {
		t.Fatal(err)
	}
	type rule struct {
		Record string            `yaml:"record"`
		Expr   string            `yaml:"expr"`
		Labels map[string]string `yaml:"labels"`
	}
	var rules []rule
	for _, q := range queries {
		rules = append(rules, rule{"weir:panel", q.Plain("1m"), map[string]string{"dashboard": q.Dashboard, "panel": q.Panel, "expr": q.Expr}})
	}
	body, err := yaml.Marshal(map[string]any{"groups": []map[string]any{{"name": "panels", "rules": rules}}})
	if err != nil {
		t.Fatal(err)
	}
	promtool(t, map[string][]byte{"panels.yml": body}, "check", "rules", "--lint=none", "panels.yml")
}

func TestAlertmanagersConfigurationIsYAMLWithAReceiver(t *testing.T) {
	var c struct {
		Route     struct{ Receiver string }
		Receivers []struct{ Name string }
	}
	if err := yaml.Unmarshal(files(t)["prometheus/alertmanager.yml"], &c); err != nil {
		t.Fatal(err)
	}
	if len(c.Receivers) != 1 || c.Receivers[0].Name != c.Route.Receiver {
		t.Errorf("got %+v", c)
	}
}
