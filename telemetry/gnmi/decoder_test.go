package gnmi

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	gpb "github.com/openconfig/gnmi/proto/gnmi"

	"github.com/weirfabric/weir/telemetry"
	"github.com/weirfabric/weir/templates"
	"github.com/weirfabric/weir/templates/pack"
)

var noon = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

// decoders are the decoders of a platform's streams, by the streams' names.
func decoders(t testing.TB, platform string, d telemetry.Device) map[string]*Decoder {
	t.Helper()
	b, err := telemetry.ReadBindings(templates.FS, platform)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*Decoder{}
	for _, s := range streams(b.Streams) {
		if out[s.String()], err = NewDecoder(d, s.paths, 1); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// update is a notification with one update.
func update(prefix, path string, v *gpb.TypedValue) *gpb.Notification {
	p, err := parsePath(prefix)
	if err != nil {
		panic(err)
	}
	u, err := parsePath(path)
	if err != nil {
		panic(err)
	}
	return &gpb.Notification{Timestamp: noon.UnixNano(), Prefix: p, Update: []*gpb.Update{{Path: u, Val: v}}}
}

func number(n uint64) *gpb.TypedValue {
	return &gpb.TypedValue{Value: &gpb.TypedValue_UintVal{UintVal: n}}
}

func object(text string) *gpb.TypedValue {
	return &gpb.TypedValue{Value: &gpb.TypedValue_JsonIetfVal{JsonIetfVal: []byte(text)}}
}

// lines writes samples as one line each.
func lines(samples []telemetry.Sample) []string {
	var out []string
	for _, s := range samples {
		text, err := json.Marshal(s.Value)
		if err != nil {
			panic(err)
		}
		out = append(out, s.Metric.Name+" "+s.Addr.String()+" "+string(text)+" "+s.Status.String())
	}
	slices.Sort(out)
	return out
}

func TestNotificationsBecomeSamples(t *testing.T) {
	for name, c := range map[string]struct {
		platform, stream string
		aliases          map[string]string
		off              map[string]bool
		in               *gpb.Notification
		want             []string
		unmatched        int
	}{
		"SONiC names rows by alias and queue, and writes numbers as strings": { // sonic-observed: COUNTERS/Ethernet*/Pfcwd
			platform: "sonic", stream: "COUNTERS_DB", aliases: map[string]string{"fortyGigE0/0": "Ethernet0"},
			in: update("", "COUNTERS/Ethernet*/Pfcwd", object(`{
				"fortyGigE0/0:3": {"PFC_WD_ACTION": "drop", "PFC_WD_STATUS": "stormed", "PFC_WD_RESTORATION_TIME": "",
					"PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED": "2", "PFC_WD_QUEUE_STATS_DEADLOCK_RESTORED": "1"}}`)),
			want: []string{
				"weir_queue_watchdog_detected_total leaf1/Ethernet0/queue/3 2 measured",
				"weir_queue_watchdog_restored_total leaf1/Ethernet0/queue/3 1 measured",
				"weir_queue_watchdog_stormed leaf1/Ethernet0/queue/3 1 measured",
			},
		},
		"SONiC ports without an alias keep their name": {
			platform: "sonic", stream: "COUNTERS_DB",
			in: update("", "COUNTERS/Ethernet*", object(`{"Ethernet4":{"SAI_PORT_STAT_IF_IN_OCTETS":"18446744073709551615","SAI_PORT_STAT_PFC_3_RX_PKTS":"12",
				"SAI_PORT_STAT_PFC_3_RX_PAUSE_DURATION_US":"2500000","SAI_PORT_STAT_PFC_3_TX_PKTS":"N/A","SAI_PORT_STAT_IF_IN_ERRORS":"4"}}`)),
			want: []string{
				"weir_port_pfc_pause_frames_received_total leaf1/Ethernet4/pfc/3 12 measured",
				"weir_port_pfc_pause_frames_transmitted_total leaf1/Ethernet4/pfc/3 0 unsupported",
				"weir_port_pfc_pause_seconds_total leaf1/Ethernet4/pfc/3 2.5 measured",
				"weir_port_received_bytes_total leaf1/Ethernet4 18446744073709552000 measured",
			},
		},
		"SONiC's own estimate stands only where nothing is measured": {
			platform: "sonic", stream: "COUNTERS_DB",
			in: update("", "COUNTERS/Ethernet*", object(`{
				"Ethernet0":{"EST_PORT_STAT_PFC_3_RX_PAUSE_DURATION_US":"7000000","SAI_PORT_STAT_PFC_3_RX_PAUSE_DURATION_US":"2000000"},
				"Ethernet4":{"SAI_PORT_STAT_PFC_3_RX_PAUSE_DURATION_US":"2000000","EST_PORT_STAT_PFC_3_RX_PAUSE_DURATION_US":"7000000"},
				"Ethernet8":{"EST_PORT_STAT_PFC_3_RX_PAUSE_DURATION_US":"7000000"}}`)),
			want: []string{
				"weir_port_pfc_pause_seconds_total leaf1/Ethernet0/pfc/3 2 measured",
				"weir_port_pfc_pause_seconds_total leaf1/Ethernet4/pfc/3 2 measured",
				"weir_port_pfc_pause_seconds_total leaf1/Ethernet8/pfc/3 7 estimated",
			},
		},
		"SONiC's ECN counters mean nothing while their group is off": {
			platform: "sonic", stream: "COUNTERS_DB", off: map[string]bool{"WRED_ECN_QUEUE": true},
			in: update("", "COUNTERS/Ethernet*/Queues", object(`{"Ethernet0:3":{"SAI_QUEUE_STAT_PACKETS":"9","SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS":"0"},
				"Ethernet0:10":{"SAI_QUEUE_STAT_PACKETS":"1"},"Ethernet0:3:periodic":{"SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES":"192"},"Ethernet0:4":{}}`)),
			want: []string{
				"weir_queue_ecn_marked_packets_total leaf1/Ethernet0/queue/3 0 disabled",
				"weir_queue_transmitted_packets_total leaf1/Ethernet0/queue/3 9 measured",
				"weir_queue_watermark_bytes leaf1/Ethernet0/queue/3 192 measured",
			},
		},
		"SONiC's state of ports": {
			platform: "sonic", stream: "APPL_DB",
			in: update("", "PORT_TABLE", object(`{"Ethernet0":{"admin_status":"up","oper_status":"up","alias":"etp1"},"Ethernet4":{"oper_status":"down"},
				"PortInitDone":{"lanes":"0"}}`)),
			want: []string{"weir_port_up leaf1/Ethernet0 1 measured", "weir_port_up leaf1/Ethernet4 0 measured"},
		},
		"a body with escapes": {
			platform: "sonic", stream: "COUNTERS_DB",
			in:   update("", "COUNTERS/Ethernet*/Queues", object(`{"Ethernet0\/1:3":{"SAI_QUEUE_STAT_PACKETS":"9"}}`)),
			want: []string{"weir_queue_transmitted_packets_total leaf1/Ethernet0/1/queue/3 9 measured"},
		},
		"a body that is no object is unmatched": {
			platform: "sonic", stream: "COUNTERS_DB", in: update("", "COUNTERS/Ethernet*", object(`[]`)), unmatched: 1,
		},
		"EOS sends leaves, split between prefix and path at any place": {
			platform: "eos", stream: "openconfig",
			in: update("/interfaces/interface[name=Ethernet1/1]", "/ethernet/pfc/priorities/priority[index=3]/state/in-frames", number(7)),
			want: []string{
				"weir_port_pfc_pause_frames_received_total leaf1/Ethernet1/1/pfc/3 7 measured"},
		},
		"EOS without a prefix": { // telegraf issue 14946
			platform: "eos", stream: "openconfig",
			in:   update("", "/interfaces/interface[name=Ethernet1/1]/ethernet/pfc/priorities/priority[index=3]/state/pfc-on-total-rx-time", number(1500000000)),
			want: []string{"weir_port_pfc_pause_seconds_total leaf1/Ethernet1/1/pfc/3 1.5 measured"},
		},
		"EOS names output queues by interface and number": { // featureprofiles: interface_output_queue_non_standard_name
			platform: "eos", stream: "openconfig",
			in:   update("", "/qos/interfaces/interface[interface-id=Ethernet1]/output/queues/queue[name=Ethernet1-3]/state/ecn-marked-pkts", object(`"42"`)),
			want: []string{"weir_queue_ecn_marked_packets_total leaf1/Ethernet1/queue/3 42 measured"},
		},
		"EOS counts the watchdog of multicast queues, which weir does not read": {
			platform: "eos", stream: "openconfig",
			in:        update("", "/interfaces/interface[name=Ethernet1]/ethernet/pfc/watchdog/tx-queues/tx-queue[index=3][queue-type=MULTICAST]/state/stuck-count", number(1)),
			unmatched: 1,
		},
		"EOS state is an identity": {
			platform: "eos", stream: "openconfig",
			in:   update("/interfaces", "interface[name=Ethernet1]/state/oper-status", object(`"openconfig-interfaces:LOWER_LAYER_DOWN"`)),
			want: []string{"weir_port_up leaf1/Ethernet1 0 measured"},
		},
		"a whole container is taken apart by the schema": {
			platform: "eos", stream: "openconfig",
			in: update("/qos/interfaces", "interface[interface-id=Ethernet1]/output/queues/queue[name=UC3]/state",
				object(`{"openconfig-qos:name":"UC3","openconfig-qos:transmit-pkts":"10","openconfig-qos:dropped-pkts":"2","arista-x:unknown":1}`)),
			want: []string{
				"weir_queue_dropped_packets_total leaf1/Ethernet1/queue/3 2 measured",
				"weir_queue_transmitted_packets_total leaf1/Ethernet1/queue/3 10 measured",
			},
		},
		"a leaf that nobody asked for is unmatched": {
			platform: "eos", stream: "openconfig", unmatched: 1,
			in: update("", "/interfaces/interface[name=Ethernet1]/state/mtu", number(9214)),
		},
		"a dash is no reading": {
			platform: "eos", stream: "openconfig", unmatched: 1,
			in: update("", "/qos/interfaces/interface[interface-id=Ethernet1]/output/queues/queue[name=UC3]/state/ecn-marked-pkts", object(`"-"`)),
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := decoders(t, c.platform, telemetry.Device{Name: "leaf1"})[c.stream]
			d.Learn(c.aliases, c.off)
			samples, unmatched := d.Decode(c.in, noon)
			if diff := cmp.Diff(lines(samples), c.want); diff != "" {
				t.Errorf("(-got +want)\n%s", diff)
			}
			if unmatched != c.unmatched {
				t.Errorf("got %d unmatched, want %d", unmatched, c.unmatched)
			}
		})
	}
}

func TestWhatDoesNotComeIsNotZero(t *testing.T) {
	device := telemetry.Device{Name: "leaf1", Ports: []telemetry.Port{{Name: "Ethernet1"}, {Name: "Ethernet2"}}, Watched: []string{"3"}}
	d := decoders(t, "eos", device)["openconfig"]
	at := func(samples []telemetry.Sample, metric *telemetry.Metric) []string {
		return lines(slices.DeleteFunc(samples, func(s telemetry.Sample) bool { return s.Metric != metric }))
	}
	d.Decode(update("/qos/interfaces/interface[interface-id=Ethernet1]/output/queues/queue[name=3]", "/state/ecn-marked-pkts", number(1)), noon)
	d.Decode(update("", "/interfaces/interface[name=Ethernet2]/ethernet/pfc/watchdog/tx-queues/tx-queue[index=3][queue-type=UNICAST]/state/stuck-count", number(1)), noon)

	if diff := cmp.Diff(lines(d.Missing(noon, false)), []string{
		"weir_queue_watchdog_detected_total leaf1/Ethernet1/queue/3 0 measured",
		"weir_queue_watchdog_restored_total leaf1/Ethernet1/queue/3 0 measured",
		"weir_queue_watchdog_restored_total leaf1/Ethernet2/queue/3 0 measured",
	}); diff != "" {
		t.Errorf("at the sync, when only an empty watchdog says something (-got +want)\n%s", diff)
	}
	if diff := cmp.Diff(at(d.Missing(noon, true), telemetry.ECNMarked), []string{
		"weir_queue_ecn_marked_packets_total leaf1/Ethernet2/queue/3 0 unsupported"}); diff != "" {
		t.Errorf("when it had its time (-got +want)\n%s", diff)
	}
	if got, want := len(d.Silent(noon, 3, true)), 3; got != want {
		t.Errorf("got %d silent paths %v, want %d", got, d.Silent(noon, 3, true), want)
	}

	sonic := decoders(t, "sonic", telemetry.Device{Name: "leaf1", Ports: []telemetry.Port{{Name: "Ethernet0"}}, Watched: []string{"3"}})["COUNTERS_DB"]
	sonic.Learn(nil, map[string]bool{"WRED_ECN_QUEUE": true})
	if diff := cmp.Diff(at(sonic.Missing(noon, true), telemetry.ECNMarked), []string{
		"weir_queue_ecn_marked_packets_total leaf1/Ethernet0/queue/3 0 disabled"}); diff != "" {
		t.Errorf("a group that is off (-got +want)\n%s", diff)
	}
}

func TestAPathThatStopsIsNoticed(t *testing.T) {
	d := decoders(t, "sonic", telemetry.Device{Name: "leaf1"})["COUNTERS_DB"]
	d.Decode(update("", "COUNTERS/Ethernet*/Pfcwd", object(`{"Ethernet0:3":{"PFC_WD_STATUS":"operational"}}`)), noon)
	if got := d.Stopped(noon.Add(8*time.Second), 3); got != "" {
		t.Errorf("after three intervals: got %q, want none", got)
	}
	if got, want := d.Stopped(noon.Add(9*time.Second), 3), "COUNTERS/Ethernet*/Pfcwd"; got != want {
		t.Errorf("after four intervals and more: got %q, want %q", got, want)
	}
	d.Resume(noon.Add(9 * time.Second))
	if got := d.Stopped(noon.Add(9*time.Second), 3); got != "" {
		t.Errorf("after it was begun anew: got %q, want none", got)
	}
}

func TestWhatIsOffOnPurposeIsNotMissed(t *testing.T) {
	watchdog := []pack.Feature{pack.FeatureWatchdog}
	for name, c := range map[string]struct {
		ports            []telemetry.Port
		stopped          string
		disabled, silent int
	}{
		"on no port":    {[]telemetry.Port{{Name: "Ethernet0", Off: watchdog}, {Name: "Ethernet4", Off: watchdog}}, "", 3, 0},
		"on one of two": {[]telemetry.Port{{Name: "Ethernet0"}, {Name: "Ethernet4", Off: watchdog}}, "COUNTERS/Ethernet*/Pfcwd", 3, 1},
	} {
		d := decoders(t, "sonic", telemetry.Device{Name: "leaf1", Ports: c.ports, Watched: []string{"3"}})["COUNTERS_DB"]
		d.Decode(update("", "COUNTERS/Ethernet*/Pfcwd", object(`{"Ethernet0:3":{"PFC_WD_STATUS":"operational","PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED":"0","PFC_WD_QUEUE_STATS_DEADLOCK_RESTORED":"0"}}`)), noon)
		after := noon.Add(time.Minute)
		if got := d.Stopped(after, 3); got != c.stopped {
			t.Errorf("%s: %q counts as stopped, want %q", name, got, c.stopped)
		}
		if got := len(d.Silent(after, 3, false)); got != c.silent {
			t.Errorf("%s: %d paths count as silent, want %d", name, got, c.silent)
		}
		disabled := 0
		for _, s := range d.Missing(after, true) {
			if s.Addr.Port == "Ethernet4" && s.Status == telemetry.Disabled {
				disabled++
			}
		}
		if disabled != c.disabled {
			t.Errorf("%s: %d readings are disabled, want %d", name, disabled, c.disabled)
		}
	}
}

func TestAPathThatTheModelsDoNotHaveIsRefused(t *testing.T) {
	_, err := NewDecoder(telemetry.Device{}, []pack.Path{{Origin: "openconfig", Path: "/interfaces/interface[name={port}]/state/counters",
		Every: time.Second, Fields: map[string]pack.Field{"in-octet": {Metric: "weir_port_received_bytes_total"}}}}, 1)
	want := "path /interfaces/interface/state/counters/in-octet is not in the OpenConfig models"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestStreamsAreFewAndSampleCounters(t *testing.T) {
	b, err := telemetry.ReadBindings(templates.FS, "sonic")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range streams(b.Streams) {
		req, err := s.request(gpb.Encoding_JSON_IETF)
		if err != nil {
			t.Fatal(err)
		}
		list := req.GetSubscribe()
		for _, sub := range list.GetSubscription() {
			var path []string
			for _, e := range sub.GetPath().GetElem() {
				path = append(path, e.GetName())
			}
			every := time.Duration(sub.GetSampleInterval() + sub.GetHeartbeatInterval())
			got = append(got, list.GetPrefix().GetTarget()+" "+strings.Join(path, "/")+" "+sub.GetMode().String()+" "+every.String())
		}
	}
	if diff := cmp.Diff(got, []string{
		"COUNTERS_DB COUNTERS/Ethernet* SAMPLE 10s",
		"COUNTERS_DB COUNTERS/Ethernet*/Queues SAMPLE 10s",
		"COUNTERS_DB COUNTERS/Ethernet*/Pfcwd SAMPLE 2s",
		"COUNTERS_DB PERIODIC_WATERMARKS/Ethernet*/PriorityGroups SAMPLE 1m0s",
		"APPL_DB PORT_TABLE ON_CHANGE 1m0s",
	}); diff != "" {
		t.Errorf("(-got +want)\n%s", diff)
	}
}
