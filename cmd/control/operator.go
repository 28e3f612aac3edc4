package control

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/source"
	"github.com/weirfabric/weir/inventory"
)

// operatorKind is the kind of document in the operator's own configuration.
const operatorKind = "Config"

// operatorConfig is the operator's own configuration: what a repo may use that runs code or gives something away, and where its runs
// are recorded.
type operatorConfig struct {
	Allow []allowed `yaml:"allow" doc:"What a fabric repo may use, for which devices and at which addresses."`
	State []stateAt `yaml:"state" doc:"Where a team records the runs on its fabrics, in the place of the folder .weir of each checkout. The first entry that fits counts."`
}

// allowed is one thing that repos may use.
type allowed struct {
	Use       source.Value[string]   `yaml:"use,required" doc:"What may be used, as the inventory writes it: env:NAME, file:PATH (absolute), exec:COMMAND, hostKey: any, sshAlgorithms: any, tls: skip-verify or tls: plaintext."`
	Devices   []source.Value[string] `yaml:"devices,required" form:"glob" doc:"The devices it may be used for: names or globs."`
	Addresses []source.Value[string] `yaml:"addresses,required" form:"range" doc:"Where those devices may be: host names or globs of them, addresses, or subnets like 10.0.9.0/24; {name} stands for the device's name. A subnet allows addresses that the inventory writes as numbers, and no names."`
	At        diag.Pos
}

// OperatorGrammar is the kinds of document in the operator's own configuration.
func OperatorGrammar() *source.Grammar {
	return source.NewGrammar(source.Kind{Name: operatorKind, Doc: "What a fabric repo may use that runs code or gives something away, and where its runs are recorded.", Type: reflect.TypeFor[operatorConfig]()})
}

// OperatorFile is where the operator's own configuration is: $WEIR_CONFIG, else ~/.config/weir/config.yaml. Empty where there is
// no home.
func OperatorFile() string {
	if name := os.Getenv("WEIR_CONFIG"); name != "" {
		return name
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".config", "weir", "config.yaml")
}

// operator reads the operator's own configuration; one that is not there allows nothing.
func (e Effects) operator() (operatorConfig, error) {
	var c operatorConfig
	body, err := drivers.ReadFile(e.Config, maxConfig)
	if e.Config == "" || errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, fmt.Errorf("read your configuration: %w", err)
	}
	if info, err := os.Stat(e.Config); err == nil && info.Mode().Perm()&0o022 != 0 {
		return c, fmt.Errorf("your configuration %s can be written by others (%v): chmod 600 it", e.Config, info.Mode().Perm())
	}
	documents, findings := OperatorGrammar().Read(e.Config, body)
	for _, d := range documents {
		c.Allow = append(c.Allow, d.Value.(*operatorConfig).Allow...)
		c.State = append(c.State, d.Value.(*operatorConfig).State...)
	}
	if findings.HasErrors() {
		return operatorConfig{}, fmt.Errorf("read your configuration:\n%s", findings)
	}
	return c, nil
}

// maxConfig is how many bytes the operator's own configuration has at most: 10,000 devices by name take 200 KB.
const maxConfig = 4 << 20

// Use is something that a repo wants for a device and that the operator has to allow: a secret, or not to verify.
type Use struct {
	What    string // as the operator's configuration says it: env:NAME, hostKey: any
	Device  string
	Address string // of the device, as the inventory writes it
}

// uses are what the inventory wants for a device.
func (r *Repo) uses(d *inventory.Device) []Use {
	m := d.Management
	var out []Use
	for _, what := range []string{
		r.reference(m.Password.V), r.reference(m.Key.V), switchedOff("tls", m.TLS, "verify"), switchedOff("hostKey", m.HostKey, "verify"),
		switchedOff("sshAlgorithms", m.SSHAlgorithms, "secure"),
	} {
		if what != "" && !slices.ContainsFunc(out, func(u Use) bool { return u.What == what }) {
			out = append(out, Use{What: what, Device: d.Name.V, Address: m.Address.V})
		}
	}
	return out
}

// switchedOff is a setting that is not the safe one, as the inventory writes it.
func switchedOff(key string, v source.Value[string], safe string) string {
	if v.V == "" || v.V == safe {
		return ""
	}
	return key + ": " + v.V
}

// allows says whether the configuration allows a use.
func (c operatorConfig) allows(u Use) bool {
	return slices.ContainsFunc(c.Allow, func(a allowed) bool {
		return a.Use.V == u.What &&
			slices.ContainsFunc(a.Devices, func(d source.Value[string]) bool { return matches(d.V, u.Device) }) &&
			slices.ContainsFunc(a.Addresses, func(at source.Value[string]) bool {
				return within(strings.ReplaceAll(at.V, "{name}", u.Device), u.Address)
			})
	})
}

