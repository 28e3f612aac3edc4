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
	Single bool // the only switch of a tier may change
}

// Covers says what the plan needs that was not agreed to; nil where nothing is missing.
func (c Consent) Covers(p plan.Plan) error {
	for _, s := range slices.Concat(p.Waves...) {
		for _, change := range s.Changes {
			if change.Adopt && !c.Adopt {
				return fmt.Errorf("%s: %s stands there and was not made by weir: look at the changes marked \"adopt\", then apply with --adopt", s.Device, change.Addr)
			}
		}
		if s.Single && !c.Single {
			return fmt.Errorf("%s: it is the only switch of its tier, and nothing carries the traffic beside it: apply with --allow-single when that is all right", s.Device)
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
