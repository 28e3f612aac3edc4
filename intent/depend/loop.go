package depend

import "github.com/weirfabric/weir/intent/qos"

// LoopThreshold is how much traffic may enter a routing loop of n switches before it deadlocks. A packet that enters with the
// given TTL crosses links of the loop until the TTL, which every switch lowers on arrival, is used up, so each of the n links
// carries ceil((TTL-1)/n) times what enters; above the links' rate their buffers fill and wait for each other. The rule
// n x rate / TTL of Hu et al. (HotNets 2016) is this one without rounding. It is 0 where nothing sensible was asked.
func LoopThreshold(rate qos.Rate, ttl, n int) qos.Rate {
	if ttl < 2 || n < 1 {
		return 0
	}
	return rate / qos.Rate((ttl-1+n-1)/n)
}
