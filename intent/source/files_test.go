package source_test

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/inventory"
)

// TestNothingButARegularFileIsRead has in the place of a file what never ends and what waits.
func TestNothingButARegularFileIsRead(t *testing.T) {
	for name, make := range map[string]func(file string) error{
		"a link to an endless device": func(file string) error { return os.Symlink("/dev/zero", file) },
		"a pipe":                      func(file string) error { return syscall.Mkfifo(file, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, "intent"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "fabric.yaml"), []byte("kind: Fabric\nname: x\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := make(filepath.Join(dir, "intent", "x.yaml")); err != nil {
				t.Fatal(err)
			}
			if _, findings := intent.Load(os.DirFS(dir)); !strings.Contains(findings.String(), "is no regular file") {
				t.Errorf("got %s", findings)
			}
			if _, err := intent.Digest(os.DirFS(dir)); err == nil || !strings.Contains(err.Error(), "is no regular file") {
				t.Errorf("the digest: got %v", err)
			}
		})
	}
}

func TestAFileOfManyLinksIsNotTooMuch(t *testing.T) {
	body := "kind: Links\nlinks:\n" + strings.Repeat("  - {a: leaf100/Ethernet100, b: gpu10000/eth0, length: 3m}\n", 100_000)
	if _, findings := inventory.Load(fstest.MapFS{"inventory/x.yaml": {Data: []byte(body)}}); strings.Contains(findings.String(), "more than") {
		t.Errorf("got %.300s", findings)
	}
}

// TestAHugeFileIsRefusedBeforeItTakesMemory has the files that take most.
func TestAHugeFileIsRefusedBeforeItTakesMemory(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // as in weir, whatever the tests run with
	for name, c := range map[string]struct{ body, want string }{
		"a scalar of 100 MB":     {"kind: Links\nlinks: [{a: " + strings.Repeat("a", 100<<20) + "}]\n", "which weir does not read"},
		"a scalar of 7 MB":       {"kind: Links\nlinks: [{a: " + strings.Repeat("a", 7<<20) + ", b: x/y}]\n", "bytes long"},
		"millions of values":     {"kind: Links\nlinks: [" + strings.Repeat("a,", 3<<20) + "]\n", "more than 786432 values"},
		"a million of values":    {"kind: Links\nlinks: [" + strings.Repeat("a,", 3<<17-9) + "]\n", "a list of"},
		"ranges of ranges":       {"kind: Switches\nswitches:\n" + strings.Repeat("  - {names: \"a[1-4096]\", platform: x, ports: [{names: \"e[1-4096]\", speed: 1G}]}\n", 5_000), "more than 2097152 names"},
		"an unknown key of 7 MB": {"kind: Links\n" + strings.Repeat("a", 7<<20) + ": x\n", "this is not YAML"},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			_, findings := inventory.Load(fstest.MapFS{"inventory/x.yaml": {Data: []byte(c.body)}})
			runtime.ReadMemStats(&after)
			if len(findings) == 0 || !strings.Contains(findings[0].String(), c.want) || len(findings[0].String()) > 2000 {
				t.Errorf("got %.300s", findings)
			}
			if cost := after.Sys - before.Sys; cost > 800<<20 {
				t.Errorf("it took %d MB of memory", cost>>20)
			}
		})
	}
}
