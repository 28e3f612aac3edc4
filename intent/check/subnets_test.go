package check

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/inventory"
)

// TestBothShapesOfRoutersPass has the two shapes that are known to be free of credit loops, and others.
func TestBothShapesOfRoutersPass(t *testing.T) {
	for name, c := range map[string]struct {
		document string
		want     []string
	}{
		"routers on top of every subnet": {`
subnets: [{name: s1, levels: [leaf, spine]}, {name: s2, levels: [leaf, spine]}]
routers: [{names: "r[1-2]", joins: [s1/spine, s2/spine]}]
talk: [{a: s1, b: s2}]`, nil},
		"a common subnet below isolated ones": {`
subnets: [{name: old1, levels: [leaf, spine]}, {name: old2, levels: [leaf, spine]}, {name: storage, levels: [leaf, spine]}]
routers: [{name: r1, joins: [old1/leaf, storage/spine]}, {name: r2, joins: [old2/leaf, storage/spine]}]
talk: [{a: old1, b: storage}, {a: old2, b: storage}]`, nil},
		"a common subnet of one switch": {`
subnets: [{name: old1, levels: [leaf, spine]}, {name: storage, levels: [switch]}]
routers: [{name: r1, joins: [old1/leaf, storage/switch]}]
talk: [{a: storage, b: old1}]`, nil},
		"old subnets that talk through the common one": {`
subnets: [{name: old1, levels: [leaf, spine]}, {name: old2, levels: [leaf, spine]}, {name: storage, levels: [leaf, spine]}]
routers: [{name: r1, joins: [old1/leaf, storage/spine]}, {name: r2, joins: [old2/leaf, storage/spine]}]
talk: [{a: old1, b: old2}]`, []string{"subnets old1 and old2 talk, and no router joins both: the way is old1 > r1 > storage > r2 > old2"}},
		"a router in the middle of one and at the leaves of the other": {`
subnets: [{name: s1, levels: [leaf, spine, core]}, {name: s2, levels: [leaf, spine]}]
routers: [{name: r1, joins: [s1/spine, s2/leaf]}]
talk: [{a: s2, b: s1}]`, []string{"traffic between subnets s2 and s1 goes down and then up again at r1: s2/leaf1 > r1 > s1/spine1 > s1/leaf1"}},
		"subnets that do not talk": {`
subnets: [{name: s1, levels: [leaf, spine]}, {name: s2, levels: [leaf, spine]}]
routers: [{name: r1, joins: [s1/leaf, s2/leaf]}]`, nil},
	} {
		files := fstest.MapFS{
			"fabric.yaml":            {Data: []byte("kind: Fabric\nname: ib\n")},
			"inventory/subnets.yaml": {Data: []byte("kind: Subnets" + c.document + "\n")},
		}
		in, findings := intent.Load(files)
		inv, more := inventory.Load(files)
		if findings = append(findings, more...); len(findings) > 0 {
			t.Fatalf("%s: %s", name, findings)
		}
		f, findings := fabric.Resolve(in, inv)
		if len(findings) > 0 {
			t.Fatalf("%s: %s", name, findings)
		}
		var got []string
		for _, d := range subnets(f) {
			got = append(got, d.Summary)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
