package control

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/source"
	"github.com/weirfabric/weir/inventory"
)

// Selection picks devices by their names. Each element is a list of globs with commas between them, with ranges as in the
// inventory; behind a ! a glob leaves out what it fits, whatever stands before or after it. Without a glob that picks, all are picked. The zero value is every device.
type Selection []string

// String is the selection as it is typed.
func (s Selection) String() string { return strings.Join(s, ",") }

// exclusion begins a glob that leaves devices out.
const exclusion = "!"

// pick are those of the names that are selected, in their order. A glob that fits none of them is an error: what was misspelt would
// be left out in silence, or not left out.
func (s Selection) pick(names []string) ([]string, error) {
	picked, out := map[string]bool{}, map[string]bool{}
	all := true
	for glob := range strings.SplitSeq(s.String(), ",") {
		glob = strings.TrimSpace(glob)
		if glob == "" {
			continue
		}
		into, bare := picked, glob
		if rest, leaves := strings.CutPrefix(glob, exclusion); leaves {
			into, bare = out, rest
		} else {
			all = false
		}
		fits, err := matching(bare, names)
		if err != nil {
			return nil, fmt.Errorf("--device %q: %w", glob, err)
		}
		for _, name := range fits {
			into[name] = true
		}
		if len(fits) == 0 {
			return nil, fmt.Errorf("--device %q matches no device of the inventory%s", glob, orElse(bare, names))
		}
	}
	left := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return out[name] || !all && !picked[name] })
	if len(left) == 0 {
		return nil, fmt.Errorf("--device %q leaves no device", s)
	}
	return left, nil
}

// matching are the names that fit a glob. A range of numbers in it is meant as in the inventory: leaf[1-16].
func matching(glob string, names []string) ([]string, error) {
	globs := []string{glob}
	if all, err := inventory.Spread(glob); err == nil {
		globs = all
	}
	var out []string
	for _, g := range globs {
		for _, name := range names {
			if ok, err := path.Match(g, name); err != nil {
				return nil, err
			} else if ok {
				out = append(out, name)
			}
		}
	}
	return out, nil
}

// orElse says what was probably meant by a glob, or else which devices there are.
func orElse(glob string, names []string) string {
	if meant := source.DidYouMean(glob, names); meant != "" {
		return meant
	}
	if len(names) == 0 {
		return ""
	}
	return ": there are " + diag.First(names, 8)
}

// Selected are the devices of the inventory that a selection picks, as people count.
func (r *Repo) Selected(s Selection) ([]string, error) { return s.pick(sortedNames(r.devices)) }

// Written are the devices of a selection that weir writes the configuration of.
func (r *Repo) Written(s Selection) ([]string, error) {
	picked, err := r.Selected(s)
	if err != nil {
		return nil, err
	}
	names := slices.DeleteFunc(picked, func(name string) bool { return r.bound[name] == nil })
	if len(names) == 0 {
		return nil, fmt.Errorf("--device %q: weir writes no configuration for what it picks", s)
	}
	return names, nil
}

// Concerning are the findings about some devices, and those about the fabric as a whole.
func (r *Repo) Concerning(names []string) diag.List {
	return r.Findings.Concerning(func(device string) bool { return slices.Contains(names, device) })
}

// Aside is a device that is left out of what weir does with devices.
type Aside struct {
	Device string
	Why    string
}

// Reached are the devices of a selection that weir talks to, and those that are left out and why. Devices that weir never talks to are
// among these only where the selection asks for some.
func (r *Repo) Reached(s Selection) (names []string, aside []Aside, err error) {
	picked, err := r.Selected(s)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range picked {
		switch why, expected := r.aside(name); {
		case why == "":
			names = append(names, name)
		case !expected || len(s) > 0:
			aside = append(aside, Aside{name, why})
		}
	}
	if len(names) == 0 {
		return nil, aside, errors.New("no device is left that weir talks to")
	}
	return names, aside, nil
}

// aside is why weir does not talk to a device; empty where it does. Expected says that nobody needs to be told unless they ask for the
// device.
func (r *Repo) aside(name string) (why string, expected bool) {
	d := r.devices[name]
	switch {
	case d == nil:
		return "it is not in the inventory", false
	case r.skipped[name]:
		return "it could not be reached when the plan was made", false
	case d.StateOf() == inventory.Unmanaged:
		return "the inventory says unmanaged: it is never written nor read", true
	case d.StateOf() == inventory.Planned:
		return "the inventory says planned: it exists on paper", false
	case d.StateOf() == inventory.Maintenance:
		return "the inventory says maintenance: it is not read, changed or judged", false
	case r.bound[name] == nil && d.Host():
		return "no host profile selects it, so that weir leaves it as it is", true
	case r.bound[name] == nil:
		return fmt.Sprintf("weir speaks no language of platform %s", d.Platform.V), false
	case FilesOnly(d.Platform.V) != "":
		return fmt.Sprintf("weir does not talk to devices of platform %s; weir render writes what a person types there", d.Platform.V), false
	}
	return "", false
}

// reachedOnly are those of the names that weir talks to, sorted, each once.
func (r *Repo) reachedOnly(names []string) []string {
	out := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		why, _ := r.aside(name)
		return why != ""
	})
	slices.SortFunc(out, addr.Natural)
	return slices.Compact(out)
}
