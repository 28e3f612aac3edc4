package gnmi

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/plan"
)

// TestWhatAServerSaysIsBounded has servers that say what no device says: too much, too deep, and what a terminal acts on or a
// secret in an error.
func TestWhatAServerSaysIsBounded(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		err  error
		want string
	}{
		"a document that is too long":      {body: `"` + strings.Repeat("x", drivers.MaxAnswer+1<<20) + `"`, want: "larger than max"},
		"a document of millions of values": {body: "[" + strings.Repeat("0,", 2<<20) + "0]", want: "more than 200000 values"},
		"a document that is too deep":      {body: strings.Repeat("[", 1000) + strings.Repeat("]", 1000), want: "nested deeper"},
		"an error that echoes the password": {err: status.Error(codes.Internal, "\x1b]0;x\alogin with "+password+" failed"),
			want: `\x1b]0;x\alogin with redacted failed`},
		"a login error with the password": {err: status.Error(codes.Unauthenticated, "no: "+password), want: "no: redacted"},
		"an error of a megabyte":          {err: status.Error(codes.Internal, strings.Repeat("x", 1<<20)), want: ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := serve(t, nil)
			f.get = func(*gpb.GetRequest) (*gpb.GetResponse, error) {
				if c.err != nil {
					return nil, c.err
				}
				val := &gpb.TypedValue{Value: &gpb.TypedValue_JsonIetfVal{JsonIetfVal: []byte(c.body)}}
				return &gpb.GetResponse{Notification: []*gpb.Notification{{Update: []*gpb.Update{{Path: &gpb.Path{}, Val: val}}}}}, nil
			}
			e := f.endpoint("plain")
			e.Insecure.Plaintext = true
			target, err := Dialer{Packs: f.packs}.Dial(t.Context(), e)
			if err != nil {
				t.Fatal(err)
			}
			defer target.Close()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err = target.Get(t.Context(), []plan.Query{{Name: "q", Ways: []plan.Way{{Via: plan.GNMI, Text: "/a"}}}})
			runtime.ReadMemStats(&after)
			if err == nil {
				t.Fatal("it was believed")
			}
			if text := err.Error(); !strings.Contains(text, c.want) || diag.Plain(text) != text || len(text) > 2000 || strings.Contains(text, password) {
				t.Errorf("got %d bytes %.300q, want a plain error with %q", len(text), text, c.want)
			}
			if cost := after.Sys - before.Sys; cost > 300<<20 {
				t.Errorf("it took %d MB of memory", cost>>20)
			}
		})
	}
}

// An answer to a Set that weir does not read is no refusal: the device did something.
func TestAnAnswerToASetThatIsTooLongLeavesTheOutcomeUnknown(t *testing.T) {
	target := &Target{endpoint: drivers.Endpoint{Device: "leaf1"}}
	var unknown *drivers.UnknownError
	if err := target.setError(t.Context(), status.Error(codes.ResourceExhausted, "grpc: received message larger than max (9 vs. 8)")); !errors.As(err, &unknown) {
		t.Errorf("got %v, want that the outcome is unknown", err)
	}
}
