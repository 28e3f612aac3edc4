package intent

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/intent/source"
)

var update = flag.Bool("update", false, "rewrite the wanted findings")

// repo is the files of an archive, without the wanted findings.
func repo(a *txtar.Archive) fstest.MapFS {
	files := fstest.MapFS{}
	for _, f := range a.Files {
		if f.Name != "want" {
			files[f.Name] = &fstest.MapFile{Data: f.Data}
		}
	}
	return files
}

func TestEveryMistakeNamesItsPlace(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatal("no cases", err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			_, findings := Load(repo(a))
			got := []byte(findings.String())
			if *update {
				want := len(a.Files) - 1
				a.Files[want] = txtar.File{Name: "want", Data: got}
				if err := os.WriteFile(name, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want := a.Files[len(a.Files)-1]
			if want.Name != "want" || len(bytes.TrimSpace(want.Data)) == 0 {
				t.Fatal("the last file must be the wanted findings")
			}
			if diff := cmp.Diff(string(want.Data), string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// designExample is what design.md, section 5, promises that operators can write.
const designExample = `kind: Fabric
name: pod1
classes:
  - {name: rdma, lossless: true, dscp: [26], priority: 3, share: 50%, ecn: {min: 150kB, max: 1500kB, probability: 20%}}
  - {name: cnp, dscp: [48], priority: 6, strict: true}
  - {name: default, priority: 0, share: 50%}
pfc:
  watchdog: {detection: 200ms, restoration: 400ms, action: drop}
  headroom: auto            # from speed, cable, MTU and the ASIC's own model
routing: {policy: up-down}  # what the deadlock proof may assume, and what it checks
---
kind: Hosts
select: {role: gpu}
roce: {version: 2, class: rdma, cnp: cnp, congestionControl: dcqcn}
bond: {mode: active-active, exclude: [10.0.9.0/24]}
memlock: unlimited
`

// load loads files that have no findings.
func load(t *testing.T, files map[string]string) *Fabric {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, body := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(body)}
	}
	f, findings := Load(fsys)
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	return f
}

func TestWhatOperatorsWriteIsReadWithItsPlaces(t *testing.T) {
	f := load(t, map[string]string{"fabric.yaml": designExample})
	at := func(line int, before string) diag.Pos {
		text := strings.Split(designExample, "\n")[line-1]
		return diag.Pos{File: "fabric.yaml", Line: line, Column: 1 + strings.Index(text, before) + len(before)}
	}
	rdma := f.Classes[0]
	if diff := cmp.Diff(source.Value[Depth]{V: Depth{Bytes: 150e3}, At: at(4, "min: ")}, rdma.ECN.Min); diff != "" {
		t.Errorf("ecn min (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]source.Value[qos.DSCP]{{V: 26, At: at(4, "dscp: [")}}, rdma.DSCP); diff != "" {
		t.Errorf("dscp (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(source.Value[time.Duration]{V: 200 * time.Millisecond, At: at(8, "detection: ")}, f.Settings.PFC.Watchdog.Detection); diff != "" {
		t.Errorf("detection (-want +got):\n%s", diff)
	}
	if h := f.Settings.PFC.Headroom; !h.V.Auto || h.At != at(9, "headroom: ") {
		t.Errorf("headroom: got %+v", h)
	}
	hosts := f.Hosts[0]
	if hosts.Select.Role.V != "gpu" || hosts.At != at(12, "") || hosts.Bond.Exclude[0].V.String() != "10.0.9.0/24" || hosts.Memlock.V != "unlimited" {
		t.Errorf("hosts: got %+v", hosts)
	}
	if f.Classes[1].Share.Set() || f.Settings.MTU.Set() {
		t.Error("something that was not written has a place")
	}
}

func TestTheRepoIsReadFromItsMainFileAndAllFoldersOfIntent(t *testing.T) {
	f := load(t, map[string]string{
		"fabric.yaml":         "kind: Fabric\nname: pod1\nmtu: 9000B\n",
		"intent/classes.yml":  "kind: Fabric\nclasses: [{name: a, priority: 1}]\naccept: [{check: c, reason: r, expires: 2026-12-31}]\n",
		"intent/x/more.yaml":  "kind: Fabric\nclasses: [{name: b, priority: 2}]\npfc: off\n",
		"intent/y.yaml":       "kind: Override\nselect: {device: leaf*, labels: {rack: 7}}\nbuffers: {alpha: 1/8}\nclasses: [{name: a, ecn: off}]\n",
		"intent/README.md":    "not YAML",
		"elsewhere/not.yaml":  "kind: Nonsense",
		"inventory/some.yaml": "kind: Switches",
	})
	if len(f.Classes) != 2 || f.Classes[0].Name.V != "a" || f.Settings.MTU.V != 9000 || !f.Settings.PFC.Off.V {
		t.Errorf("got classes %+v, settings %+v", f.Classes, f.Settings)
	}
	if f.Accept[0].Expires.V != time.Date(2026, 12, 31, 0, 0, 0, 0, time.UTC) {
		t.Errorf("got expiry %s", f.Accept[0].Expires.V)
	}
	o := f.Overrides[0]
	if o.Select.Labels["rack"].V != "7" || o.Settings.Buffers.Alpha.V != -3 || !o.Classes[0].ECN.Off.V {
		t.Errorf("got override %+v", o)
	}
}

func TestEveryDefaultSaysThatItIsOne(t *testing.T) {
	f := load(t, map[string]string{"fabric.yaml": "kind: Fabric\nname: pod1\nrouting: {policy: shortest-path}\n"})
	d := Defaults()
	for name, at := range map[string]diag.Pos{
		"mtu": d.MTU.At, "trust": d.Trust.At, "flowControl": d.FlowControl.At, "pfc": d.PFC.Off.At, "headroom": d.PFC.Headroom.At,
		"cable": d.PFC.Cable.At, "watchdog": d.PFC.Watchdog.Off.At, "detection": d.PFC.Watchdog.Detection.At,
		"restoration": d.PFC.Watchdog.Restoration.At, "poll": d.PFC.Watchdog.Poll.At, "action": d.PFC.Watchdog.Action.At,
		"alpha": d.Buffers.Alpha.At, "lossyAlpha": d.Buffers.LossyAlpha.At, "oversubscribe": d.Buffers.Oversubscribe.At,
		"routed": f.Routing.Routed.At, "settle": f.Apply.Settle.At, "idle": f.Apply.Idle.At, "share": f.Apply.Share.At,
	} {
		if !IsDefault(at) {
			t.Errorf("%s is at %s", name, at)
		}
	}
	if IsDefault(f.Routing.Policy.At) || f.Routing.Policy.V != "shortest-path" {
		t.Errorf("what is written is %q at %s", f.Routing.Policy.V, f.Routing.Policy.At)
	}
}

func TestTheDigestChangesWithEveryFileOfTheRepo(t *testing.T) {
	files := fstest.MapFS{"fabric.yaml": {Data: []byte("a")}, "intent/b.yaml": {Data: []byte("b")}, "inventory/c.yml": {Data: []byte("c")}, "inventory/tables/d.ini": {Data: []byte("d")}}
	before, err := Digest(files)
	if err != nil {
		t.Fatal(err)
	}
	for name := range files {
		changed := fstest.MapFS{}
		for n, f := range files {
			changed[n] = f
		}
		changed[name] = &fstest.MapFile{Data: []byte("other")}
		if after, err := Digest(changed); err != nil || after == before {
			t.Errorf("%s: the digest stays %s, %v", name, after, err)
		}
	}
	files["README.md"] = &fstest.MapFile{Data: []byte("words")}
	if after, err := Digest(files); err != nil || after != before {
		t.Errorf("a file that is not read changes the digest: %v", err)
	}
	if _, err := Digest(fstest.MapFS{}); err == nil {
		t.Error("a folder without fabric.yaml has a digest")
	}
}

func TestProbingIsNoIdlePolicyYet(t *testing.T) {
	_, findings := Load(fstest.MapFS{"fabric.yaml": {Data: []byte("kind: Fabric\nname: pod1\napply:\n  idle: probe\n")}})
	if len(findings) != 1 || !strings.Contains(findings[0].Summary, `"probe" is not known: want hold or accept`) || findings[0].At[0] != (diag.Pos{File: "fabric.yaml", Line: 4, Column: 9}) {
		t.Errorf("got %s", findings)
	}
}
