package cli

import (
	"fmt"
	"testing"

	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/render"
)

// big is a switch with 64 ports of three kinds, as a resolver makes it: ports that are alike share their queues.
func big() *fabric.Switch {
	var names []string
	for i := range 64 {
		names = append(names, fmt.Sprintf("Ethernet%d/1", i+1))
	}
	sw := random(5, "DCS-7060X6-64PE", names...)
	for i, p := range sw.Ports {
		like := sw.Ports[i%3]
		p.Speed, p.PFC, p.Queues, p.Groups = like.Speed, like.PFC, like.Queues, like.Groups
	}
	return sw
}

// BenchmarkWriteReadAndDiff is one switch of 64 ports whose running configuration is as large and differs in one port.
func BenchmarkWriteReadAndDiff(b *testing.B) {
	l, sw := eos(b), big()
	want, _ := l.Write(sw)
	other := *sw.Ports[0]
	other.MTU = 4200
	changed := *sw
	changed.Ports = append([]*fabric.Port{&other}, sw.Ports[1:]...)
	have, _ := l.Write(&changed)
	answers := []plan.Answer{{Name: "running-config", Body: append(l.Print(have)[0].Body, "end\n"...)}}
	bound := render.Bind[*fabric.Switch](l, sw, "leaf1", "eos", plan.Manifest{"leaf1": objects(want)})
	b.ReportAllocs()
	for b.Loop() {
		doc, _ := bound.Write()
		state, err := bound.Read(answers)
		if err != nil {
			b.Fatal(err)
		}
		if step, _ := bound.Step(state, doc); len(step.Changes) != 1 {
			b.Fatalf("%d changes, want 1", len(step.Changes))
		}
	}
}

// objects are the shared objects of a document.
func objects(doc plan.Document) []string {
	seen := map[string]bool{}
	var out []string
	for _, l := range doc {
		if !seen[l.Object] {
			seen[l.Object] = true
			out = append(out, l.Object)
		}
	}
	return out
}
