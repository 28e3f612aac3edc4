// Package check holds the rules that a resolved fabric must obey: one file per subject, one Check per rule.
package check

import (
	"slices"
	"time"

	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
)

// Check is one rule. Run gives a finding for every place that breaks it, in any order; the package's Run joins those that
// differ in their address only.
type Check struct {
	Name string // as findings, waivers and docs/checks.md spell it
	Doc  string // one sentence: what must hold, and why
	Run  func(*fabric.Fabric) diag.List
}

// All are the checks in the order of docs/checks.md.
func All() []Check {
	return []Check{
		{"names", "Every class, device and selection that the intent names exists.", names},
		{"class-dscp", "A DSCP leads to one class, and every class can be reached by one.", classDSCP},
		{"class-priority", "Every class has its own priority and PCPs, since PFC pauses a priority as a whole.", classPriority},
		{"class-queue", "A lossless class shares its queue with no other, or their packets would be paused together.", classQueue},
		{"default-class", "One lossy class takes the code points that no class names, so that all 64 are stated and strangers stay out of lossless queues.", defaultClass},
		{"cnp", "Where DCQCN runs, CNPs have a class of their own with its own DSCP and strict scheduling.", cnpClass},
		{"roce-class", "RoCE is sent in a lossless class, or in one that is meant to do without PFC.", roceClass},
		{"roce-version", "All senders of a class use one version of RoCE, and one that their NICs know: v1 and v2 do not understand each other.", roceVersion},
		{"trust", "RoCE v1 has no DSCP and PCP does not survive routing, so trust must fit the version and the fabric, and be the same on both ends of a link.", trust},
		{"ect", "No sender without ECT in a queue that marks: WRED drops what it cannot mark.", ect},
		{"link-priorities", "Both ends of a link have PFC on for the same priorities.", linkPriorities},
		{"cables", "Every NIC that sends RoCE has a cable in the inventory, so that the way of its packets is known.", cables},
		{"link-mtu", "Switches agree on the MTU of a link, and take what their hosts send.", linkMTU},
		{"flow-control", "IEEE 802.3x, which pauses a whole link, is off where PFC is on.", flowControl},
		{"shares", "The shares of a port's queues sum to 100 %, and no class is left without.", shares},
		{"ecn-curve", "Marking begins before it is complete, and marks something.", ecnCurve},
		{"ecn-before-pfc", "ECN reaches every packet before PFC fires, where the buffer is known.", ecnBeforePFC},
		{"dcqcn-marking", "Marking can hold as many flows as the intent says below ecn.max, as far as the model of DCQCN tells.", dcqcnMarking},
		{"headroom", "The headroom of every lossless priority group is known and covers what may still arrive after PAUSE.", headroom},
		{"pause-order", "PAUSE ends at a lower occupancy than that at which it is sent: XON lies below XOFF.", pauseOrder},
		{"buffer-fit", "All headroom and guarantees of a switch fit its buffer.", bufferFit},
		{"lossless-classes", "No switch has more lossless classes than its chip supports, where that is known.", losslessClasses},
		{"chip", "No switch is asked for marking, a watchdog or an alpha that its chip does not have, where that is known.", chip},
		{"headroom-pool", "A shared headroom pool holds all headroom, or what is bet on is known.", headroomPool},
		{"sku", "The SKU of every switch is in the catalog, so that its numbers can be checked.", knownSKU},
		{"oversubscription", "No switch has more bandwidth from below for its links upwards than the operator wants.", oversubscription},
		{"polarisation", "Two tiers that choose among links one after the other do not hash alike, where the operator says how they hash.", polarisation},
		{"hash-fields", "The hash that chooses among links reads the queue pair of RoCE, which has few flows, where the operator says what it reads.", hashFields},
		{"incast", "As many senders as the operator wants may start towards a port at once without PFC.", incast},
		{"deadlock", "No cycle of buffers that wait for each other can form, whichever single link or switch is down and while routes change.", deadlocks},
		{"subnets", "InfiniBand subnets that talk have a router in common, and no way over it goes down and then up.", subnets},
		{"watchdog", "Every port with PFC has a watchdog against deadlock and storm, whose times make sense.", watchdog},
		{"watchdog-limits", "The times of the watchdog are ones that the platform takes, where its limits are known.", watchdogLimits},
		{"watchdog-pause", "No watchdog takes a legal PAUSE or the hold of a healthy incast for a storm.", watchdogPause},
		{"watchdog-order", "Ports towards hosts detect a storm no later than ports between switches, so that the storming host is cut and nothing else.", watchdogOrder},
		{"watchdog-bandwidth", "Queues have guaranteed bandwidth on platforms whose watchdog watches no others.", watchdogBandwidth},
		{"macsec", "Both ends of a link with MACsec do the same with PFC frames.", macsec},
		{"firmware", "No NIC runs firmware or a driver below what the catalog wants for its model.", firmware},
		{"nic-generations", "NICs of several generations that send one lossless class with DCQCN are set to answer marks alike.", generations},
		{"known-bugs", "Published faults of a switch's software that hurt lossless traffic are known before it carries any.", knownBugs},
		{"small-buffer", "A switch with less buffer for its speed than any published is told of.", smallBuffer},
		{"bond", "Nobody relies on addresses to move that weir does not move.", bondUnwritten},
		{"bond-ports", "A bond has ports that can be one, and an address.", bondPorts},
		{"canary", "In a fabric of several switches with hosts the operator says which one is changed first.", chosenCanary},
	}
}

