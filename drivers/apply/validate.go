package apply

import (
	"context"
	"errors"
	"fmt"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/intent/plan"
)

// validate has the device look at the whole of what it is about to get, where the step says how. It changes nothing. A device that
// refuses stops the wave before anything is sent to any; one without the transport that this needs is sent to without, which the
// journal says.
func (m *member) validate(ctx context.Context) error {
	if len(m.step.Validate) == 0 || len(m.step.Chunks) == 0 {
		return nil
	}
	if err := m.connect(ctx); err != nil {
		return err
	}
	err := m.set(ctx, m.step, plan.Chunk{Send: m.step.Validate}, plan.Pending{Device: m.name(), Name: "weir-validate", Route: plan.SSHBulk})
	switch {
	case errors.Is(err, drivers.ErrNoTransport):
		return m.log(journal.Record{Kind: journal.Validated, Text: "not as a whole: " + err.Error()})
	case err != nil:
		return fmt.Errorf("%s: the device's own check of the whole: %w", m.name(), refusal(m.name(), err))
	}
	return m.log(journal.Record{Kind: journal.Validated})
}

// refusal is a failed check as a rejection: whatever went wrong, nothing took effect.
func refusal(device string, err error) error {
	var rejected *drivers.RejectedError
	if errors.As(err, &rejected) {
		return err
	}
	var partial *drivers.PartialError // its file was written, and the check refused
	if errors.As(err, &partial) {
		return &drivers.RejectedError{Device: device, Reason: partial.Err.Error()}
	}
	return drivers.NotSent(device, err)
}
