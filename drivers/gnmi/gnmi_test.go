package gnmi

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/status"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/drivers/drivertest"
	"github.com/weirfabric/weir/intent/plan"
)

const valuePath = "sonic-db:/CONFIG_DB/localhost/TABLE/row/value"

var (
	loopback = []net.IP{net.IPv4(127, 0, 0, 1)}
	set      = plan.Chunk{Send: []plan.Message{{Op: plan.SetUpdate, Path: valuePath, Body: `"after"`}}}
)

func secure(t *testing.T) *fake {
	t.Helper()
	ca := newAuthority(t)
	cert, _ := ca.issue(t, time.Now().Add(time.Hour), loopback)
	f := serve(t, &tls.Config{Certificates: []tls.Certificate{cert}})
	f.ca = ca.file
	return f
}

func harness(platform string) func(t *testing.T) drivertest.Harness {
	return func(t *testing.T) drivertest.Harness {
		f := secure(t)
		e := f.endpoint(platform)
		other := e
		other.TLS.CA = newAuthority(t).file
		query := func(path string) plan.Query {
			return plan.Query{Name: "q", Ways: []plan.Way{{Via: plan.GNMI, Text: path}}}
		}
		return drivertest.Harness{
			Dialer: Dialer{Packs: f.packs}, Endpoint: e, Stranger: other, Route: plan.GNMISet,
			Good:   set,
			Bad:    plan.Chunk{Send: []plan.Message{{Op: plan.SetUpdate, Path: valuePath, Body: `"bad"`}}},
			Query:  query(valuePath),
			Absent: query("sonic-db:/CONFIG_DB/localhost/NOTHING"),
			Holds:  f.holds,
			Fault: func(x drivertest.Fault) {
				f.mu.Lock()
				defer f.mu.Unlock()
				f.next = f.cut
				if x == drivertest.Hang {
					f.next = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
				}
			},
			Logins: f.given,
			Expire: f.expire,
		}
	}
}

func TestTheTransportObeysTheLawsOfDrivers(t *testing.T) {
	t.Run("with confirmed commits", func(t *testing.T) { drivertest.Run(t, true, harness("timed")) })
	t.Run("without", func(t *testing.T) { drivertest.Run(t, false, harness("plain")) })
}

func TestAFailureOfTLSSaysWhatToSet(t *testing.T) {
	ca, other := newAuthority(t), newAuthority(t)
	hour := time.Now().Add(time.Hour)
	good, _ := ca.issue(t, hour, loopback)
	named, _ := ca.issue(t, hour, nil, "leaf1.example.net")
	expired, _ := ca.issue(t, time.Now().Add(-time.Hour), loopback)
	_, client := ca.issue(t, hour, nil)
	_, foreign := other.issue(t, hour, nil)
	server := func(c tls.Certificate) *tls.Config { return &tls.Config{Certificates: []tls.Certificate{c}} }
	mutual := func() *tls.Config {
		pool := x509.NewCertPool()
		pool.AddCert(ca.cert)
		return &tls.Config{Certificates: []tls.Certificate{good}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert}
	}
	tests := []struct {
		name   string
		server *tls.Config
		edit   func(e *drivers.Endpoint)
		want   string // in the hint; empty: it works
	}{
		{"a certificate of a known CA for the address works", server(good), func(e *drivers.Endpoint) {}, ""},
		{"a server without TLS", nil, func(e *drivers.Endpoint) {}, "tls: plaintext"},
		{"a server with TLS, asked without", server(good), func(e *drivers.Endpoint) { e.Insecure.Plaintext = true }, "take tls: plaintext away"},
		{"a server without TLS, asked without, works", nil, func(e *drivers.Endpoint) { e.Insecure.Plaintext = true }, ""},
		{"a CA that is not ours", server(good), func(e *drivers.Endpoint) { e.TLS.CA = other.file }, "set ca"},
		{"a CA that is not ours, not verified, works", server(good), func(e *drivers.Endpoint) { e.TLS.CA = other.file; e.Insecure.SkipVerify = true }, ""},
		{"another name", server(named), func(e *drivers.Endpoint) {}, "leaf1.example.net"},
		{"another name that is set works", server(named), func(e *drivers.Endpoint) { e.TLS.ServerName = "leaf1.example.net" }, ""},
		{"a certificate that has expired", server(expired), func(e *drivers.Endpoint) {}, "renew"},
		{"a server that wants a client certificate", mutual(), func(e *drivers.Endpoint) {}, "set cert and certKey"},
		{"a server that does not know the client's CA", mutual(), func(e *drivers.Endpoint) { e.TLS.Cert, e.TLS.Key = foreign[0], foreign[1] }, "check that its CA"},
		{"a client certificate that the server knows works", mutual(), func(e *drivers.Endpoint) { e.TLS.Cert, e.TLS.Key = client[0], client[1] }, ""},
		{"a CA file that is not there", server(good), func(e *drivers.Endpoint) { e.TLS.CA += "x" }, "set ca"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := serve(t, test.server)
			f.ca = ca.file
			e := f.endpoint("plain")
			test.edit(&e)
			target, err := Dialer{Packs: f.packs}.Dial(t.Context(), e)
			if err == nil {
				target.Close()
			}
			if test.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			var auth *drivers.AuthError
			if !errors.As(err, &auth) || !strings.Contains(auth.Hint, test.want) {
				t.Errorf("got %T: %v, want an AuthError whose hint has %q", err, err, test.want)
			}
		})
	}
}

