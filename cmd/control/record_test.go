package control_test

import (
	"slices"
	"testing"

	"github.com/weirfabric/weir/intent/plan"
)

func TestAnEntryThatNoRunMadeIsStruckOutBeforeARunMakesItCount(t *testing.T) {
	onFabric(t, mixed(), func(t *testing.T, f *testFabric) {
		planted := "DSCP_TO_TC_MAP|theirs"
		if err := f.open(t).Store.SaveManifest(plan.Manifest{"leaf1": {planted}}); err != nil {
			t.Fatal(err)
		}
		f.applied(t, blind())
		m, err := f.open(t).Store.Manifest()
		if err != nil || len(m["leaf1"]) == 0 || slices.Contains(m["leaf1"], planted) {
			t.Errorf("the manifest has %v, %v", m["leaf1"], err)
		}
	})
}
