package depend

import (
	"fmt"
	"testing"
)

// fatTree is a three-tier fat tree of switches with k ports: k pods of k/2 leaves and k/2 aggregation switches, (k/2)^2 cores.
func fatTree(k int) *Network {
	n, h := &Network{}, k/2
	add := func(rank int, format string, args ...any) int {
		n.Switches = append(n.Switches, Switch{Name: fmt.Sprintf(format, args...), Rank: rank, Ends: rank == 1})
		return len(n.Switches) - 1
	}
	var cores []int
	for i := range h * h {
		cores = append(cores, add(3, "core%d", i))
	}
	for pod := range k {
		var aggs []int
		for i := range h {
			agg := add(2, "p%d-agg%d", pod, i)
			aggs = append(aggs, agg)
			for j := range h {
				n.Links = append(n.Links, Link{A: agg, B: cores[i*h+j], PortA: fmt.Sprint("u", j), PortB: fmt.Sprint("d", pod)})
			}
		}
		for i := range h {
			leaf := add(1, "p%d-leaf%d", pod, i)
			n.Destinations = append(n.Destinations, Destination{Name: n.Switches[leaf].Name, At: []int{leaf}})
			for j, agg := range aggs {
				n.Links = append(n.Links, Link{A: leaf, B: agg, PortA: fmt.Sprint("u", j), PortB: fmt.Sprint("d", i)})
			}
		}
	}
	return n
}

// turnsOfFatTree is the closed form of the vectors: k*h*(h*(h-1)+2*h*h)+h*h*k*(k-1), h = k/2.
func turnsOfFatTree(k int) int {
	h := k / 2
	return k*h*(h*(h-1)+2*h*h) + h*h*k*(k-1)
}

func mustProve(t testing.TB, q Question) Verdict {
	t.Helper()
	v, err := Prove(q)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestTheTurnsOfAFatTreeAreThoseOfTheClosedForm(t *testing.T) {
	for _, k := range []int{4, 8, 16, 32} {
		for _, p := range []Policy{UpDown, ShortestPath} {
			v := mustProve(t, Question{Network: fatTree(k), Policy: p})
			if !v.Free || v.Turns != turnsOfFatTree(k) || v.Covered[0].Method != Certificate || len(v.Unrouted) > 0 {
				t.Errorf("k=%d %s: got %+v, want free by certificate with %d turns", k, p, v, turnsOfFatTree(k))
			}
		}
	}
}

// TestTheCertificateHoldsInEveryStateThatIsGoneThrough does without the argument that covers all failures at once.
func TestTheCertificateHoldsInEveryStateThatIsGoneThrough(t *testing.T) {
	v := mustProve(t, Question{Network: fatTree(8), Policy: UpDown, Failures: 1, Exhaustive: true})
	if c := v.Covered; !v.Free || c[1].Tried != 256 || c[3].Tried != 80 || c[2].Method != Exhaustion {
		t.Errorf("got %+v, want every link and switch gone through without a cycle", v)
	}
}

// BenchmarkProveFatTree shows how the proof grows with the fabric, up to 65,536 hosts and 131,072 links between switches.
func BenchmarkProveFatTree(b *testing.B) {
	for _, k := range []int{8, 16, 32, 48, 64} {
		n := fatTree(k)
		for _, c := range []struct {
			name    string
			largest int
			q       Question
		}{
			{"healthy/up-down", 64, Question{Policy: UpDown}},
			{"healthy/shortest-path", 64, Question{Policy: ShortestPath}},
			{"healthy/bgp", 64, Question{Policy: BGP, Plan: tiered(n)}},
			{"failures=1/up-down", 64, Question{Policy: UpDown, Failures: 1}},
			{"failures=1/bgp", 64, Question{Policy: BGP, Plan: tiered(n), Failures: 1}},
			{"failures=2/up-down", 64, Question{Policy: UpDown, Failures: 2}},
			{"failures=1/shortest-path/first", 64, Question{Policy: ShortestPath, Failures: 1}},
			{"failures=1/shortest-path/symmetry", 64, Question{Policy: ShortestPath, Failures: 1, Symmetry: true, Exhaustive: true}},
			{"failures=2/shortest-path/symmetry", 32, Question{Policy: ShortestPath, Failures: 2, Symmetry: true, Exhaustive: true}},
			{"failures=1/up-down/exhaustive", 16, Question{Policy: UpDown, Failures: 1, Exhaustive: true}}, // grows with the square of the links
		} {
			if k > c.largest {
				continue
			}
			c.q.Network = n
			b.Run(fmt.Sprintf("k=%d/%s", k, c.name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					v := mustProve(b, c.q)
					b.ReportMetric(float64(v.Turns), "turns")
				}
			})
		}
	}
}
