package apply

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/intent/plan"
)

func TestTheWholeIsValidatedBeforeAnythingIsSentToAnyDeviceOfTheWave(t *testing.T) {
	for name, c := range map[string]struct {
		invalid error
		want    map[string]string
		outcome journal.Outcome
		why     string
	}{
		"it is valid": {nil, all(after), journal.Applied, ""},
		"one device refuses it": {&drivers.RejectedError{Device: "b", Reason: "Data Loading Failed"}, all(before), journal.AsBefore,
			"nothing of this wave was sent: b: the device's own check of the whole: b: refused: Data Loading Failed"},
		"it refuses after its file was written": {&drivers.PartialError{Device: "b", Done: 1, Err: errors.New("Data Loading Failed")}, all(before), journal.AsBefore,
			"nothing of this wave was sent: b: the device's own check of the whole: b: refused: Data Loading Failed"},
		"one device cannot be asked": {drivers.NotSent("b", fmt.Errorf("route ssh-bulk needs ssh, and %w", drivers.ErrNoTransport)), all(after), journal.Applied, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t)
			for _, steps := range f.plan.Waves {
				for i := range steps {
					steps[i].Validate = []plan.Message{{Op: plan.Run, Body: "validate"}}
				}
			}
			f.devices["b"].invalid = c.invalid
			var kinds []journal.Kind
			f.config.Parallel = 1
			f.config.Observe = func(r journal.Record) { kinds = append(kinds, r.Kind) }
			got, err := f.config.Apply(t.Context(), f.plan, f.want)
			if err != nil || got.Outcome != c.outcome || !strings.HasPrefix(got.Why, c.why) {
				t.Errorf("got %+v, %v", got, err)
			}
			if diff := cmp.Diff(c.want, f.state()); diff != "" {
				t.Error(diff)
			}
			if last := slices.Index(kinds, journal.Sending); c.outcome == journal.Applied && slices.Index(kinds, journal.Validated) > last {
				t.Errorf("something was sent before it was validated: %v", kinds)
			}
			if m, _ := f.config.Store.Manifest(); c.outcome == journal.AsBefore && len(m) > 0 {
				t.Errorf("the manifest claims %v", m)
			}
		})
	}
}

func TestADeviceIsLedBackWhenItsServerComesBackWithinPatience(t *testing.T) {
	for away, want := range map[int]journal.Outcome{5: journal.AsBefore, 1000: journal.Partial} {
		f := newFleet(t)
		f.devices["a"].fault, f.devices["a"].away = "partial", away
		got, err := f.config.Apply(t.Context(), f.plan, f.want)
		if err != nil || got.Outcome != want {
			t.Errorf("away for %d Sets: got %+v, %v, want %s", away, got, err, want)
		}
	}
}
