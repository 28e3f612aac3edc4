package host_test

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/host"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/inventory/catalog"
	"github.com/weirfabric/weir/render"
	"github.com/weirfabric/weir/render/dialecttest"
)

// bonded is a random host whose NICs are one bond, by turns with LACP and without, and with one RDMA device as both ports of an
// mlx5 card have it. Of every third one the ports are in no bond.
func bonded(seed uint64) *fabric.Host {
	h := random(seed)
	for _, n := range h.NICs {
		n.MTU = h.NICs[0].MTU
	}
	b := fabric.Bond{
		Name: "bond0", Mode: fabric.BondLACP, Hash: []string{"layer3+4", "layer2+3", "layer2"}[seed%3], MTU: h.NICs[0].MTU, Ports: []string{"eth0", "eth1"},
		Addresses: []netip.Prefix{netip.MustParsePrefix("192.0.2.7/24"), netip.MustParsePrefix("2001:db8::7/64")}[:1+seed%2],
		At:        []diag.Pos{{File: "intent/bond.yaml", Line: 3, Column: 7}},
	}
	if seed%2 == 1 {
		b.Mode, b.Hash = fabric.BondBackup, ""
	}
	if seed%3 != 2 {
		h.Bonds = []fabric.Bond{b}
		h.NICs[0].RDMA, h.NICs[1].RDMA = "mlx5_bond_0", "mlx5_bond_0"
	}
	return h
}

// keptBy starts a host of the lab whose networks a service keeps.
func keptBy(service string) func(*testing.T, *fabric.Host, []render.File) dialecttest.Device {
	return func(t *testing.T, h *fabric.Host, files []render.File) dialecttest.Device {
		t.Helper()
		return startWith(t, h, files, map[string]string{"/lab/networks": service}, "true")
	}
}

func TestTheLawsOnAHostWithABond(t *testing.T) {
	for _, service := range []string{"systemd-networkd", "NetworkManager"} {
		t.Run(service, func(t *testing.T) {
			var devs []*fabric.Host
			for _, seed := range []uint64{0, 2, 3} {
				devs = append(devs, bonded(seed))
			}
			dialecttest.Run(t, host.Language{}, devs, dialecttest.Options[*fabric.Host]{
				Name: func(h *fabric.Host) string { return h.Name }, Platform: "linux", Start: bondsMade(service), Piecemeal: true,
			})
		})
	}
}

// bondsMade starts a host that has its bonds already where it has its files: Print names no files of a bond, since which they are
// depends on the host.
func bondsMade(service string) func(*testing.T, *fabric.Host, []render.File) dialecttest.Device {
	return func(t *testing.T, h *fabric.Host, files []render.File) dialecttest.Device {
		t.Helper()
		if len(files) == 0 {
			return keptBy(service)(t, h, nil)
		}
		d := keptBy(service)(t, h, nil)
		converge(t, h, d)
		return d
	}
}

// stepOf is what leads a host from what it holds now to what is wanted.
func stepOf(t *testing.T, h *fabric.Host, d dialecttest.Device) (plan.Step, diag.List) {
	t.Helper()
	b := render.Bind[*fabric.Host](host.Language{}, h, h.Name, "linux", nil)
	state, err := b.Read(d.Answers(b.Queries()))
	if err != nil {
		t.Fatal(err)
	}
	want, _ := b.Write()
	return b.Step(state, want)
}

// converge applies what the plan says.
func converge(t *testing.T, h *fabric.Host, d dialecttest.Device) plan.Step {
	t.Helper()
	step, findings := stepOf(t, h, d)
	if findings.HasErrors() {
		t.Fatal(findings)
	}
	for _, c := range step.Chunks {
		if err := d.Apply(c.Send); err != nil {
			t.Fatal(err)
		}
	}
	return step
}

