package health

import (
	"fmt"
	"testing"

	"github.com/weirfabric/weir/intent/addr"
)

func BenchmarkJudge(b *testing.B) {
	f := fabric()
	w, t := Window{Now: noon}, Topology{Ports: map[addr.Addr]Port{}}
	for pod := range 200 {
		prefix := fmt.Sprintf("p%d-", pod)
		for _, d := range f.topology.Devices {
			t.Devices = append(t.Devices, Device{Name: prefix + d.Name, Host: d.Host})
		}
		for a, p := range f.topology.Ports {
			a.Device, p.Peer.Device = prefix+a.Device, prefix+p.Peer.Device
			t.Ports[a] = p
		}
		for _, s := range f.window.Series {
			s.Addr.Device = prefix + s.Addr.Device
			w.Series = append(w.Series, s)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if vs := Judge(w, t, Policy{}); len(vs) != 0 {
			b.Fatal(lines(vs))
		}
	}
}
