package control

import (
	"cmp"
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
	Return       = apply.Return
	DeviceResult = apply.DeviceResult
	Outcome      = journal.Outcome
	Lock         = journal.Lock
	Left         = apply.Left
	Store        = journal.Store

	LockedError     = journal.LockedError
	UnfinishedError = journal.UnfinishedError
	DamagedError    = journal.DamagedError
	MarkedError     = apply.MarkedError
)

// Passed is the kind of the record that says that a wave stays.
const Passed = journal.Passed

// How a run or a device ended.
const (
	Applied    = journal.Applied
	AsBefore   = journal.AsBefore
	Incomplete = journal.Incomplete
	Partial    = journal.Partial
	Unknown    = journal.Unknown
	Abandoned  = journal.Abandoned
)

// RunOptions say how a run is carried out, and why.
type RunOptions struct {
	Settle  Settle
	Reason  string       // why it is made, for the record
	Ticket  string       // where it was agreed, for the record
	Observe func(Record) // is told of each record of the run once it is on disk; nil: nobody
	// TakeOver is a run with another journal whose markers on devices are taken over; empty: none is.
	TakeOver string
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
	r = r.without(p.Skipped)
	config := r.config(o)
	config.Audit.Commit = cmp.Or(p.Commit, config.Audit.Commit)
	watch, end, err := r.judge(ctx, p.Waves, o.Settle)
	if err != nil {
		return Result{}, err
	}
	defer end()
	config.Watch = watch
	return config.Apply(ctx, p, want)
}

// RollbackOptions say how much of a run is undone.
type RollbackOptions struct {
	Devices      func(name string) bool // nil: all that the run changed
	AllOrNothing bool                   // a device that changed since refuses the rollback, and is not left out
}

// PlanRollback reads the devices that a run changed and works out the steps that lead them back, in waves. Devices that changed
// since are named and left out.
func (r *Repo) PlanRollback(ctx context.Context, run string, o RollbackOptions) (Return, error) {
	return r.config(RunOptions{}).PlanRollback(ctx, run, apply.ReturnOptions{Only: o.Devices, AllOrNothing: o.AllOrNothing})
}

// Rollback carries a rollback out, in waves that are judged like those of an apply.
func (r *Repo) Rollback(ctx context.Context, ret Return, o RunOptions) (Result, error) {
	config := r.config(o)
	watch, end, err := r.judge(ctx, ret.Waves, o.Settle)
	if err != nil {
		return Result{}, err
	}
	defer end()
	config.Watch = watch
	return config.Rollback(ctx, ret)
}

// PlanOf is a rollback as a plan, to be shown and agreed to.
func (r *Repo) PlanOf(ret Return) plan.Plan {
	p := plan.Plan{Format: plan.Format, Intent: r.Digest, Findings: ret.Findings, Waves: append([][]plan.Step{}, ret.Waves...)}
	p.Summary = summaryOf(slices.Concat(ret.Waves...))
	return p
}

// Recover finishes or undoes a run that was cut off. It judges nothing, and needs no counters.
func (r *Repo) Recover(ctx context.Context, run string, o RunOptions) (Result, error) {
	return r.speaking(nil).config(o).Recover(ctx, run) // it may be one that cleaned an orphan
}

// Abandon closes a run by hand that cannot come to its end.
func (r *Repo) Abandon(ctx context.Context, run string, o RunOptions) (Result, error) {
	if o.Reason == "" {
		return Result{}, errors.New("a run is abandoned for a reason: --reason")
	}
	return r.config(o).Abandon(ctx, run, o.Reason)
}

// config is what a run on the repo needs, without a judge of its waves.
func (r *Repo) config(o RunOptions) apply.Config {
	devices := map[string]apply.Device{}
	for name, b := range r.bound {
		devices[name] = b
	}
	return apply.Config{Store: r.Store, Devices: devices, Dial: r.Dial, Timeout: o.Settle.Timeout, Patience: o.Settle.Patience,
		Poll: r.InWall(time.Second), Scale: r.Scale(), Observe: o.Observe, TakeOver: o.TakeOver, Window: r.judged(o.Settle), Audit: journal.Audit{
			Who: r.Store.Who(), From: r.effects.From, Commit: r.effects.Commit(r.Dir), Reason: o.Reason, Ticket: o.Ticket}}
}

// Free says why no run may begin now: a *journal.LockedError where another one goes on, an *journal.UnfinishedError where one was
// cut off, a *journal.DamagedError where that cannot be known. Nil where nothing is in the way.
func (r *Repo) Free() error { return r.Store.Free() }
