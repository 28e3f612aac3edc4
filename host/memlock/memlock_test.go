package memlock

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirfabric/weir/intent/fabric"
)

// gpu1 is a host whose service slurmd may lock 64 GiB.
func gpu1() *fabric.Host {
	return &fabric.Host{Device: fabric.Device{Name: "gpu1"}, Memlock: "64GiB", MemlockServices: []string{"slurmd"}}
}

func TestWhatAServiceMayLockIsReadWhole(t *testing.T) {
	const loaded = "service slurmd\nMainPID=701\nLimitMEMLOCK=68719476736\nLoadState=loaded\n"
	for name, c := range map[string]struct {
		said   string
		older  string // what the service runs with
		absent bool
		leaves int
		err    bool
	}{
		"as it should be, and started with it": {loaded + "Max locked memory         68719476736          68719476736          bytes     \nend\n", "", false, 1, false},
		"started before":                       {loaded + "Max locked memory         8388608              8388608              bytes     \nend\n", "8388608", false, 1, false},
		"not running":                          {strings.Replace(loaded, "701", "0", 1) + "end\n", "", false, 1, false},
		"an empty drop-in":                     {"file /etc/systemd/system/slurmd.service.d/90-weir.conf\n" + loaded + "end\n", "", false, 1, false},
		"a drop-in of another service":         {"file /etc/systemd/system/sshd.service.d/90-weir.conf\n/etc/systemd/system/sshd.service.d/90-weir.conf:[Service]\n" + loaded + strings.ReplaceAll(loaded, "slurmd", "sshd") + "end\n", "", false, 3, false},
		"no such service":                      {strings.Replace(loaded, "=loaded", "=not-found", 1) + "end\n", "", true, 0, false},
		"an answer that is cut":                {loaded, "", false, 0, true},
		"nothing of the service":               {"end\n", "", false, 0, true},
		"no systemctl":                         {"service slurmd\nend\n", "", false, 0, true},
	} {
		facts := map[string]string{}
		doc, err := Read(gpu1(), map[string]string{query: c.said}, facts)
		if (err != nil) != c.err || len(doc) != c.leaves || facts["slurmd"+olderFact] != c.older || (facts["slurmd"+absentFact] != "") != c.absent {
			t.Errorf("%s: got %v, %v, %v", name, doc, facts, err)
		}
		if refused := Refused(gpu1(), facts); refused.HasErrors() != c.absent {
			t.Errorf("%s: got %q", name, refused)
		}
		if older := Older(gpu1(), facts); (len(older) > 0) != (c.older != "") {
			t.Errorf("%s: got %q", name, older)
		}
	}
}

func TestServicesWithoutALimitAreFoundOut(t *testing.T) {
	h := gpu1()
	h.Memlock = ""
	if _, findings := Write(h); !findings.HasErrors() {
		t.Error("nothing was said")
	}
}

// TestSystemdTakesTheDropIn has systemd-analyze read a unit with the drop-in.
func TestSystemdTakesTheDropIn(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	switch {
	case err == nil:
	case os.Getenv("WEIR_TEST_ALL") == "1":
		t.Fatal("systemd-analyze is missing: make packages")
	default:
		t.Skip("systemd-analyze is missing: make test-all installs it")
	}
	verify := func(dropIn string) string {
		dir := t.TempDir()
		for name, text := range map[string]string{"weir-try.service": "[Service]\nExecStart=/bin/true\n", "weir-try.service.d/90-weir.conf": dropIn} {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		out, _ := exec.CommandContext(t.Context(), analyze, "verify", "--man=no", filepath.Join(dir, "weir-try.service")).CombinedOutput() // what it says counts
		return string(out)
	}
	if said := verify(text("infinite")); !strings.Contains(said, "90-weir.conf") {
		t.Skipf("systemd-analyze reads no drop-ins here: %q", said)
	}
	for _, limit := range []string{infinity, "68719476736"} {
		if said := verify(text(limit)); strings.Contains(said, "90-weir.conf") {
			t.Errorf("%s: %s", limit, said)
		}
	}
}
