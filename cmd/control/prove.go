package control

import (
	"fmt"
	"slices"

	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/proof/deadlock"
	"github.com/weirfabric/weir/intent/proof/path"
)

// PathProof is what was proven of paths. Paths are those that were asked for, each direction by itself; of a proof of all, one
// for every two kinds of ends, broken ones first.
type PathProof struct {
	Format   int         `json:"format"`
	Paths    []path.Path `json:"paths"`
	All      []path.All  `json:"all,omitempty"` // by class
	Unjoined int         `json:"unjoined_pairs"`
	NotSeen  []string    `json:"not_seen"`
	// Findings are what is not understood or could not be read, of a proof of what runs.
	Findings diag.List `json:"findings,omitempty"`
}

// Lossless says whether nothing that was proven is broken.
func (p PathProof) Lossless() bool {
	if p.All != nil {
		return !slices.ContainsFunc(p.All, func(a path.All) bool { return !a.Proven() })
	}
	return !slices.ContainsFunc(p.Paths, func(p path.Path) bool { return !p.Lossless })
}

// Provable says whether anything can be proven of the paths of the repo: without the routes there is nothing to prove.
func (r *Repo) Provable() bool {
	return r.Fabric != nil && !deadlock.DependenciesOf(r.Fabric).Findings.HasErrors()
}

// HasClass is the error about a class that the fabric has not; nil where it has it, and for none.
func HasClass(f *fabric.Fabric, class string) error {
	if class == "" {
		return nil
	}
	if err := path.HasClass(f, class); err != nil {
		return fmt.Errorf("--class %s: %w", class, err)
	}
	return nil
}

// ProvePaths proves the paths between the NICs that two names stand for, there and back, in a class or in that which the NIC
// sends RoCE in.
func ProvePaths(f *fabric.Fabric, a, b, class string) (PathProof, error) {
	out := PathProof{Format: 1, Paths: []path.Path{}, NotSeen: path.NotSeen}
	from, err := path.Ends(f, a)
	if err != nil {
		return out, err
	}
	to, err := path.Ends(f, b)
	if err != nil {
		return out, err
	}
	p := path.New(f)
	var pairs, unjoined [][2]path.End
	for _, x := range from {
		for _, y := range to {
			back := [2]path.End{y, x} // which is proven with it
			switch {
			case x == y || slices.Contains(pairs, back) || slices.Contains(unjoined, back):
			case p.Joined(x, y):
				pairs = append(pairs, [2]path.End{x, y})
			default:
				unjoined = append(unjoined, [2]path.End{x, y})
			}
		}
	}
	if len(pairs) == 0 {
		pairs, unjoined = unjoined, nil // the paths say why
	}
	if len(pairs) == 0 {
		return out, fmt.Errorf("%s and %s are the same: name two NICs", a, b)
	}
	out.Unjoined = len(unjoined)
	for _, pair := range pairs {
		out.Paths = append(out.Paths, p.Prove(pair[0], pair[1], class), p.Prove(pair[1], pair[0], class))
	}
	return out, nil
}

// ProveAllPaths proves every pair of each class that is sent, or of the one that is asked for. The error says that there was
// nothing to prove.
func ProveAllPaths(f *fabric.Fabric, class string) (PathProof, error) {
	p := path.New(f)
	classes := p.Classes()
	if class != "" {
		classes = []string{class}
	}
	out := PathProof{Format: 1, Paths: []path.Path{}, All: []path.All{}, NotSeen: path.NotSeen}
	for _, name := range classes {
		all := p.All(name)
		out.All = append(out.All, all)
		out.Paths = append(out.Paths, all.Paths...)
		out.Unjoined += all.Unjoined
	}
	switch {
	case len(classes) == 0 && f.Runs:
		return out, fmt.Errorf("%s: no class runs: nothing that could be read marks RoCE, and no port has PFC on", f.Name)
	case len(classes) == 0:
		return out, fmt.Errorf("%s: no NIC sends RoCE in any class, so there is nothing to prove: select the hosts in a document of kind Hosts", f.Name)
	case class != "" && len(out.Paths) == 0 && out.Unjoined == 0:
		return out, fmt.Errorf("--class %s: no two NICs send RoCE in this class, so there is nothing to prove; they send in %s", class, orNone(p.Classes()))
	}
	return out, nil
}

// orNone lists names, and none as a word.
func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return diag.First(names, 8)
}
