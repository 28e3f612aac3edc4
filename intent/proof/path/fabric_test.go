package path

import (
	"fmt"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/inventory"
)

const soundIntent = `kind: Fabric
name: pod1
classes:
  - {name: rdma, lossless: true, dscp: [26], priority: 3, share: 50%}
  - {name: cnp, dscp: [48], priority: 6, strict: true}
  - {name: default, priority: 0, share: 50%}
`

const soundHosts = `kind: Hosts
name: gpu
select: {role: gpu}
roce: {version: 2, class: rdma, cnp: cnp, congestionControl: dcqcn}
`

// resolved is the fabric of a repo, which must have no findings of severity error.
func resolved(t testing.TB, files map[string]string) *fabric.Fabric {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, body := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(body)}
	}
	in, findings := intent.Load(fsys)
	inv, more := inventory.Load(fsys)
	f, last := fabric.Resolve(in, inv)
	if all := slices.Concat(findings, more, last); all.HasErrors() {
		t.Fatal(all)
	}
	return own(f)
}

// own gives every port queues and groups of its own, which a test may change.
func own(f *fabric.Fabric) *fabric.Fabric {
	for _, sw := range f.Switches {
		for _, p := range sw.Ports {
			p.Queues, p.Groups = slices.Clone(p.Queues), slices.Clone(p.Groups)
			for i := range p.Queues {
				if w := p.Queues[i].WRED; w != nil {
					copied := *w
					p.Queues[i].WRED = &copied
				}
			}
		}
	}
	return f
}

// pod is two leaves, two spines and two hosts with two NICs each.
func pod() map[string]string {
	return map[string]string{
		"fabric.yaml": soundIntent, "intent/hosts.yaml": soundHosts,
		"inventory/devices.yaml": `kind: Switches
defaults: {platform: sonic, sku: ACS-MSN4600C, ports: [{names: "Ethernet[1-4]", speed: 100G, lanes: 4}]}
switches:
  - {names: "leaf[1-2]", role: leaf}
  - {names: "spine[1-2]", role: spine}
---
kind: Hosts
defaults: {role: gpu, nics: [{names: "eth[0-1]", speed: 100G, model: ConnectX-6, rdma: "mlx5_[0-1]"}]}
hosts:
  - {names: "gpu[1-2]"}
`,
		"inventory/links.yaml": `kind: Links
defaults: {length: 3m}
links:
  - {a: leaf1/Ethernet1, b: gpu1/eth0}
  - {a: leaf2/Ethernet1, b: gpu2/eth0}
  - {a: leaf2/Ethernet2, b: gpu1/eth1}
  - {a: leaf1/Ethernet2, b: gpu2/eth1}
  - {a: leaf1/Ethernet3, b: spine1/Ethernet1}
  - {a: leaf2/Ethernet3, b: spine1/Ethernet2}
  - {a: leaf1/Ethernet4, b: spine2/Ethernet1}
  - {a: leaf2/Ethernet4, b: spine2/Ethernet2}
`,
	}
}

// end finds one end.
func end(t testing.TB, f *fabric.Fabric, name string) End {
	t.Helper()
	ends, err := Ends(f, name)
	if err != nil || len(ends) != 1 {
		t.Fatalf("%s: %v, %v", name, ends, err)
	}
	return ends[0]
}

// port finds a port of a switch.
func port(t testing.TB, f *fabric.Fabric, name string) (*fabric.Switch, *fabric.Port) {
	t.Helper()
	e := end(t, f, name)
	return e.Switch, e.Port
}

// said writes breaks in short.
func said(breaks []Break) []string {
	out := []string{}
	for _, b := range breaks {
		line := fmt.Sprintf("%s: %s", b.At, b.What)
		if b.At == (addr.Addr{}) {
			line = b.What
		}
		if b.Unknown {
			line = "unknown: " + line
		}
		out = append(out, line)
	}
	return out
}
