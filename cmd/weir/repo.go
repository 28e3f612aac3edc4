package main

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/drivers/apply"
	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/check"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/inventory"
	"github.com/weirfabric/weir/render"
)

// repo is a fabric repo, read and resolved.
type repo struct {
	dir      string
	fabric   *fabric.Fabric // nil when the files could not be read as a fabric
	findings diag.List
	digest   plan.Digest
	store    apply.Store
	manifest plan.Manifest
	bound    map[string]render.Bound
	names    []string          // of all devices, sorted as people count
	lab      *labFile          // where the devices are when they are simulated ones; nil: real ones
	recorder *drivers.Recorder // of the dialogue with devices; nil: none
}

// open reads, resolves and checks the repo in dir. What is wrong with what it says is in its findings; an error means that
// it could not be read at all. journal overrides where the journal is kept.
func (c *console) open(dir, journal string) (*repo, error) {
	if main, err := os.Stat(filepath.Join(dir, "fabric.yaml")); err != nil {
		return nil, fmt.Errorf("%s is no fabric repo: it has no fabric.yaml (weir init DIR makes one)", dir)
	} else if main.IsDir() {
		return nil, fmt.Errorf("%s is no fabric repo: its fabric.yaml is a folder and must be a file", dir)
	}
	r := &repo{dir: dir, store: apply.Store{Dir: journal}}
	if journal == "" {
		r.store = c.store(dir, "")
	}
	files := os.DirFS(dir)
	var err error
	if c.record != "" {
		to, err := os.OpenFile(c.record, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600) // closed when the process ends
		if err != nil {
			return nil, fmt.Errorf("record the dialogue with devices: %w", err)
		}
		r.recorder = &drivers.Recorder{Dialer: transports(), To: to}
	}
	if c.lab {
		if r.lab, err = readLab(dir); err != nil {
			return nil, err
		}
	}
	if r.digest, err = intent.Digest(files); err != nil {
		return nil, err
	}
	if r.manifest, err = r.store.Manifest(); err != nil {
		return nil, err
	}
	want, findings := intent.Load(files)
	r.findings = append(r.findings, findings...)
	exists, findings := inventory.Load(files)
	r.findings = append(r.findings, findings...)
	if r.findings.HasErrors() {
		r.findings.Sort()
		return r, nil
	}
	resolved, findings := fabric.Resolve(want, exists)
	r.findings = append(r.findings, findings...)
	if !r.findings.HasErrors() {
		r.findings = append(r.findings, check.Run(resolved, time.Now())...)
		r.fabric = resolved
		r.bind()
	}
	r.findings.Sort()
	return r, nil
}

// bind gives every device its language.
func (r *repo) bind() {
	r.bound = map[string]render.Bound{}
	for _, s := range r.fabric.Switches {
		if l, ok := switchLanguages[s.Platform]; ok {
			r.bound[s.Name] = render.Bind(l, s, s.Name, s.Platform, r.manifest)
		} else {
			r.findings.Errorf("platform", s.Address(), []diag.Pos{s.At}, "weir speaks no language of platform %q: it knows %s", s.Platform, known(switchLanguages))
		}
	}
	for _, h := range r.fabric.Hosts {
		if l, ok := hostLanguages[h.Platform]; !ok {
			r.findings.Errorf("platform", h.Address(), []diag.Pos{h.Device.At}, "weir speaks no language of platform %q: it knows %s", h.Platform, known(hostLanguages))
		} else if len(h.At) > 0 {
			r.bound[h.Name] = render.Bind(l, h, h.Name, h.Platform, r.manifest)
		}
	}
	r.names = sortedNames(r.bound)
}

// device is the inventory's entry of a device.
func (r *repo) device(name string) *inventory.Device {
	i := slices.IndexFunc(r.fabric.Inventory.Devices, func(d *inventory.Device) bool { return d.Name.V == name })
	if i < 0 {
		return nil
	}
	return r.fabric.Inventory.Devices[i]
}

// picked are the devices whose names match the glob; all without one.
func (r *repo) picked(glob string) ([]string, error) {
	if glob == "" {
		return r.names, nil
	}
	var out []string
	for _, name := range r.names {
		if ok, err := path.Match(glob, name); err != nil {
			return nil, fmt.Errorf("--device %q: %w", glob, err)
		} else if ok {
			out = append(out, name)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("--device %q matches no device of the inventory", glob)
	}
	return out, nil
}

// reached are the devices whose names match the glob and that weir talks to. Those that it only writes files for are said to
// be left out.
func (c *console) reached(r *repo, glob string) ([]string, error) {
	all, err := r.picked(glob)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, name := range all {
		if platform := r.device(name).Platform.V; filesOnly[platform] {
			c.say().Printf("%s is left out: weir does not talk to devices of platform %s; weir render writes what a person types there\n", name, platform)
		} else {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, errors.New("no device is left that weir talks to")
	}
	return names, nil
}

// mustHold opens the repo for a command that goes on only when nothing is wrong with it.
func (c *console) mustHold(dir, journal string) (*repo, error) {
	r, err := c.open(dir, journal)
	if err != nil {
		return nil, err
	}
	if r.findings.HasErrors() {
		if c.json {
			if err := c.printJSON(findings{1, r.findings}); err != nil {
				return nil, err
			}
		} else {
			c.say().Findings(r.findings)
		}
		return nil, exit(exitFindings)
	}
	return r, nil
}

// devices opens the repo for a command that talks to the devices whose names match the glob, and says loudly what is not verified.
func (c *console) devices(dir, glob string) (*repo, []string, error) {
	r, err := c.mustHold(dir, "")
	if err != nil {
		return nil, nil, err
	}
	names, err := c.reached(r, glob)
	if err != nil {
		return nil, nil, err
	}
	c.warnInsecure(r, names)
	return r, names, nil
}

// findings is the JSON form of check.
type findings struct {
	Format   int       `json:"format"`
	Findings diag.List `json:"findings"`
}
