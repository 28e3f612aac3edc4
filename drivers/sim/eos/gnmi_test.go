package eos

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/weirfabric/weir/drivers/sim"
)

// dialGNMI opens a client that knows the lab's authority. Without a password it shows the lab's client certificate.
func dialGNMI(t *testing.T, lab *sim.Lab, device string) gpb.GNMIClient {
	t.Helper()
	pem, err := os.ReadFile(lab.CAFile())
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	cert, err := tls.LoadX509KeyPair(lab.ClientCertificate())
	if err != nil {
		t.Fatal(err)
	}
	addr, _ := lab.Endpoint(device)
	config := &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{cert}}
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(credentials.NewTLS(config)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return gpb.NewGNMIClient(conn)
}

// timely is a context that ends the test rather than letting it hang.
func timely(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// subscribe opens a subscription.
func subscribe(t *testing.T, c gpb.GNMIClient, list *gpb.SubscriptionList) gpb.GNMI_SubscribeClient {
	t.Helper()
	stream, err := c.Subscribe(timely(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Send(&gpb.SubscribeRequest{Request: &gpb.SubscribeRequest_Subscribe{Subscribe: list}}); err != nil {
		t.Fatal(err)
	}
	return stream
}

// untilSync collects the leaves that come before the sync, by path, and fails without a sync.
func untilSync(t *testing.T, stream gpb.GNMI_SubscribeClient) map[string]*gpb.TypedValue {
	t.Helper()
	got := map[string]*gpb.TypedValue{}
	for {
		r, err := stream.Recv()
		if err != nil {
			t.Fatalf("before the sync: %v", err)
		}
		if r.GetSyncResponse() {
			return got
		}
		for _, u := range r.GetUpdate().GetUpdate() {
			got[pathText(u.GetPath())] = u.GetVal()
		}
	}
}

// pathText writes a path as people do.
func pathText(p *gpb.Path) string {
	var out strings.Builder
	for _, e := range p.GetElem() {
		out.WriteString("/" + e.GetName())
		var keys []string
		for k, v := range e.GetKey() {
			keys = append(keys, "["+k+"="+v+"]")
		}
		slices.Sort(keys)
		out.WriteString(strings.Join(keys, ""))
	}
	return out.String()
}

func TestPathsAreReadAndWritten(t *testing.T) {
	for _, p := range []string{
		"/interfaces/interface[name=Ethernet1/1]/state/counters/in-octets",
		"/a/b[x=1][y=2]/c", "/qos/interfaces/interface[interface-id=*]/output/queues/queue[name=Ethernet1/1-3]/state",
	} {
		if got := pathText(parsePath(p)); got != p {
			t.Errorf("got %s, want %s", got, p)
		}
	}
}

func TestWildcardsCover(t *testing.T) {
	leaf := parsePath("/interfaces/interface[name=Ethernet1/1]/state/counters/in-octets").Elem
	for path, want := range map[string]bool{
		"":                                    true,
		"/interfaces":                         true,
		"/interfaces/interface":               true,
		"/interfaces/interface[name=*]/state": true,
		"/interfaces/interface[name=Ethernet1/1]/state/counters/in-octets": true,
		"/openconfig-interfaces:interfaces/interface":                      true,
		"/interfaces/*/state":                                   true,
		"/.../in-octets":                                        true,
		"/interfaces/.../counters":                              true,
		"/interfaces/interface[name=Ethernet1/2]":               false,
		"/interfaces/interface[id=Ethernet1/1]":                 false,
		"/interfaces/interface/config":                          false,
		"/.../out-octets":                                       false,
		"/interfaces/interface/state/counters/in-octets/deeper": false,
	} {
		if got := covers(parsePath(path).Elem, leaf); got != want {
			t.Errorf("%s: got %v, want %v", path, got, want)
		}
	}
}

func TestGNMIWantsACertificateOrAPassword(t *testing.T) {
	lab := newLab(t)
	addr, _ := lab.Endpoint("leaf1")
	pem, err := os.ReadFile(lab.CAFile())
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: roots})))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	user, password := lab.Credentials()
	for _, c := range []struct {
		pairs []string
		want  codes.Code
	}{
		{nil, codes.Unauthenticated},
		{[]string{"username", user, "password", "guess"}, codes.Unauthenticated},
		{[]string{"username", user, "password", password}, codes.OK},
	} {
		ctx := metadata.AppendToOutgoingContext(timely(t), c.pairs...)
		if _, err := gpb.NewGNMIClient(conn).Capabilities(ctx, &gpb.CapabilityRequest{}); status.Code(err) != c.want {
			t.Errorf("%v: got %v, want %v", c.pairs, err, c.want)
		}
	}
	resp, err := dialGNMI(t, lab, "leaf1").Capabilities(timely(t), &gpb.CapabilityRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(resp.GetSupportedModels(), func(m *gpb.ModelData) bool { return m.GetName() == "openconfig-qos" }) {
		t.Errorf("got %v", resp)
	}
}

