package intent

import (
	"time"

	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/intent/source"
)

// defaultPlace is where defaults say that they were written.
var defaultPlace = diag.Pos{File: "default", Line: 1, Column: 1}

// IsDefault says whether what stands at p was not written by the operator but is weir's default.
func IsDefault(p diag.Pos) bool { return p == defaultPlace }

func byDefault[T any](v T) source.Value[T] { return source.Value[T]{V: v, At: defaultPlace} }

// Defaults are the settings that hold where nothing nearer is written. All of them are set.
func Defaults() Settings {
	return Settings{
		MTU:         byDefault[qos.Bytes](9100), // a port's MTU where none is configured: sonic-swss, cfgmgr/portmgr
		Trust:       byDefault(qos.TrustDSCP),   // RoCEv2 is IP, and a routed fabric has no PCP to trust
		FlowControl: byDefault(false),           // 802.3x pauses the whole link: wrong wherever classes share it
		PFC:         defaultPFC(),
		Buffers: Buffers{
			Alpha:         byDefault[Alpha](0), // alpha 1: sonic-buildimage, buffers_config.j2, default_dynamic_th
			LossyAlpha:    byDefault[Alpha](3), // alpha 8: the same, ingress_lossy_profile of the SN4600C
			Oversubscribe: byDefault(0),        // no shared headroom pool: every group can fill its headroom at once
		},
	}
}

// defaultPFC has the watchdog of sonic-utilities' "pfcwd start_default" for switches of up to 32 ports (200 ms, action drop),
// the restoration of its "pfcwd start" (twice the detection), and a poll that sees a storm of the detection time at least once.
// The cable is that between leaf and ToR in sonic-buildimage, buffers_config.j2.
func defaultPFC() PFC {
	return PFC{
		Off: byDefault(false),
		Watchdog: Watchdog{
			Off: byDefault(false), Detection: byDefault(200 * time.Millisecond), Restoration: byDefault(400 * time.Millisecond),
			Poll: byDefault(100 * time.Millisecond), Action: byDefault(qos.Drop),
		},
		Headroom: byDefault(Headroom{Auto: true}),
		Cable:    byDefault[qos.Metres](40),
	}
}

// DefaultRouting is what the deadlock proof assumes where nothing is written: a routed Clos.
func DefaultRouting() Routing {
	return Routing{Policy: byDefault("up-down"), Routed: byDefault(true)}
}

// DefaultApply is how changes are made where nothing is written. Thirty seconds are twice a counter period of ten seconds,
// the usual one of polling, and a margin. A window without traffic proves nothing: apply holds. With half of a tier at once the other
// half carries what a bad wave loses.
func DefaultApply() Apply {
	return Apply{Settle: byDefault(30 * time.Second), Idle: byDefault("hold"), Share: byDefault(plan.DefaultShare)}
}
