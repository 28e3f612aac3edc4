package bond

import (
	"bufio"
	"context"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent/fabric"
)

// both are a bond of each mode.
func both() map[string]fabric.Bond {
	addresses := []netip.Prefix{netip.MustParsePrefix("192.0.2.7/24"), netip.MustParsePrefix("198.51.100.7/24"), netip.MustParsePrefix("2001:db8::7/64")}
	return map[string]fabric.Bond{
		"LACP":          {Name: "bond0", Mode: fabric.BondLACP, Hash: "layer3+4", MTU: 9000, Ports: []string{"eth0", "eth1"}, Addresses: addresses},
		"active-backup": {Name: "roce-1", Mode: fabric.BondBackup, MTU: 4200, Ports: []string{"ens1f0np0", "ens1f1np1"}, Addresses: addresses[2:]},
	}
}

func TestABondIsReadBackFromTheFilesOfEachMaster(t *testing.T) {
	for name, b := range both() {
		for _, m := range masters {
			files := m.on(b)
			if got := m.valueOf(b.Name, files); got != textOf(b) {
				t.Errorf("%s of %s: got %q, want %q", name, m.name, got, textOf(b))
			}
			for path := range files {
				changed := map[string]string{}
				for p, text := range files {
					changed[p] = text
				}
				changed[path] += "# another line\n"
				if got := unarchive(m.valueOf(b.Name, changed)); !equal(got, changed) {
					t.Errorf("%s of %s: with another line in %s: %s", name, m.name, path, cmp.Diff(changed, got))
				}
			}
		}
		if got, ok := bondOf(b.Name, textOf(b)); !ok || textOf(got) != textOf(b) {
			t.Errorf("%s: %q reads back as %+v", name, textOf(b), got)
		}
	}
}

// missing skips a test for want of a program, and fails it where WEIR_TEST_ALL demands all.
func missing(t *testing.T, program string) {
	t.Helper()
	if os.Getenv("WEIR_TEST_ALL") == "1" {
		t.Fatalf("%s is missing: make packages", program)
	}
	t.Skipf("%s is missing: make test-all installs it", program)
}

// TestNetworkManagerTakesItsFiles has nmcli read the files without a daemon. Where a key or a value is none of its own it refuses
// the file or leaves the key out of what it prints.
func TestNetworkManagerTakesItsFiles(t *testing.T) {
	nmcli, err := exec.LookPath("nmcli")
	if err != nil {
		missing(t, "nmcli")
	}
	read := func(text string) (map[string][]string, error) {
		cmd := exec.CommandContext(t.Context(), nmcli, "--offline", "connection", "modify", "connection.lldp", "default")
		cmd.Stdin = strings.NewReader(text)
		out, err := cmd.Output()
		return sections(string(out)), err
	}
	for name, b := range both() {
		for file, text := range managerFiles(b) {
			said, err := read(text)
			if err != nil {
				t.Fatalf("%s: %s: %v", name, file, err)
			}
			for key, values := range sections(text) {
				if diff := cmp.Diff(values, said[key]); diff != "" {
					t.Errorf("%s: %s: %s (-written +read):\n%s", name, file, key, diff)
				}
			}
		}
	}
	lacp := both()["LACP"]
	if said, err := read(strings.Replace(managerFiles(lacp)["bond0.nmconnection"], "mode=802.3ad", "mode=active-backup", 1)); err == nil {
		t.Errorf("a rate of LACP is taken without LACP, as %v: nmcli judges nothing", said)
	}
}

// TestNetworkdTakesItsFiles has the real daemon read the files, in namespaces of its own, where it finds nothing but them. Where the
// kernel has bonds, it makes them.
func TestNetworkdTakesItsFiles(t *testing.T) {
	const daemon = "/lib/systemd/systemd-networkd"
	if _, err := os.Stat(daemon); err != nil {
		missing(t, daemon)
	}
	if os.Geteuid() != 0 {
		t.Skip("this needs root")
	}
	if exec.CommandContext(t.Context(), "unshare", "-n", "-m", "true").Run() != nil {
		t.Skip("no namespaces can be made here")
	}
	dir, bonds := t.TempDir(), both()
	wrong := fabric.Bond{Name: "wrong", Mode: fabric.BondBackup, MTU: 1500, Ports: []string{"eth8", "eth9"}}
	bonds["with a key that there is not"] = wrong
	for _, b := range bonds {
		for file, text := range networkdFiles(b) {
			if file == "wrong.netdev" {
				text += "FailOverMAC=active\n"
			}
			if err := os.WriteFile(filepath.Join(dir, "10-weir-"+file), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "unshare", "-n", "-m", "sh", "-c", `mount -t tmpfs run /run && mkdir -p /run/systemd/network /run/systemd/netif &&
		chown systemd-network: /run/systemd/netif && cp "$0"/* /run/systemd/network/ && exec env SYSTEMD_LOG_LEVEL=debug SYSTEMD_LOG_TARGET=console `+daemon+" 2>&1", dir)
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var said []string
	ready, refused := 0, 0
	for lines := bufio.NewScanner(pipe); ready+refused < len(bonds) && lines.Scan(); {
		said = append(said, lines.Text())
		ready += strings.Count(lines.Text(), ": netdev ready")
		refused += strings.Count(lines.Text(), ": netdev could not be created: Operation not supported")
	}
	for _, b := range bonds {
		has := func(words string) bool {
			return slices.ContainsFunc(said, func(line string) bool { return strings.Contains(line, words) && strings.Contains(line, b.Name) })
		}
		if !has(`loaded "bond"`) || has("gnoring") != (b.Name == "wrong") {
			t.Errorf("%s is not read as it should be:\n%s", b.Name, strings.Join(said, "\n"))
		}
		if ready == len(bonds) {
			out, err := exec.CommandContext(ctx, "nsenter", "-t", strconv.Itoa(cmd.Process.Pid), "-n", "ip", "-d", "link", "show", "dev", b.Name).CombinedOutput()
			if err != nil || !strings.Contains(string(out), "bond mode "+b.Mode) {
				t.Errorf("%s: the kernel has %s (%v), want mode %s", b.Name, out, err, b.Mode)
			}
		}
	}
	if refused > 0 {
		t.Log("this kernel has no bonds: the files were read, and nothing was made")
	}
	cancel()
	_ = cmd.Wait() // it was ended
}
