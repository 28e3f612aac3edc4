package render

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/fabric"
)

func TestWhatADeviceSaysOfItselfCountsMoreThanTheInventory(t *testing.T) {
	says := Identity{Name: "localhost", SKU: "B", Ports: []Port{{Name: "Ethernet10", Speed: 1}, {Name: "Ethernet2", Speed: 2}}}
	known := Identity{Name: "leaf1", Platform: "sonic", SKU: "A", Ports: []Port{{Name: "Ethernet2", Speed: 9, RDMA: "mlx5_0"}, {Name: "Ethernet3", Lanes: 4}}}
	want := Identity{Name: "leaf1", Platform: "sonic", SKU: "B", Ports: []Port{{Name: "Ethernet2", Speed: 2, RDMA: "mlx5_0"}, {Name: "Ethernet3", Lanes: 4}, {Name: "Ethernet10", Speed: 1}}}
	if diff := cmp.Diff(want, says.With(known)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWhatComesBackIsWhatWasWrittenOrAnExclusion(t *testing.T) {
	share := addr.Port("leaf1", "Ethernet0").Of(addr.Queue, "3").With("weight")
	other := addr.Port("leaf1", "Ethernet0").Of(addr.MTU, "")
	rounded := []Exclusion{{Of: addr.Addr{Kind: addr.Queue, Leaf: "weight"}, As: func(string) string { return "33%" }}}
	never := []Exclusion{{Of: addr.Addr{Kind: addr.Queue}, Silent: true}}
	theirs := []Exclusion{{Of: addr.Addr{Kind: addr.Queue}, Theirs: true}}
	for name, c := range map[string]struct {
		list        []Exclusion
		at          addr.Addr
		back, usual string
		known       fabric.Reading
		want        bool
	}{
		"as it was written":                {nil, share, "33.4%", "", fabric.Known, true},
		"another value":                    {nil, share, "33%", "", fabric.Known, false},
		"rounded, as is named":             {rounded, share, "33%", "", fabric.Known, true},
		"rounded otherwise":                {rounded, share, "34%", "", fabric.Known, false},
		"not known, though it is rounded":  {rounded, share, "", "", fabric.Unset, false},
		"not known, as is named":           {never, share, "", "", fabric.Inexpressible, true},
		"known and wrong":                  {never, share, "1%", "", fabric.Known, false},
		"the platform's own":               {theirs, share, "1%", "", fabric.Known, true},
		"a default that is what was said":  {nil, share, "", "33.4%", fabric.Unset, true},
		"a default that is something else": {nil, share, "", "1%", fabric.Unset, false},
		"not understood":                   {never, share, "33.4%", "33.4%", fabric.Strange, false},
		"another setting":                  {never, other, "1", "", fabric.Known, false},
	} {
		if got := Back(c.list, fabric.Setting{At: c.at, Value: "33.4%"}, c.back, c.known, c.usual); got != c.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}
