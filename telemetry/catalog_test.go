package telemetry

import (
	"bufio"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/templates"
)

func TestTheCatalogIsInOrderAndUnique(t *testing.T) {
	var names []string
	for _, m := range Catalog() {
		names = append(names, m.Name)
		if Find(m.Name) != m {
			t.Errorf("%s is not found by its name", m.Name)
		}
		if m.Counter != strings.HasSuffix(m.Name, "_total") {
			t.Errorf("%s: a counter ends in _total, and nothing else does", m.Name)
		}
		if m.Help == "" || !strings.HasSuffix(m.Help, ".") {
			t.Errorf("%s: help is no sentence: %q", m.Name, m.Help)
		}
	}
	if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("not sorted, or one twice: %v", names)
	}
	if Find("weir_nonsense") != nil {
		t.Error("found what does not exist")
	}
}

func TestAReadingHasTheAddressAndTheLabelsOfItsPlace(t *testing.T) {
	for _, c := range []struct {
		metric  *Metric
		number  string
		address string
		values  []string
	}{
		{PFCReceived, "3", "leaf1/Ethernet0/pfc/3", []string{"leaf1", "Ethernet0", "3"}},
		{ECNMarked, "3", "leaf1/Ethernet0/queue/3", []string{"leaf1", "Ethernet0", "3"}},
		{GroupDropped, "3", "leaf1/Ethernet0/pg/3", []string{"leaf1", "Ethernet0", "3"}},
		{PortUp, "", "leaf1/Ethernet0", []string{"leaf1", "Ethernet0"}},
	} {
		a := c.metric.At("leaf1", "Ethernet0", c.number)
		if got := a.String(); got != c.address {
			t.Errorf("%s: got %s, want %s", c.metric.Name, got, c.address)
		}
		if diff := cmp.Diff(c.metric.Values(a), c.values); diff != "" {
			t.Errorf("%s (-got +want)\n%s", c.metric.Name, diff)
		}
	}
	if diff := cmp.Diff(Verdict.Values(addr.Device("leaf1").With("drift")), []string{"leaf1", "drift"}); diff != "" {
		t.Errorf("(-got +want)\n%s", diff)
	}
}

func TestEveryPlatformBringsWhatTheVerdictsNeed(t *testing.T) {
	need := map[string][]*Metric{
		"sonic": {PortUp, PFCReceived, PFCTransmitted, PFCSeconds, QueuePackets, QueueDropped, ECNMarked, GroupDropped, WatchdogDetected, WatchdogRestored, WatchdogStormed, HeadroomWatermark},
		"eos":   {PortUp, PFCReceived, PFCTransmitted, PFCSeconds, QueuePackets, QueueDropped, ECNMarked, WatchdogDetected, WatchdogRestored},
		"linux": {PortUp, PFCReceived, PFCTransmitted, PFCSeconds, PriorityReceivedBytes, PriorityTransmittedBytes, CNPSent, CNPHandled, CEReceived, OutOfSequence},
	}
	for platform, metrics := range need {
		b, err := ReadBindings(templates.FS, platform)
		if err != nil {
			t.Error(err)
			continue
		}
		have := map[string]bool{}
		for _, p := range b.Streams {
			for _, f := range p.Fields {
				have[f.Metric] = true
			}
		}
		for _, p := range b.Polls {
			for _, f := range p.Fields {
				have[f.Metric] = have[f.Metric] || !p.Fallback
			}
		}
		for _, m := range metrics {
			if !have[m.Name] {
				t.Errorf("%s: nothing brings %s", platform, m.Name)
			}
		}
	}
}

func TestMistakesInAPackAreTold(t *testing.T) {
	for name, c := range map[string]struct{ pack, want string }{
		"an unknown metric": {"counters:\n  streams:\n    - {path: /a, every: 1s, fields: {x: {metric: weir_nonsense}}}\n",
			`read section counters of x/pack.yaml: /a: x: no metric "weir_nonsense" in the catalog`},
		"a counter on change": {"counters:\n  streams:\n    - {path: /a, every: 1s, change: true, fields: {x: {metric: weir_queue_dropped_packets_total}}}\n",
			`read section counters of x/pack.yaml: /a: x: weir_queue_dropped_packets_total is a counter: sample it`},
		"a key that nobody reads": {"counters:\n  stream: []\n",
			"read x/pack.yaml: section counters: line 2: unknown key stream"},
		"no interval, no form": {"counters:\n  polls:\n    - {name: p, ask: show, form: prose, fields: {}}\n",
			"read section counters of x/pack.yaml: p: every: want an interval\np: form \"prose\": want lines, json or table"},
		"no section": {"session: {}\n", "read x/pack.yaml: it has no section counters"},
		"a status": {"counters:\n  streams:\n    - {path: /a, every: 1s, fields: {x: {metric: weir_port_up, status: guessed}}}\n",
			`status "guessed": want one of measured, estimated, unsupported, disabled, suspect, missing`},
	} {
		_, err := ReadBindings(fstest.MapFS{"x/pack.yaml": {Data: []byte(c.pack)}}, "x")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
}

// TestPathsOfVendorsModelsAreOnesThatTheVendorLists holds the EOS paths against Arista's own list of supported paths.
func TestPathsOfVendorsModelsAreOnesThatTheVendorLists(t *testing.T) {
	file, err := os.Open("../../shared/data/eos_4.36.1F_ocpaths_qos.tsv")
	if err != nil {
		t.Skip("Arista's list of paths is not here: ", err)
	}
	defer file.Close()
	since := map[string]string{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if f := strings.Split(lines.Text(), "\t"); len(f) > 2 {
			since[f[0]] = f[2]
		}
	}
	b, err := ReadBindings(templates.FS, "eos")
	if err != nil {
		t.Fatal(err)
	}
	keys := regexp.MustCompile(`\[[^]]*\]`)
	checked := 0
	for _, p := range b.Streams {
		for name, f := range p.Fields {
			path := strings.TrimSuffix(keys.ReplaceAllString(p.Path, "")+"/"+name, "/")
			release, ok := since[path]
			if !ok {
				// The list is of QoS and counters; state of interfaces stands elsewhere.
				if p.Model != "" {
					t.Errorf("%s is not listed", path)
				}
				continue
			}
			checked++
			if f.From != "" && f.From != release {
				t.Errorf("%s: the pack says since %s, the list %s", path, f.From, release)
			}
		}
	}
	if checked < 10 {
		t.Errorf("only %d paths were found in the list", checked)
	}
}
