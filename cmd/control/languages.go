package control

import (
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/weirfabric/weir/host"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/check"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/render"
	"github.com/weirfabric/weir/render/cli"
	"github.com/weirfabric/weir/render/sonic"
	"github.com/weirfabric/weir/templates"
	"github.com/weirfabric/weir/templates/pack"
)

// packs are those that the program carries, each decoded when it is first asked for.
var packs = pack.NewReader(templates.FS)

// The languages, by platform. A new one is a line here.
var (
	switchLanguages = map[string]render.Language[*fabric.Switch]{
		"sonic": sonic.Language{},
		"eos":   cli.Must(packs, "eos"),
		"rgos":  cli.Must(packs, "rgos"),
	}
	hostLanguages = map[string]render.Language[*fabric.Host]{
		"linux": host.Language{},
	}
	// filesOnly are the platforms whose configuration weir writes into files for a person to type, and why, as their packs say.
	filesOnly = reasonsForFiles(packs)
)

// FilesOnly is why weir only writes files for devices of a platform, and does not talk to them; empty where it talks to them.
func FilesOnly(platform string) string { return filesOnly[platform] }

// reasonsForFiles are the platforms whose packs say that weir talks to none of their devices, and why. The packs are part of the
// program; an error in one is a bug.
func reasonsForFiles(packs fs.FS) map[string]string {
	platforms, err := pack.Platforms(packs)
	if err != nil {
		panic(err)
	}
	reasons := map[string]string{}
	for _, platform := range platforms {
		p, err := pack.Read(packs, platform)
		if err != nil {
			panic(err)
		}
		reasons[platform] = p.FilesOnly
	}
	return reasons
}

// known lists the platforms of a table.
func known[T any](table map[string]T) string {
	return strings.Join(slices.Sorted(maps.Keys(table)), ", ")
}

// sortedNames are the keys of a map, as people count.
func sortedNames[T any](byName map[string]T) []string {
	return slices.SortedFunc(maps.Keys(byName), addr.Natural)
}

// Unsaid are the findings about what the languages of some devices cannot say, and that is not accepted.
func (r *Repo) Unsaid(names []string) diag.List {
	unsaid := make([]diag.List, len(names))
	onEachCore(names, func(i int, name string) { _, unsaid[i] = r.bound[name].Write() })
	return check.WaiversOf(r.Fabric, r.effects.Now()).Without(slices.Concat(unsaid...))
}

// Print lays a document of a device out as files, under the names that the device itself uses.
func (r *Repo) Print(name string, doc plan.Document) []render.File { return r.bound[name].Print(doc) }

// Queries are what a device is asked.
func (r *Repo) Queries(name string) []plan.Query { return r.bound[name].Queries() }

// Wanted is what a device must hold, in full.
func (r *Repo) Wanted(name string) plan.Document {
	doc, _ := r.bound[name].Write()
	return doc
}
