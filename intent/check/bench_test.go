package check

import (
	"testing"
	"time"

	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/qos"
)

func BenchmarkCheck1024x64(b *testing.B) {
	f, findings := fabric.Resolve(sound(), leaves(1024, 64))
	if len(findings) > 0 {
		b.Fatal(findings)
	}
	b.ResetTimer()
	for b.Loop() {
		if findings := Run(f, time.Time{}); len(findings) > 0 {
			b.Fatal(findings)
		}
	}
}

func BenchmarkCheck1024x64WithAMistakeInEveryPort(b *testing.B) {
	in := sound()
	in.Classes[0].Share = at(qos.Percent(120), 3)
	f, _ := fabric.Resolve(in, leaves(1024, 64))
	b.ResetTimer()
	for b.Loop() {
		if findings := Run(f, time.Time{}); len(findings) != 2 {
			b.Fatal(findings)
		}
	}
}
