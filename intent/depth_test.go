package intent

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent/qos"
)

func TestADepthIsASizeOrAPercentage(t *testing.T) {
	for text, want := range map[string]Depth{"150kB": {Bytes: 150e3}, "18KiB": {Bytes: 18432}, "10%": {Percent: 10}, "0.5%": {Percent: 0.5}, "100%": {Percent: 100}} {
		var got Depth
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want || got.String() != text {
			t.Errorf("%s: got %+v, written %s, %v", text, got, got, err)
		}
	}
	for _, text := range []string{"", "0B", "0%", "101%", "150", "-1%", "10 %"} {
		var got Depth
		if err := got.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q was read as %+v", text, got)
		}
	}
}

// read is the intent of a fabric with one class, written so, and what is wrong with it.
func read(t *testing.T, ecn, more string) (ECN, Settings, string) {
	t.Helper()
	f, findings := Load(fstest.MapFS{"fabric.yaml": {Data: []byte(
		"kind: Fabric\nname: pod1\nclasses:\n  - {name: rdma, priority: 3, lossless: true, ecn: " + ecn + "}\n" + more,
	)}})
	if len(findings) > 0 {
		return ECN{}, Settings{}, findings.String()
	}
	return f.Classes[0].ECN, f.Settings, ""
}

func TestTheMarkingCurveIsWrittenInEveryWay(t *testing.T) {
	type curve struct {
		Off, Auto bool
		Min, Max  Depth
		RTT       time.Duration
		Flows     int
	}
	for ecn, want := range map[string]curve{
		"auto":                              {Auto: true},
		"off":                               {Off: true},
		"{off: true}":                       {Off: true},
		"{rtt: 20us}":                       {RTT: 20 * time.Microsecond},
		"{min: 10%, max: 80%}":              {Min: Depth{Percent: 10}, Max: Depth{Percent: 80}},
		"{min: 150kB, max: 80%, flows: 64}": {Min: Depth{Bytes: 150e3}, Max: Depth{Percent: 80}, Flows: 64},
		"{auto: true, probability: 5%, rtt: 1ms}": {Auto: true, RTT: time.Millisecond},
	} {
		e, _, wrong := read(t, ecn, "")
		got := curve{e.Off.V, e.Auto.V, e.Min.V, e.Max.V, e.RTT.V, e.Flows.V}
		if diff := cmp.Diff(want, got); diff != "" || wrong != "" {
			t.Errorf("ecn: %s (-want +got):\n%s%s", ecn, diff, wrong)
		}
	}
	for ecn, want := range map[string]string{
		"on":           "the word off or auto or a mapping with keys such as min, max, probability",
		"{min: 0kB}":   "write a size like 150kB, or a percentage of the depth at which PFC fires",
		"{rtt: 1ns}":   "want",
		"{flows: 0}":   "want",
		"{kmin: 10kB}": "unknown key",
	} {
		if _, _, wrong := read(t, ecn, ""); !strings.Contains(wrong, want) {
			t.Errorf("ecn: %s: got\n%s\nwant %q", ecn, wrong, want)
		}
	}
}

func TestAStaticThresholdIsWrittenBesideAlpha(t *testing.T) {
	_, s, wrong := read(t, "auto", "buffers: {threshold: 96kB}\n")
	if wrong != "" || s.Buffers.Threshold.V != qos.Bytes(96e3) || s.Buffers.Alpha.Set() {
		t.Errorf("got %+v\n%s", s.Buffers, wrong)
	}
}
