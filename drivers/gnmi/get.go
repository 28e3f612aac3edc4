package gnmi

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"github.com/openconfig/gnmi/value"
	"github.com/openconfig/ygot/ygot"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/intent/plan"
)

// Get asks for each path by itself, so that one that the device does not have is told apart. An answer that is one value
// is that value as JSON; one of several values is a JSON object of them by path.
func (t *Target) Get(ctx context.Context, qs []plan.Query) ([]plan.Answer, error) {
	answers := make([]plan.Answer, 0, len(qs))
	for _, q := range qs {
		text, ok := pathOf(q)
		if !ok {
			return nil, fmt.Errorf("%s: %s cannot be asked over gNMI", t.endpoint.Device, q.Name)
		}
		a, err := t.get(ctx, q.Name, text)
		if err != nil {
			return nil, err
		}
		answers = append(answers, a)
	}
	return answers, nil
}

func pathOf(q plan.Query) (string, bool) {
	for _, w := range q.Ways {
		if w.Via == plan.GNMI {
			return w.Text, true
		}
	}
	return "", false
}

func (t *Target) get(ctx context.Context, name, text string) (plan.Answer, error) {
	path, err := parse(text)
	if err != nil {
		return plan.Answer{}, fmt.Errorf("%s: %w", t.endpoint.Device, err)
	}
	ctx, cancel := context.WithTimeout(ctx, t.timeout(defaultTimeout))
	defer cancel()
	if err := t.ready(ctx); err != nil {
		return plan.Answer{}, err
	}
	response, err := t.client.Get(ctx, &gpb.GetRequest{Path: []*gpb.Path{path}, Encoding: t.encoding})
	if status.Code(err) == codes.NotFound {
		return plan.Answer{Name: name, Missing: true}, nil
	}
	if err != nil {
		return plan.Answer{}, t.getError(ctx, text, err)
	}
	body, err := bodyOf(response)
	if err != nil {
		return plan.Answer{}, fmt.Errorf("%s: get %s: %s", t.endpoint.Device, text, t.endpoint.Quote(err.Error()))
	}
	if err := drivers.Bounded(body); err != nil {
		return plan.Answer{}, fmt.Errorf("%s: the answer to %s: %w", t.endpoint.Device, text, err)
	}
	return plan.Answer{Name: name, Body: body, Missing: body == nil}, nil
}

func bodyOf(response *gpb.GetResponse) ([]byte, error) {
	values := map[string]json.RawMessage{}
	var last []byte
	for _, n := range response.GetNotification() {
		for _, u := range n.GetUpdate() {
			body, err := jsonOf(u.GetVal())
			if err != nil {
				return nil, err
			}
			path, err := ygot.PathToString(joined(n.GetPrefix(), u.GetPath()))
			if err != nil {
				return nil, err
			}
			values[path], last = body, body
		}
	}
	if len(values) <= 1 {
		return last, nil
	}
	return json.Marshal(values)
}

func joined(prefix, path *gpb.Path) *gpb.Path {
	elems := append([]*gpb.PathElem{}, prefix.GetElem()...)
	return &gpb.Path{Elem: append(elems, path.GetElem()...)}
}

// jsonOf is a value as JSON, byte for byte where it came as JSON.
func jsonOf(v *gpb.TypedValue) ([]byte, error) {
	switch v := v.GetValue().(type) {
	case *gpb.TypedValue_JsonIetfVal:
		return v.JsonIetfVal, nil
	case *gpb.TypedValue_JsonVal:
		return v.JsonVal, nil
	case *gpb.TypedValue_AsciiVal:
		return []byte(v.AsciiVal), nil
	}
	scalar, err := value.ToScalar(v)
	if err != nil {
		return nil, err
	}
	return json.Marshal(scalar)
}

// parse reads a path: origin:/elem/elem[key=value]. Nothing in an element is decoded: a slash in the key of a row that the
// device wants as ~1 (RFC 6901) is sent as ~1.
func parse(text string) (*gpb.Path, error) {
	origin, rest, ok := strings.Cut(text, ":/")
	if !ok || strings.ContainsAny(origin, "/[") {
		origin, rest = "openconfig", strings.TrimPrefix(text, "/")
	}
	path, err := ygot.StringToStructuredPath("/" + strings.TrimSuffix(rest, "/"))
	if err != nil {
		return nil, fmt.Errorf("gNMI path %q: %w", text, err)
	}
	path.Origin = origin
	return path, nil
}
