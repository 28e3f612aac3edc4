package fabric

import (
	"slices"
	"strconv"
	"time"

	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/lossless"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/intent/source"
)

// settings are all settings of a port or device, every one of them decided. Ports that the same overrides select share one.
type settings struct {
	mtu           qos.Bytes
	trust         qos.Trust
	flowControl   bool
	pfcOff        bool
	headroom      intent.Headroom
	cable         qos.Metres
	watchdog      *qos.Watchdog
	losslessAlpha qos.AlphaShift
	lossyAlpha    qos.AlphaShift
	threshold     qos.Bytes // static XOFF threshold of lossless groups; 0: alpha
	oversubscribe int
	classes       []classSettings // as Fabric.Classes
	origin        *Origin
}

// classSettings are those of one class.
type classSettings struct {
	share, guaranteed qos.Percent
	strict            bool
	fanIn             int // 0: not written
	ecn               ecnSettings
}

// ecnSettings are what is written of a marking curve.
type ecnSettings struct {
	off         bool
	auto        bool         // auto or rtt is written: a lossy class is marked as well
	min, max    intent.Depth // the zero Depth: worked out
	probability qos.Percent
	rtt         time.Duration
	flows       int // 0: not written
}

// settingsOf merges what the overrides with the given indices say, the nearest first, over the fabric's settings and the
// defaults.
func (r *resolver) settingsOf(overrides []int) *settings {
	key := make([]byte, 0, 16)
	for _, i := range overrides {
		key = append(strconv.AppendInt(key, int64(i), 10), ' ')
	}
	if s, ok := r.settings[string(key)]; ok {
		return s
	}
	layers := make([]*intent.Settings, 0, len(overrides)+2)
	for _, i := range overrides {
		layers = append(layers, &r.in.Overrides[i].Settings)
	}
	s := merge(append(layers, &r.in.Settings, &r.defaults))
	r.mergeClasses(s, overrides)
	r.settings[string(key)] = s
	return s
}

// merge takes every setting from the first layer that has it. The last layer has them all.
func merge(layers []*intent.Settings) *settings {
	s := &settings{origin: &Origin{Class: map[string][]diag.Pos{}}}
	o := s.origin
	s.mtu = first(layers, &o.MTU, func(l *intent.Settings) source.Value[qos.Bytes] { return l.MTU })
	s.trust = first(layers, &o.Trust, func(l *intent.Settings) source.Value[qos.Trust] { return l.Trust })
	s.flowControl = first(layers, &o.FlowControl, func(l *intent.Settings) source.Value[bool] { return l.FlowControl })
	s.pfcOff = first(layers, &o.PFC, func(l *intent.Settings) source.Value[bool] { return l.PFC.Off })
	s.headroom = first(layers, &o.Headroom, func(l *intent.Settings) source.Value[intent.Headroom] { return l.PFC.Headroom })
	s.cable = first(layers, &o.Cable, func(l *intent.Settings) source.Value[qos.Metres] { return l.PFC.Cable })
	s.losslessAlpha = first(layers, &o.Alpha, func(l *intent.Settings) source.Value[intent.Alpha] { return l.Buffers.Alpha })
	s.lossyAlpha = first(layers, &o.Alpha, func(l *intent.Settings) source.Value[intent.Alpha] { return l.Buffers.LossyAlpha })
	s.threshold = staticThreshold(layers, &o.Alpha)
	s.oversubscribe = first(layers, &o.Headroom, func(l *intent.Settings) source.Value[int] { return l.Buffers.Oversubscribe })
	s.watchdog = mergeWatchdog(layers, &o.Watchdog)
	return s
}

// staticThreshold is the static threshold of the nearest layer that says how groups share the buffer; 0 where that layer says
// alpha alone. It takes the place of alpha, also in the places where what holds was written.
func staticThreshold(layers []*intent.Settings, at *[]diag.Pos) qos.Bytes {
	for _, l := range layers {
		switch b := &l.Buffers; {
		case b.Threshold.Set():
			*at = []diag.Pos{b.Threshold.At}
			return b.Threshold.V
		case b.Alpha.Set():
			return 0
		}
	}
	return 0
}

