package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/weirfabric/weir/inventory"
)

// mostBeyond is what the worst that devices, clients and files do may cost in memory, beside the same run with honest ones.
const mostBeyond = 300 << 20

// TestNothingThatIsSaidFillsTheMemory runs weir as a process of its own against servers, clients and files of the worst kind, and of the
// best, and compares the most memory that it ever had.
func TestNothingThatIsSaidFillsTheMemory(t *testing.T) {
	if testing.Short() || os.Getenv("WEIR_TEST_ALL") != "1" {
		t.Skip("it listens on loopback and takes a quarter of a minute: WEIR_TEST_ALL=1")
	}
	for name, c := range map[string]struct {
		says string // of the hostile ones
		run  func(t *testing.T, hostile bool) peaked
	}{
		"plan: answers without an end, and of millions of values": {"more than weir reads", func(t *testing.T, hostile bool) peaked {
			dir, _ := served(t, hostile)
			return weirPeak(t, dir, nil, "plan")
		}},
		"watch: rows that nobody has, and clients that never read": {"no room for more series", func(t *testing.T, hostile bool) peaked {
			dir, telemetry := served(t, hostile)
			return weirPeak(t, dir, func(t *testing.T, said *lockedBuffer) { scrapes(t, said, telemetry) }, "watch", "--listen", "127.0.0.1:0")
		}},
		"check: files without an end": {"more than 786432 values", func(t *testing.T, hostile bool) peaked {
			dir, _ := served(t, false)
			endlessFiles(t, filepath.Join(dir, "inventory"), hostile, "deep.yaml", "long.yaml", "most.yaml")
			return weirPeak(t, dir, nil, "check")
		}},
		"plan --observed: what was written down has no end": {"is no regular file but a pipe", func(t *testing.T, hostile bool) peaked {
			dir, _ := served(t, false)
			for n, name := range []string{"leaf1/config_db.json", "spine1/config_db.json", "leaf2/running-config", "gpu1/modules"} {
				kinds := []string{"deep", "long", "zero", "pipe"}
				endlessFiles(t, filepath.Join(dir, "observed", filepath.Dir(name)), hostile, kinds[n]+"."+filepath.Base(name))
			}
			return weirPeak(t, dir, nil, "plan", "--observed", filepath.Join(dir, "observed"))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			honest, hostile := c.run(t, false), c.run(t, true)
			t.Logf("%d MB with honest ones, %d MB with hostile ones", honest.bytes>>20, hostile.bytes>>20)
			if !strings.Contains(hostile.said, c.says) || strings.Contains(honest.said, c.says) {
				t.Errorf("the hostile ones did not say %q, or the honest ones did\n%s\n----\n%s", c.says, honest.said, hostile.said)
			}
			if hostile.bytes > honest.bytes+mostBeyond {
				t.Errorf("%d MB with honest ones, %d MB with hostile ones\n%s", honest.bytes>>20, hostile.bytes>>20, hostile.said)
			}
		})
	}
}

// peaked is the most memory that a process had at once, and what it said.
type peaked struct {
	bytes int
	said  string
}