// matches says whether a name fits a glob.
func matches(glob, name string) bool {
	ok, err := path.Match(glob, name)
	return err == nil && ok
}

// within says whether an address is in a range. A name never is in a subnet: whoever answers for names could move it there.
func within(span, address string) bool {
	at, err := netip.ParseAddr(address)
	if err != nil {
		return matches(span, address)
	}
	if prefix, err := netip.ParsePrefix(span); err == nil {
		return prefix.Contains(at.Unmap().WithZone(""))
	}
	same, err := netip.ParseAddr(span)
	return err == nil && same == at
}

// Request is what a repo wants to use and the operator's configuration does not allow.
type Request struct {
	Uses   []Use  // of all devices of the repo, so that it is asked once
	Config string // the file of the operator's own configuration
	Lines  string // what is to be added to it
}

// NotAllowedError says that a repo wants to use for a device what the operator's own configuration does not allow.
type NotAllowedError struct {
	Use    Use
	Config string // the file of the operator's own configuration
}

func (e *NotAllowedError) Error() string {
	return fmt.Sprintf("%s: the inventory wants to use %s at %s, and your configuration (%s) does not allow it", e.Use.Device, e.Use.What, e.Use.Address, e.Config)
}

// permission is what is known of what the operator allows. It is held while the operator is asked.
type permission struct {
	sync.Mutex
	config *operatorConfig // nil: not read yet
	asked  bool
}

// permit says why something that the inventory wants for a device may not be used: *NotAllowedError. The first time that
// something is missing, the operator is asked about all that the repo wants.
func (r *Repo) permit(d *inventory.Device) error {
	wanted := r.uses(d)
	if len(wanted) == 0 {
		return nil
	}
	r.allowed.Lock()
	defer r.allowed.Unlock()
	if r.allowed.config == nil {
		if err := r.readOperator(); err != nil {
			return err
		}
	}
	missing := slices.DeleteFunc(slices.Clone(wanted), r.allowed.config.allows)
	if len(missing) > 0 && !r.allowed.asked && r.effects.Allow != nil {
		r.allowed.asked = true
		if r.effects.Allow(r.request(*r.allowed.config)) == nil {
			if err := r.readOperator(); err != nil {
				return err
			}
			missing = slices.DeleteFunc(missing, r.allowed.config.allows)
		}
	}
	if len(missing) > 0 {
		return &NotAllowedError{Use: missing[0], Config: r.effects.Config}
	}
	return nil
}

func (r *Repo) readOperator() error {
	c, err := r.effects.operator()
	if err == nil {
		r.allowed.config = &c
	}
	return err
}

// request is all that the repo wants and that is not allowed.
func (r *Repo) request(c operatorConfig) Request {
	q := Request{Config: r.effects.Config}
	for _, name := range r.Names {
		d := r.Device(name)
		if FilesOnly(d.Platform.V) == "" && d.Management.Address.V != "" {
			q.Uses = append(q.Uses, slices.DeleteFunc(r.uses(d), c.allows)...)
		}
	}
	q.Lines = linesOf(q.Uses)
	return q
}

// linesOf are the lines that allow the uses, and nothing else: each thing with its devices and their addresses.
func linesOf(uses []Use) string {
	var b strings.Builder
	fmt.Fprintf(&b, "---\nkind: %s\nallow:\n", operatorKind)
	var done []string
	for _, u := range uses {
		if slices.Contains(done, u.What) {
			continue
		}
		done = append(done, u.What)
		var devices, addresses []string
		for _, v := range uses {
			if v.What != u.What {
				continue
			}
			devices = append(devices, written(v.Device))
			if at := written(named(v)); !slices.Contains(addresses, at) {
				addresses = append(addresses, at)
			}
		}
		fmt.Fprintf(&b, "  - use: %s\n    devices: [%s]\n    addresses: [%s]\n", written(u.What), strings.Join(devices, ", "), strings.Join(addresses, ", "))
	}
	return b.String()
}

// named is the address of a use with {name} in place of the device's name, so that a thousand devices take one line.
func named(u Use) string {
	if rest, found := strings.CutPrefix(u.Address, u.Device+"."); found {
		return "{name}." + rest
	}
	return u.Address
}

// written is a text in YAML, in quotes. What the forms of the inventory take has no other spelling there.
func written(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// Remember adds the lines of a request to the operator's own configuration, which nobody else may read or write.
func (q Request) Remember() error {
	if q.Config == "" {
		return errors.New("there is no home folder to keep your configuration in: set WEIR_CONFIG to a file")
	}
	if err := os.MkdirAll(filepath.Dir(q.Config), 0o700); err != nil {
		return fmt.Errorf("remember what you allow: %w", err)
	}
	f, err := os.OpenFile(q.Config, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("remember what you allow: %w", err)
	}
	_, err = f.WriteString(q.Lines)
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("remember what you allow: %w", err)
	}
	return nil
}
