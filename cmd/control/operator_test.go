package control

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/weirfabric/weir/drivers"
)

// world is what a repo may reach in a test: it counts the secrets that were resolved and the addresses that were dialled.
type world struct {
	mu      sync.Mutex
	secrets []string
	dialled []string
	asked   []Request
}

func (w *world) effects(config string, files fstest.MapFS, allow func(Request) error) Effects {
	return Effects{Files: files, Config: config,
		Allow: func(q Request) error {
			w.asked = append(w.asked, q)
			if allow == nil {
				return errors.New("no")
			}
			return allow(q)
		},
		Secret: func(_ context.Context, reference string) (drivers.Secret, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			if reference != "" {
				w.secrets = append(w.secrets, reference)
			}
			return "geheim", nil
		},
		Dial: func(_ context.Context, _, address string) (net.Conn, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.dialled = append(w.dialled, address)
			return nil, errors.New("nobody is there")
		}}
}

// small is a repo of one switch, whose management is as given.
func small(management string) fstest.MapFS {
	return fstest.MapFS{
		"fabric.yaml": {Data: []byte("kind: Fabric\nname: x\nclasses:\n  - {name: rdma, lossless: true, dscp: [26], priority: 3, share: 50%}\n  - {name: default, priority: 0, share: 50%}\n")},
		"inventory/a.yaml": {Data: []byte("kind: Switches\ndefaults: {platform: sonic, sku: Mellanox-SN4600C-C64, ports: [{name: Ethernet0, speed: 100G, lanes: 4}]}\n" +
			"switches: [{name: leaf1, management: {" + management + "}}]\n")},
	}
}

// endpointOf tries to reach leaf1 of a repo.
func endpointOf(t *testing.T, e Effects) (drivers.Endpoint, error) {
	t.Helper()
	r, err := Open(t.TempDir(), Options{Effects: e})
	if err != nil {
		return drivers.Endpoint{}, err
	}
	if r.Fabric == nil {
		t.Fatal(r.Findings)
	}
	return r.endpoint(t.Context(), "leaf1")
}

func configOf(t *testing.T, body string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(name, []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestARepoGetsOnlyWhatTheOperatorAllows binds each thing to devices and addresses: a pull request that changes only an address
// does not get the token.
func TestARepoGetsOnlyWhatTheOperatorAllows(t *testing.T) {
	const token = "kind: Config\nallow:\n  - {use: env:TOKEN, devices: [\"leaf*\"], addresses: [10.0.0.0/24, \"{name}.example.net\"]}\n"
	for name, c := range map[string]struct {
		config, management string
		allowed            bool
	}{
		"a device in the subnet":                         {token, "address: 10.0.0.7, password: env:TOKEN", true},
		"a device by its name":                           {token, "address: leaf1.example.net, password: env:TOKEN", true},
		"another address":                                {token, "address: 192.0.2.1, password: env:TOKEN", false},
		"another name":                                   {token, "address: leaf1.example.org, password: env:TOKEN", false},
		"the name of another device":                     {token, "address: leaf2.example.net, password: env:TOKEN", false},
		"a name that may lead into the subnet":           {token, "address: anything, password: env:TOKEN", false},
		"an address of version 4 written as version 6":   {token, "address: \"::ffff:192.0.2.1\", password: env:TOKEN", false},
		"another secret":                                 {token, "address: 10.0.0.7, password: env:OTHER", false},
		"a command":                                      {token, "address: 10.0.0.7, password: \"exec:id\"", false},
		"a file":                                         {token, "address: 10.0.0.7, key: file:/etc/shadow", false},
		"a host key that is not verified":                {token, "address: 10.0.0.7, password: env:TOKEN, hostKey: any", false},
		"a certificate that is not verified":             {token, "address: 10.0.0.7, password: env:TOKEN, tls: skip-verify", false},
		"a device in clear":                              {token, "address: 10.0.0.7, password: env:TOKEN, tls: plaintext", false},
		"broken algorithms":                              {token, "address: 10.0.0.7, password: env:TOKEN, sshAlgorithms: any", false},
		"no configuration":                               {"", "address: 10.0.0.7, password: env:TOKEN", false},
		"nothing that needs to be allowed":               {"", "address: 10.0.0.7, user: admin, tls: verify", true},
		"a host key that is not verified, as is allowed": {token + "  - {use: \"hostKey: any\", devices: [leaf1], addresses: [10.0.0.7]}\n", "address: 10.0.0.7, password: env:TOKEN, hostKey: any", true},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{}
			config := filepath.Join(t.TempDir(), "none.yaml")
			if c.config != "" {
				config = configOf(t, c.config)
			}
			_, err := endpointOf(t, w.effects(config, small(c.management), nil))
			var refused *NotAllowedError
			if c.allowed != (err == nil) || !c.allowed && !errors.As(err, &refused) {
				t.Errorf("got %v, allowed %t", err, c.allowed)
			}
			if !c.allowed && len(w.secrets)+len(w.dialled) > 0 {
				t.Errorf("it was refused, and yet %v was resolved and %v dialled", w.secrets, w.dialled)
			}
		})
	}
}

