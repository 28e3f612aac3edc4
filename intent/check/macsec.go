package check

import (
	"fmt"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
)

// macsec compares what the ends of a link with MACsec do with PFC frames. The incident: Bai et al., "Empowering Azure Storage
// with RDMA" (NSDI 2023), section 8.3.
func macsec(f *fabric.Fabric) diag.List {
	const why = "The standard leaves open whether MACsec encrypts PFC frames, and switches differ. An end that does not take what the other sends does not stop, or counts it as corrupt, and packets of the lossless class are lost. "
	var l diag.List
	for _, link := range f.Links {
		if !link.MACsec.Enabled() || link.A.PFC() == 0 && link.B.PFC() == 0 {
			continue
		}
		a, b := link.MACsec.Modes()
		here, there := link.A, link.B
		if here.Switch == nil {
			a, b, here, there = b, a, there, here
		}
		var d diag.Diagnostic
		switch {
		case !a.Set() || !b.Set():
			d = finding(diag.Warning, fmt.Sprintf("the link to %s has MACsec and PFC, and nothing says what both ends do with PFC frames", there.Address()),
				why+"Set both ends to the same, and write it at the link: macsec: {pfc: bypass}, encrypt or strict.", []diag.Pos{link.At})
		case a.V != b.V:
			d = finding(diag.Error, fmt.Sprintf("MACsec: what is done with PFC frames is %s here and %s at %s", a.V, b.V, there.Address()),
				why+"Set both ends to the same, and write one macsec: {pfc: ...} for the link.", []diag.Pos{a.At, b.At})
		default:
			continue
		}
		d.Addr, d.Devices = here.Address().Of(addr.PFC, ""), ends(here, there)
		l.Add(d)
	}
	return l
}
