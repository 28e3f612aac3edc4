package control

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/weirfabric/weir/drivers/apply"
	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/intent/plan"
)

// The words of a run, as it comes and as it ends.
type (
	Record       = journal.Record
	Result       = apply.Result
	DeviceResult = apply.DeviceResult
	Outcome      = journal.Outcome
	Lock         = journal.Lock
)

// Passed is the kind of the record that says that a wave stays.
const Passed = journal.Passed

// How a run or a device ended.
const (
	Applied  = journal.Applied
	AsBefore = journal.AsBefore
	Partial  = journal.Partial
	Unknown  = journal.Unknown
)

// RunOptions say how a run is carried out.
type RunOptions struct {
	Settle  Settle
	Observe func(Record) // is told of each record of the run once it is on disk; nil: nobody
}

// ErrMoved says that a saved plan was made of a repo that says something else now.
var ErrMoved = errors.New("the plan is stale: the fabric repo says something else than when it was made; make a new plan")

// Apply carries out a plan. The error tells why nothing was sent; from the first message on, what happens is in the result.
func (r *Repo) Apply(ctx context.Context, p plan.Plan, o RunOptions) (Result, error) {
	if p.Intent != r.Digest {
		return Result{}, ErrMoved
	}
	want := map[string]plan.Document{}
	for _, s := range slices.Concat(p.Waves...) {
		if r.bound[s.Device] == nil {
			return Result{}, fmt.Errorf("%s: the plan changes it, and it is not in the inventory", s.Device)
		}
		want[s.Device] = r.Wanted(s.Device)
	}
	config, end, err := r.without(p.Skipped).config(ctx, p.Waves, o)
	if err != nil {
		return Result{}, err
	}
	defer end()
	return config.Apply(ctx, p, want)
}

// Rollback undoes an applied run, in waves that are judged like those of an apply.
func (r *Repo) Rollback(ctx context.Context, run string, o RunOptions) (Result, error) {
	config, end, err := r.config(ctx, nil, o)
	if err != nil {
		return Result{}, err
	}
	defer end()
	return config.Rollback(ctx, run)
}

// Recover finishes or undoes a run that was cut off.
func (r *Repo) Recover(ctx context.Context, run string, o RunOptions) (Result, error) {
	config, end, err := r.config(ctx, nil, o)
	if err != nil {
		return Result{}, err
	}
	defer end()
	return config.Recover(ctx, run)
}

// config is what a run on the repo needs, and the function that ends what it began.
func (r *Repo) config(ctx context.Context, waves [][]plan.Step, o RunOptions) (apply.Config, func(), error) {
	devices := map[string]apply.Device{}
	for name, b := range r.bound {
		devices[name] = b
	}
	watch, end, err := r.judge(ctx, waves, o.Settle)
	if err != nil {
		return apply.Config{}, nil, err
	}
	return apply.Config{Store: r.Store, Devices: devices, Dial: r.Dial, Watch: watch, Who: r.effects.Who, PID: r.effects.PID,
		Timeout: o.Settle.Timeout, Patience: o.Settle.Patience, Poll: r.InWall(time.Second), Scale: r.Scale(), Observe: o.Observe,
		Window: r.judged(o.Settle)}, end, nil
}

// Free says why no run may begin now: a *journal.LockedError where another one goes on, an *journal.UnfinishedError where one was
// cut off. Nil where nothing is in the way.
func (r *Repo) Free() error { return r.Store.Free(r.effects.Who) }

// ReleaseLock gives a lock back that no run holds any more: of a process that was killed before it began one.
func (r *Repo) ReleaseLock() error { return releaseLock(r.Store, r.effects.Who) }

// ReleaseLock is that of a repo which need not be whole.
func ReleaseLock(s journal.Store) error { return releaseLock(s, whoami()) }

func releaseLock(s journal.Store, who string) error {
	held, err := s.Locked()
	switch {
	case err != nil || held == nil:
		return err
	case s.Running(*held, who):
		return &journal.LockedError{Lock: *held}
	}
	return s.Unlock()
}
