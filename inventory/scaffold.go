package inventory

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"text/template"

	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/templates"
)

// ClosSpec says how large a Clos is and what it is made of. The zero value is four leaves and two spines without hosts.
type ClosSpec struct {
	Name   string // of the fabric; empty: pod1
	Pods   int    // 0 or 1: leaves and spines alone; more: pods of leaves and spines below cores
	Leaves int    // of each pod; 0: 4
	Spines int    // of each pod; 0: 2
	Cores  int    // above each spine of a pod, where there are several pods; 0: 1
	Links  int    // from each leaf to each spine; 0: 1
	Ports  int    // of each switch that weir shall know; 0: all that the model has
	Hosts  int    // of each pod
	NICs   int    // ports of each host, every one on another leaf; 0: 2, or 1 where there is one leaf

	// Leaf, Spine and Core are platforms, or platform/SKU, that are taken in turn; empty: the first that is known.
	Leaf, Spine, Core []string
	NIC               string // model of the NICs, as the catalog calls it; empty: ConnectX-7

	HostCable, SpineCable, CoreCable qos.Metres // 0: 3 m, 30 m, 300 m
}

// The lengths of cables where the spec says none: within a rack, within a row, across a hall.
const (
	usualHostCable  qos.Metres = 3
	usualSpineCable qos.Metres = 30
	usualCoreCable  qos.Metres = 300
)

// usualNIC is the model of NICs where the spec says none.
const usualNIC = "ConnectX-7"

// linksPerFile is how many links stand in one file; where there are more, each switch has a file for those that go up or to hosts.
const linksPerFile = 1000

// File is a file of a fabric repo. Name is relative to the repo, with slashes.
type File struct {
	Name string
	Body []byte
}

// Scaffold is the files of a fabric repo for a Clos, ready to load: fabric.yaml, intent/, inventory/, schema/, README.md and
// .gitignore, sorted by name. The same spec gives the same bytes. intentSchema is the JSON Schema of fabric.yaml and intent/.
func Scaffold(s ClosSpec, intentSchema []byte) ([]File, error) {
	c, err := newClos(s)
	if err != nil {
		return nil, fmt.Errorf("scaffold: %w", err)
	}
	layout, err := template.New("").Option("missingkey=error").ParseFS(templates.FS, "repo/*.tmpl")
	if err != nil {
		return nil, fmt.Errorf("scaffold: %w", err)
	}
	files := []File{{"schema/intent.json", intentSchema}, {"schema/inventory.json", Schema()}}
	write := func(name, from string, data any) {
		var b bytes.Buffer
		if e := layout.ExecuteTemplate(&b, from+".tmpl", data); e != nil && err == nil {
			err = fmt.Errorf("scaffold %s: %w", name, e)
		}
		files = append(files, File{name, b.Bytes()})
	}
	write("README.md", "README.md", c)
	write(".gitignore", "gitignore", c)
	write("fabric.yaml", "fabric.yaml", c)
	write("inventory/switches.yaml", "inventory-switches.yaml", c)
	if len(c.Hosts) > 0 {
		write("intent/hosts.yaml", "intent-hosts.yaml", c)
		write("inventory/hosts.yaml", "inventory-hosts.yaml", c)
	}
	if len(c.Guarantees) > 0 {
		write("intent/overrides.yaml", "intent-overrides.yaml", c)
	}
	for name, groups := range c.linkFiles() {
		up := strings.Repeat("../", strings.Count(name, "/"))
		write(name, "inventory-links.yaml", linkFile{up, groups})
	}
	slices.SortFunc(files, func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	return files, err
}

// linkFile is what the template of a file of links lays out.
type linkFile struct {
	Up     string // the way from the file to the repo
	Groups []linkGroup
}

// linkFiles spreads the links over files.
func (c *clos) linkFiles() map[string][]linkGroup {
	total := 0
	for _, g := range c.links {
		total += len(g.Links)
	}
	files := map[string][]linkGroup{}
	for _, g := range c.links {
		for _, l := range g.Links {
			name := "inventory/links.yaml"
			if total > linksPerFile {
				name = path.Join("inventory/links", l.owner+".yaml")
			}
			groups := files[name]
			if len(groups) == 0 || groups[len(groups)-1].Up != g.Up {
				groups = append(groups, linkGroup{Up: g.Up, Length: g.Length, Medium: g.Medium})
			}
			last := &groups[len(groups)-1]
			last.Links = append(last.Links, l)
			files[name] = groups
		}
	}
	return files
}
