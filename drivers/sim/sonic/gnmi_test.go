package sonic_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/weirfabric/weir/drivers/sim"
)

// wantCode checks an error's code and that it says something.
func wantCode(t *testing.T, err error, code codes.Code, words string) {
	t.Helper()
	if status.Code(err) != code || err == nil || !strings.Contains(err.Error(), words) {
		t.Errorf("got %v, want %v with %q", err, code, words)
	}
}

func TestASetIsReadBackSavedAndFlapsItsPort(t *testing.T) {
	b := newBench(t, leaf(nil))
	resp, err := b.set(update(config+"PORT_QOS_MAP/Ethernet0/pfc_enable", "3"))
	if err != nil {
		t.Fatal(err)
	}
	if resp.GetTimestamp() != 0 {
		t.Errorf("the answer has timestamp %d, want 0", resp.GetTimestamp())
	}
	if got := b.must("", config+"PORT_QOS_MAP/Ethernet0/pfc_enable"); got != `"3"` {
		t.Errorf("read back %s", got)
	}
	if saved, _ := b.run("cat /etc/sonic/config_db.json", ""); !strings.Contains(saved, `"pfc_enable": "3",`) {
		t.Error("what was set is not in the saved configuration")
	}
	c, err := b.Counters("leaf1", "Ethernet0")
	if err != nil || c.Flaps == 0 {
		t.Errorf("Ethernet0 flapped %d times, %v", c.Flaps, err)
	}
}

func TestANativePathKeepsACompositeKeyWhole(t *testing.T) {
	b := newBench(t, leaf(nil))
	if got := b.must("", config+"QUEUE/Ethernet0|3/scheduler"); got != `"scheduler.1"` {
		t.Errorf("got %s", got)
	}
	if got := b.must("CONFIG_DB", "QUEUE/Ethernet0|3/scheduler"); got != `"scheduler.1"` {
		t.Errorf("in the older form: got %s", got)
	}
	if _, err := b.get("", config+"QUEUE/Ethernet0/3/scheduler"); err == nil {
		t.Error("a key in two elements was found")
	}
}

func TestGetTakesJSONIETFAndTypeAllOnly(t *testing.T) {
	b := newBench(t, leaf(nil))
	request := func(e gpb.Encoding, kind gpb.GetRequest_DataType) error {
		_, err := b.gnmi.Get(b.ctx, &gpb.GetRequest{Path: []*gpb.Path{path(config + "PORT")}, Encoding: e, Type: kind})
		return err
	}
	wantCode(t, request(gpb.Encoding_JSON, gpb.GetRequest_ALL), codes.NotFound, "Unknown encoding JSON")
	wantCode(t, request(gpb.Encoding_PROTO, gpb.GetRequest_ALL), codes.NotFound, "Unknown encoding PROTO")
	wantCode(t, request(gpb.Encoding_ASCII, gpb.GetRequest_ALL), codes.Unimplemented, "unsupported encoding: ASCII")
	wantCode(t, request(gpb.Encoding_JSON_IETF, gpb.GetRequest_CONFIG), codes.Unimplemented, "unsupported request type: CONFIG")
	if err := request(gpb.Encoding_JSON_IETF, gpb.GetRequest_ALL); err != nil {
		t.Error(err)
	}
}

func TestWhatIsNotThere(t *testing.T) {
	b := newBench(t, leaf(nil))
	_, err := b.get("", config+"NOSUCH")
	wantCode(t, err, codes.NotFound, "Failed to find CONFIG_DB NOSUCH")
	if got := b.must("", config+"QUEUE/Ethernet0|7"); got != "{}" {
		t.Errorf("an absent row: got %s, want an empty object", got)
	}
	_, err = b.get("COUNTERS_DB", "COUNTERS/Ethernet0/SAI_PORT_STAT_NO_SUCH")
	wantCode(t, err, codes.NotFound, "No valid entry found")
	_, err = b.get("", "QUEUE")
	wantCode(t, err, codes.NotFound, "")
	_, err = b.gnmi.Get(b.ctx, &gpb.GetRequest{Path: []*gpb.Path{{}}, Encoding: gpb.Encoding_JSON_IETF})
	wantCode(t, err, codes.Unimplemented, "Empty target data not supported")
}