func dial(t *testing.T, f *fake, platform string) *Target {
	t.Helper()
	target, err := Dialer{Packs: f.packs}.Dial(t.Context(), f.endpoint(platform))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { target.Close() })
	return target.(*Target)
}

// The words are those of release 202511, whose server answers every failure of a Set with code Unknown.
func TestWhatAFailedSetMeansStandsInThePack(t *testing.T) {
	const rejected, unknown = "rejected", "unknown"
	tests := []struct {
		code codes.Code
		text string
		want string
	}{
		{codes.Unknown, `Error: Validate json patch: [{"op":"add"}] failed due to:Data Loading Failed`, rejected},
		{codes.Unknown, "Value encoding is not IETF JSON", rejected},
		{codes.Unknown, "Error: Failed to apply patch on the following scopes:", unknown},
		{codes.Unknown, "Failed to apply patch on the following scopes:", unknown},
		{codes.Internal, "failed due to:Data Loading Failed", unknown},
		{codes.DeadlineExceeded, "", unknown},
		{codes.Unavailable, "", unknown},
		{codes.Canceled, "", unknown},
		{codes.InvalidArgument, "", rejected},
		{codes.PermissionDenied, "", rejected},
		{codes.Unimplemented, "GNMI native write is disabled", rejected},
		{codes.Aborted, "", rejected},
		{codes.FailedPrecondition, "", rejected},
	}
	f := secure(t)
	body, err := os.ReadFile("../../templates/sonic/pack.yaml")
	if err != nil {
		t.Fatal(err)
	}
	f.packs["plain/pack.yaml"].Data = body
	target := dial(t, f, "plain")
	for _, test := range tests {
		f.answer = status.Error(test.code, test.text)
		err := target.Set(t.Context(), set, plan.Pending{Route: plan.GNMISet})
		got := "neither"
		if _, ok := errors.AsType[*drivers.RejectedError](err); ok {
			got = rejected
		}
		if _, ok := errors.AsType[*drivers.UnknownError](err); ok {
			got = unknown
		}
		if got != test.want {
			t.Errorf("%v %q: got %s (%v), want %s", test.code, test.text, got, err, test.want)
		}
	}
}

