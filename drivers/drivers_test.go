package drivers_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/intent/plan"
)

// fake is a transport to one device that remembers what is asked of it.
type fake struct {
	name  string
	fails []error // of the dials to come
	said  *[]string
}

func (f *fake) Dial(context.Context, drivers.Endpoint) (drivers.Target, error) {
	*f.said = append(*f.said, f.name+" dial")
	if len(f.fails) > 0 {
		err := f.fails[0]
		f.fails = f.fails[1:]
		if err != nil {
			return nil, err
		}
	}
	return target{f}, nil
}

type target struct{ *fake }

func (t target) note(what string) { *t.said = append(*t.said, t.name+" "+what) }

func (t target) Get(_ context.Context, qs []plan.Query) ([]plan.Answer, error) {
	var answers []plan.Answer
	for _, q := range qs {
		t.note("get " + q.Name)
		answers = append(answers, plan.Answer{Name: q.Name, Body: []byte(t.name + ` {"passkey": "s3cr3t"} hunter2`)})
	}
	return answers, nil
}

func (t target) Set(_ context.Context, _ plan.Chunk, p plan.Pending) error {
	t.note("set " + string(p.Route))
	return &drivers.RejectedError{Device: p.Device, Reason: "no"}
}
func (t target) Confirm(context.Context, plan.Pending) error { t.note("confirm"); return nil }
func (t target) Cancel(context.Context, plan.Pending) error  { t.note("cancel"); return nil }
func (t target) Close() error                                { t.note("close"); return nil }

func query(name string, vias ...plan.Via) plan.Query {
	q := plan.Query{Name: name}
	for _, v := range vias {
		q.Ways = append(q.Ways, plan.Way{Via: v, Text: "what"})
	}
	return q
}

func TestAQuestionTakesItsFirstWayAndAChangeItsRoute(t *testing.T) {
	var said []string
	r := drivers.Routed{GNMI: &fake{name: "gnmi", said: &said}, SSH: &fake{name: "ssh", said: &said}}
	got, err := r.Dial(t.Context(), drivers.Endpoint{Device: "leaf1", GNMI: "a:1", SSH: "a:2"})
	if err != nil {
		t.Fatal(err)
	}
	answers, err := got.Get(t.Context(), []plan.Query{
		query("one", plan.SSH, plan.GNMI), query("two", plan.GNMI, plan.SSH), query("three", plan.SSH),
	})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, a := range answers {
		names = append(names, a.Name)
	}
	if diff := cmp.Diff([]string{"one", "two", "three"}, names); diff != "" {
		t.Errorf("the answers are not in the order of the questions: %s", diff)
	}
	for _, route := range []plan.Route{plan.GNMISet, plan.SSHBulk} {
		p := plan.Pending{Device: "leaf1", Route: route}
		if err := got.Set(t.Context(), plan.Chunk{}, p); err == nil {
			t.Error("the error of the transport is lost")
		}
		if err := errors.Join(got.Confirm(t.Context(), p), got.Cancel(t.Context(), p)); err != nil {
			t.Error(err)
		}
	}
	want := []string{
		"ssh dial", "gnmi dial", "gnmi get two", "ssh get one", "ssh get three",
		"gnmi set gnmi-set", "gnmi confirm", "gnmi cancel", "ssh set ssh-bulk", "ssh confirm", "ssh cancel",
	}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

func TestATransportThatADeviceHasNotIsNotUsed(t *testing.T) {
	var said []string
	r := drivers.Routed{GNMI: &fake{name: "gnmi", said: &said}, SSH: &fake{name: "ssh", said: &said}}
	got, err := r.Dial(t.Context(), drivers.Endpoint{Device: "leaf1", SSH: "a:2"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := got.Get(t.Context(), []plan.Query{query("both", plan.GNMI, plan.SSH)}); err != nil {
		t.Error(err)
	}
	if _, err := got.Get(t.Context(), []plan.Query{query("config_db.json", plan.GNMI)}); err == nil || !strings.Contains(err.Error(), "config_db.json") {
		t.Errorf("got %v, want an error that names the question", err)
	}
	var rejected *drivers.RejectedError
	if err := got.Set(t.Context(), plan.Chunk{}, plan.Pending{Route: plan.GNMISet}); !errors.As(err, &rejected) {
		t.Errorf("got %v, want a RejectedError", err)
	}
	if err := got.Close(); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"ssh dial", "ssh get both", "ssh close"}, said); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	var unreachable *drivers.UnreachableError
	if _, err := r.Dial(t.Context(), drivers.Endpoint{Device: "leaf1"}); !errors.As(err, &unreachable) {
		t.Errorf("a device without an address: got %v, want an UnreachableError", err)
	}
}

func TestOnlyConnectingIsTriedAgain(t *testing.T) {
	away := &drivers.UnreachableError{Device: "leaf1", Address: "a:1", Err: errors.New("no route")}
	locked := &drivers.AuthError{Device: "leaf1", Err: errors.New("denied"), Hint: "check"}
	tests := []struct {
		name        string
		fails       []error
		dials       int
		ok          bool
		least, most time.Duration
	}{
		{"a device that is there", nil, 1, true, 0, 0},
		{"a device that comes back", []error{away, away}, 3, true, 750 * time.Millisecond, 1500 * time.Millisecond},
		{"a device that stays away", []error{away, away, away, away, away}, 4, false, 1750 * time.Millisecond, 3500 * time.Millisecond},
		{"a wrong password", []error{locked}, 1, false, 0, 0},
		{"a wrong password after an outage", []error{away, locked, nil}, 2, false, 250 * time.Millisecond, 500 * time.Millisecond},
	}
	for _, test := range tests {
		synctest.Test(t, func(t *testing.T) {
			var said []string
			start := time.Now()
			_, err := drivers.Retry{Dialer: &fake{said: &said, fails: test.fails}}.Dial(t.Context(), drivers.Endpoint{})
			took := time.Since(start)
			if len(said) != test.dials || (err == nil) != test.ok {
				t.Errorf("%s: dialled %d times, error %v; want %d times", test.name, len(said), err, test.dials)
			}
			if took < test.least || took > test.most {
				t.Errorf("%s: took %v, want %v to %v", test.name, took, test.least, test.most)
			}
		})
	}
}

func TestTryingAgainEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said []string
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		away := &drivers.UnreachableError{Err: errors.New("no route")}
		_, err := drivers.Retry{Dialer: &fake{said: &said, fails: []error{away, away}}}.Dial(ctx, drivers.Endpoint{})
		if !errors.Is(err, away) || len(said) != 1 {
			t.Errorf("got %v after %d dials, want the first error", err, len(said))
		}
	})
}

