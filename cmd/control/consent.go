package control

import (
	"fmt"
	"slices"

	"github.com/weirfabric/weir/intent/plan"
)

// Consent is what the operator agrees to beforehand.
type Consent struct {
	Adopt  bool // shared objects that stand on a device and were not made by weir are taken over
	Flap   bool // changes may drain queues or flap ports
	Reboot bool // changes may restart a device
}

// Covers says what the plan needs that was not agreed to; nil where nothing is missing.
func (c Consent) Covers(p plan.Plan) error {
	for _, s := range slices.Concat(p.Waves...) {
		for _, change := range s.Changes {
			if change.Adopt && !c.Adopt {
				return fmt.Errorf("%s: %s stands there and was not made by weir: look at the changes marked \"adopt\", then apply with --adopt", s.Device, change.Addr)
			}
		}
		switch impact := s.Impact(); {
		case impact == plan.Reboots && !c.Reboot:
			return fmt.Errorf("%s: the changes restart the device: apply with --allow-reboot", s.Device)
		case impact > plan.None && impact < plan.Reboots && !c.Flap:
			return fmt.Errorf("%s: the changes touch traffic (%s): apply with --allow-flap when that is all right", s.Device, impact)
		}
	}
	return nil
}
