package poll

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/telemetry"
	"github.com/weirfabric/weir/templates"
)

var update = flag.Bool("update", false, "rewrite the goldens")

var noon = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

// TestAnswersBecomeSamples reads testdata/PLATFORM-POLL.txt and compares with the .golden beside it. Sources of the layouts:
// SONiC: sonic-utilities tests/pgdropstat_test.py; EOS: ANTA and TAAC; Linux: mlx5 of kernel 6.1.
func TestAnswersBecomeSamples(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	device := telemetry.Device{Name: "d1", Ports: []telemetry.Port{{Name: "eth0", RDMA: "mlx5_0"}}, Watched: []string{"3"}}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			platform, what, _ := strings.Cut(strings.TrimSuffix(filepath.Base(name), ".txt"), "-")
			r := find(t, platform, what, device)
			body, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			samples := r.read("d1", r.ports[0], body, noon)
			got := lines(append(samples, r.expected.Missing(noon, nil, true, nil)...))
			golden := strings.TrimSuffix(name, ".txt") + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(got, string(want)); diff != "" {
				t.Errorf("(-got +want)\n%s", diff)
			}
		})
	}
}

// find is the round of a poll of a platform.
func find(t *testing.T, platform, name string, d telemetry.Device) *round {
	t.Helper()
	b, err := telemetry.ReadBindings(templates.FS, platform)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range (&Poller{Device: d, Bindings: b}).start().rounds {
		if r.poll.Name == name {
			return r
		}
	}
	t.Fatalf("platform %s has no poll %s", platform, name)
	return nil
}

func lines(samples []telemetry.Sample) string {
	var out []string
	for _, s := range samples {
		v, err := json.Marshal(s.Value)
		if err != nil {
			panic(err)
		}
		if !s.Status.Counts() {
			v = []byte("-")
		}
		out = append(out, s.Metric.Name+" "+s.Addr.String()+" "+string(v)+" "+s.Status.String()+"\n")
	}
	slices.Sort(out)
	return strings.Join(out, "")
}

// fake answers every question with its own text.
type fake struct {
	fail   func(call int) error
	answer string // to questions about the watchdog
	mu     sync.Mutex
	asked  []string
	at     []time.Duration
	began  time.Time
	closed int
}

func (f *fake) Get(_ context.Context, qs []plan.Query) ([]plan.Answer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fail != nil {
		if err := f.fail(len(f.asked)); err != nil {
			f.asked = append(f.asked, "failed")
			return nil, err
		}
	}
	var out []plan.Answer
	for _, q := range qs {
		f.asked = append(f.asked, q.Ways[0].Text)
		f.at = append(f.at, time.Since(f.began))
		a := plan.Answer{Name: q.Name, Body: []byte("/sys/class/net/eth0/operstate:up\n")}
		if f.answer != "" && strings.Contains(q.Ways[0].Text, "watchdog") {
			a.Body = []byte(f.answer)
		} else if !strings.Contains(q.Ways[0].Text, "operstate") {
			a = plan.Answer{Name: q.Name, Missing: true}
		}
		out = append(out, a)
	}
	return out, nil
}

func (f *fake) Close() error {
	f.closed++
	return nil
}

// sink keeps the last sample of each reading.
type sink struct {
	mu   sync.Mutex
	last map[string]telemetry.Sample
}

func (s *sink) Put(samples []telemetry.Sample) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range samples {
		s.last[x.Metric.Name+" "+x.Addr.String()] = x
	}
}

func run(t *testing.T, f *fake, streams bool, platform string, during time.Duration) (*sink, int) {
	t.Helper()
	b, err := telemetry.ReadBindings(templates.FS, platform)
	if err != nil {
		t.Fatal(err)
	}
	s := &sink{last: map[string]telemetry.Sample{}}
	dials := 0
	f.began = time.Now()
	p := &Poller{Device: telemetry.Device{Name: "h1", Ports: []telemetry.Port{{Name: "eth0", RDMA: "mlx5_0"}, {Name: "eth1"}}, Watched: []string{"3"}},
		Bindings: b, Sink: s, Streams: streams, Dial: func(context.Context) (Session, error) {
			dials++
			return f, nil
		}}
	ctx, cancel := context.WithTimeout(t.Context(), during)
	defer cancel()
	if err := p.Run(ctx); err != nil {
		t.Error(err)
	}
	return s, dials
}

func TestAHostIsAskedAtItsIntervals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		s, dials := run(t, f, false, "linux", 25*time.Second)
		want := []string{"grep -H . /sys/class/net/eth0/operstate", "grep -H . /sys/class/net/eth1/operstate", "ethtool -S eth0", "ethtool -S eth1",
			"grep -H . /sys/class/infiniband/mlx5_0/ports/1/hw_counters/*"}
		if diff := cmp.Diff(f.asked, slices.Repeat(want, 3)); diff != "" {
			t.Errorf("(-got +want)\n%s", diff)
		}
		if got := f.at[len(want)]; got != 10*time.Second {
			t.Errorf("the second round was asked after %s", got)
		}
		if dials != 1 || f.closed != 1 {
			t.Errorf("got %d connections, %d closed, want one", dials, f.closed)
		}
		if got := s.last["weir_target_up h1"].Value; got != 1 {
			t.Errorf("weir_target_up is %v", got)
		}
		if got := s.last["weir_port_up h1/eth0"]; got.Value != 1 || got.Every != 10*time.Second {
			t.Errorf("weir_port_up: got %+v", got)
		}
		if got := s.last["weir_nic_cnp_sent_total h1/eth0"].Status; got != telemetry.Unsupported {
			t.Errorf("a file that is missing: got %s, want unsupported", got)
		}
		if got := s.last["weir_port_pfc_pause_frames_received_total h1/eth0/pfc/3"].Status; got != telemetry.Disabled {
			t.Errorf("counters of a priority without PFC: got %s, want disabled", got)
		}
		if got := s.last["weir_target_silent_paths h1"].Value; got != 2 {
			t.Errorf("got %v silent polls, want 2", got)
		}
	})
}

func TestABrokenConnectionIsMadeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{fail: func(call int) error {
			if call == 5 {
				return errors.New("connection reset")
			}
			return nil
		}}
		s, dials := run(t, f, false, "linux", 25*time.Second)
		if dials != 2 || f.closed != 2 {
			t.Errorf("got %d connections, %d closed, want two", dials, f.closed)
		}
		if got := s.last["weir_target_reconnects_total h1"].Value; got != 1 {
			t.Errorf("got %v reconnects", got)
		}
	})
}

func TestACommandThatTheDeviceDoesNotKnowSaysNothingOfZero(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := run(t, &fake{}, false, "eos", 5*time.Second)
		if got := s.last["weir_queue_watchdog_detected_total h1/eth0/queue/3"].Status; got != telemetry.Unsupported {
			t.Errorf("got %s, want unsupported", got)
		}
	})
}

func TestAWatchdogThatListsNothingHasCountedNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := run(t, &fake{answer: `{"interfaces":{}}`}, false, "eos", 5*time.Second)
		if got := s.last["weir_target_silent_paths h1"].Value; got != 4 {
			t.Errorf("got %v silent polls, want those that were not answered alone: nothing is listed before the first storm", got)
		}
		if got, ok := s.last["weir_queue_watchdog_detected_total h1/eth0/queue/3"]; !ok || got.Status != telemetry.Measured || got.Value != 0 {
			t.Errorf("got %+v, want a measured zero", got)
		}
	})
}

func TestASwitchWithStreamsIsAskedOnlyWhatTheyDoNotBring(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		s, _ := run(t, f, true, "sonic", 5*time.Second)
		if diff := cmp.Diff(f.asked, []string{"show priority-group drop counters"}); diff != "" {
			t.Errorf("(-got +want)\n%s", diff)
		}
		if _, ok := s.last["weir_target_up h1"]; ok {
			t.Error("the poll says whether the target is up, which is the streams' to say")
		}
		if _, dials := run(t, &fake{}, true, "eos", 5*time.Second); dials != 0 {
			t.Error("a switch was dialled of which nothing is asked")
		}
	})
}

func TestARefusedLoginIsKnownByItsKindHoweverItIsWrapped(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"the device away": {&drivers.UnreachableError{Device: "h1", Address: "a:1", Err: errors.New("no route")}, "the device cannot be asked"},
		"a wrong password": {fmt.Errorf("dial: %w", &drivers.AuthError{Device: "h1", Err: errors.New("denied"), Hint: "check the password"}),
			"the device refuses the login of the poll"},
	} {
		synctest.Test(t, func(t *testing.T) {
			b, err := telemetry.ReadBindings(templates.FS, "linux")
			if err != nil {
				t.Fatal(err)
			}
			var logged bytes.Buffer
			p := &Poller{Device: telemetry.Device{Name: "h1", Ports: []telemetry.Port{{Name: "eth0"}}}, Bindings: b, Sink: &sink{last: map[string]telemetry.Sample{}},
				Log: slog.New(slog.NewTextHandler(&logged, nil)), Dial: func(context.Context) (Session, error) { return nil, c.err }}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if err := p.Run(ctx); err != nil {
				t.Error(err)
			}
			if !strings.Contains(logged.String(), c.want) {
				t.Errorf("%s: got %s, want %q", name, logged.String(), c.want)
			}
		})
	}
}

// TestARefusedLoginIsNotTriedAllTheTime counts what a host sees of a wrong password in an hour.
func TestARefusedLoginIsNotTriedAllTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, err := telemetry.ReadBindings(templates.FS, "linux")
		if err != nil {
			t.Fatal(err)
		}
		logins := 0
		var access telemetry.Access
		s := &sink{last: map[string]telemetry.Sample{}}
		p := &Poller{Device: telemetry.Device{Name: "h1", Ports: []telemetry.Port{{Name: "eth0"}}}, Bindings: b, Sink: s, Access: &access,
			Dial: func(context.Context) (Session, error) {
				logins++
				return nil, &drivers.AuthError{Device: "h1", Err: errors.New("denied"), Hint: "check the password"}
			}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if err := p.Run(ctx); err != nil {
			t.Error(err)
		}
		if logins > 15 || logins < 5 {
			t.Errorf("got %d logins in an hour, want about ten", logins)
		}
		if up, ok := s.last["weir_target_up h1"]; !ok || up.Value != 0 || time.Since(up.At) > time.Minute {
			t.Errorf("weir_target_up: got %+v, want a fresh 0", up)
		}
		if got := access.Why(); !strings.Contains(got, "check the password") {
			t.Errorf("why: got %q", got)
		}
	})
}