func mergeWatchdog(layers []*intent.Settings, at *[]diag.Pos) *qos.Watchdog {
	type duration = source.Value[time.Duration]
	off := first(layers, at, func(l *intent.Settings) source.Value[bool] { return l.PFC.Watchdog.Off })
	w := &qos.Watchdog{
		Detection:   first(layers, at, func(l *intent.Settings) duration { return l.PFC.Watchdog.Detection }),
		Restoration: first(layers, at, func(l *intent.Settings) duration { return l.PFC.Watchdog.Restoration }),
		Poll:        first(layers, at, func(l *intent.Settings) duration { return l.PFC.Watchdog.Poll }),
		Action:      first(layers, at, func(l *intent.Settings) source.Value[qos.WatchdogAction] { return l.PFC.Watchdog.Action }),
	}
	if off {
		return nil
	}
	return w
}

// first is the value of the first layer that has it. Its place is noted if the operator wrote it and it is no default.
func first[T any](layers []*intent.Settings, at *[]diag.Pos, get func(*intent.Settings) source.Value[T]) T {
	for _, l := range layers {
		if v := get(l); v.Set() {
			if !intent.IsDefault(v.At) && !slices.Contains(*at, v.At) {
				*at = append(*at, v.At)
			}
			return v.V
		}
	}
	return get(layers[len(layers)-1]).V
}

// mergeClasses decides what holds for every class, and gives classes without a share what the others leave.
func (r *resolver) mergeClasses(s *settings, overrides []int) {
	for _, class := range r.in.Classes {
		name := class.Name.V
		layers := make([]*intent.ClassSettings, 0, len(overrides)+1)
		places := []diag.Pos{class.Name.At}
		for _, i := range overrides {
			for j := range r.in.Overrides[i].Classes {
				if o := &r.in.Overrides[i].Classes[j]; o.Name.V == name {
					layers, places = append(layers, &o.ClassSettings), append(places, o.Name.At)
				}
			}
		}
		s.classes = append(s.classes, mergeClass(append(layers, &class.ClassSettings)))
		s.origin.Class[name] = places
	}
	left, without := qos.Percent(100), 0
	for _, c := range s.classes {
		if !c.strict {
			left -= c.share
			if c.share == 0 {
				without++
			}
		}
	}
	for i := range s.classes {
		if c := &s.classes[i]; !c.strict && c.share == 0 {
			c.share = max(0, left/qos.Percent(without))
		}
	}
}

func mergeClass(layers []*intent.ClassSettings) classSettings {
	var c intent.ClassSettings
	for _, l := range layers {
		c.Share, c.Strict, c.Guaranteed = c.Share.Or(l.Share), c.Strict.Or(l.Strict), c.Guaranteed.Or(l.Guaranteed)
		c.FanIn = c.FanIn.Or(l.FanIn)
	}
	return classSettings{share: c.Share.V, guaranteed: c.Guaranteed.V, strict: c.Strict.V, fanIn: c.FanIn.V, ecn: mergeECN(layers)}
}

// mergeECN takes each part of the curve from the nearest layer that has it. A layer that says auto ends what those behind it
// say of the curve itself.
func mergeECN(layers []*intent.ClassSettings) ecnSettings {
	var c intent.ECN
	for _, l := range layers {
		if !c.Auto.V {
			c.Off, c.Min, c.Max = c.Off.Or(l.ECN.Off), c.Min.Or(l.ECN.Min), c.Max.Or(l.ECN.Max)
			c.Probability, c.Auto = c.Probability.Or(l.ECN.Probability), c.Auto.Or(l.ECN.Auto)
		}
		c.RTT, c.Flows = c.RTT.Or(l.ECN.RTT), c.Flows.Or(l.ECN.Flows)
	}
	out := ecnSettings{
		off: c.Off.V, auto: c.Auto.V || c.RTT.Set(), min: c.Min.V, max: c.Max.V, probability: usualProbability, rtt: lossless.UsualRTT, flows: c.Flows.V,
	}
	if c.Probability.Set() {
		out.probability = c.Probability.V
	}
	if c.RTT.Set() {
		out.rtt = c.RTT.V
	}
	return out
}