func TestUpdateReplacesWhatStandsAtItsPath(t *testing.T) {
	b := newBench(t, leaf(nil))
	if _, err := b.set(update(config+"SCHEDULER/scheduler.0", row{"type": "STRICT"})); err != nil {
		t.Fatal(err)
	}
	if got := b.must("", config+"SCHEDULER/scheduler.0"); got != `{"type":"STRICT"}` {
		t.Errorf("got %s, want the weight gone", got)
	}
}

func TestAnUpdateNeedsTheParentOfItsPath(t *testing.T) {
	b := newBench(t, leaf(nil))
	_, err := b.set(update(config+"DOT1P_TO_TC_MAP/AZURE", row{"3": "3"}))
	wantCode(t, err, codes.Unknown, "Failed to apply patch on the following scopes:")
	if _, err := b.set(update(config+"DOT1P_TO_TC_MAP", map[string]row{"AZURE": {"3": "3"}})); err != nil {
		t.Errorf("with its table: %v", err)
	}
	_, err = b.set(&gpb.SetRequest{Delete: []*gpb.Path{path(config + "DOT1P_TO_TC_MAP/AZURE")}})
	wantCode(t, err, codes.Unknown, "empty tables")
	if _, err = b.set(&gpb.SetRequest{Delete: []*gpb.Path{path(config + "DOT1P_TO_TC_MAP")}}); err != nil {
		t.Errorf("the last row with its table: %v", err)
	}
}

func TestAReplaceNeedsWhatItReplaces(t *testing.T) {
	b := newBench(t, leaf(nil))
	_, err := b.set(&gpb.SetRequest{Replace: []*gpb.Update{{Path: path(config + "SCHEDULER/new"), Val: ietf(row{"type": "STRICT"})}}})
	wantCode(t, err, codes.Unknown, "Invalid entry map[type:STRICT]")
}

func TestADeleteOfNothingIsNoError(t *testing.T) {
	b := newBench(t, leaf(nil))
	if _, err := b.set(&gpb.SetRequest{Delete: []*gpb.Path{path(config + "SCHEDULER/nobody")}}); err != nil {
		t.Error(err)
	}
}

func TestRefusalsAreAllOfCodeUnknown(t *testing.T) {
	b := newBench(t, leaf(nil))
	before := string(mustConfig(t, b))
	for _, c := range []struct {
		name, words string
		req         *gpb.SetRequest
	}{
		{"an unknown table", "Failed to apply patch on the following scopes:", update(config+"NO_SUCH_TABLE", map[string]row{"a": {"b": "c"}})},
		{"a probability above 100", "Data Loading Failed", update(config+"WRED_PROFILE/AZURE_LOSSLESS/green_drop_probability", "101")},
		{"a minimum above the maximum", "Data Loading Failed", update(config+"WRED_PROFILE/AZURE_LOSSLESS/green_min_threshold", "9999999")},
		{"a reference to nothing", "Data Loading Failed", update(config+"QUEUE/Ethernet0|3/scheduler", "nobody")},
		{"a field that is not there", "Data Loading Failed", update(config+"QUEUE/Ethernet0|3/colour", "blue")},
		{"priorities with a space", "Data Loading Failed", update(config+"PORT_QOS_MAP/Ethernet0/pfc_enable", "3, 4")},
		{"a value in plain JSON", "Fail to parse", &gpb.SetRequest{Update: []*gpb.Update{{Path: path(config + "PORT/Ethernet0/mtu"),
			Val: &gpb.TypedValue{Value: &gpb.TypedValue_JsonVal{JsonVal: []byte(`"9000"`)}}}}}},
		{"a number", "Invalid field 7", update(config+"SCHEDULER/scheduler.0/weight", 7)},
		{"a buffer pool", "Failed to apply patch on the following scopes:", update(config+"BUFFER_POOL/egress_lossy_pool/size", "1")},
		{"a pool of a profile", "Failed to apply patch on the following scopes:", update(config+"BUFFER_PROFILE/ingress_lossy_profile/pool", "egress_lossy_pool")},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := b.set(c.req)
			wantCode(t, err, codes.Unknown, c.words)
		})
	}
	if after := string(mustConfig(t, b)); after != before {
		t.Error("a refused Set changed the configuration")
	}
}