func TestARecordingHasTheDialogueWithoutSecrets(t *testing.T) {
	var said []string
	var out strings.Builder
	r := &drivers.Recorder{Dialer: &fake{name: "ssh", said: &said}, To: &out}
	got, err := r.Dial(t.Context(), drivers.Endpoint{Device: "leaf1", Password: "hunter2"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := got.Get(t.Context(), []plan.Query{query("q", plan.SSH)}); err != nil {
		t.Error(err)
	}
	chunk := plan.Chunk{Send: []plan.Message{{Op: plan.Line, Body: "snmp-server community hunter3 ro"}}}
	p := plan.Pending{Device: "leaf1", Name: "weir-1", Route: plan.SSHSession}
	var rejected *drivers.RejectedError
	if err := got.Set(t.Context(), chunk, p); !errors.As(err, &rejected) {
		t.Errorf("the error of the target is lost: %v", err)
	}
	if err := got.Close(); err != nil {
		t.Error(err)
	}
	pending := `"pending":{"device":"leaf1","name":"weir-1","route":"ssh-session","deadline":"0001-01-01T00:00:00Z"}`
	want := strings.Join([]string{
		`{"device":"leaf1","call":"dial"}`,
		`{"device":"leaf1","call":"get","queries":[{"name":"q","ways":[{"via":"ssh","text":"what"}]}],"answers":[{"name":"q","body":"ssh {\"passkey\": \"redacted\"} redacted"}]}`,
		`{"device":"leaf1","call":"set","chunk":{"send":[{"op":"line","body":"snmp-server community redacted ro"}],"undo":[],"impact":"none"},` + pending + `,"error":"leaf1: refused: no"}`,
	}, "\n") + "\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

func TestWhatLooksLikeASecretIsTakenOut(t *testing.T) {
	tests := map[string]string{
		"username admin secret sha512 $6$abc": "username admin secret sha512 redacted",
		"username admin password 7 0822455D":  "username admin password 7 redacted",
		"tacacs-server key 7 070E234F":        "tacacs-server key 7 redacted",
		`{"passkey": "abc", "port": "49"}`:    `{"passkey": "redacted", "port": "49"}`,
		"priority-flow-control on":            "priority-flow-control on",
		`"dscp_to_tc_map": "AZURE"`:           `"dscp_to_tc_map": "AZURE"`,
		"it was pa55word, again":              "it was redacted, again",
		"hash-key 3":                          "hash-key 3",
	}
	for text, want := range tests {
		if got := drivers.Redact(text, "pa55word"); got != want {
			t.Errorf("Redact(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestSecretsDoNotPrintThemselves(t *testing.T) {
	e := drivers.Endpoint{Device: "leaf1", Password: "pa55word", Key: "private"}
	asJSON, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	var logged bytes.Buffer
	slog.New(slog.NewJSONHandler(&logged, nil)).Info("dial", "endpoint", e, "password", e.Password)
	for way, text := range map[string]string{
		"%v": fmt.Sprintf("%v", e), "%+v": fmt.Sprintf("%+v", e), "%#v": fmt.Sprintf("%#v", e), "%q": fmt.Sprintf("%q", e.Password),
		"JSON": string(asJSON), "log": logged.String(),
	} {
		if strings.Contains(text, "pa55word") || strings.Contains(text, "private") || !strings.Contains(text, "redacted") {
			t.Errorf("%s: %s", way, text)
		}
	}
}
