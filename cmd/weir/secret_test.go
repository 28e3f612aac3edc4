package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/weirfabric/weir/cmd/control"
)

// TestASecretIsNeverPrintedNorWritten reaches the devices as an operator does, by the inventory and not as a lab: addresses, host keys and
// authority are named there, and the password is a reference. Whatever is done, its value occurs in nothing that is printed or
// written; and where it is wrong, neither that one.
func TestASecretIsNeverPrintedNorWritten(t *testing.T) {
	const password, wrong = "k7Qz-right-horse", "k7Qz-wrong-horse"
	onFabric(t, mixed(), password, func(t *testing.T, f *testFabric) {
		f.real = true
		f.inventory(t)
		t.Setenv("WEIR_PASSWORD", password)
		config := filepath.Join(t.TempDir(), "weir", "config.yaml")
		t.Setenv("WEIR_CONFIG", config)
		f.permission(t, config)
		plans := filepath.Join(f.dir, "plan.json")
		repo := []string{"--repo", f.dir}
		for _, c := range []struct {
			code int
			args []string
		}{
			{exitDone, []string{"check", f.dir, "--json"}},
			{exitDone, []string{"explain", "leaf1", f.dir, "--json"}},
			{exitDone, []string{"doctor", f.dir}},
			{exitDone, []string{"plan", f.dir, "--json", "-o", plans}},
			{exitDone, []string{"plan", f.dir, "--lines"}},
			{exitDone, append(append([]string{"apply", plans, "--adopt", "--allow-flap", "--allow-single"}, repo...), blind()...)},
			{exitDone, []string{"drift", f.dir, "--json"}},
			{exitDone, []string{"observe", f.dir, "-o", filepath.Join(f.dir, "seen")}},
			{exitDone, []string{"runs", f.dir, "--json"}},
		} {
			f.mum(t, password, c.code, c.args...)
		}
		t.Setenv("WEIR_PASSWORD", wrong)
		f.mum(t, wrong, exitError, "plan", f.dir)
		f.mum(t, wrong, exitError, "drift", f.dir, "--json")
		if said := f.mum(t, wrong, exitError, "doctor", f.dir); !strings.Contains(said, "login") {
			t.Errorf("doctor does not say that the login is wrong: %s", said)
		}
		if err := os.Unsetenv("WEIR_PASSWORD"); err != nil {
			t.Fatal(err)
		}
		if said := f.mum(t, password, exitError, "plan", f.dir); !strings.Contains(said, "the environment variable WEIR_PASSWORD is not set") {
			t.Errorf("a password that is not there: %s", said)
		}
		f.unwritten(t, password, wrong)
	})
}

// permission has a command that may not use the password, and lets the operator allow it: without somebody to ask, weir prints the
// lines to add and sends nothing.
func (f *testFabric) permission(t *testing.T, config string) {
	t.Helper()
	code, out, said := f.weir("drift", f.dir)
	at := strings.Index(said, "---\nkind: Config\n")
	if code != exitError || at < 0 || !strings.Contains(said, "env:WEIR_PASSWORD") || !strings.Contains(said, config) {
		t.Fatalf("exit code %d, want that weir asks for permission:\n%s\n%s", code, out, said)
	}
	var print bytes.Buffer
	asked := 0
	c := &console{out: &print, err: &print, person: func(string) bool { asked++; return true }, effects: f.effects}
	if code := c.mainUntil(context.Background(), []string{"drift", f.dir}); code != exitChanges || asked != 1 {
		t.Fatalf("exit code %d after a yes, asked %d times:\n%s", code, asked, print.String())
	}
	kept, err := os.ReadFile(config)
	if err != nil || !strings.HasPrefix(said[at:], string(kept)) {
		t.Errorf("what is remembered is not what would have been added by hand (%v):\n%s\n%s", err, kept, said[at:])
	}
}

// inventory writes into the inventory where the devices are, and how they are trusted.
func (f *testFabric) inventory(t *testing.T) {
	t.Helper()
	usual := regexp.MustCompile(`(?m)^  management: .*\n`)
	device := regexp.MustCompile(`\{name: (\w+)`)
	user, _ := f.lab.Credentials()
	for _, name := range []string{"switches.yaml", "hosts.yaml"} {
		name = filepath.Join(f.dir, "inventory", name)
		body, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text := usual.ReplaceAllString(string(body), "")
		text = device.ReplaceAllStringFunc(text, func(at string) string {
			gnmi, ssh := f.lab.Endpoint(device.FindStringSubmatch(at)[1])
			host, port, err := net.SplitHostPort(ssh)
			if err != nil {
				t.Fatal(err)
			}
			m := fmt.Sprintf("address: %s, ssh: %s, user: %s, password: env:WEIR_PASSWORD, hostKeys: %s, ca: %s",
				host, port, user, f.lab.KnownHosts(), f.lab.CAFile())
			if gnmi != "" {
				m += ", gnmi: " + portOf(gnmi)
			}
			return at + ", management: {" + m + "}"
		})
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func portOf(address string) string { return address[strings.LastIndexByte(address, ':')+1:] }

// mum runs a command that has to end with the exit code and may not print the secret.
func (f *testFabric) mum(t *testing.T, secret string, want int, args ...string) string {
	t.Helper()
	code, out, said := f.weir(args...)
	if code != want {
		t.Fatalf("weir %s: exit code %d, want %d\n%s\n%s", strings.Join(args, " "), code, want, out, said)
	}
	if strings.Contains(out+said, secret) {
		t.Errorf("weir %s prints the secret:\n%s\n%s", strings.Join(args, " "), out, said)
	}
	return out + said
}

// unwritten checks that none of the secrets is in a file of the repo, but for those of the lab itself.
func (f *testFabric) unwritten(t *testing.T, secrets ...string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(f.dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() && name != control.LabDir(f.dir) {
			return err
		}
		if e.IsDir() {
			return fs.SkipDir
		}
		files++
		body, err := os.ReadFile(name)
		for _, secret := range secrets {
			if bytes.Contains(body, []byte(secret)) {
				t.Errorf("%s holds the secret", name)
			}
		}
		return err
	})
	if err != nil || files < 10 {
		t.Fatalf("%d files were looked at: %v", files, err)
	}
}
