package drivers

import (
	"context"

	"github.com/weirfabric/weir/intent/plan"
)

// DryRun reads from devices and sends them nothing. It has no way to the Set, Confirm and Cancel of the targets it wraps.
type DryRun struct {
	Dialer Dialer
	Sent   func(c plan.Chunk, p plan.Pending) // is told what would have been sent; may be called from many goroutines
}

// Dial connects to read.
func (d DryRun) Dial(ctx context.Context, e Endpoint) (Target, error) {
	t, err := d.Dialer.Dial(ctx, e)
	if err != nil {
		return nil, err
	}
	return dry{reader: t, sent: d.Sent}, nil
}

type reader interface {
	Get(ctx context.Context, qs []plan.Query) ([]plan.Answer, error)
	Close() error
}

type dry struct {
	reader
	sent func(plan.Chunk, plan.Pending)
}

func (d dry) Set(_ context.Context, c plan.Chunk, p plan.Pending) error {
	d.sent(c, p)
	return nil
}

func (dry) Confirm(context.Context, plan.Pending) error { return nil }
func (dry) Cancel(context.Context, plan.Pending) error  { return nil }
