package catalog

// Platform is what a device's software does by itself, whatever chip is below it.
type Platform struct {
	Name string
	// ComputesHeadroom: a lossless priority group's headroom follows from the port's speed and cable length.
	ComputesHeadroom bool
	// WatchdogNeedsGuarantee: the watchdog watches only queues that also have guaranteed bandwidth. Unverified: it is said
	// by third parties and not by the vendor, so that a finding must say so.
	WatchdogNeedsGuarantee, Unverified bool
	Source                             string
}

var platforms = []Platform{
	{Name: "sonic", ComputesHeadroom: true, Source: "sonic-net/sonic-swss, cfgmgr/buffermgr.cpp and buffermgrdyn.cpp"},
	{
		Name: "eos", WatchdogNeedsGuarantee: true, Unverified: true,
		Source: "a public post of July 2026 on lossless RoCEv2 that quotes the EOS manual; the manual itself was not read",
	},
	{Name: "linux"},
}

// ByPlatform is the row of a platform; nil where it is not in the catalog.
func ByPlatform(name string) *Platform {
	for i := range platforms {
		if platforms[i].Name == name {
			row := platforms[i]
			return &row
		}
	}
	return nil
}