func TestABondThatWasChangedByHandIsMadeAnew(t *testing.T) {
	for _, service := range []string{"systemd-networkd", "NetworkManager"} {
		for name, c := range map[string]struct{ command, change string }{
			"an address that is gone":  {"ip address del 192.0.2.7/24 dev bond0", "gpu1/bond/bond0:addresses"},
			"a file with another line": {"for f in /etc/systemd/network/10-weir-bond0.netdev /etc/NetworkManager/system-connections/weir-bond0.nmconnection; do [ ! -e $f ] || echo '# by hand' >> $f; done", "gpu1/bond/bond0:kept"},
			"files that are gone":      {"rm -f /etc/systemd/network/10-weir-* /etc/NetworkManager/system-connections/weir-*", "gpu1/bond/bond0:kept"},
			"a bond that is gone":      {"ip link del dev bond0", "gpu1/bond/bond0:mode"},
			"another MTU":              {"ip link set dev bond0 mtu 1500", "gpu1/bond/bond0:mtu"},
		} {
			t.Run(service+": "+name, func(t *testing.T) {
				h := bonded(0)
				d := keptBy(service)(t, h, nil)
				converge(t, h, d)
				if err := d.Apply([]plan.Message{{Op: plan.Run, Body: c.command}}); err != nil {
					t.Fatal(err)
				}
				b := render.Bind[*fabric.Host](host.Language{}, h, h.Name, "linux", nil)
				found, err := b.Read(d.Answers(b.Queries()))
				if err != nil {
					t.Fatal(err)
				}
				step := converge(t, h, d)
				if !slices.ContainsFunc(step.Changes, func(p plan.Change) bool { return p.Addr.String() == c.change }) {
					t.Errorf("no change is %s: %+v", c.change, step.Changes)
				}
				for i := range step.Chunks {
					if err := d.Apply(step.Chunks[len(step.Chunks)-1-i].Undo); err != nil {
						t.Fatal(err)
					}
				}
				back, err := b.Read(d.Answers(b.Queries()))
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(found.Owned, back.Owned); diff != "" {
					t.Errorf("undone (-found +back):\n%s", diff)
				}
			})
		}
	}
}

func TestABondHasOneMaster(t *testing.T) {
	for name, c := range map[string]struct{ service, command, want string }{
		"ifupdown":                        {"networking", "true", "ifupdown keeps the host's networks"},
		"nobody":                          {"", "true", "neither systemd-networkd nor NetworkManager runs"},
		"both":                            {"systemd-networkd NetworkManager", "true", "NetworkManager and systemd-networkd run both"},
		"netplan":                         {"systemd-networkd", "mkdir -p /etc/netplan && echo network: > /etc/netplan/01.yaml", "netplan keeps the host's networks (/etc/netplan/01.yaml)"},
		"a file of a NIC":                 {"systemd-networkd", "echo 'Name=eth1' > /etc/systemd/network/50-eth1.network", "ports of the bond stand in files that are not weir's: /etc/systemd/network/50-eth1.network"},
		"a file with a blank in its name": {"NetworkManager", "echo 'interface-name=eth0' > '/etc/NetworkManager/system-connections/Wired connection 1.nmconnection'", "system-connections/Wired connection 1.nmconnection"},
	} {
		t.Run(name, func(t *testing.T) {
			h := bonded(0)
			d := keptBy(c.service)(t, h, nil)
			if err := d.Apply([]plan.Message{{Op: plan.Run, Body: c.command}}); err != nil {
				t.Fatal(err)
			}
			step, findings := stepOf(t, h, d)
			if !findings.HasErrors() || !strings.Contains(findings.String(), c.want) {
				t.Errorf("got %q, want %q", findings, c.want)
			}
			for _, change := range step.Changes {
				if change.Addr.Kind == "bond" {
					t.Errorf("%s changes all the same", change.Addr)
				}
			}
		})
	}
}

