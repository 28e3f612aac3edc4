package fabric

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// cabled is switches and hosts of these names, and a cable for each pair of them.
func cabled(switches, hosts []string, cables ...[2]string) *Fabric {
	f := &Fabric{}
	ends := map[string]End{}
	for _, name := range switches {
		sw := &Switch{Device: Device{Name: name}}
		f.Switches, ends[name] = append(f.Switches, sw), End{Switch: sw}
	}
	for _, name := range hosts {
		h := &Host{Device: Device{Name: name}}
		f.Hosts, ends[name] = append(f.Hosts, h), End{Host: h}
	}
	for _, c := range cables {
		a, b := ends[c[0]], ends[c[1]]
		for _, x := range [][2]End{{a, b}, {b, a}} {
			if here, there := x[0].Switch, x[1].Host; here != nil && there != nil {
				here.Ports = append(here.Ports, &Port{Peer: &Peer{Device: there.Name, Host: true}})
			}
		}
		f.Links = append(f.Links, &Link{A: a, B: b})
	}
	return f
}

func TestTheDistanceOfASwitchIsThatOfTheNearestHost(t *testing.T) {
	f := cabled([]string{"leaf", "spine", "core", "border", "alone"}, []string{"h1", "h2"},
		[2]string{"h1", "leaf"}, [2]string{"leaf", "h2"}, [2]string{"h1", "leaf"}, [2]string{"leaf", "spine"}, [2]string{"spine", "core"}, [2]string{"core", "border"}, [2]string{"h2", "border"})
	got := map[string]int{}
	for sw, distance := range f.HostDistances() {
		got[sw.Name] = distance
	}
	if diff := cmp.Diff(map[string]int{"leaf": 1, "spine": 2, "core": 2, "border": 1}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"h1", "h2"}, f.Switches[0].Hosts()); diff != "" {
		t.Errorf("hosts of the leaf (-want +got):\n%s", diff)
	}
}
