package gnmi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"github.com/openconfig/gnmi/proto/gnmi_ext"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/intent/plan"
)

// Set sends the chunk as one SetRequest. The server does all deletes first, then all replaces, then all updates, whatever
// their order in the chunk. With a deadline the request is a confirmed commit of the pending change's name.
func (t *Target) Set(ctx context.Context, c plan.Chunk, p plan.Pending) error {
	request, err := t.request(c)
	if err != nil {
		return drivers.NotSent(t.endpoint.Device, err)
	}
	if p.Confirm > 0 {
		if !t.pack.CommitConfirmed {
			return drivers.NotSent(t.endpoint.Device, errNoTimer)
		}
		request.Extension = commit(&gnmi_ext.Commit{Id: p.Name, Action: &gnmi_ext.Commit_Commit{
			Commit: &gnmi_ext.CommitRequest{RollbackDuration: durationpb.New(p.Confirm)},
		}})
	}
	return t.set(ctx, request)
}

var errNoTimer = errors.New("this platform has no commit timer over gNMI")

// Confirm makes the confirmed commit of that name stay.
func (t *Target) Confirm(ctx context.Context, p plan.Pending) error {
	return t.settle(ctx, p, &gnmi_ext.Commit{Id: p.Name, Action: &gnmi_ext.Commit_Confirm{Confirm: &gnmi_ext.CommitConfirm{}}})
}

// Cancel makes the device undo the confirmed commit of that name now.
func (t *Target) Cancel(ctx context.Context, p plan.Pending) error {
	return t.settle(ctx, p, &gnmi_ext.Commit{Id: p.Name, Action: &gnmi_ext.Commit_Cancel{Cancel: &gnmi_ext.CommitCancel{}}})
}

func (t *Target) settle(ctx context.Context, p plan.Pending, c *gnmi_ext.Commit) error {
	if p.Confirm == 0 {
		return nil
	}
	if !t.pack.CommitConfirmed {
		return drivers.NotSent(t.endpoint.Device, errNoTimer)
	}
	return t.set(ctx, &gpb.SetRequest{Extension: commit(c)})
}

func commit(c *gnmi_ext.Commit) []*gnmi_ext.Extension {
	return []*gnmi_ext.Extension{{Ext: &gnmi_ext.Extension_Commit{Commit: c}}}
}

// set sends a request once. Whether it can be sent again is not for a transport to decide.
func (t *Target) set(ctx context.Context, request *gpb.SetRequest) error {
	limit := t.pack.SetTimeout
	if limit == 0 {
		limit = defaultSetTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, t.timeout(limit))
	defer cancel()
	if err := ctx.Err(); err != nil {
		return drivers.NotSent(t.endpoint.Device, err)
	}
	if err := t.ready(ctx); err != nil {
		return drivers.NotSent(t.endpoint.Device, err)
	}
	if _, err := t.client.Set(ctx, request); err != nil {
		return t.setError(ctx, err)
	}
	return nil
}

func (t *Target) request(c plan.Chunk) (*gpb.SetRequest, error) {
	request := &gpb.SetRequest{}
	for _, m := range c.Send {
		path, err := parse(m.Path)
		if err != nil {
			return nil, err
		}
		if m.Op == plan.SetDelete {
			request.Delete = append(request.Delete, path)
			continue
		}
		if !json.Valid([]byte(m.Body)) {
			return nil, fmt.Errorf("the value for %s is not JSON", m.Path)
		}
		update := &gpb.Update{Path: path, Val: t.value(m.Body)}
		switch m.Op {
		case plan.SetUpdate:
			request.Update = append(request.Update, update)
		case plan.SetReplace:
			request.Replace = append(request.Replace, update)
		default:
			return nil, fmt.Errorf("a message of kind %q cannot be sent over gNMI", m.Op)
		}
	}
	return request, nil
}

func (t *Target) value(body string) *gpb.TypedValue {
	if t.encoding == gpb.Encoding_JSON {
		return &gpb.TypedValue{Value: &gpb.TypedValue_JsonVal{JsonVal: []byte(body)}}
	}
	return &gpb.TypedValue{Value: &gpb.TypedValue_JsonIetfVal{JsonIetfVal: []byte(body)}}
}
