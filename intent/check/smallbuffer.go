package check

import (
	"fmt"

	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
)

// The published sizes of buffers, per port and Gb/s, go from 85 kB (48 ports of 1G) through 19.2, 9.6 and 5.12 kB (Trident+,
// Trident II, Tomahawk) down to 3.44 kB (Tofino): inet-tub/ns3-datacenter, Reverie (SIGCOMM 2023), buffer-size.py.
const smallestBuffer = 3440 // bytes per port and Gb/s

// smallBuffer tells of switches with less buffer for their speed than any published. That clusters with small buffers have
// more trouble with RDMA is said in Bai et al., "Empowering Azure Storage with RDMA" (NSDI 2023), section 9.
func smallBuffer(f *fabric.Fabric) diag.List {
	var l diag.List
	for _, sw := range f.Switches {
		if sw.ASIC == nil || sw.ASIC.Buffer == 0 || !meets(sw, "") {
			continue
		}
		total := 0 // Gb/s
		for _, p := range sw.Ports {
			total += int(p.Speed / 1e9)
		}
		if total == 0 || int(sw.ASIC.Buffer)/total >= smallestBuffer {
			continue
		}
		d := finding(diag.Note, fmt.Sprintf("the buffer is %s for ports of %d Gb/s in all: %.2f kB for each Gb/s", sw.ASIC.Buffer, total, float64(sw.ASIC.Buffer)/float64(total)/1e3),
			"The smallest that was published is 3.44 kB, and clusters with small buffers are reported to have more trouble with RDMA. "+
				"PFC fires sooner here: keep lossless classes few and cables short, begin to mark early, and watch the share of time that ports are paused.", []diag.Pos{sw.At})
		d.Addr = sw.Address()
		l.Add(d)
	}
	return l
}
