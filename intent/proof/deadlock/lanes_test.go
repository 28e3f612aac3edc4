package deadlock

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/qos"
)

// classesOf is a fabric with these classes, whose hosts send in those that are named.
func classesOf(sent []string, classes ...fabric.Class) *fabric.Fabric {
	f := &fabric.Fabric{Classes: classes}
	h := &fabric.Host{}
	for _, name := range sent {
		h.NICs = append(h.NICs, &fabric.NIC{Class: name})
	}
	f.Hosts = append(f.Hosts, h)
	return f
}

func class(name string, p qos.Priority, lossless bool, dscp ...qos.DSCP) fabric.Class {
	return fabric.Class{Name: name, Priority: p, TC: qos.TrafficClass(p), Queue: qos.Queue(p), Group: qos.PriorityGroup(p), Lossless: lossless, DSCP: dscp}
}

func TestLanesAreClassesOfTheIntentOrNewOnes(t *testing.T) {
	rest := class("default", 0, false, 0, 1, 27, 28, 50)
	rdma, storage, further := class("rdma", 3, true, 26), class("storage", 5, true, 34), class("further", 4, true, 27)
	for name, c := range map[string]struct {
		fabric     *fabric.Fabric
		priorities int
		want       string
	}{
		"one is enough":               {classesOf([]string{"rdma"}, rdma, rest), 1, "rdma 3 [26]; off default"},
		"a new one":                   {classesOf([]string{"rdma"}, rdma, rest), 2, "rdma 3 [26], new rdma-2 4 [27]; off default"},
		"two new ones":                {classesOf([]string{"rdma"}, rdma, rest), 3, "rdma 3 [26], new rdma-2 4 [27], new rdma-3 5 [28]; off default"},
		"a class that nobody sends":   {classesOf([]string{"rdma"}, rdma, further, rest), 2, "rdma 3 [26], further 4 [27]; off default"},
		"two that are sent":           {classesOf([]string{"rdma", "storage"}, rdma, storage, rest), 2, "rdma 3 [26], new rdma-2 4 [27]; storage 5 [34], new storage-2 6 [50]; off default"},
		"nobody says what is sent":    {classesOf(nil, rdma, storage, rest), 1, "rdma 3 [26]; storage 5 [34]; off default"},
		"no priority is left":         {classesOf([]string{"rdma"}, rdma, rest), 8, "no priority is left"},
		"no class for what is lossy":  {classesOf([]string{"rdma"}, rdma), 1, "no lossy default class"},
		"a priority that is a queue":  {classesOf([]string{"rdma"}, rdma, fabric.Class{Name: "x", Priority: 1, Queue: 4}, rest), 2, "rdma 3 [26], new rdma-2 5 [27]; off default"},
		"a default without any DSCPs": {classesOf([]string{"rdma"}, rdma, class("default", 0, false)), 1, "no lossy default class"},
	} {
		chains, off, err := Lanes(c.fabric, c.priorities)
		if err != nil {
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: got %v, want %q", name, err, c.want)
			}
			continue
		}
		var got []string
		for _, chain := range chains {
			var lanes []string
			for _, l := range chain {
				text := l.Class + " " + qos.Priorities(l.Priority).String() + " ["
				if l.New {
					text = "new " + text
				}
				for _, d := range l.DSCP {
					text += string(rune('0'+d/10)) + string(rune('0'+d%10))
				}
				lanes = append(lanes, text+"]")
			}
			got = append(got, strings.Join(lanes, ", "))
		}
		if diff := cmp.Diff(c.want, strings.Join(append(got, "off "+off.Class), "; ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