func TestAChunkIsOneSetRequest(t *testing.T) {
	f := secure(t)
	target := dial(t, f, "plain")
	chunk := plan.Chunk{Send: []plan.Message{
		{Op: plan.SetDelete, Path: "sonic-db:/CONFIG_DB/localhost/QUEUE/Ethernet0|3"},
		{Op: plan.SetReplace, Path: "sonic-db:/CONFIG_DB/localhost/SCHEDULER", Body: `{"s0":{"type":"DWRR"}}`},
		{Op: plan.SetUpdate, Path: "sonic-db:/CONFIG_DB/localhost/PORT_QOS_MAP/Eth1~12", Body: `{"pfc_enable":"3"}`},
		{Op: plan.SetUpdate, Path: "/interfaces/interface[name=Ethernet1/1]/config/mtu", Body: `9000`},
	}}
	if err := target.Set(t.Context(), chunk, plan.Pending{Route: plan.GNMISet}); err != nil {
		t.Fatal(err)
	}
	type sent struct{ op, origin, path, value string }
	var got []sent
	for _, p := range f.last.Delete {
		got = append(got, sent{"delete", p.Origin, elements(p), ""})
	}
	for _, u := range f.last.Replace {
		got = append(got, sent{"replace", u.Path.Origin, elements(u.Path), string(u.Val.GetJsonIetfVal())})
	}
	for _, u := range f.last.Update {
		got = append(got, sent{"update", u.Path.Origin, elements(u.Path), string(u.Val.GetJsonIetfVal())})
	}
	want := []sent{
		{"delete", "sonic-db", "CONFIG_DB localhost QUEUE Ethernet0|3", ""},
		{"replace", "sonic-db", "CONFIG_DB localhost SCHEDULER", `{"s0":{"type":"DWRR"}}`},
		{"update", "sonic-db", "CONFIG_DB localhost PORT_QOS_MAP Eth1~12", `{"pfc_enable":"3"}`},
		{"update", "openconfig", "interfaces interface{Ethernet1/1} config mtu", "9000"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(sent{})); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

func elements(p *gpb.Path) string {
	var names []string
	for _, e := range p.Elem {
		name := e.Name
		for _, v := range e.Key {
			name += "{" + v + "}"
		}
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

func TestWhatIsNotJSONIsNotSent(t *testing.T) {
	f := secure(t)
	target := dial(t, f, "plain")
	for _, m := range []plan.Message{
		{Op: plan.SetUpdate, Path: valuePath, Body: "after"},
		{Op: plan.Line, Body: "qos"},
		{Op: plan.SetUpdate, Path: "/a[b", Body: "1"},
	} {
		err := target.Set(t.Context(), plan.Chunk{Send: []plan.Message{m}}, plan.Pending{})
		var rejected *drivers.RejectedError
		if !errors.As(err, &rejected) || f.last != nil {
			t.Errorf("%+v: got %v and sent %v, want a RejectedError and nothing", m, err, f.last)
		}
	}
}

func TestAnAnswerOfSeveralValuesIsAnObjectByPath(t *testing.T) {
	f := secure(t)
	target := dial(t, f, "plain")
	tests := []struct {
		name    string
		updates []*gpb.Update
		want    plan.Answer
	}{
		{"none", nil, plan.Answer{Name: "q", Missing: true}},
		{"one, byte for byte", []*gpb.Update{{Path: elems("a"), Val: ietf(`{"b": "1"}`)}}, plan.Answer{Name: "q", Body: []byte(`{"b": "1"}`)}},
		{"several", []*gpb.Update{
			{Path: elems("mtu"), Val: &gpb.TypedValue{Value: &gpb.TypedValue_UintVal{UintVal: 9000}}},
			{Path: elems("enabled"), Val: &gpb.TypedValue{Value: &gpb.TypedValue_BoolVal{BoolVal: true}}},
		}, plan.Answer{Name: "q", Body: []byte(`{"/config/enabled":true,"/config/mtu":9000}`)}},
	}
	for _, test := range tests {
		f.get = func(*gpb.GetRequest) (*gpb.GetResponse, error) {
			n := &gpb.Notification{Prefix: elems("config"), Update: test.updates}
			return &gpb.GetResponse{Notification: []*gpb.Notification{n}}, nil
		}
		got, err := target.Get(t.Context(), []plan.Query{{Name: "q", Ways: []plan.Way{{Via: plan.GNMI, Text: "/config"}}}})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]plan.Answer{test.want}, got); diff != "" {
			t.Errorf("%s: want -, got +:\n%s", test.name, diff)
		}
	}
}

func elems(names ...string) *gpb.Path {
	p := &gpb.Path{}
	for _, n := range names {
		p.Elem = append(p.Elem, &gpb.PathElem{Name: n})
	}
	return p
}

func TestTheEncodingIsThePacksOrTheBestOfTheServers(t *testing.T) {
	f := secure(t)
	target := dial(t, f, "timed")
	if got := target.Encoding(); got != "JSON_IETF" {
		t.Errorf("got %s, want JSON_IETF", got)
	}
	want := Capabilities{Version: "0.7.0", Encodings: []string{"JSON", "JSON_IETF", "PROTO"}, Models: []Model{{"sonic-db", "SONiC", "0.1.0"}}}
	if diff := cmp.Diff(want, target.Capabilities()); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	tests := []struct {
		only string
		has  []gpb.Encoding
		want gpb.Encoding
		ok   bool
	}{
		{"", []gpb.Encoding{gpb.Encoding_JSON}, gpb.Encoding_JSON, true},
		{"JSON_IETF", []gpb.Encoding{gpb.Encoding_JSON}, gpb.Encoding_JSON_IETF, true},
		{"", []gpb.Encoding{gpb.Encoding_PROTO}, 0, false},
		{"XML", []gpb.Encoding{gpb.Encoding_JSON}, 0, false},
	}
	for _, test := range tests {
		got, err := choose(test.only, test.has)
		if got != test.want || (err == nil) != test.ok {
			t.Errorf("choose(%q, %v) = %v, %v", test.only, test.has, got, err)
		}
	}
}

func TestTheConnectionThatTheServerClosedWhileIdleIsMadeAgain(t *testing.T) {
	f := secure(t)
	target := dial(t, f, "plain")
	f.mu.Lock()
	_ = f.cut(t.Context())
	f.mu.Unlock()
	if !target.conn.WaitForStateChange(t.Context(), connectivity.Ready) {
		t.Fatal("the client did not notice")
	}
	if err := target.Set(t.Context(), set, plan.Pending{Route: plan.GNMISet}); err != nil {
		t.Errorf("got %v, want the change on a new connection", err)
	}
}

func TestADeviceThatComesBackIsConnectedAgain(t *testing.T) {
	f := secure(t)
	target := dial(t, f, "plain")
	f.stop()
	if !target.conn.WaitForStateChange(t.Context(), connectivity.Ready) {
		t.Fatal("the client did not notice")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	err := target.Set(ctx, set, plan.Pending{Route: plan.GNMISet})
	var rejected *drivers.RejectedError
	var unreachable *drivers.UnreachableError
	if !errors.As(err, &rejected) || !errors.As(err, &unreachable) {
		t.Errorf("while it is away: got %v, want that nothing was sent because it is unreachable", err)
	}
	f.stop = f.listen()
	if err := target.Set(t.Context(), set, plan.Pending{Route: plan.GNMISet}); err != nil {
		t.Errorf("when it is back: %v", err) // also where it is tried again later than a change waits
	}
}
