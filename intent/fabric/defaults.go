package fabric

import (
	"github.com/weirfabric/weir/intent/qos"
)

// What holds where neither the intent nor intent.Defaults says anything, because it follows from something else.
const (
	// egressLossless is the threshold of a lossless egress queue, alpha 128: above that of any ingress group, so that PFC
	// stops the sender before the queue drops (SONiC's egress_lossless_profile, dynamic_th 7).
	egressLossless qos.AlphaShift = 7

	// usualProbability is the marking probability at the upper threshold, as most published settings have it.
	usualProbability qos.Percent = 20

	usualCongestionControl = "dcqcn"
	usualRoCE              = 2
	usualCNPClass          = "cnp"
	usualDefaultClass      = "default"
)

// usualModules are what every RDMA host needs: connection management and verbs from user space.
var usualModules = []string{"rdma_cm", "rdma_ucm", "ib_uverbs"}
