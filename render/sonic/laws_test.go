package sonic

import (
	"testing"
	"time"

	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/render"
	"github.com/weirfabric/weir/render/dialecttest"
)

func randomSwitch(seed uint64) *fabric.Switch {
	return dialecttest.RandomSwitch(seed, "sonic", "Ethernet0", "Ethernet4", "Ethernet8")
}

func TestTheLawsOfALanguageHold(t *testing.T) {
	var devices []*fabric.Switch
	for seed := range uint64(25) {
		devices = append(devices, randomSwitch(seed))
	}
	dialecttest.Run(t, Language{}, devices, dialecttest.Options[*fabric.Switch]{
		Identity: render.IdentityOfSwitch, Settings: (*fabric.Switch).Settings,
		Name: func(sw *fabric.Switch) string { return sw.Name }, Platform: "sonic", Start: start, Unsayable: unsayable(),
	})
}

// routed is the language kept to one route.
type routed struct {
	Language
	route plan.Route
}

func (r routed) Read(sw *fabric.Switch, answers []plan.Answer) (plan.State, error) {
	state, err := r.Language.Read(sw, answers)
	state.Route = r.route
	return state, err
}

func TestTheLawsHoldOnBothRoutes(t *testing.T) {
	var devices []*fabric.Switch
	for seed := uint64(100); len(devices) < 15; seed++ {
		sw := randomSwitch(seed)
		// The updater does not let the watchdog's first row be added or its last one be removed.
		sw.Watchdog = nil
		for _, p := range sw.Ports {
			p.Watchdog = nil
		}
		devices = append(devices, sw)
	}
	for _, route := range []plan.Route{plan.GNMISet, plan.SSHBulk} {
		t.Run(string(route), func(t *testing.T) {
			dialecttest.Run(t, routed{Language{}, route}, devices, dialecttest.Options[*fabric.Switch]{
				Name: func(sw *fabric.Switch) string { return sw.Name }, Platform: "sonic", Start: start,
			})
		})
	}
}

func TestTheLawsHoldInTheTraditionalModelOfBuffers(t *testing.T) {
	var devices []*fabric.Switch
	for seed := uint64(200); seed < 220; seed++ {
		devices = append(devices, randomSwitch(seed))
	}
	dialecttest.Run(t, Language{}, devices, dialecttest.Options[*fabric.Switch]{
		Name: func(sw *fabric.Switch) string { return sw.Name }, Platform: "sonic", Derives: true,
		Start: func(t *testing.T, sw *fabric.Switch, files []render.File) dialecttest.Device {
			d := start(t, sw, files)
			d.(*model).load(t, []byte(`{"DEVICE_METADATA": {"localhost": {"buffer_model": "traditional"}}}`))
			return d
		},
	})
}

// unsayable are switches that CONFIG_DB has no words for.
func unsayable() map[string]*fabric.Switch {
	with := func(change func(*fabric.Switch, *fabric.Port)) *fabric.Switch {
		sw := randomSwitch(1)
		for _, p := range sw.Ports {
			p.PFC, p.Groups[3] = qos.Priorities(3), fabric.Group{ID: 3, Lossless: true, ByDevice: true, Alpha: sw.LosslessAlpha}
			p.Watchdog = &qos.Watchdog{Detection: 200 * time.Millisecond, Restoration: 200 * time.Millisecond, Poll: 100 * time.Millisecond, Action: qos.Drop}
		}
		sw.Watchdog = sw.Ports[0].Watchdog
		change(sw, sw.Ports[0])
		return sw
	}
	return map[string]*fabric.Switch{
		"flow control":                       with(func(_ *fabric.Switch, p *fabric.Port) { p.FlowControl = true }),
		"a detection time below 100 ms":      with(func(_ *fabric.Switch, p *fabric.Port) { p.Watchdog.Detection = 50 * time.Millisecond }),
		"a detection time above 5 s":         with(func(_ *fabric.Switch, p *fabric.Port) { p.Watchdog.Detection = 6 * time.Second }),
		"a restoration time above a minute":  with(func(_ *fabric.Switch, p *fabric.Port) { p.Watchdog.Restoration = 61 * time.Second }),
		"a poll interval above a second":     with(func(_ *fabric.Switch, p *fabric.Port) { p.Watchdog.Poll = 2 * time.Second }),
		"a detection time below the polling": with(func(_ *fabric.Switch, p *fabric.Port) { p.Watchdog.Poll = 500 * time.Millisecond }),
		"a part of a millisecond":            with(func(_ *fabric.Switch, p *fabric.Port) { p.Watchdog.Detection += time.Microsecond }),
		"two poll intervals": with(func(_ *fabric.Switch, p *fabric.Port) {
			p.Watchdog = &qos.Watchdog{Detection: time.Second, Restoration: time.Second, Poll: 200 * time.Millisecond, Action: qos.Drop}
		}),
		"a threshold of 2 GiB": with(func(_ *fabric.Switch, p *fabric.Port) {
			p.Queues[3].WRED = &qos.WRED{Min: 1000, Max: 1 << 31, Probability: 5, ECN: true}
		}),
		"half a percent": with(func(_ *fabric.Switch, p *fabric.Port) {
			p.Queues[3].WRED = &qos.WRED{Min: 1000, Max: 2000, Probability: 0.5, ECN: true}
		}),
		"thresholds the wrong way round": with(func(_ *fabric.Switch, p *fabric.Port) {
			p.Queues[3].WRED = &qos.WRED{Min: 3000, Max: 2000, Probability: 5, ECN: true}
		}),
		"an MTU above 9216":               with(func(_ *fabric.Switch, p *fabric.Port) { p.MTU = 9300 }),
		"alpha of one port":               with(func(_ *fabric.Switch, p *fabric.Port) { p.Groups[3].Alpha++ }),
		"a static XOFF threshold":         with(func(_ *fabric.Switch, p *fabric.Port) { p.Groups[3].Static = 96_000 }),
		"alpha 256":                       with(func(sw *fabric.Switch, _ *fabric.Port) { sw.LosslessAlpha = 8 }),
		"a group of another number":       with(func(_ *fabric.Switch, p *fabric.Port) { p.Groups[3].Lossless, p.Groups[5].Lossless = false, true }),
		"PFC without a lossless group":    with(func(_ *fabric.Switch, p *fabric.Port) { p.PFC |= qos.Priorities(7) }),
		"headroom for one port of a kind": with(func(sw *fabric.Switch, p *fabric.Port) { stateHeadroom(sw, p) }),
		"a share that is no whole number": with(func(_ *fabric.Switch, p *fabric.Port) { p.Queues[3].Scheduler.Weight = 33.4 }),
	}
}

// stateHeadroom writes headroom in bytes for the first of two ports that SONiC has one profile for.
func stateHeadroom(sw *fabric.Switch, p *fabric.Port) {
	sw.Ports[1].Speed, sw.Ports[1].Cable = p.Speed, p.Cable
	p.Groups[3].ByDevice, p.Groups[3].Headroom, p.Groups[3].XON, p.Groups[3].Reserved = false, 40000, 20000, 60000
}