// watchdog is a CONFIG_DB whose watchdog was begun by hand.
func watchdog(b *bench) {
	b.run("sudo sonic-db-cli CONFIG_DB HSET 'PFC_WD|Ethernet0' detection_time 200 restoration_time 400 action drop", "")
}

func TestTheUpdaterChangesWhatItKnowsOfAWatchdogOnly(t *testing.T) {
	b := newBench(t, leaf(nil))
	_, err := b.set(update(config+"PFC_WD", map[string]row{"Ethernet0": {"detection_time": "200"}}))
	wantCode(t, err, codes.Unknown, "Failed to apply patch on the following scopes:")
	watchdog(b)
	if _, err := b.set(update(config+"PFC_WD/Ethernet0/detection_time", "300")); err != nil {
		t.Errorf("a time: %v", err)
	}
	if _, err := b.set(update(config+"PFC_WD/Ethernet4", row{"detection_time": "300", "action": "drop"})); err != nil {
		t.Errorf("another port: %v", err)
	}
	_, err = b.set(update(config+"PFC_WD/GLOBAL", row{"POLL_INTERVAL": "200"}))
	wantCode(t, err, codes.Unknown, "Failed to apply patch on the following scopes:")
}

func TestTheUpdaterChangesNoWatchdogOfASwitchItDoesNotKnow(t *testing.T) {
	spec := leaf(nil)
	spec.SKU = "Nobody-S1"
	b := newBench(t, spec)
	watchdog(b)
	_, err := b.set(update(config+"PFC_WD/Ethernet0/detection_time", "300"))
	wantCode(t, err, codes.Unknown, "Failed to apply patch on the following scopes:")
	_, err = b.set(update(config+"BUFFER_PROFILE/ingress_lossy_profile/dynamic_th", "1"))
	wantCode(t, err, codes.Unknown, "Failed to apply patch on the following scopes:")
	if _, err := b.set(update(config+"BUFFER_PROFILE/mine", row{"pool": "egress_lossy_pool", "size": "0", "dynamic_th": "1"})); err != nil {
		t.Errorf("a new profile: %v", err)
	}
}

func TestASlashInAKeyIsWrittenAsInAJSONPointer(t *testing.T) {
	b := newBench(t, leaf(nil))
	if got := b.must("", config+"LOOPBACK_INTERFACE/Loopback0|10.1.0.1~132"); got != "{}" {
		t.Errorf("got %s", got)
	}
}

