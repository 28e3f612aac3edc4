package control_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/cmd/control/lab"
	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/drivers/drivertest"
	"github.com/weirfabric/weir/drivers/sim"
	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/inventory"
	"github.com/weirfabric/weir/telemetry/health"
)

// watchedFabric is a repo of two leaves, a spine and a host, and its lab on a network in memory.
type watchedFabric struct {
	t       *testing.T
	dir     string
	network *sim.Network
	lab     *lab.Lab
	effects control.Effects
}

func start(t *testing.T) *watchedFabric {
	t.Helper()
	f := &watchedFabric{t: t, dir: t.TempDir(), network: sim.NewNetwork()}
	f.effects.Dial = f.network.DialContext
	files, err := inventory.Scaffold(inventory.ClosSpec{Name: "pod1", Leaves: 2, Spines: 1, Hosts: 1, Leaf: []string{"sonic", "eos"}, Spine: []string{"eos"}}, intent.Schema())
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		f.write(file.Name, string(file.Body))
	}
	f.serve()
	return f
}

// serve starts a lab of new keys.
func (f *watchedFabric) serve() {
	f.t.Helper()
	r, err := control.Open(f.dir, control.Options{})
	if err != nil {
		f.t.Fatal(err)
	}
	if f.lab, err = lab.Start(f.t.Context(), r, lab.Options{Network: f.network}); err != nil {
		f.t.Fatal(err)
	}
}

// close ends the lab, and its devices with it.
func (f *watchedFabric) close() {
	f.t.Helper()
	if err := f.lab.Close(); err != nil {
		f.t.Error(err)
	}
}

func (f *watchedFabric) write(name, text string) {
	f.t.Helper()
	path := filepath.Join(f.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

func (f *watchedFabric) watch(o control.WatchOptions) *control.Watching {
	f.t.Helper()
	r, err := control.Open(f.dir, control.Options{Lab: true, Effects: f.effects})
	if err != nil {
		f.t.Fatal(err)
	}
	return r.Watch(f.t.Context(), r.Names, o)
}

// dark are the devices whose counters do not arrive, and what is said of it.
func dark(w *control.Watching) map[string]string {
	out := map[string]string{}
	verdicts, _ := w.Verdicts()
	for _, v := range verdicts {
		if v.Check == health.StaleTarget {
			out[v.Device] = v.Summary
		}
	}
	return out
}

// said is a log.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func (s *said) log() *slog.Logger { return slog.New(slog.NewTextHandler(s, nil)) }

func TestADeviceThatCannotBeResolvedIsDownAndTheOthersAreWatched(t *testing.T) {
	drivertest.Bubble(t, func(t *testing.T) {
		f := start(t)
		defer f.close()
		here, err := control.ReadLab(f.dir)
		if err != nil {
			t.Fatal(err)
		}
		delete(here.Devices, "leaf2")
		f.effects.Lab = here
		w := f.watch(control.WatchOptions{})
		defer w.End()
		time.Sleep(2 * time.Minute) // of the bubble
		got := dark(w)
		if want := "no counters of the device have arrived yet: leaf2 is not in the running lab: start it again"; len(got) != 1 || got["leaf2"] != want {
			t.Errorf("got %q, want only %q of leaf2", got, want)
		}
	})
}

func TestALabThatWasStartedWithANewAuthorityIsSeenAgain(t *testing.T) {
	drivertest.Bubble(t, func(t *testing.T) {
		f := start(t)
		w := f.watch(control.WatchOptions{})
		defer w.End()
		time.Sleep(time.Minute)
		if got := dark(w); len(got) > 0 {
			t.Fatalf("before: %q", got)
		}
		f.close()
		time.Sleep(2 * time.Minute)
		if got := dark(w); len(got) != 4 {
			t.Fatalf("while there is no lab: %q, want all four down", got)
		}
		f.serve()
		defer f.close()
		time.Sleep(3 * time.Minute)
		if got := dark(w); len(got) > 0 {
			t.Errorf("three minutes after it was started anew: %q", got)
		}
	})
}

func TestARefusedLoginIsToldAndTriedSeldomByAllThatAskTheDevice(t *testing.T) {
	drivertest.Bubble(t, func(t *testing.T) {
		f := start(t)
		defer f.close()
		var mu sync.Mutex
		logins := map[string]int{}
		f.effects.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			mu.Lock()
			logins[f.device(address)]++
			mu.Unlock()
			return f.network.DialContext(ctx, network, address)
		}
		f.effects.Secret = func(context.Context, string) (drivers.Secret, error) { return "wrong", nil }
		var log said
		w := f.watch(control.WatchOptions{Log: log.log()})
		defer w.End()
		time.Sleep(time.Hour)
		mu.Lock()
		defer mu.Unlock()
		for _, device := range []string{"leaf1", "leaf2", "spine1", "gpu1"} {
			if n := logins[device]; n == 0 || n > 24 {
				t.Errorf("%s: %d logins in an hour, want a few", device, n)
			}
			if why := dark(w)[device]; !strings.HasPrefix(why, "no counters of the device have arrived yet: ") || !strings.Contains(why, "check user") {
				t.Errorf("%s: got %q, want why", device, why)
			}
			if !regexp.MustCompile(`level=ERROR msg="the device refuses the login.*device=` + device).MatchString(log.String()) {
				t.Errorf("%s: the log does not say it", device)
			}
		}
	})
}

// device is whose address it is.
func (f *watchedFabric) device(address string) string {
	for _, name := range []string{"leaf1", "leaf2", "spine1", "gpu1"} {
		if g, s := f.lab.Endpoint(name); g == address || s == address {
			return name
		}
	}
	return ""
}

func TestAWatchFollowsItsRepo(t *testing.T) {
	drivertest.Bubble(t, func(t *testing.T) {
		f := start(t)
		defer f.close()
		var log said
		w := f.watch(control.WatchOptions{Reread: time.Minute, Log: log.log(), Devices: control.Selection{"!leaf2"}})
		defer w.End()
		time.Sleep(30 * time.Second)
		if got := len(w.Topology().Devices); got != 4 {
			t.Fatalf("at first: %d devices, want 4", got)
		}
		f.write("intent/more.yaml", "kind: Fabric\napply: {settle: 45s}\n")
		time.Sleep(time.Minute)
		if got := fmt.Sprint(w.Topology().Devices); len(w.Topology().Devices) != 3 || strings.Contains(got, "leaf2") {
			t.Errorf("when the repo has changed: %s, want those that were asked for", got)
		}
		f.write("intent/more.yaml", "kind: Fabrik\n")
		time.Sleep(time.Minute)
		if got := len(w.Topology().Devices); got != 3 {
			t.Errorf("when it cannot be read: %d devices, want what was watched before", got)
		}
		if !strings.Contains(log.String(), "cannot be followed") {
			t.Errorf("it is not told: %s", log.String())
		}
		time.Sleep(time.Minute)
		if got := dark(w); len(got) > 0 {
			t.Errorf("sources that nothing has changed for ended: %q", got)
		}
	})
}
