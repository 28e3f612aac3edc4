package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/qos"
)

// incast compares the largest fan-in of the ports with the one that the operator wants.
func incast(f *fabric.Fabric) diag.List {
	if !wantsFanIn(f.Intent) {
		return nil
	}
	var l diag.List
	all := f.Incasts()
	worst := worstOf(all)
	for _, c := range all {
		var d diag.Diagnostic
		switch {
		case c.Senders >= c.Wanted:
			continue
		case c.Senders == 0:
			d = finding(diag.Note, fmt.Sprintf("fanIn of class %s cannot be checked: %s", c.Class, c.Why),
				"How many senders may start at once depends on the buffer that headroom leaves to share. Write the chip into the catalog of the repo, and pfc.headroom in bytes where it is not known.")
		default:
			d = finding(diag.Warning, fmt.Sprintf("%s may start at once towards this port without PFC, and fanIn of class %s wants %d", count(c.Senders, "sender"), c.Class, c.Wanted),
				fanInDetail(worst[c.Kind()]))
		}
		for _, p := range c.Ports {
			d.Addr, d.At = p.Address(), p.Port.Origin.Class[c.Class]
			l.Add(d)
		}
	}
	return l
}

// worstOf are the port classes with the least buffer to share, by kind, as far as it is known: one finding tells of all ports of a kind.
func worstOf(all []fabric.Incast) map[fabric.PortClass]fabric.Incast {
	worst := map[fabric.PortClass]fabric.Incast{}
	for _, c := range all {
		w, ok := worst[c.Kind()]
		if c.Senders > 0 && (!ok || cmp.Or(cmp.Compare(c.Shared, w.Shared), addr.Compare(c.At(), w.At())) < 0) {
			worst[c.Kind()] = c
		}
	}
	return worst
}

// wantsFanIn says whether any class or override says what the fan-in must be.
func wantsFanIn(in *intent.Fabric) bool {
	return slices.ContainsFunc(in.Classes, func(c intent.Class) bool { return c.FanIn.Set() }) ||
		slices.ContainsFunc(in.Overrides, func(o intent.Override) bool {
			return slices.ContainsFunc(o.Classes, func(c intent.ClassOverride) bool { return c.FanIn.Set() })
		})
}

// fanInDetail is the formula with the numbers of the wanted fan-in, and what would make it hold.
func fanInDetail(c fabric.Incast) string {
	n := c.Wanted
	if c.Why != "" {
		return fmt.Sprintf("Here %s, until each of N senders stands still for 1-1/N of the time. Mark the class (ecn) and let the hosts answer with DCQCN (roce.congestionControl), or drop fanIn.", c.Why)
	}
	fires := fmt.Sprintf("N*alpha*Bs / (1 + N*alpha) = %s, with alpha %s and a shared buffer Bs of %s", c.Depth(n).Rounded(), c.Alpha, c.Shared.Rounded())
	if c.Static > 0 {
		fires = fmt.Sprintf("N x the threshold of %s, and at most the shared buffer of %s: %s", c.Static.Rounded(), c.Shared.Rounded(), c.Depth(n).Rounded())
	}
	return strings.Join([]string{
		fmt.Sprintf("At %s the queue rises to Q(N) = (N-1)*C*RTT + N*Kmax + sum of (N/2^i - 1)*C*tau while N/2^i > 1: %s for N = %d, C = %s, RTT = %s, Kmax = %s, tau = %s%s.",
			c.At(), c.Peak(n).Rounded(), n, c.Speed, qos.RoundedTime(c.RTT), c.Max.Rounded(), qos.RoundedTime(c.CNPInterval), ofPaper(c)),
		fmt.Sprintf("PFC fires at %s. Ports of the kind elsewhere have as much to share, or more.", fires),
		"What would do: " + strings.Join(fanInRemedies(c), "; ") + ".",
	}, "\n")
}

// ofPaper says that tau is not the operator's.
func ofPaper(c fabric.Incast) string {
	if c.CNP.Said {
		return ""
	}
	return " (roce.cnpInterval is not written; this is the DCQCN paper's)"
}

// fanInRemedies are changes of one setting that let the wanted fan-in start without PFC, each tried with the formula.
func fanInRemedies(c fabric.Incast) []string {
	var out []string
	n, peak := c.Wanted, c.Peak(c.Wanted)
	for alpha := c.Alpha + 1; alpha <= largestAlpha && c.Static == 0; alpha++ {
		more := c.Incast
		if more.Alpha = alpha; peak < more.Depth(n) {
			out = append(out, "buffers.alpha of "+alpha.String())
			break
		}
	}
	if c.Static > 0 && peak < c.Shared {
		out = append(out, fmt.Sprintf("buffers.threshold of at least %s", upKB(peak/qos.Bytes(n))))
	}
	rest := c.Incast
	rest.Max = 0
	least := qos.Bytes(float64(c.Speed) / 8 * c.RTT.Seconds()) // a round trip of queue, below which the port idles
	if below := (c.Depth(n) - rest.Peak(n)) / qos.Bytes(n); below > least {
		out = append(out, fmt.Sprintf("ecn.max of at most %s", upKB(below)-1000))
	}
	if c.Static == 0 {
		factor := float64(n) * c.Alpha.Alpha()
		need, chip := qos.Bytes(float64(peak)*(1+factor)/factor), c.Ports[0].Switch.ASIC.Buffer
		if taken := chip - c.Shared; need-c.Shared <= taken/2 { // half of what is taken can be had back; all of it never
			out = append(out, fmt.Sprintf("a shared buffer of at least %s of the chip's %s (shorter cables, fewer ports with PFC, or buffers.oversubscribe)", upKB(need), chip.Rounded()))
		}
	}
	if below := longestCNPInterval(c); below >= time.Microsecond {
		out = append(out, "a CNP interval of the NICs of at most "+qos.RoundedTime(below.Truncate(100*time.Nanosecond)))
	}
	return append(out, fmt.Sprintf("at most %s at a moment, by how the application schedules them", count(c.Senders, "sender")))
}

// upKB is the next whole kB above.
func upKB(b qos.Bytes) qos.Bytes { return (b/1000 + 1) * 1000 }

// longestCNPInterval is the tau with which the queue of the wanted fan-in stays just below PFC; 0 where none is short enough. The
// peak is linear in tau.
func longestCNPInterval(c fabric.Incast) time.Duration {
	at := func(tau time.Duration) qos.Bytes {
		with := c.Incast
		with.CNPInterval = tau
		return with.Peak(c.Wanted)
	}
	room, slope := c.Depth(c.Wanted)-at(0), at(time.Millisecond)-at(0)
	if room <= 0 || slope <= 0 {
		return 0
	}
	return time.Duration(float64(room-1) / float64(slope) * float64(time.Millisecond))
}

// largestAlpha is the largest dynamic threshold that can be written: 128.
const largestAlpha qos.AlphaShift = 7
