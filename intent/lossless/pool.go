package lossless

import "github.com/weirfabric/weir/intent/qos"

// Pool is the size of a shared headroom pool: what all priority groups together may need, less what the ports hold
// privately, divided by the over-subscription ratio and rounded up to whole bytes. That is the rule of SONiC's buffer
// manager, (sum of xoff - private headroom) / over_subscribe_ratio, as the tests of sonic-net/sonic-swss state it.
//
// With a ratio of n only every n-th part of the groups can use its headroom in full at once; what arrives beyond that is
// dropped. A ratio below 1 is taken for 1: nothing is over-subscribed.
func Pool(sumHeadroom, private qos.Bytes, ratio int) qos.Bytes {
	n := qos.Bytes(max(1, ratio))
	return (max(0, sumHeadroom-private) + n - 1) / n
}
