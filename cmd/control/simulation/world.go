package simulation

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"strings"
	"sync"
	"testing/fstest"
	"time"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/cmd/control/lab"
	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/drivers/sim"
	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/inventory"
)

// world is a whole fabric and the operators that work on it, in one process on virtual time.
type world struct {
	storm   *storm
	lab     *lab.Lab
	at      *control.Lab // where its devices are
	network *sim.Network
	disk    *disk
	other   *disk // of an operator who has a journal of his own

	mu     sync.Mutex
	began  time.Time
	events []string       // what happened, in order
	counts map[string]int // of what the seed did, by kind
	offset time.Duration  // of the clock that names and dates
	lives  int
	alive  map[process]bool // lives that are not over
	pids   map[string]int   // the last process ID of each machine; it begins anew with the machine
	boots  map[string]int   // how often each machine of an operator was started anew
}

// authority is made once for all worlds: keys take long.
var authority = sync.OnceValues(sim.NewAuthority)

// newWorld makes the lab of a fabric in the folder dir, which the lab uses for its keys.
func newWorld(ctx context.Context, files fs.FS, dir string) (*world, error) {
	keys, err := authority()
	if err != nil {
		return nil, err
	}
	w := &world{network: sim.NewNetwork(), disk: newDisk(), other: newDisk(), began: time.Now(), counts: map[string]int{}, alive: map[process]bool{}, pids: map[string]int{}, boots: map[string]int{}}
	r, err := control.Open(dir, control.Options{Effects: control.Effects{Files: files, Disk: mounted{w.disk, w.newGate()}, Commit: noCommit, Who: "maker@world", PID: 1}})
	if err != nil {
		return nil, err
	}
	if r.Findings.HasErrors() {
		return nil, fmt.Errorf("the fabric of the seed is wrong: %v", r.Findings)
	}
	if w.lab, err = lab.Start(ctx, r, lab.Options{Network: w.network, Authority: keys}); err != nil {
		return nil, err
	}
	if w.at, err = control.ReadLab(dir); err != nil {
		return nil, err
	}
	return w, nil
}

// scaffold is a fabric repo as weir init writes it.
func scaffold(spec inventory.ClosSpec) (fstest.MapFS, error) {
	files, err := inventory.Scaffold(spec, intent.Schema())
	if err != nil {
		return nil, err
	}
	repo := fstest.MapFS{}
	for _, f := range files {
		repo[f.Name] = &fstest.MapFile{Data: f.Body, Mode: 0o644}
	}
	return repo, nil
}

// with is a repo with another file.
func with(repo fstest.MapFS, name, body string) fstest.MapFS {
	out := maps.Clone(repo)
	out[name] = &fstest.MapFile{Data: []byte(body), Mode: 0o644}
	return out
}

// note writes down what happened.
func (w *world) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, fmt.Sprintf("%9.3fs ", time.Since(w.began).Seconds())+fmt.Sprintf(format, args...))
}

// count counts what the seed did.
func (w *world) count(kind string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.counts[kind]++
}

// now is the clock of the operators' machine.
func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Now().Add(w.offset)
}

// jump sets that clock forward or back.
func (w *world) jump(d time.Duration) {
	w.mu.Lock()
	w.offset += d
	w.mu.Unlock()
	w.count("clock jump")
	w.note("the clock jumps by %v", d)
}

// log is what happened, for a person.
func (w *world) log() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.events, "\n")
}

func (w *world) newGate() *gate {
	return &gate{world: w, stop: func() {}, conns: map[*wire]bool{}}
}

// process is one of a machine.
type process struct {
	host string
	pid  int
}

// life is one process of weir, from its start to its end.
type life struct {
	*gate
	world *world
	name  string
	who   string
	pid   int
	ctx   context.Context
	told  func(journal.Record) // what happens with a record that is on disk

	verb   string
	settle control.Settle // of its runs
	run    string         // that it carries out
	of     string         // the run that it undoes; empty: it undoes none
	own    bool           // its journal is its own
}

