package fabric

import (
	"slices"

	"github.com/weirfabric/weir/intent"
)

// HashOf is what the intent says of the hash at the switches of a role; nil where it says nothing.
func (f *Fabric) HashOf(role string) *intent.Hash {
	i := slices.IndexFunc(f.Intent.Routing.Hash, func(h intent.Hash) bool { return h.Role.V == role })
	if i < 0 {
		return nil
	}
	return &f.Intent.Routing.Hash[i]
}

// HashedAlike says whether two tiers hash alike: with the same seed, and the same fields where both are written. It is not
// known where a seed is not written.
func HashedAlike(a, b *intent.Hash) (alike, known bool) {
	if a == nil || b == nil || !a.Seed.Set() || !b.Seed.Set() {
		return false, false
	}
	differ := len(a.Fields) > 0 && len(b.Fields) > 0 && !slices.Equal(hashFields(a), hashFields(b))
	return a.Seed.V == b.Seed.V && !differ, true
}

// hashFields are those that a hash reads, sorted.
func hashFields(h *intent.Hash) []string {
	var out []string
	for _, f := range h.Fields {
		out = append(out, f.V)
	}
	slices.Sort(out)
	return out
}
