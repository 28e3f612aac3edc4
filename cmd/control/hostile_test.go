package control

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"go.yaml.in/yaml/v3"

	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/plan"
)

// hostile are texts that a shell, a terminal, a line of configuration, a path or JSON takes for something else. Each has a mark, by
// which it is found wherever it comes out.
var hostile = []string{
	"eth0;id>/x;#own9d", "$(id)own9d", "`id`own9d", "own9d'x", `own9d"x`, "own9d\nid", "own9d\rid", "own9d\x00", "../../own9d", "-own9d", "own9d\x1b[2J", "own9d\u202ex",
	"own9d|id", "own9d&&id", "own9d x", "{{.own9d}}", "%sown9d", "own9d" + strings.Repeat("a", 10_000),
}

// everything is a repo with all platforms and, beyond the example's, the fields that take prose, files and commands.
func everything(t *testing.T) fstest.MapFS {
	t.Helper()
	out := fstest.MapFS{
		"intent/more.yaml": {Data: []byte(`kind: Fabric
accept: [{check: dcqcn-marking, address: leaf1/Ethernet0, reason: weighed, expires: 2999-01-01}]
routing: {hash: [{role: leaf, seed: "1"}]}
---
kind: Hosts
name: more
select: {role: gpu, labels: {rack: r1}, device: gpu1, port: eth0, platform: linux}
modules: [nvme_rdma]
`)},
		"inventory/more.yaml": {Data: []byte(`kind: Catalog
asics: [{name: Own-1, buffer: 32MB, model: annex, source: the datasheet}]
skus: [{name: Own-32, asic: Own-1, source: the datasheet}]
nics: [{name: Own-NIC, firmware: "1.2", driver: "1.2", source: the datasheet}]
bugs: [{name: own-1, platform: sonic, releases: ["202411"], asics: [Own-1], summary: it drops, remedy: update, source: the notes}]
---
kind: Switches
switches:
  - name: leaf9
    platform: sonic
    sku: Own-32
    release: "202411"
    role: leaf
    labels: {pod: p1}
    management: {address: 10.0.0.9, user: admin, password: "exec:pass", key: "file:key", ca: ca.pem, cert: c.pem, certKey: k.pem, serverName: x, hostKeys: known_hosts}
    ports: [{name: Ethernet0, speed: 100G, lanes: 4, breakout: 1x100G}]
`)},
	}
	const example = "../../examples/pod1"
	err := fs.WalkDir(os.DirFS(example), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".yaml" {
			return err
		}
		body, err := os.ReadFile(path.Join(example, name))
		out[name] = &fstest.MapFile{Data: body}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// scalars are the texts of a document, keys of the operator's choice among them.
func scalars(n *yaml.Node) []*yaml.Node {
	if n.Kind == yaml.ScalarNode {
		return []*yaml.Node{n}
	}
	var out []*yaml.Node
	for i, inner := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			continue
		}
		out = append(out, scalars(inner)...)
	}
	return out
}

// TestNoTextOfARepoIsSentForSomethingElse writes hostile texts over every value of a repo with all platforms, one at a time, and
// looks at all that would be asked, sent, printed into files and shown: weir refuses the text, or it comes out nowhere.
func TestNoTextOfARepoIsSentForSomethingElse(t *testing.T) {
	base := everything(t)
	whole, err := Open(t.TempDir(), Options{Effects: Effects{Files: base}})
	if err != nil || whole.Findings.HasErrors() {
		t.Fatalf("the repo itself: %v\n%s", err, whole.Findings)
	}
	values, taken, turn := 0, 0, 0
	for _, name := range slices.Sorted(maps.Keys(base)) {
		file := base[name]
		var all []*yaml.Node
		var documents []*yaml.Node
		decoder := yaml.NewDecoder(bytes.NewReader(file.Data))
		for {
			var n yaml.Node
			if decoder.Decode(&n) != nil {
				break
			}
			if len(n.Content) > 0 && n.Content[0].Kind == yaml.MappingNode {
				documents = append(documents, &n)
				all = append(all, scalars(&n)...)
			}
		}
		for _, node := range all {
			values++
			was := *node
			for range 4 { // of the texts in turn: all of them meet every form
				text := hostile[turn%len(hostile)]
				turn++
				*node = yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.DoubleQuotedStyle, Value: text}
				var body bytes.Buffer
				encoder := yaml.NewEncoder(&body)
				for _, d := range documents {
					if err := encoder.Encode(d); err != nil {
						t.Fatal(err)
					}
				}
				files := fstest.MapFS{}
				for n, f := range base {
					files[n] = f
				}
				files[name] = &fstest.MapFile{Data: body.Bytes()}
				r, err := Open(t.TempDir(), Options{Effects: Effects{Files: files}})
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				where := name + ": " + was.Value
				if text := r.Findings.String(); diag.Plain(text) != text {
					t.Errorf("%s: %.40q: a finding acts on the terminal", where, text)
				}
				if !r.Findings.HasErrors() {
					taken++
					comesOut(t, r, where, text)
				}
			}
			*node = was
		}
	}
	if values < 100 || taken == 0 {
		t.Errorf("%d values, %d texts taken: the repo was not walked", values, taken)
	}
}

// comesOut looks for the mark in all that the languages make of a repo that was taken.
func comesOut(t *testing.T, r *Repo, where, text string) {
	t.Helper()
	look := func(what, out string) {
		if strings.Contains(out, "own9d") {
			t.Errorf("%s: %.40q: comes out in %s: %.200q", where, text, what, out)
		}
	}
	for _, name := range r.Names {
		look("the name of a device", name)
		for _, q := range r.Queries(name) {
			look("the name of a query", q.Name)
			for _, w := range q.Ways {
				look("a query", w.Text)
			}
		}
		want := r.Wanted(name)
		for _, f := range r.Print(name, want) {
			look("the name of a file", f.Name)
			look("a file", string(f.Body))
		}
		for _, have := range []plan.Document{nil, want} {
			step, _ := r.bound[name].Step(plan.State{Owned: have}, want)
			for _, c := range step.Chunks {
				for _, m := range append(c.Send, c.Undo...) {
					look("a message", string(m.Op)+m.Path+m.Body)
				}
			}
		}
	}
}
