package check

import (
	"fmt"
	"slices"

	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/qos"
)

// headroomPool says of a shared headroom pool that is over-subscribed what is bet on.
func headroomPool(f *fabric.Fabric) diag.List {
	var l diag.List
	for _, sw := range f.Switches {
		if sw.Oversubscribe <= 1 {
			continue
		}
		needs, pool := sw.HeadroomPool(sw.Oversubscribe)
		if len(needs) == 0 {
			continue
		}
		n := atOnce(needs, pool)
		d := finding(diag.Warning, fmt.Sprintf("the headroom pool of %s holds 1/%d of all headroom: %d of %s may fill theirs at once, up to %s each, and no more",
			pool.Rounded(), sw.Oversubscribe, n, plural(len(needs), "port"), slices.Max(needs).Rounded()),
			"A port that has sent PAUSE may still receive its headroom. When more ports than that do so at the same moment, packets of the lossless class are dropped.\n"+
				"A ratio above 1 is a bet that they do not: it saves buffer, and it is no guarantee. Write buffers.oversubscribe: 1 for a pool that holds all of it, or accept this finding.",
			sw.Origin.Headroom)
		if n == 0 {
			d = finding(diag.Error, fmt.Sprintf("the headroom pool holds %s, and a single port may need %s after PAUSE", pool.Rounded(), slices.Max(needs).Rounded()),
				"Packets of the lossless class would be dropped whenever that port pauses its sender. Write a lower buffers.oversubscribe.", sw.Origin.Headroom)
		}
		d.Addr = sw.Address()
		l.Add(d)
	}
	return l
}

// poolHoldsAPort says whether a pool of the ratio holds what any one port may need.
func poolHoldsAPort(sw *fabric.Switch, ratio int) bool {
	needs, pool := sw.HeadroomPool(ratio)
	return atOnce(needs, pool) > 0
}

// atOnce is how many ports can fill their headroom at the same time whichever they are: the largest needs count first.
func atOnce(needs []qos.Bytes, pool qos.Bytes) int {
	sorted := slices.Sorted(slices.Values(needs))
	slices.Reverse(sorted)
	for n, need := range sorted {
		if pool -= need; pool < 0 {
			return n
		}
	}
	return len(sorted)
}
