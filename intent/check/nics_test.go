package check

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/inventory"
	"github.com/weirfabric/weir/inventory/catalog"
)

func TestVersionsAreComparedByTheirNumbers(t *testing.T) {
	for _, c := range []struct {
		version, than string
		want          bool
	}{
		{"20.31.1014", "20.31.1014", false},
		{"20.31.1013", "20.31.1014", true},
		{"20.29.9999", "20.31.1014", true},
		{"22.1.0", "20.31.1014", false},
		{"20.4.1", "20.31.1014", true}, // numbers, not letters
		{"20.31", "20.31.1", true},
		{"20.31", "20.31.0", false},
		{"20.31.1014.7", "20.31.1014", false},
		{"5.8-1.1.2", "5.8-2.0.3", true},
		{"24.10-1.1.4", "5.8-2.0.3", false},
		{"218.0.169.1", "219.0", true},
	} {
		if got := older(c.version, c.than); got != c.want {
			t.Errorf("%s older than %s: got %t", c.version, c.than, got)
		}
	}
}

// TestWhatRunsBelowTheFloorIsFoundWithBothPlaces has a catalog that wants a firmware and a driver.
func TestWhatRunsBelowTheFloorIsFoundWithBothPlaces(t *testing.T) {
	for name, c := range map[string]struct {
		firmware, driver string
		want             []string
	}{
		"all is new enough": {"20.31.1014", "24.10-1.1.4", nil},
		"old firmware": {"20.29.1016", "24.10-1.1.4", []string{
			"error: gpu1/eth0: the firmware of the ConnectX-6 is 20.29.1016, and the catalog wants 20.31.1014 at least (and at 1 more)"}},
		"old driver": {"20.31.1014", "5.8", []string{
			"error: gpu1/eth0: the driver of the ConnectX-6 is 5.8, and the catalog wants 24.10 at least (and at 1 more)"}},
		"nothing is said of the driver": {"20.31.1014", "", []string{
			"note: gpu1/eth0: the inventory does not say which driver the ConnectX-6 runs, and the catalog wants 24.10 at least (and at 1 more)"}},
	} {
		inv := withHosts("sonic", "Mellanox-SN4600C-C64", "ConnectX-6")
		inv.Catalog = &catalog.Catalog{}
		row := inv.Catalog.ByNIC("ConnectX-6")
		row.Firmware, row.Driver, row.At = "20.31.1014", "24.10", place(90)
		inv.Catalog.SetNIC(*row)
		for _, d := range inv.Devices[1:] {
			d.Ports[0].Firmware, d.Ports[0].Driver = at(c.firmware, 91), at(c.driver, 91)
			if c.driver == "" {
				d.Ports[0].Driver.At.Line = 0
			}
		}
		findings, places := inShort(t, soundHosts(), inv)
		if diff := cmp.Diff(c.want, findings); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if len(c.want) > 0 && places == 0 {
			t.Errorf("%s: no place", name)
		}
	}
}

func TestGenerationsThatAnswerAlikeMayShareAClass(t *testing.T) {
	type profile struct {
		interval time.Duration
		limit    string
		control  string
	}
	const two = "warning: class/rdma: NICs of 2 generations answer marks in class rdma, and "
	const names = ": old (gpu1/eth0), new (gpu2/eth0)"
	for name, c := range map[string]struct {
		old, new   profile
		generation int // of the new one
		want       []string
	}{
		"alike":                   {profile{4e3, "burst", "dcqcn"}, profile{4e3, "burst", "dcqcn"}, 6, nil},
		"nothing is said":         {profile{0, "", "dcqcn"}, profile{0, "", "dcqcn"}, 6, []string{two + "not all say their CNP interval" + names}},
		"one does not say":        {profile{4e3, "burst", "dcqcn"}, profile{4e3, "", "dcqcn"}, 6, []string{two + "not all say how they hold a flow to its rate" + names}},
		"other intervals":         {profile{4e3, "burst", "dcqcn"}, profile{50e3, "burst", "dcqcn"}, 6, []string{two + "their CNP intervals are 4us and 50us" + names}},
		"other ways":              {profile{4e3, "burst", "dcqcn"}, profile{4e3, "packet", "dcqcn"}, 6, []string{two + "they hold a flow to its rate by burst and by packet" + names}},
		"one generation":          {profile{0, "", "dcqcn"}, profile{0, "", "dcqcn"}, 5, nil},
		"a generation not known":  {profile{0, "", "dcqcn"}, profile{0, "", "dcqcn"}, 0, nil},
		"only one is slowed down": {profile{0, "", "dcqcn"}, profile{0, "", "none"}, 6, nil},
	} {
		inv, in := withHosts("sonic", "Mellanox-SN4600C-C64", "old"), soundHosts()
		inv.Catalog = &catalog.Catalog{}
		inv.Catalog.SetNIC(catalog.NIC{Name: "old", Generation: 5, Source: "this test"})
		inv.Catalog.SetNIC(catalog.NIC{Name: "new", Generation: c.generation, Source: "this test"})
		inv.Devices[2].Ports[0].NIC = "new"
		in.Classes[0].ECN.Off = at(true, 3)
		in.Hosts = nil
		for i, p := range []profile{c.old, c.new} {
			h := intent.HostProfile{Name: at("p", 20+i), At: place(20 + i)}
			h.Select.Device = at([]string{"gpu1", "gpu2"}[i], 20+i)
			h.RoCE.CongestionControl = at(p.control, 20+i)
			if p.interval > 0 {
				h.RoCE.CNPInterval = at(p.interval, 20+i)
			}
			if p.limit != "" {
				h.RoCE.RateLimit = at(p.limit, 20+i)
			}
			in.Hosts = append(in.Hosts, h)
		}
		findings, _ := inShort(t, in, inv)
		if diff := cmp.Diff(c.want, findings); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// inShort are the findings in short, and how many places they name.
func inShort(t *testing.T, in *intent.Fabric, inv *inventory.Inventory) (out []string, places int) {
	t.Helper()
	f, findings := fabric.Resolve(in, inv)
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	for _, d := range Run(f, time.Time{}) {
		out = append(out, d.Severity.String()+": "+d.Addr.String()+": "+d.Summary)
		places += len(d.At)
	}
	return out, places
}
