package depend

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAFatTreeOfFour are the vectors fat_tree_k4: every state gone through.
func TestAFatTreeOfFour(t *testing.T) {
	type cyclic struct{ Links, LinksMoving, Switches, SwitchesMoving, Two, TwoMoving int }
	got := map[Policy]cyclic{}
	for _, p := range []Policy{UpDown, ShortestPath} {
		v := mustProve(t, Question{Network: fatTree(4), Policy: p, Failures: 2, Exhaustive: true})
		c := v.Covered
		got[p] = cyclic{c[1].Cyclic, c[2].Cyclic, c[3].Cyclic, c[4].Cyclic, c[5].Cyclic, c[6].Cyclic}
		if !v.Complete || c[1].Tried != 32 || c[3].Tried != 20 || c[5].Tried != 52*51/2 {
			t.Errorf("%s: got %+v", p, c)
		}
	}
	want := map[Policy]cyclic{UpDown: {}, ShortestPath: {0, 32, 0, 8, 68, 1262}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
