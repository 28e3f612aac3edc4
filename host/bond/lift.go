package bond

import (
	"maps"
	"slices"
	"strings"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
)

// Lift puts the bonds that run into the model. What makes them so again at a reboot is not looked at.
func Lift(h *fabric.Host, answers map[string]string, g *fabric.Gaps) {
	at := h.Address().Of(addr.Bond, "")
	if _, answered := answers[bondsQuery]; !answered {
		g.Unset(at)
		return
	}
	s, err := look(answers)
	if err != nil {
		g.Strange(diag.Excerpt(err.Error()), at)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(s.bonds)) {
		h.Bonds = append(h.Bonds, s.lift(h, name, g))
	}
}

func (s seen) lift(h *fabric.Host, name string, g *fabric.Gaps) fabric.Bond {
	at := h.Address().Of(addr.Bond, name)
	b := fabric.Bond{Name: name, Addresses: s.address[name]}
	for _, l := range s.running(h.Name, name) {
		switch value := l.Value; l.Path[2] {
		case "mode":
			if b.Mode = value; value != fabric.BondLACP && value != fabric.BondBackup {
				g.Strange("bonding mode: "+diag.Excerpt(value), at.With("mode"))
			}
		case "hash":
			if b.Hash = value; !slices.Contains([]string{"layer2", "layer2+3", "layer3+4"}, value) {
				g.Strange("bonding hash: "+diag.Excerpt(value), at.With("hash"))
			}
		case "mtu":
			if b.MTU = bytesOf(value); b.MTU <= 0 {
				g.Strange("bond mtu: "+diag.Excerpt(value), at.With("mtu"))
			}
		case "ports":
			b.Ports = strings.Fields(value)
		case "miimon", "lacp-rate", "fail-over-mac": // they decide how soon and how the ports stand in for each other
			if value != map[string]string{"miimon": monitoring, "lacp-rate": lacpRate, "fail-over-mac": failOverMAC}[l.Path[2]] {
				g.Strange("bonding "+l.Path[2]+": "+diag.Excerpt(value), at.With("mode"))
			}
		}
	}
	return b
}