func TestGetReadsStateAndShows(t *testing.T) {
	lab := newLab(t)
	c := dialGNMI(t, lab, "leaf1")
	up := parsePath("/interfaces/interface[name=Ethernet1/1]/state/oper-status")
	resp, err := c.Get(timely(t), &gpb.GetRequest{Path: []*gpb.Path{up}, Encoding: gpb.Encoding_JSON_IETF})
	if err != nil {
		t.Fatal(err)
	}
	if got := string(resp.GetNotification()[0].GetUpdate()[0].GetVal().GetJsonIetfVal()); got != `"UP"` {
		t.Errorf("got %s", got)
	}
	for name, c2 := range map[string]struct {
		req  *gpb.GetRequest
		want codes.Code
	}{
		"nothing there":      {&gpb.GetRequest{Path: []*gpb.Path{parsePath("/interfaces/interface[name=Ethernet9]")}}, codes.NotFound},
		"two origins":        {&gpb.GetRequest{Prefix: &gpb.Path{Origin: "openconfig"}, Path: []*gpb.Path{{Origin: "openconfig"}}}, codes.InvalidArgument},
		"a native path":      {&gpb.GetRequest{Path: []*gpb.Path{{Origin: "eos_native"}}}, codes.Unimplemented},
		"another encoding":   {&gpb.GetRequest{Path: []*gpb.Path{up}, Encoding: gpb.Encoding_BYTES}, codes.Unimplemented},
		"a command":          {&gpb.GetRequest{Path: []*gpb.Path{{Origin: "cli", Elem: []*gpb.PathElem{{Name: "show version"}}}}}, codes.OK},
		"no such command":    {&gpb.GetRequest{Path: []*gpb.Path{{Origin: "cli", Elem: []*gpb.PathElem{{Name: "show nothing"}}}}}, codes.InvalidArgument},
		"what only has text": {&gpb.GetRequest{Encoding: gpb.Encoding_ASCII, Path: []*gpb.Path{{Origin: "cli", Elem: []*gpb.PathElem{{Name: "show running-config"}}}}}, codes.OK},
	} {
		if _, err := c.Get(timely(t), c2.req); status.Code(err) != c2.want {
			t.Errorf("%s: got %v, want %v", name, err, c2.want)
		}
	}
}

