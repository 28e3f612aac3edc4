package check

import (
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
)

// bondUnwritten finds bonds that somebody relies on: weir reads them and writes none.
func bondUnwritten(f *fabric.Fabric) diag.List {
	var findings diag.List
	for _, h := range f.Intent.Hosts {
		if h.Bond.Mode.V == "active-active" {
			findings = append(findings, finding(diag.Warning, "bond: {mode: active-active} is written down, and weir sets up no bonds",
				"The addresses of a port that goes down move to no other one by this. Set it up by hand, and write bond: {mode: off} until weir does it.", []diag.Pos{h.Bond.Mode.At}))
		}
	}
	return findings
}