// Run runs all checks, leaves out what waivers cover, and sorts the findings. Now is the time of the run, for waivers that
// expire.
func Run(f *fabric.Fabric, now time.Time) diag.List {
	w, others := WaiversOf(f, now), unmanaged(f)
	var findings diag.List
	for _, c := range All() {
		if f.Runs && slices.Contains(wishes, c.Name) {
			continue
		}
		var joined gather
		for _, d := range c.Run(f) {
			d.Check = c.Name
			if others[d.Addr.Device] && !slices.Contains(between, c.Name) {
				continue
			}
			if slices.Contains(whole, c.Name) {
				d.Devices = []string{""}
			}
			if !w.Cover(d.Check, d.Addr) {
				joined.add(d)
			}
		}
		findings = append(findings, joined.list()...)
	}
	if !f.Runs {
		findings = append(findings, w.findings()...)
	}
	findings.Sort()
	return findings
}

// wishes are the checks of what operators write: names, classes and wishes. Of a fabric that runs they have nothing to say: its
// classes are made of what hosts mark, and shares are relative on some platforms.
var wishes = []string{
	"names", "class-dscp", "class-priority", "class-queue", "default-class", "roce-class", "shares", "cables", "dcqcn-marking", "oversubscription",
	"polarisation", "hash-fields", "incast", "subnets", "canary",
}

// between are the checks of what devices must agree about. They count at devices that are not weir's as well; how such a device is
// set for itself is no finding.
var between = []string{"link-priorities", "link-mtu", "trust", "macsec", "deadlock"}

// whole are the checks of the fabric as a whole: what they find stands at one device of several.
var whole = []string{"polarisation", "hash-fields", "incast", "deadlock"}

// unmanaged are the devices that are not weir's.
func unmanaged(f *fabric.Fabric) map[string]bool {
	out := map[string]bool{}
	for _, d := range f.Inventory.Devices {
		if !d.Managed() {
			out[d.Name.V] = true
		}
	}
	return out
}

// finding makes one finding; the check's name is filled in by Run.
func finding(s diag.Severity, summary, detail string, at ...[]diag.Pos) diag.Diagnostic {
	d := diag.Diagnostic{Severity: s, Summary: summary, Detail: detail}
	for _, places := range at {
		d.At = append(d.At, places...)
	}
	return d
}
