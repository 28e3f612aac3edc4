package intent

import (
	"path"

	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/source"
)

// Selector picks devices and ports. What is not written picks everything; what is written must all hold.
type Selector struct {
	Role     source.Value[string]            `yaml:"role" form:"glob" doc:"Role in the inventory, or a glob."`
	Platform source.Value[string]            `yaml:"platform" form:"glob" doc:"Platform in the inventory, or a glob."`
	Labels   map[string]source.Value[string] `yaml:"labels" form:"label" doc:"Labels in the inventory; all of them must fit."`
	Device   source.Value[string]            `yaml:"device" form:"glob" doc:"Name of the device, or a glob: leaf*."`
	Port     source.Value[string]            `yaml:"port" form:"glob" doc:"Name of the port, or a glob; the selection is then one of ports."`
	At       diag.Pos
}

// Subject is what a selector looks at. Port is empty when a whole device is meant.
type Subject struct {
	Device, Role, Platform, Port string
	Labels                       map[string]string
}

// Matches says whether the selector picks s. Globs are those of path.Match with / taken as an ordinary character.
func (sel Selector) Matches(s Subject) bool {
	for key, want := range sel.Labels {
		if s.Labels[key] != want.V {
			return false
		}
	}
	return fits(sel.Role, s.Role) && fits(sel.Platform, s.Platform) && fits(sel.Device, s.Device) && fits(sel.Port, s.Port)
}

// Nearness ranks selectors: the nearer one wins.
func (sel Selector) Nearness() int {
	switch {
	case sel.Port.Set():
		return 4
	case sel.Device.Set():
		return 3
	case len(sel.Labels) > 0:
		return 2
	case sel.Role.Set() || sel.Platform.Set():
		return 1
	}
	return 0
}

// PicksNothing is the finding about a selection of nothing, where what is the noun of what it was to pick. At is where the
// document stands that it belongs to, for a selector that has no place of its own.
func (sel Selector) PicksNothing(at diag.Pos, what string) diag.Diagnostic {
	if sel.At.Line > 0 {
		at = sel.At
	}
	return diag.Diagnostic{
		Severity: diag.Warning, Summary: "the selection picks no " + what,
		Detail: "What stands here has no effect: compare it with the names, roles and labels in the inventory.", At: []diag.Pos{at},
	}
}

func fits(pattern source.Value[string], name string) bool {
	if !pattern.Set() {
		return true
	}
	matched, err := path.Match(flat(pattern.V), flat(name))
	return err == nil && matched
}

// flat hides slashes from path.Match, which stops a star at them.
func flat(s string) string {
	out := []byte(s)
	for i, c := range out {
		if c == '/' {
			out[i] = 0x1f
		}
	}
	return string(out)
}
