package deadlock

import (
	"net/netip"
	"testing"

	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/inventory"
)

func TestPrefixesBelongToTheSwitchWithTheLongestLabel(t *testing.T) {
	label := func(text string) func(*intent.Fabric, *inventory.Inventory) {
		return func(_ *intent.Fabric, inv *inventory.Inventory) {
			for _, d := range inv.Devices {
				switch d.Name.V {
				case "a":
					d.Labels = map[string]string{"prefix": "10.1.0.0/16, 2001:db8:1::/48"}
				case "b":
					d.Labels = map[string]string{"prefix": text}
				}
			}
		}
	}
	names, err := FIBNames(closOf(t, label("10.1.2.0/24")))
	if err != nil {
		t.Fatal(err)
	}
	for prefix, want := range map[string]string{"10.1.2.128/25": "b", "10.1.3.0/24": "a", "2001:db8:1:7::/64": "a", "10.0.0.0/8": "", "0.0.0.0/0": ""} {
		if got, _ := names.Owner(netip.MustParsePrefix(prefix)); got != want {
			t.Errorf("%s belongs to %q, want %q", prefix, got, want)
		}
	}
	if !names.HostPort("a", "Ethernet1") || names.HostPort("a", "Ethernet2") || names.HostPort("a", "Ethernet9") {
		t.Error("the port of the host is Ethernet1 alone")
	}
	if _, err := FIBNames(closOf(t, label("10.1.2"))); err == nil {
		t.Error("a label that is no prefix is taken")
	}
}
