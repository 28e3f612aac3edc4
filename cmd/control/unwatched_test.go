package control_test

import (
	"strings"
	"testing"
	"time"

	"github.com/weirfabric/weir/cmd/control"
)

func TestCountersOfAWatchdogThatIsTakenOffAreNotMissed(t *testing.T) {
	onFabric(t, mixed(), func(t *testing.T, f *testFabric) {
		f.applied(t, blind())
		log := &said{}
		r := f.open(t)
		w := r.Watch(t.Context(), r.Names, control.WatchOptions{Log: log.log(), Reread: 10 * time.Second})
		defer w.End()
		time.Sleep(time.Minute) // of the bubble
		before := log.String()
		f.write(t, "intent/unwatched.yaml", "kind: Fabric\npfc: {watchdog: off}\n")
		time.Sleep(time.Minute)
		if result := f.applied(t, blind()); len(result.Devices) != 3 {
			t.Fatalf("got %+v", result)
		}
		time.Sleep(5 * time.Minute)
		said := strings.TrimPrefix(log.String(), before)
		for line := range strings.Lines(said) {
			if strings.Contains(line, "silent") {
				t.Error(line)
			}
		}
	})
}
