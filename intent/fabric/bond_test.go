package fabric

import (
	"net/netip"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/inventory"
)

func TestABondHasThePortsThatItsProfileSelects(t *testing.T) {
	files := fstest.MapFS{
		"fabric.yaml": {Data: []byte("kind: Fabric\nname: pod1\nclasses: [{name: rdma, lossless: true, dscp: [26], priority: 3}]\n")},
		"intent/hosts.yaml": {Data: []byte(`kind: Hosts
name: gpu
bond: {mode: 802.3ad}
memlockServices: [slurmd.service, containerd]
---
kind: Hosts
name: storage
select: {device: gpu1, port: "eth[2-3]"}
bond: {mode: active-backup, name: bond1}
memlockServices: [slurmd]
---
kind: Hosts
name: alone
select: {device: gpu1, port: eth4}
bond: {mode: off}
`)},
		"inventory/hosts.yaml": {Data: []byte(`kind: Hosts
hosts:
  - name: gpu1
    nics: [{names: "eth[0-4]", speed: 100G}, {name: eth10, speed: 100G}]
    bonds: [{name: bond0, addresses: ["2001:db8::7/64", 192.0.2.7/24]}]
`)},
	}
	in, findings := intent.Load(files)
	inv, more := inventory.Load(files)
	if findings = append(findings, more...); findings.HasErrors() {
		t.Fatal(findings)
	}
	f, _ := Resolve(in, inv)
	h := f.Hosts[0]
	var got []Bond
	for _, b := range h.Bonds {
		if len(b.At) == 0 {
			t.Errorf("%s is from nowhere", b.Name)
		}
		b.At = nil
		got = append(got, b)
	}
	mtu := h.NICs[0].MTU
	want := []Bond{
		{
			Name: "bond0", Mode: BondLACP, Hash: "layer3+4", MTU: mtu, Ports: []string{"eth0", "eth1", "eth10"},
			Addresses: []netip.Prefix{netip.MustParsePrefix("192.0.2.7/24"), netip.MustParsePrefix("2001:db8::7/64")},
		},
		{Name: "bond1", Mode: BondBackup, MTU: mtu, Ports: []string{"eth2", "eth3"}},
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if h.Bond("eth4") != nil || h.Bond("eth10") == nil {
		t.Error("a port is in the wrong bond")
	}
	if diff := cmp.Diff([]string{"containerd", "slurmd"}, h.MemlockServices); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
