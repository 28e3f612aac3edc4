package catalog

import (
	"slices"
	"strings"

	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/qos"
)

// Bug is a published fault of a switch's software that hurts lossless traffic.
type Bug struct {
	Name     string             // as its makers know it: repository and number
	Platform string             // empty: whichever
	ASICs    []string           // empty: whichever
	Releases []string           // that have it, with what stands behind a dot of them; empty: no release is known to be without it
	Action   qos.WatchdogAction // of the watchdog with which it shows; empty: whichever
	Summary  string             // what happens
	Remedy   string             // what an operator can do
	Source   string             // where it is described
	At       diag.Pos           // of a row that the operator wrote
}

// bugs are the built-in rows: those that were read at their source.
var bugs = []Bug{
	{
		Name: "sonic-buildimage#29203", Platform: "sonic", ASICs: []string{"Tomahawk 4", "Tomahawk 5", "Tomahawk 6"}, Action: qos.Drop,
		Summary: "the watchdog goes in and out of storm while one storm lasts, when all lossless priorities of a port are in storm at once",
		Remedy: "170 cycles in 20 minutes were measured; a port with one lossless priority always meets the condition. While it goes on the queue sends and drops in turn: " +
			"end the storm at its origin, which weir watch names (pfc-storm), and look in the issue for a release that has the repair.",
		Source: "https://github.com/sonic-net/sonic-buildimage/issues/29203",
	},
	{
		Name: "sonic-buildimage#22201", Platform: "sonic", Releases: []string{"202411"},
		ASICs:   []string{"Spectrum", "Spectrum-2", "Spectrum-3", "Spectrum-4", "Spectrum-5"},
		Summary: "a gNMI subscription that samples the counters of a port sends one update and then no more",
		Remedy: "The watchdog's time stamps change the rows faster than the server can send them. Builds of the release from before sonic-swss#3391 and sonic-sairedis#1534 do not have it. " +
			"weir watch says which ports' counters do not arrive (stale-target): run a release without the fault.",
		Source: "https://github.com/sonic-net/sonic-buildimage/issues/22201",
	},
	{
		Name: "sonic-swss#4797", Platform: "sonic", ASICs: []string{"Spectrum-6"},
		Summary: "the switch may work out 18 KiB too little headroom for every lossless priority group",
		Remedy: "Builds from before July 2026 lack what the chip needs, above all when traffic starts, and drop packets of lossless classes. weir reckons with it: " +
			"compare what the switch reserves with what weir explain shows for the priority group.",
		Source: "https://github.com/sonic-net/sonic-swss/pull/4797",
	},
}

// SetBug adds a row, or puts it in place of that of the same name.
func (c *Catalog) SetBug(row Bug) { c.bugs = set(c.bugs, row, func(r Bug) string { return r.Name }) }

// Bugs are the known faults of a switch with the platform, chip and release; those of the operator take the place of built-in
// ones of the same name. Where the release is not known, what only some releases have is left out.
func (c *Catalog) Bugs(platform, asic, release string) []Bug {
	var all, out []Bug
	if c != nil {
		all = append(all, c.bugs...)
	}
	for _, b := range bugs {
		if !slices.ContainsFunc(all, func(own Bug) bool { return own.Name == b.Name }) {
			all = append(all, b)
		}
	}
	for _, b := range all {
		if b.on(platform, asic, release) {
			out = append(out, b)
		}
	}
	return out
}

func (b *Bug) on(platform, asic, release string) bool {
	return (b.Platform == "" || b.Platform == platform) &&
		(len(b.ASICs) == 0 || slices.Contains(b.ASICs, asic)) &&
		(len(b.Releases) == 0 || slices.ContainsFunc(b.Releases, func(r string) bool { return within(release, r) }))
}

// within says whether a release is the one named or one that goes on behind a digit: 202411.2 is within 202411, 4.33 not in 4.3.
func within(release, named string) bool {
	rest, ok := strings.CutPrefix(release, named)
	return ok && (rest == "" || rest[0] < '0' || rest[0] > '9')
}