// weirPeak runs weir on a repo. A command that has no end is interrupted when meanwhile has returned.
func weirPeak(t *testing.T, dir string, meanwhile func(*testing.T, *lockedBuffer), command string, args ...string) peaked {
	t.Helper()
	file := filepath.Join(t.TempDir(), "peak")
	cmd := exec.Command("weir", append([]string{command, dir}, args...)...)
	config := filepath.Join(filepath.Dir(dir), "config.yaml")
	cmd.Env = append(os.Environ(), peakAt+"="+file, "WEIR_PASSWORD=secret", "WEIR_HOST_KEY=secret", "WEIR_CONFIG="+config, "GOMEMLIMIT=", "GOGC=")
	said := &lockedBuffer{}
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	if meanwhile != nil {
		meanwhile(t, said)
		if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case <-ended: // with whatever exit code
	case <-time.After(3 * time.Minute):
		_ = cmd.Process.Kill()
		t.Fatalf("it did not end\n%s", said)
	}
	body, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	kilobytes, err := strconv.Atoi(strings.TrimSpace(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	return peaked{kilobytes << 10, said.String()}
}

// writePeak writes the most memory that this process ever had, in KiB.
func writePeak(file string) error {
	body, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	found := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(body)
	if found == nil {
		return errors.New("the kernel does not say VmHWM")
	}
	return os.WriteFile(file, found[1], 0o600)
}

// served is a repo whose devices are all behind two servers of this test.
func served(t *testing.T, hostile bool) (dir string, telemetry *fakeGNMI) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "pod1")
	spec := inventory.ClosSpec{Name: "pod1", Leaves: 2, Spines: 1, Hosts: 2, Ports: 8, Leaf: []string{"sonic", "eos"}, Spine: []string{"sonic"}}
	if _, err := scaffold(dir, spec); err != nil {
		t.Fatal(err)
	}
	telemetry = &fakeGNMI{hostile: hostile}
	at := fmt.Sprintf("address: 127.0.0.1, gnmi: %d, ssh: %d, tls: plaintext, hostKey: any", telemetry.serve(t), serveSSH(t, hostile))
	for _, name := range []string{"inventory/switches.yaml", "inventory/hosts.yaml"} {
		file := filepath.Join(dir, name)
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.NewReplacer(`address: "{name}.example.net"`, at, "key: env:WEIR_HOST_KEY", "password: env:WEIR_PASSWORD").Replace(string(body))
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var allow strings.Builder
	allow.WriteString("kind: Config\nallow:\n")
	for _, use := range []string{"env:WEIR_PASSWORD", "hostKey: any", "tls: plaintext"} {
		fmt.Fprintf(&allow, "  - {use: %q, devices: [\"*\"], addresses: [127.0.0.1]}\n", use)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(dir), "config.yaml"), []byte(allow.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir, telemetry
}

// endlessFiles puts files into a folder whose names say of what kind they are: KIND.REST is written as KIND.REST in a repo, and as REST where
// something was observed.
func endlessFiles(t *testing.T, folder string, hostile bool, names ...string) {
	t.Helper()
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		kind, rest, _ := strings.Cut(name, ".")
		if rest == "yaml" {
			rest = name
		}
		file := filepath.Join(folder, rest)
		var err error
		switch {
		case !hostile:
			err = os.WriteFile(file, []byte("---\n"), 0o600)
		case kind == "zero":
			err = os.Symlink("/dev/zero", file)
		case kind == "pipe":
			err = syscall.Mkfifo(file, 0o600)
		case kind == "deep":
			err = os.WriteFile(file, bytes.Repeat([]byte("["), 7<<20), 0o600)
		default: // more, and as much, as one file may have
			n := map[string]int{"long": 700_000, "most": 260_000}[kind]
			err = os.WriteFile(file, append(append([]byte("kind: Switches\nswitches: ["), bytes.Repeat([]byte("{name: x},"), n)...), ']'), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// scrapes asks for metrics: hostile clients, which never read, until a hostile server has said enough.
func scrapes(t *testing.T, said *lockedBuffer, telemetry *fakeGNMI) {
	t.Helper()
	const clients, enough, patience = 16, 300, 30 * time.Second
	address := regexp.MustCompile(`metrics at http://(\S+)/metrics`)
	until(t, patience, said, func() bool { return address.MatchString(said.String()) })
	at := address.FindStringSubmatch(said.String())[1]
	ask := func() net.Conn {
		conn, err := net.Dial("tcp", at)
		if err == nil {
			_, err = io.WriteString(conn, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		return conn
	}
	if !telemetry.hostile {
		if _, err := io.ReadAtLeast(ask(), make([]byte, 1), 1); err != nil {
			t.Error(err)
		}
		return
	}
	until(t, patience, said, func() bool { return telemetry.said.Load() > enough/2 })
	for range clients {
		ask()
	}
	until(t, patience, said, func() bool { return telemetry.said.Load() > enough })
}

// until waits for what must come, of a process of its own.
func until(t *testing.T, patience time.Duration, said *lockedBuffer, come func() bool) {
	t.Helper()
	for began := time.Now(); !come(); time.Sleep(20 * time.Millisecond) {
		if time.Since(began) > patience {
			t.Fatalf("it did not come:\n%s", said)
		}
	}
}

// lockedBuffer is what a process says.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
