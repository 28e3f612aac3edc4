package intent

import (
	"time"

	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/intent/source"
)

// Apply is how the operator wants changes to be made.
type Apply struct {
	Canary source.Value[string]        `yaml:"canary" form:"name" doc:"The device that is changed first."`
	Settle source.Value[time.Duration] `yaml:"settle" max:"1h" doc:"How long counters are watched after a wave."`
	Idle   source.Value[string]        `yaml:"idle" enum:"hold,accept" doc:"What becomes of a wave around which no lossless class carried anything, neither before nor after it: hold leads it back, accept lets it stay."`
	Share  source.Value[qos.Percent]   `yaml:"share" min:"1%" max:"100%" doc:"The most of the switches of a tier, and of the hosts, that a wave changes. It is never all of several."`
}

// Waiver accepts a finding that was weighed.
type Waiver struct {
	Check   source.Value[string]    `yaml:"check,required" form:"name" doc:"The check whose findings are accepted, or drift, boundary or another name of what is found when devices are looked at: docs/checks.md lists them."`
	Address source.Value[string]    `yaml:"address" form:"thing" doc:"The address that they are about; it covers what lies inside it."`
	Reason  source.Value[string]    `yaml:"reason,required" doc:"Why they are accepted."`
	Expires source.Value[time.Time] `yaml:"expires" doc:"The last day, UTC, on which they are; without it they always are."`
	At      diag.Pos
}