// TestWhatTheOperatorAllowsIsRemembered says yes once; the lines then allow it, and no more than it.
func TestWhatTheOperatorAllowsIsRemembered(t *testing.T) {
	config := filepath.Join(t.TempDir(), "weir", "config.yaml")
	files := small(`address: "{name}.example.net", password: "exec:pass show 'a b' \"c\"", hostKey: any`)
	first := &world{}
	if _, err := endpointOf(t, first.effects(config, files, Request.Remember)); err != nil {
		t.Fatal(err)
	}
	if len(first.asked) != 1 || len(first.asked[0].Uses) != 2 {
		t.Errorf("asked %+v, want once, about both", first.asked)
	}
	info, err := os.Stat(config)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the configuration: %v, %v", info, err)
	}
	second := &world{}
	if _, err := endpointOf(t, second.effects(config, files, nil)); err != nil || len(second.asked) > 0 {
		t.Errorf("the second time: %v, asked %v", err, second.asked)
	}
	moved := &world{}
	if _, err := endpointOf(t, moved.effects(config, small(`address: evil.example.org, password: "exec:pass show 'a b' \"c\""`), nil)); err == nil || len(moved.secrets) > 0 {
		t.Errorf("another address gets it as well: %v", err)
	}
}

func TestAMistakeInTheConfigurationHasItsPlace(t *testing.T) {
	config := configOf(t, "kind: Config\nallow:\n  - {use: env:TOKEN, device: [leaf1], addresses: [10.0.0.7]}\n")
	w := &world{}
	_, err := endpointOf(t, w.effects(config, small("address: 10.0.0.7, password: env:TOKEN"), nil))
	if err == nil || !strings.Contains(err.Error(), `unknown key "device"; did you mean "devices"?`) || !strings.Contains(err.Error(), config+":3:") {
		t.Errorf("got %v", err)
	}
	if err := os.WriteFile(config, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(config, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := endpointOf(t, w.effects(config, small("address: 10.0.0.7, password: env:TOKEN"), nil)); err == nil || !strings.Contains(err.Error(), "can be written by others") {
		t.Errorf("a configuration that others write: got %v", err)
	}
}

// TestALabThatCameWithTheRepoIsNone has files that somebody put where a lab says where its devices are.
func TestALabThatCameWithTheRepoIsNone(t *testing.T) {
	for name, body := range map[string]string{
		"a command":                         `{"scale":1,"password":"exec:id","ca":"CA","known_hosts":"HOSTS","devices":{"leaf1":{"ssh":"127.0.0.1:22"}}}`,
		"a variable":                        `{"scale":1,"password":"env:HOME","ca":"CA","known_hosts":"HOSTS","devices":{"leaf1":{"ssh":"127.0.0.1:22"}}}`,
		"a command with a file of its name": `{"scale":1,"password":"exec:SECRET","ca":"CA","known_hosts":"HOSTS","devices":{"leaf1":{"ssh":"127.0.0.1:22"}}}`,
		"a file elsewhere":                  `{"scale":1,"password":"file:/etc/hostname","ca":"CA","known_hosts":"HOSTS","devices":{"leaf1":{"ssh":"127.0.0.1:22"}}}`,
		"a foreign address":                 `{"scale":1,"password":"file:SECRET","ca":"CA","known_hosts":"HOSTS","devices":{"leaf1":{"ssh":"192.0.2.1:22"}}}`,
		"a foreign name":                    `{"scale":1,"password":"file:SECRET","ca":"CA","known_hosts":"HOSTS","devices":{"leaf1":{"gnmi":"localhost.evil:22"}}}`,
		"a link elsewhere":                  `{"scale":1,"password":"file:LINK","ca":"CA","known_hosts":"HOSTS","devices":{"leaf1":{"ssh":"127.0.0.1:22"}}}`,
		"":                                  `{"scale":1,"password":"file:SECRET","ca":"CA","known_hosts":"HOSTS","devices":{"leaf1":{"ssh":"127.0.0.1:22"}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			at := LabDir(dir)
			if err := os.MkdirAll(at, 0o700); err != nil {
				t.Fatal(err)
			}
			for _, file := range []string{"CA", "HOSTS", "SECRET"} {
				if err := os.WriteFile(filepath.Join(at, file), nil, 0o600); err != nil {
					t.Fatal(err)
				}
				body = strings.ReplaceAll(body, file+`"`, filepath.Join(at, file)+`"`)
			}
			if err := os.Symlink("/etc/hostname", filepath.Join(at, "LINK")); err != nil {
				t.Fatal(err)
			}
			body = strings.ReplaceAll(body, "LINK", filepath.Join(at, "LINK"))
			if err := os.WriteFile(LabFile(dir), []byte(body), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := Open(dir, Options{Lab: true, Effects: Effects{Files: small("address: x")}})
			if name == "" && err != nil || name != "" && (err == nil || !strings.Contains(err.Error(), "is not of a lab that weir started")) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestARecordThatCameWithTheRepoIsNotTrusted commits a manifest.
func TestARecordThatCameWithTheRepoIsNotTrusted(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, ".weir"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, f := range small("address: x") {
		if err := Write(dir, name, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, ".weir", "owned.json"), []byte(`{"leaf1":["map/x"]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	open := func() *Repo {
		r, err := Open(dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := open(); !strings.Contains(r.Findings.String(), "1 object there is weir's, and no run on record beside it was about the device") || len(r.manifest) > 0 {
		t.Errorf("without a record: %s, manifest %v", r.Findings, r.manifest)
	}
	onRecord(t, open().Store, "leaf2")
	if r := open(); len(r.manifest) > 0 {
		t.Errorf("with a record of another device: %s, manifest %v", r.Findings, r.manifest)
	}
	if err := os.RemoveAll(filepath.Join(dir, ".weir", "runs")); err != nil {
		t.Fatal(err)
	}
	onRecord(t, open().Store, "leaf1")
	if r := open(); r.Findings.HasErrors() || len(r.manifest) != 1 {
		t.Errorf("outside of Git: %s, manifest %v", r.Findings, r.manifest)
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-f", ".weir"}} {
		if out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %s", args, out)
		}
	}
	if r := open(); !strings.Contains(r.Findings.String(), "came with the repo") || len(r.manifest) > 0 {
		t.Errorf("tracked: %s, manifest %v", r.Findings, r.manifest)
	}
}

// TestNoFileLeavesItsFolder writes and reads names that lead elsewhere.
func TestNoFileLeavesItsFolder(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"../x", "/etc/x", "a/../../x", ""} {
		if err := Write(dir, name, nil, 0o600); err == nil {
			t.Errorf("%q was written", name)
		}
	}
	if err := os.Symlink("/etc/hostname", filepath.Join(dir, "fabric.yaml")); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, Options{}); err == nil {
		t.Error("a link that leads out of the repo was followed")
	}
}
