package control

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/check"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/inventory"
	"github.com/weirfabric/weir/render"
)

// Repo is a fabric repo, read and resolved.
type Repo struct {
	Dir      string
	Fabric   *fabric.Fabric // nil when the files could not be read as a fabric
	Findings diag.List      // what is wrong with what it says
	Digest   plan.Digest    // of its files
	Names    []string       // of all devices that weir writes the configuration of, sorted as people count
	Store    journal.Store  // of its runs

	options  Options // as it was opened, to be read again
	effects  Effects
	allowed  *permission
	listed   plan.Manifest // what is weir's on the devices, as the store has it
	manifest plan.Manifest // as much of it as counts
	unowned  error         // why the manifest could not be read: nobody knows what is weir's on devices
	devices  map[string]*inventory.Device
	flags    string          // that a command on the repo needs beside its folder, for hints that can be pasted
	skipped  map[string]bool // devices that this run leaves out; nil: none
	bound    map[string]render.Bound
	lab      *Lab              // where the devices are when they are simulated ones; nil: real ones
	recorder *drivers.Recorder // of the dialogue with devices; nil: none
}

// Open reads, resolves and checks the repo in dir. What is wrong with what it says is in its findings; an error means that it
// could not be read at all.
func Open(dir string, o Options) (*Repo, error) {
	r := &Repo{Dir: dir, options: o, effects: o.Effects.real(dir), allowed: &permission{}, flags: flagsOf(o)}
	err := r.isRepo()
	if err != nil {
		return nil, err
	}
	if r.Store, err = StoreOf(dir, o); err != nil {
		return nil, err
	}
	if o.Record != nil {
		r.recorder = &drivers.Recorder{Dialer: r.effects.transports(), To: o.Record}
	}
	if o.Lab {
		if r.lab, err = r.effects.lab(dir); err != nil {
			return nil, err
		}
	}
	if r.Digest, err = intent.Digest(r.effects.Files); err != nil {
		return nil, err
	}
	if r.foreign() {
		r.Findings.Add(diag.Diagnostic{
			Severity: diag.Error, Check: "repo", Summary: fmt.Sprintf("Git keeps files of %s: what is weir's on the devices, and what was done to them, came with the repo", r.Store.Dir),
			Detail: "weir trusts no record that a pull request can write. Take the folder out of Git (git rm -r --cached), and put .weir/ into .gitignore; or keep the record elsewhere, with --journal.",
			At:     []diag.Pos{{File: ".weir"}},
		})
	} else if err = r.own(); err != nil && r.Store.Backend == nil {
		return nil, err
	}
	r.unowned = err // much can be said of a fabric while a server is away
	r.resolve()
	r.Findings.Sort()
	return r, nil
}

// own reads what is weir's on the devices. What no run on record here can have made counts as somebody else's.
func (r *Repo) own() error {
	var err error
	if r.listed, err = r.Store.Manifest(); err != nil {
		return err
	}
	var others []string
	if r.manifest, others, err = r.Store.Recorded(r.listed); err != nil {
		return err
	}
	place := r.Store.Dir
	if r.Store.Backend != nil {
		place = r.Store.Place()
	}
	for _, name := range others {
		r.Findings.Add(diag.Diagnostic{
			Severity: diag.Warning, Check: "manifest", Addr: addr.Device(name),
			Summary: fmt.Sprintf("the manifest in %s says that %s there %s weir's, and no run on record beside it was about the device: that does not count",
				place, diag.Count(len(r.listed[name]), "object"), map[bool]string{true: "is", false: "are"}[len(r.listed[name]) == 1]),
			Detail: "What stands on the device is adopted only with --adopt, and the next run strikes the entry out. If the runs are on record elsewhere, name that place: --journal DIR.",
		})
	}
	return nil
}

// flagsOf are the flags that lead to the options, with a blank before each.
func flagsOf(o Options) string {
	flags := ""
	if o.Lab {
		flags += " --lab"
	}
	if o.Journal != "" {
		flags += " --journal " + o.Journal
	}
	return flags
}

// foreign says whether the store came with the repo: then what stands in it is as good as what anybody says.
func (r *Repo) foreign() bool {
	if r.Store.Disk != nil || r.Store.Backend != nil {
		return false // not the machine's own
	}
	_, err := os.Stat(r.Store.Dir)
	return err == nil && r.effects.Tracks(r.Store.Dir)
}

// isRepo says why the folder cannot be a fabric repo.
func (r *Repo) isRepo() error {
	main, err := fs.Stat(r.effects.Files, "fabric.yaml")
	switch {
	case err != nil:
		return fmt.Errorf("%s is no fabric repo: it has no fabric.yaml (weir init DIR makes one)", r.Dir)
	case main.IsDir():
		return fmt.Errorf("%s is no fabric repo: its fabric.yaml is a folder and must be a file", r.Dir)
	}
	return nil
}

// resolve makes the fabric of what the files say, as far as they say one.
func (r *Repo) resolve() {
	want, findings := intent.Load(r.effects.Files)
	r.Findings = append(r.Findings, findings...)
	exists, findings := inventory.Load(r.effects.Files)
	r.Findings = append(r.Findings, findings...)
	if r.Findings.HasErrors() {
		return
	}
	resolved, findings := fabric.Resolve(want, exists)
	r.Findings = append(r.Findings, findings...)
	if !r.Findings.HasErrors() {
		r.Findings = append(r.Findings, check.Run(resolved, r.effects.Now())...)
		r.Fabric = resolved
		r.bind()
	}
}

// bind gives every device its language.
func (r *Repo) bind() {
	r.bound, r.devices = map[string]render.Bound{}, map[string]*inventory.Device{}
	for _, d := range r.Fabric.Inventory.Devices {
		r.devices[d.Name.V] = d
	}
	for _, s := range r.Fabric.Switches {
		if s.State == inventory.Unmanaged {
			continue
		}
		if l, ok := switchLanguages[s.Platform]; ok {
			r.bound[s.Name] = render.Bind(l, s, s.Name, s.Platform, r.manifest)
		} else {
			r.Findings.Errorf("platform", s.Address(), []diag.Pos{s.At}, "weir speaks no language of platform %q: it knows %s", s.Platform, known(switchLanguages))
		}
	}
	for _, h := range r.Fabric.Hosts {
		if h.State == inventory.Unmanaged {
			continue
		}
		if l, ok := hostLanguages[h.Platform]; !ok {
			r.Findings.Errorf("platform", h.Address(), []diag.Pos{h.Device.At}, "weir speaks no language of platform %q: it knows %s", h.Platform, known(hostLanguages))
		} else if len(h.At) > 0 {
			r.bound[h.Name] = render.Bind(l, h, h.Name, h.Platform, r.manifest)
		}
	}
	r.Names = sortedNames(r.bound)
}

// Device is the inventory's entry of a device; nil where it has none.
func (r *Repo) Device(name string) *inventory.Device {
	return r.devices[name]
}

// InState are the devices of the inventory in a state, as people count.
func (r *Repo) InState(s inventory.State) []string {
	return slices.DeleteFunc(sortedNames(r.devices), func(name string) bool { return r.devices[name].StateOf() != s })
}

// path takes a file name of the inventory as relative to the repo.
func (r *Repo) path(name string) string {
	if name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(r.Dir, name)
}
