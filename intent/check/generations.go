package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/qos"
)

// sender is a NIC that sends a class with DCQCN.
type sender struct {
	host *fabric.Host
	nic  *fabric.NIC
}

// generations finds NICs of several generations in one lossless class with DCQCN whose answers to marks are not said to be
// alike. The incident: Bai et al., "Empowering Azure Storage with RDMA" (NSDI 2023), section 7.2.
func generations(f *fabric.Fabric) diag.List {
	var l diag.List
	senders := map[string][]sender{}
	nics(f, func(h *fabric.Host, n *fabric.NIC) {
		if n.DCQCN {
			senders[n.Class] = append(senders[n.Class], sender{h, n})
		}
	})
	for i := range f.Classes {
		c := &f.Classes[i]
		if !c.Lossless {
			continue
		}
		first := firstOfEach(senders[c.Name])
		unlike := unlikeAnswers(senders[c.Name])
		if len(first) < 2 || unlike == "" {
			continue
		}
		var names []string
		at := []diag.Pos{c.At}
		for _, s := range first {
			names = append(names, fmt.Sprintf("%s (%s/%s)", s.nic.Model.Name, s.host.Name, s.nic.Name))
			at = append(append(at, s.nic.At...), s.host.Device.At)
		}
		d := finding(diag.Warning, fmt.Sprintf("NICs of %d generations answer marks in class %s, and %s: %s", len(first), c.Name, unlike, strings.Join(names, ", ")),
			"Generations thin out CNPs at different places, the receiver or the sender, so that one of the two slows down too much or too little beside the other. "+
				"Set all NICs to one CNP interval and one way to hold a rate, and write them in the host profiles: roce: {cnpInterval: 50us, rateLimit: burst}, say. weir compares the two and does not set them.", at)
		d.Addr = addr.Addr{Kind: addr.Class, Name: c.Name}
		l.Add(d)
	}
	return l
}

// firstOfEach are the first NICs of each generation that is known, from the oldest on.
func firstOfEach(all []sender) []sender {
	var out []sender
	for _, s := range all {
		same := func(o sender) bool { return o.nic.Model.Generation == s.nic.Model.Generation }
		if m := s.nic.Model; m != nil && m.Generation != 0 && !slices.ContainsFunc(out, same) {
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b sender) int { return cmp.Compare(a.nic.Model.Generation, b.nic.Model.Generation) })
	return out
}

// unlikeAnswers is what the NICs are not said to have in common; empty where all of them are.
func unlikeAnswers(all []sender) string {
	for _, s := range all {
		first := all[0].nic
		switch n := s.nic; {
		case n.CNPInterval == 0:
			return "not all say their CNP interval"
		case n.RateLimit == "":
			return "not all say how they hold a flow to its rate"
		case n.CNPInterval != first.CNPInterval:
			return fmt.Sprintf("their CNP intervals are %s and %s", qos.RoundedTime(first.CNPInterval), qos.RoundedTime(n.CNPInterval))
		case n.RateLimit != first.RateLimit:
			return fmt.Sprintf("they hold a flow to its rate by %s and by %s", first.RateLimit, n.RateLimit)
		}
	}
	return ""
}
