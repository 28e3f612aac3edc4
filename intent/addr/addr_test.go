package addr

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEveryAddressReadsBackAsItWasSpelt(t *testing.T) {
	for spelling, want := range map[string]Addr{
		"leaf1":                         {Device: "leaf1"},
		"leaf1/Ethernet0":               {Device: "leaf1", Port: "Ethernet0"},
		"leaf1/Ethernet1/1":             {Device: "leaf1", Port: "Ethernet1/1"},
		"leaf1/Ethernet1/1/pfc/3":       {Device: "leaf1", Port: "Ethernet1/1", Kind: PFC, Name: "3"},
		"leaf1/Ethernet0/queue/3:share": {Device: "leaf1", Port: "Ethernet0", Kind: Queue, Name: "3", Leaf: "share"},
		"leaf1/map/dscp-to-tc/26":       {Device: "leaf1", Kind: Map, Name: "dscp-to-tc/26"},
		"class/rdma":                    {Kind: Class, Name: "rdma"},
		"leaf1/Ethernet0/trust":         {Device: "leaf1", Port: "Ethernet0", Kind: Trust},
	} {
		got, err := Parse(spelling)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", spelling, diff)
		}
		if got.String() != spelling {
			t.Errorf("spelt %q, want %q", got, spelling)
		}
	}
}

func TestAMalformedAddressIsAnError(t *testing.T) {
	for _, s := range []string{"", "/leaf1", "leaf1/", "leaf1//pfc"} {
		if _, err := Parse(s); err == nil {
			t.Errorf("%q was accepted", s)
		}
	}
}

func TestAddressesSortAsPeopleCount(t *testing.T) {
	got := []Addr{Port("leaf10", "Ethernet4"), Port("leaf2", "Ethernet12"), Port("leaf2", "Ethernet4"), Device("leaf2")}
	slices.SortFunc(got, Compare)
	want := []Addr{Device("leaf2"), Port("leaf2", "Ethernet4"), Port("leaf2", "Ethernet12"), Port("leaf10", "Ethernet4")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAnAddressContainsWhatLiesInsideIt(t *testing.T) {
	pfc := Port("leaf1", "Ethernet0").Of(PFC, "3")
	for _, outer := range []Addr{{}, Device("leaf1"), Port("leaf1", "Ethernet0"), pfc} {
		if !outer.Contains(pfc) {
			t.Errorf("%q does not contain %q", outer, pfc)
		}
	}
	dscp := Device("leaf1").Of(Map, "dscp-to-tc/26")
	if !Device("leaf1").Of(Map, "dscp-to-tc").Contains(dscp) || Device("leaf1").Of(Map, "dscp").Contains(dscp) ||
		!Device("leaf1").Of(Queue, "").With("share").Contains(Port("leaf1", "Ethernet0").Of(Queue, "3").With("share")) {
		t.Error("a map does not contain its entries, or half of a name does, or a device the shares of its queues")
	}
	if Device("leaf2").Contains(pfc) || pfc.Contains(Device("leaf1")) {
		t.Error("contained in another device, or the other way round")
	}
}