func TestOnceSendsEverythingAndEnds(t *testing.T) {
	lab := newLab(t)
	stream := subscribe(t, dialGNMI(t, lab, "leaf1"), &gpb.SubscriptionList{
		Mode: gpb.SubscriptionList_ONCE, Encoding: gpb.Encoding_PROTO, Prefix: &gpb.Path{Target: "leaf1", Origin: "openconfig"},
		Subscription: []*gpb.Subscription{
			{Path: parsePath("/interfaces/interface[name=*]/ethernet/pfc/priorities/priority[index=3]/state/in-frames")},
			{Path: parsePath("/qos/interfaces/interface[interface-id=Ethernet1/1]/output/queues/queue[name=*]/state/dropped-pkts")},
			{Path: parsePath("/interfaces/interface[name=*]/ethernet/pfc/watchdog")}, // no storm yet
			{Path: parsePath("/nowhere")},
		},
	})
	got := untilSync(t, stream)
	var paths []string
	for p := range got {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	want := []string{
		"/interfaces/interface[name=Ethernet1/1]/ethernet/pfc/priorities/priority[index=3]/state/in-frames",
		"/interfaces/interface[name=Ethernet2/1]/ethernet/pfc/priorities/priority[index=3]/state/in-frames",
	}
	for q := range 8 {
		want = append(want, "/qos/interfaces/interface[interface-id=Ethernet1/1]/output/queues/queue[name=Ethernet1/1-"+strconv.Itoa(q)+"]/state/dropped-pkts")
	}
	if diff := cmp.Diff(paths, want); diff != "" {
		t.Errorf("got -, want +:\n%s", diff)
	}
	if _, ok := got[want[0]].GetValue().(*gpb.TypedValue_UintVal); !ok {
		t.Errorf("a counter in PROTO is %T", got[want[0]].GetValue())
	}
	if _, err := stream.Recv(); !errors.Is(err, io.EOF) {
		t.Errorf("after the sync: got %v, want the end", err)
	}
}

func TestASampleComesAgainAndAChangeOnlyWhenItHappens(t *testing.T) {
	lab := newLab(t)
	c := dialGNMI(t, lab, "leaf1")
	sample := subscribe(t, c, &gpb.SubscriptionList{Subscription: []*gpb.Subscription{{
		Path: parsePath("/interfaces/interface[name=Ethernet1/1]/state/counters/in-octets"),
		Mode: gpb.SubscriptionMode_SAMPLE, SampleInterval: uint64(2 * time.Second),
	}}})
	untilSync(t, sample)
	for range 3 {
		if r, err := sample.Recv(); err != nil || len(r.GetUpdate().GetUpdate()) != 1 {
			t.Fatalf("got %v and %v", r, err)
		}
	}
	change := subscribe(t, c, &gpb.SubscriptionList{Encoding: gpb.Encoding_JSON, Subscription: []*gpb.Subscription{{
		Path: parsePath("/interfaces/interface[name=*]/state/oper-status"), Mode: gpb.SubscriptionMode_ON_CHANGE,
	}}})
	if got := untilSync(t, change); len(got) != 2 {
		t.Errorf("got %v", got)
	}
	if err := lab.Reboot("leaf2"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"DOWN"`, `"UP"`} { // the other end goes down, and boots
		r, err := change.Recv()
		if err != nil {
			t.Fatal(err)
		}
		u := r.GetUpdate().GetUpdate()
		if len(u) != 1 || string(u[0].GetVal().GetJsonVal()) != want || pathText(u[0].GetPath()) != "/interfaces/interface[name=Ethernet1/1]/state/oper-status" {
			t.Errorf("got %v, want %s of Ethernet1/1", r, want)
		}
	}
	heartbeat := subscribe(t, c, &gpb.SubscriptionList{UpdatesOnly: true, Subscription: []*gpb.Subscription{{
		Path: parsePath("/interfaces/interface[name=Ethernet2/1]/state/oper-status"), Mode: gpb.SubscriptionMode_ON_CHANGE,
		HeartbeatInterval: uint64(5 * time.Second),
	}}})
	if got := untilSync(t, heartbeat); len(got) != 0 {
		t.Errorf("only updates are wanted: got %v", got)
	}
	if r, err := heartbeat.Recv(); err != nil || len(r.GetUpdate().GetUpdate()) != 1 {
		t.Errorf("heartbeat: got %v and %v", r, err)
	}
}

func TestASubscriptionThatIsWrongIsRefused(t *testing.T) {
	lab := newLab(t)
	c := dialGNMI(t, lab, "leaf1")
	good := []*gpb.Subscription{{Path: parsePath("/interfaces")}}
	for name, test := range map[string]struct {
		list  *gpb.SubscriptionList
		then  *gpb.SubscribeRequest
		want  codes.Code
		fault sim.FaultKind
	}{
		"an encoding":           {&gpb.SubscriptionList{Encoding: gpb.Encoding_BYTES, Subscription: good}, nil, codes.Unimplemented, ""},
		"an origin":             {&gpb.SubscriptionList{Prefix: &gpb.Path{Origin: "eos_native"}, Subscription: good}, nil, codes.Unimplemented, ""},
		"a second subscription": {&gpb.SubscriptionList{Subscription: good}, &gpb.SubscribeRequest{Request: &gpb.SubscribeRequest_Subscribe{Subscribe: &gpb.SubscriptionList{}}}, codes.InvalidArgument, ""},
		"a poll of a stream":    {&gpb.SubscriptionList{Subscription: good}, &gpb.SubscribeRequest{Request: &gpb.SubscribeRequest_Poll{Poll: &gpb.Poll{}}}, codes.InvalidArgument, ""},
		"a device that refuses": {&gpb.SubscriptionList{Subscription: good}, nil, codes.Aborted, sim.Reject},
		"a device that drops":   {&gpb.SubscriptionList{Subscription: good}, nil, codes.Unavailable, sim.Drop},
	} {
		if test.fault != "" {
			if err := lab.Inject(sim.Fault{Kind: test.fault, Device: "leaf1", On: sim.Subscribe}); err != nil {
				t.Fatal(err)
			}
		}
		stream := subscribe(t, c, test.list)
		if test.then != nil {
			untilSync(t, stream)
			if err := stream.Send(test.then); err != nil {
				t.Fatal(err)
			}
		}
		var err error
		for err == nil {
			_, err = stream.Recv()
		}
		if status.Code(err) != test.want {
			t.Errorf("%s: got %v, want %v", name, err, test.want)
		}
	}
}

func TestAPollAnswersEachTime(t *testing.T) {
	stream := subscribe(t, dialGNMI(t, newLab(t), "leaf1"), &gpb.SubscriptionList{
		Mode: gpb.SubscriptionList_POLL, Subscription: []*gpb.Subscription{{Path: parsePath("/system/state/hostname")}},
	})
	for range 3 {
		if got := untilSync(t, stream); string(got["/system/state/hostname"].GetJsonVal()) != `"leaf1"` {
			t.Errorf("got %v", got)
		}
		if err := stream.Send(&gpb.SubscribeRequest{Request: &gpb.SubscribeRequest_Poll{Poll: &gpb.Poll{}}}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSetTakesLinesAllOrNone(t *testing.T) {
	lab := newLab(t)
	c := dialGNMI(t, lab, "leaf1")
	set := func(lines string) error {
		_, err := c.Set(timely(t), &gpb.SetRequest{Update: []*gpb.Update{{
			Path: &gpb.Path{Origin: "cli"}, Val: &gpb.TypedValue{Value: &gpb.TypedValue_AsciiVal{AsciiVal: lines}},
		}}})
		return err
	}
	if err := set("interface Ethernet1/1\n mtu 9000\nnonsense"); status.Code(err) != codes.InvalidArgument {
		t.Errorf("got %v", err)
	}
	running := func() string {
		text, err := lab.Config("leaf1")
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if strings.Contains(running(), "9000") {
		t.Error("half of a Set took effect")
	}
	if err := set("interface Ethernet1/1\n mtu 9000"); err != nil || !strings.Contains(running(), "mtu 9000") {
		t.Errorf("got %v and\n%s", err, running())
	}
	_, err := c.Set(timely(t), &gpb.SetRequest{Delete: []*gpb.Path{parsePath("/interfaces")}})
	if status.Code(err) != codes.Unimplemented {
		t.Errorf("a delete: got %v", err)
	}
}

// now is the leaves below a path that exist on a device, without the lab around it.
func now(d sim.Personality, path string) map[string]any {
	s := d.(*Device).selectLeaves(parsePath(path).Elem)
	got := map[string]any{}
	for i, v := range s.values() {
		if v != nil {
			got[pathText(s.leaves[i].path)] = v
		}
	}
	return got
}

func TestTheWatchdogCountsFromTheFirstStormOn(t *testing.T) {
	b := newBench(small)
	d := New(b)
	const queues = "/interfaces/interface[name=Ethernet1/1]/ethernet/pfc/watchdog/tx-queues"
	if got := now(d, queues); len(got) != 0 {
		t.Errorf("before the first storm: got %v", got)
	}
	var c sim.Counters
	c.StormsDetected[3] = 1
	b.counters["Ethernet1/1"] = c
	const state = queues + "/tx-queue[index=3][queue-type=UNICAST]/state/"
	want := map[string]any{state + "index": uint64(3), state + "queue-type": "UNICAST", state + "stuck-count": uint64(1), state + "recovery-count": uint64(0)}
	if diff := cmp.Diff(now(d, queues), want); diff != "" {
		t.Errorf("got -, want +:\n%s", diff)
	}
}

func TestMarksAreThereWhereTheyAreCounted(t *testing.T) {
	b := newBench(configured)
	var c sim.Counters
	c.ECNMarked[3] = 5
	b.counters["Ethernet1/1"], b.counters["Ethernet2/1"] = c, c
	want := map[string]any{"/qos/interfaces/interface[interface-id=Ethernet1/1]/output/queues/queue[name=Ethernet1/1-3]/state/ecn-marked-pkts": uint64(5)}
	if diff := cmp.Diff(now(New(b), "/.../ecn-marked-pkts"), want); diff != "" {
		t.Errorf("got -, want +:\n%s", diff)
	}
}

func TestTheDeviceChoosesWhenItMay(t *testing.T) {
	w := newWatch(&outlet{}, &selection{}, &gpb.Subscription{Mode: gpb.SubscriptionMode_TARGET_DEFINED})
	if !w.changes || w.every != leisurely {
		t.Errorf("got %+v", w)
	}
}

// TestAnOldPathBesideTheNewOneIsPassedOver asks as gnmi_cli does, which fills both fields. The old one alone is refused.
func TestAnOldPathBesideTheNewOneIsPassedOver(t *testing.T) {
	c := dialGNMI(t, newLab(t), "leaf1")
	both := parsePath("/interfaces/interface[name=Ethernet1/1]/state/oper-status")
	for _, e := range both.GetElem() {
		both.Element = append(both.Element, e.GetName()) //nolint:staticcheck // it is what old clients send
	}
	resp, err := c.Get(timely(t), &gpb.GetRequest{Path: []*gpb.Path{both}, Encoding: gpb.Encoding_JSON_IETF})
	if err != nil || len(resp.GetNotification()) != 1 {
		t.Errorf("both: got %v, %v", resp, err)
	}
	alone := &gpb.Path{Element: both.GetElement()} //nolint:staticcheck // as above
	if _, err := c.Get(timely(t), &gpb.GetRequest{Path: []*gpb.Path{alone}, Encoding: gpb.Encoding_JSON_IETF}); status.Code(err) != codes.Unimplemented {
		t.Errorf("the old one alone: got %v, want %v", err, codes.Unimplemented)
	}
}
