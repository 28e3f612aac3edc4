package sonic

import (
	"testing"

	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/render"
)

// BenchmarkWriteReadDiff is one switch of 64 ports, whose configuration differs in one value of a hundred.
func BenchmarkWriteReadDiff(b *testing.B) {
	sw := oneLeaf(b, "Mellanox-SN4600C-C64", 64)
	l := Language{}
	doc, _ := l.Write(sw)
	other := append(plan.Document{}, doc...)
	for i := 0; i < len(other); i += 100 {
		other[i].Value = "1"
	}
	answers := []plan.Answer{{Name: document, Body: l.Print(other)[0].Body}}
	b.ReportAllocs()
	for b.Loop() {
		bound := render.Bind(l, sw, sw.Name, "sonic", nil)
		want, _ := bound.Write()
		state, err := bound.Read(answers)
		if err != nil {
			b.Fatal(err)
		}
		if step, _ := bound.Step(state, want); len(step.Changes) == 0 {
			b.Fatal("no changes")
		}
	}
	b.ReportMetric(float64(len(doc)), "leaves")
}

// BenchmarkLift64Ports lifts a switch of 64 ports from its CONFIG_DB.
func BenchmarkLift64Ports(b *testing.B) {
	sw := oneLeaf(b, sn4600c, 64)
	doc, _ := Language{}.Write(sw)
	answers, id := printed(sw, doc), render.IdentityOfSwitch(sw)
	for b.Loop() {
		if lifted, _ := (Language{}).Lift(id, answers); len(lifted.Device.Ports) != 64 {
			b.Fatal("ports are missing")
		}
	}
}