// restart starts a machine anew.
func (w *world) restart(host string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.boots[host]++
	w.pids[host] = 0
}

// live begins a life of an operator.
func (w *world) live(ctx context.Context, who string) *life {
	w.mu.Lock()
	w.lives++
	l := &life{gate: w.newGate(), world: w, who: who, name: fmt.Sprintf("life %d of %s", w.lives, who)}
	_, l.gate.host, _ = strings.Cut(who, "@")
	w.pids[l.gate.host]++
	l.pid = 100 + w.pids[l.gate.host]
	w.alive[process{l.gate.host, l.pid}] = true
	l.gate.boot = fmt.Sprintf("%s %d", l.gate.host, w.boots[l.gate.host])
	w.mu.Unlock()
	l.ctx, l.gate.stop = context.WithCancel(ctx)
	return l
}

// end ends a life that was not ended before.
func (l *life) end() {
	l.gate.stop()
	l.world.mu.Lock()
	delete(l.world.alive, process{l.gate.host, l.pid})
	l.world.mu.Unlock()
}

// effects are those of the life, through its gate.
func (l *life) effects(repo fs.FS) control.Effects {
	w, disk := l.world, l.world.disk
	if l.own {
		disk = w.other
	}
	return control.Effects{
		Files: repo, Lab: w.at, Disk: mounted{disk, l.gate}, Dial: l.gate.dial, Commit: noCommit, Now: w.now, Who: l.who, PID: l.pid, Boot: l.gate.boot,
		Secret: func(context.Context, string) (drivers.Secret, error) {
			_, password := w.lab.Credentials()
			return drivers.Secret(password), nil
		},
		Alive: func(pid int) bool {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.alive[process{l.gate.host, pid}]
		},
	}
}

// observe is told of each record of the life's runs.
func (l *life) observe(r journal.Record) {
	l.gate.mu.Lock()
	l.gate.records = append(l.gate.records, r)
	l.gate.mu.Unlock()
	l.world.note("%s: %s", l.name, describe(r))
	if l.told != nil {
		l.told(r)
	}
	l.gate.breathe()
}

// noted are the records of a kind that came in this life and that is says yes to.
func (l *life) noted(kind journal.Kind, is func(journal.Record) bool) (out []journal.Record) {
	l.gate.mu.Lock()
	defer l.gate.mu.Unlock()
	for _, r := range l.gate.records {
		if r.Kind == kind && is(r) {
			out = append(out, r)
		}
	}
	return out
}

func inWave(n int) func(journal.Record) bool {
	return func(r journal.Record) bool { return r.Wave == n }
}

// reachedLast is the device of a wave that the life has read back last; empty: none.
func (l *life) reachedLast(wave int) string {
	if reached := l.noted(journal.Reached, inWave(wave)); len(reached) > 0 {
		return reached[len(reached)-1].Device
	}
	return ""
}

// times is how often a record of a device came in this life.
func (l *life) times(kind journal.Kind, device string) int {
	return len(l.noted(kind, func(r journal.Record) bool { return r.Device == device }))
}

// began is when the life wrote down what the devices of a wave were before it; zero: it did not.
func (l *life) began(wave int) (at time.Time) {
	if before := l.noted(journal.Before, inWave(wave)); len(before) > 0 {
		at = before[len(before)-1].At
	}
	return at
}

// waveOf are the devices of a wave of the run that the life began.
func (l *life) waveOf(n int) []string {
	if started := l.noted(journal.Started, func(r journal.Record) bool { return n < len(r.Devices) }); len(started) > 0 {
		return started[0].Devices[n]
	}
	return nil
}

func describe(r journal.Record) string {
	words := []string{string(r.Kind)}
	if r.Device != "" {
		words = append(words, r.Device)
	}
	if r.Outcome != "" {
		words = append(words, string(r.Outcome))
	}
	if r.Text != "" {
		words = append(words, r.Text)
	}
	return strings.Join(words, " ")
}

func noCommit(string) string { return "" }