func mustConfig(t *testing.T, b *bench) []byte {
	t.Helper()
	text, err := b.Config("leaf1")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestAPatchGoesOnWhenItsClientHasGone(t *testing.T) {
	b := newBenchAt(t, leaf(nil), 5)
	b.must("", config+"PORT")                                       // connects
	ctx, cancel := context.WithTimeout(b.ctx, 150*time.Millisecond) // 0.75 s of the device, less than any Set takes
	defer cancel()
	req := update(config+"PORT_QOS_MAP/Ethernet0/pfc_enable", "3")
	req.Update = append(req.Update, update(config+"PORT_QOS_MAP/Ethernet4/pfc_enable", "3").GetUpdate()...)
	_, err := b.gnmi.Set(ctx, req)
	wantCode(t, err, codes.DeadlineExceeded, "")
	if pid, status := b.run("pgrep -f 'config apply-patch'", ""); status != 0 || pid == "" {
		t.Errorf("pgrep says %q, %d", pid, status)
	}
	applied := func() int { return strings.Count(string(mustConfig(t, b)), `"pfc_enable": "3",`) }
	b.eventually("a part of the patch is applied", func() bool { return applied() == 1 })
	if got := b.must("", config+"PORT_QOS_MAP/Ethernet0/pfc_enable"); got != `"3,4"` {
		t.Errorf("while the updater runs Get answers %s, want what was", got)
	}
	b.eventually("all of it is applied", func() bool { return applied() == 2 })
	b.eventually("the updater has gone", func() bool {
		_, status := b.run("pgrep -f 'config apply-patch'", "")
		return status == 1
	})
}

func TestALargeSetTakesLongerThanTheServerWaits(t *testing.T) {
	spec := leaf(nil)
	spec.Ports = nil
	for n := range 32 {
		spec.Ports = append(spec.Ports, sim.PortSpec{Name: fmt.Sprintf("Ethernet%d", 4*n), Speed: 100e9})
	}
	b := newBenchAt(t, spec, 2000)
	req := &gpb.SetRequest{}
	for _, p := range spec.Ports {
		req.Update = append(req.Update, &gpb.Update{Path: path(config + "PORT_QOS_MAP/" + p.Name + "/pfc_enable"), Val: ietf("3")})
		for _, q := range []string{"0", "1", "2", "5"} {
			req.Update = append(req.Update, &gpb.Update{Path: path(config + "QUEUE/" + p.Name + "|" + q + "/scheduler"), Val: ietf("scheduler.1")})
		}
	}
	_, err := b.set(req)
	wantCode(t, err, codes.Unknown, "Timeout 600")
}

func TestALoginIsByPasswordOrCertificate(t *testing.T) {
	b := newBench(t, leaf(nil))
	for name, ctx := range map[string]context.Context{
		"nobody":             t.Context(),
		"a wrong password":   metadata.AppendToOutgoingContext(t.Context(), "username", "admin", "password", "wrong"),
		"a user with no one": metadata.AppendToOutgoingContext(t.Context(), "username", "admin"),
	} {
		_, err := b.gnmi.Capabilities(ctx, &gpb.CapabilityRequest{})
		if status.Code(err) != codes.Unauthenticated {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := b.clientWithCertificate().Capabilities(t.Context(), &gpb.CapabilityRequest{}); err != nil {
		t.Errorf("with a certificate: %v", err)
	}
}

func TestThereIsNoOpenConfigQoSAndALeafIsAnObject(t *testing.T) {
	b := newBench(t, leaf(nil))
	caps, err := b.gnmi.Capabilities(b.ctx, &gpb.CapabilityRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range caps.GetSupportedModels() {
		if m.GetName() == "openconfig-qos" {
			t.Error("openconfig-qos is among the models")
		}
	}
	_, err = b.get("", "openconfig:/qos/queues")
	wantCode(t, err, codes.NotFound, "")
	mtu := &gpb.Path{Origin: "openconfig", Elem: []*gpb.PathElem{
		{Name: "interfaces"}, {Name: "interface", Key: map[string]string{"name": "Ethernet0"}}, {Name: "config"}, {Name: "mtu"}}}
	_, err = b.set(&gpb.SetRequest{Update: []*gpb.Update{{Path: mtu, Val: ietf(9000)}}})
	wantCode(t, err, codes.Unknown, "got type float64 inside container")
	if _, err := b.set(&gpb.SetRequest{Update: []*gpb.Update{{Path: mtu, Val: ietf(map[string]int{"openconfig-interfaces:mtu": 9000})}}}); err != nil {
		t.Fatal(err)
	}
	if got := b.must("", config+"PORT/Ethernet0/mtu"); got != `"9000"` {
		t.Errorf("got %s", got)
	}
}

func TestTheWholeConfigurationIsOneGet(t *testing.T) {
	b := newBench(t, leaf(nil))
	got, err := b.get("", "sonic-db:/CONFIG_DB/localhost")
	if err != nil {
		t.Fatal(err)
	}
	var have, want map[string]any
	if err := errors.Join(json.Unmarshal([]byte(got), &have), json.Unmarshal(mustConfig(t, b), &want)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("(-CLI +gNMI):\n%s", diff)
	}
}