func TestPortsOfOneCardHaveOneRDMADeviceInABond(t *testing.T) {
	h := bonded(0)
	doc := document(t, h)
	devices := 0
	for _, l := range doc {
		if l.Path[len(l.Path)-1] == "mode" && l.Path[1] == "roce" {
			devices++
		}
	}
	if devices != 1 {
		t.Errorf("%d NICs set how the one RDMA device sends, want 1", devices)
	}
	h.NICs[0].RDMA, h.NICs[1].RDMA = "mlx5_0", "mlx5_1"
	for _, n := range h.NICs {
		n.Model = catalog.Builtin().ByNIC("ConnectX-6")
	}
	if _, findings := (host.Language{}).Write(h); !strings.Contains(findings.String(), "two RDMA devices in the inventory, mlx5_0 and mlx5_1, and in a bond they have one") {
		t.Errorf("got %q", findings)
	}
}

func TestAHostMayHaveABondOfEachCard(t *testing.T) {
	h := dialecttest.RandomHost(1, "eth0", "eth1", "eth2", "eth3")
	for i, n := range h.NICs {
		n.Model, n.DCQCN, n.MTU, n.RDMA = nil, false, 9000, "mlx5_bond_"+strconv.Itoa(i/2)
	}
	for i := range 2 {
		h.Bonds = append(h.Bonds, fabric.Bond{
			Name: "bond" + strconv.Itoa(i), Mode: fabric.BondBackup, MTU: 9000, Ports: []string{h.NICs[2*i].Name, h.NICs[2*i+1].Name}, At: h.At,
			Addresses: []netip.Prefix{netip.MustParsePrefix("192.0.2." + strconv.Itoa(i+1) + "/24")},
		})
	}
	d := keptBy("NetworkManager")(t, h, nil)
	first := converge(t, h, d)
	if second := converge(t, h, d); len(second.Changes) > 0 {
		t.Errorf("a second plan changes %+v", second.Changes)
	}
	for i := range first.Chunks {
		if err := d.Apply(first.Chunks[len(first.Chunks)-1-i].Undo); err != nil {
			t.Fatal(err)
		}
	}
	b := render.Bind[*fabric.Host](host.Language{}, h, h.Name, "linux", nil)
	state, err := b.Read(d.Answers(b.Queries()))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range state.Owned {
		if l.Path[0] == "bond" {
			t.Errorf("undone there is %v = %q", l.Path, l.Value)
		}
	}
}

func TestABondIsLiftedAsItRuns(t *testing.T) {
	for seed := range uint64(2) {
		h := bonded(seed)
		d := keptBy("systemd-networkd")(t, h, nil)
		converge(t, h, d)
		id := render.IdentityOfHost(h)
		lifted, _ := host.Language{}.Lift(id, d.Answers(host.Language{}.Survey(id)))
		want := h.Bonds[0]
		want.At = nil
		if diff := cmp.Diff([]fabric.Bond{want}, lifted.Device.Bonds, cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); diff != "" {
			t.Errorf("(-wanted +lifted):\n%s", diff)
		}
	}
}

func TestABondIsThereAfterAReboot(t *testing.T) {
	for service, files := range map[string]string{"systemd-networkd": "/etc/systemd/network", "NetworkManager": "/etc/NetworkManager/system-connections"} {
		h := bonded(0)
		before := keptBy(service)(t, h, nil).(*device)
		converge(t, h, before)
		kept := (host.Language{}).Print(document(t, h))
		for name := range strings.FieldsSeq(before.ask("ls " + files)) {
			kept = append(kept, render.File{Name: strings.TrimPrefix(files, "/") + "/" + name, Body: []byte(before.ask("cat " + files + "/" + name))})
		}
		b := render.Bind[*fabric.Host](host.Language{}, h, h.Name, "linux", nil)
		state, err := b.Read(keptBy(service)(t, h, kept).Answers(b.Queries()))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(document(t, h), state.Owned); diff != "" {
			t.Errorf("%s (-wanted +booted):\n%s", service, diff)
		}
	}
}
