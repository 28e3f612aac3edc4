// Package sonic is the software of a simulated SONiC switch: CONFIG_DB with what the device derives in it, the updater that
// applies patches, a gNMI server and a shell over SSH. It behaves as a real 202511 was observed to behave; docs/lab.md lists
// where that is not what the gNMI specification says.
package sonic

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/weirfabric/weir/drivers/sim"
)

// ConfigFile is the name under which a Spec brings the configuration to start from.
const ConfigFile = "config_db.json"

// Release is a version of SONiC that behaves otherwise than the others.
type Release string

// The releases. The zero value is 202511.
const (
	R202511 Release = ""
	Master  Release = "master" // its subscriptions are sampled at the interval that was asked for, whatever changes
)

// Options say which SONiC a switch runs. The zero value is the one that was observed.
type Options struct{ Release Release }

// Device is one SONiC switch.
type Device struct {
	hw      sim.Hardware
	options Options
	turn    chan struct{}  // holds one token while the updater runs
	work    sync.WaitGroup // updates, which outlive the connections that asked for them

	mu          sync.Mutex
	running     database            // replaced at every change, never written to
	saved       database            // /etc/sonic/config_db.json
	answers     database            // while an update runs: what gNMI Get answers from
	shown       database            // while it lies: the configuration of before a change
	lies        time.Time           // until then, in device time
	processes   []string            // that change the configuration now, as ps shows them
	checkpoints map[string]database // by name
	files       map[string][]byte   // that people put there, by path
	folders     []string            // that people made
	made        int                 // folders under names of their own
	gone        map[string]bool     // programs that somebody removed, by path
	changed     chan struct{}       // closed at the next change of running
	polled      map[string]poll     // counters as the device last read them, by FLEX_COUNTER group
}

// New is a switch with the zero Options.
func New(hw sim.Hardware) sim.Personality { return Options{}.New(hw) }

// New is a switch that starts from the file config_db.json of its Spec, or as the vendor ships it. A configuration that
// cannot be read is as good as none.
func (o Options) New(hw sim.Hardware) sim.Personality {
	spec := hw.Spec()
	start := factory(spec)
	if text := spec.Files[ConfigFile]; text != nil {
		if db, err := parseDatabase(text); err == nil {
			start = db
		}
	}
	d := &Device{hw: hw, options: o, gone: map[string]bool{}, turn: make(chan struct{}, 1), saved: start, changed: make(chan struct{})}
	d.Restart()
	return d
}

// Serves says that SONiC has both protocols.
func (d *Device) Serves() sim.Protocols { return sim.Protocols{GNMI: true, SSH: true} }

// Restart makes the saved configuration the running one.
func (d *Device) Restart() {
	d.mu.Lock()
	d.running = database{}
	d.processes, d.answers, d.shown = nil, nil, nil
	kept := map[string][]byte{}
	for name, body := range d.files {
		if strings.HasPrefix(name, "/etc/") { // of the disk, as what was saved is
			kept[name] = body
		}
	}
	d.checkpoints, d.files, d.polled = map[string]database{}, kept, map[string]poll{}
	d.folders = nil
	saved := d.saved.clone()
	d.mu.Unlock()
	d.commit(func(db database) { maps.Copy(db, saved) })
}

// commit changes the running configuration and lets the device act on it. What others have read stays as it was.
func (d *Device) commit(change func(database)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	next := d.running.clone()
	change(next)
	buffermgrd(d.running, next)
	d.running = next
	d.hw.Apply(behaviour(next, d.hw.Spec()))
	close(d.changed)
	d.changed = make(chan struct{})
}

// amend changes the running configuration without waking who follows it: the gNMI server takes note of HSET only.
func (d *Device) amend(change func(database), exists bool) {
	if !exists {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	next := d.running.clone()
	change(next)
	d.running = next
}

// snapshot is the running configuration, which is not to be written to, and a channel that closes when another one follows.
func (d *Device) snapshot() (database, <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.running, d.changed
}

// begin puts a process into the list that pgrep looks through; the function that it gives takes it out again.
func (d *Device) begin(process string) (end func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.processes = append(d.processes, process)
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if i := slices.Index(d.processes, process); i >= 0 {
			d.processes = slices.Delete(d.processes, i, i+1)
		}
	}
}

// told is the configuration that the device shows to those who ask: the running one, unless it lies.
func (d *Device) told() database {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.toldLocked()
}

func (d *Device) toldLocked() database {
	if d.shown != nil && d.hw.Now().Before(d.lies) {
		return d.shown
	}
	return d.running
}

// Config is the running configuration as config_db.json would have it.
func (d *Device) Config() []byte {
	db, _ := d.snapshot()
	return db.print()
}

// Wait returns when no update runs any more.
func (d *Device) Wait() { d.work.Wait() }

// awaitUpdater waits for the updater's turn, for at most a device time.
func (d *Device) awaitUpdater(ctx context.Context, atMost time.Duration) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	tooLate := make(chan error, 1)
	go func() { tooLate <- d.hw.Sleep(ctx, atMost) }()
	select {
	case d.turn <- struct{}{}:
		cancel()
		<-tooLate
		return nil
	case err := <-tooLate:
		if err == nil {
			err = errTimeout
		}
		return err
	}
}

const errTimeout = said("Timeout 60")

// Serve answers gNMI and SSH until ctx ends.
func (d *Device) Serve(ctx context.Context, s sim.Services) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	var gnmi, ssh error
	wg.Go(func() { gnmi = d.serveGNMI(ctx, s); cancel() })
	wg.Go(func() { ssh = d.serveSSH(ctx, s); cancel() })
	wg.Wait()
	return errors.Join(gnmi, ssh)
}
