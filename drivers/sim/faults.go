package sim

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// FaultKind is what goes wrong. The zero value is nothing.
type FaultKind string

// What a device does wrong with an operation.
const (
	NoFault    FaultKind = ""
	Reject     FaultKind = "reject"     // refused in the device's own words; nothing takes effect
	Hang       FaultKind = "hang"       // no answer; a change takes effect later
	Slow       FaultKind = "slow"       // it begins after Delay, and is well then
	Drop       FaultKind = "drop"       // the connection ends; the change has taken effect
	DropBefore FaultKind = "drop-early" // the connection ends before the change takes effect
	Partial    FaultKind = "partial"    // half of it takes effect, then an error
	Ignore     FaultKind = "ignore"     // it is said to be done, and nothing takes effect
	Lie        FaultKind = "lie"        // it takes effect, and for a time the device shows the configuration of before
	Unsure     FaultKind = "unsure"     // an error that says neither that it took effect nor that it did not; every other one has
	Revert     FaultKind = "revert"     // a commit timer ends after Delay, whatever was asked for
)

// What happens to a device, when an operation begins or now.
const (
	Reboot      FaultKind = "reboot"       // it restarts and is away For; an operation stops in the middle
	ForeignEdit FaultKind = "foreign-edit" // somebody else changes the configuration by Text
	Cut         FaultKind = "cut"          // its connections are reset; this and the following need a Network
	Refuse      FaultKind = "refuse"       // it takes no new connections
	BlackHole   FaultKind = "black-hole"   // what is sent to it and what it sends gets nowhere, until it ends
	Latency     FaultKind = "latency"      // what is sent takes Delay longer, each way
)

// Operation is what a device is about to do.
type Operation string

// The operations.
const (
	Now       Operation = ""          // none: the fault is of the moment
	Get       Operation = "get"       // a question
	Set       Operation = "set"       // a change, or a line of one
	Commit    Operation = "commit"    // of a configuration session
	Session   Operation = "session"   // a command over SSH, or the opening of a configuration session
	Subscribe Operation = "subscribe" // a gNMI subscription
	Timer     Operation = "timer"     // a commit timer that is started
)

// Fault is one thing that goes wrong with one device. Durations are device time.
type Fault struct {
	Kind   FaultKind
	Device string
	On     Operation     // that meets it; Now: none, it happens at once
	After  int           // so many operations of that name are well before; faults of one operation are met in order
	Times  int           // so many meet it; 0: 1
	Delay  time.Duration // of Slow, Revert and Latency; 0: 30 s, 1 s and 100 ms
	For    time.Duration // Lie and Reboot: 0 is a minute. Refuse, BlackHole and Latency: 0 is until Heal
	Text   string        // of ForeignEdit: configuration lines, or commands of the device's shell as root
}

// The durations of faults that name none. They are the lab's choice.
const (
	slowTime    = 30 * time.Second
	lieTime     = time.Minute
	revertTime  = time.Second
	latencyTime = 100 * time.Millisecond
)

// filled is the fault with its defaults.
func (f Fault) filled() Fault {
	f.Times = cmp.Or(f.Times, 1)
	switch f.Kind {
	case Slow:
		f.Delay = cmp.Or(f.Delay, slowTime)
	case Revert:
		f.Delay = cmp.Or(f.Delay, revertTime)
	case Latency:
		f.Delay = cmp.Or(f.Delay, latencyTime)
	case Lie:
		f.For = cmp.Or(f.For, lieTime)
	case Reboot:
		f.For = cmp.Or(f.For, bootTime)
	}
	return f
}

// The kinds that the lab does by itself, to any device.
var (
	ofNetwork = []FaultKind{Cut, Refuse, BlackHole, Latency}
	ofDevice  = []FaultKind{Reboot, ForeignEdit}
)

// faults is what the devices of a lab were told to do wrong, and what they did.
type faults struct {
	mu      sync.Mutex
	waiting map[string]map[Operation][]*Fault // by device, in the order they were told
	met     map[FaultKind]int
}

func newFaults() *faults {
	return &faults{waiting: map[string]map[Operation][]*Fault{}, met: map[FaultKind]int{}}
}

// wait leaves a fault to the operation that will meet it.
func (f *faults) wait(x Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.waiting[x.Device] == nil {
		f.waiting[x.Device] = map[Operation][]*Fault{}
	}
	f.waiting[x.Device][x.On] = append(f.waiting[x.Device][x.On], &x)
}

// next is the fault of the operation that a device begins now; of no kind where it is well.
func (f *faults) next(device string, on Operation) Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	queue := f.waiting[device][on]
	if len(queue) == 0 {
		return Fault{}
	}
	x := queue[0]
	if x.After > 0 {
		x.After--
		return Fault{}
	}
	if x.Times--; x.Times == 0 {
		f.waiting[device][on] = queue[1:]
	}
	f.met[x.Kind]++
	return *x
}

// note counts a fault that needed no operation.
func (f *faults) note(kind FaultKind) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.met[kind]++
}

// forget drops what nobody has met yet.
func (f *faults) forget(device string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.waiting, device)
}

// Inject makes something go wrong: now, or with an operation to come. A kind that the device's platform cannot have at that
// operation is an error.
func (l *Lab) Inject(f Fault) error {
	n, err := l.device(f.Device)
	if err != nil {
		return err
	}
	if slices.Contains(ofNetwork, f.Kind) && l.options.Network == nil {
		return fmt.Errorf("%s: %s: this lab is on sockets, and its network cannot go wrong", f.Device, f.Kind)
	}
	everywhere := slices.Contains(ofNetwork, f.Kind) || slices.Contains(ofDevice, f.Kind)
	switch {
	case f.On == Now && !everywhere:
		return fmt.Errorf("%s: %s happens to an operation: name it", f.Device, f.Kind)
	case f.On != Now && !(everywhere && f.On != Timer) && !slices.Contains(n.personality.Faults(f.On), f.Kind):
		return fmt.Errorf("%s: %s cannot happen to %s on platform %s", f.Device, f.Kind, f.On, n.spec.Platform)
	}
	if f = f.filled(); f.On != Now {
		l.faults.wait(f)
		return nil
	}
	l.faults.note(f.Kind)
	_, err = n.meet(f)
	return err
}

// Met is how often each kind of fault has really happened.
func (l *Lab) Met() map[FaultKind]int {
	l.faults.mu.Lock()
	defer l.faults.mu.Unlock()
	return maps.Clone(l.faults.met)
}

// Heal takes back the faults that the device has not met, and those of its network. What has happened stays.
func (l *Lab) Heal(device string) error {
	n, err := l.device(device)
	if err != nil {
		return err
	}
	l.faults.forget(device)
	for _, kind := range ofNetwork {
		n.impair(Fault{Kind: kind}, false)
	}
	return nil
}

// Fault is what goes wrong with the operation that begins now. What the lab does by itself is done when it returns.
func (n *node) Fault(on Operation) Fault {
	f := n.lab.faults.next(n.spec.Name, on)
	if f.Kind == NoFault {
		return f
	}
	left, err := n.meet(f)
	if err != nil {
		n.lab.options.Logger.Error("the fault could not be made", "device", n.spec.Name, "fault", f.Kind, "err", err)
	}
	return left
}

// meet does what the lab does of a fault, and returns what is left for the device to do.
func (n *node) meet(f Fault) (Fault, error) {
	switch f.Kind {
	case Slow:
		if n.pause(f.Delay) != nil { // it lost its power meanwhile
			return Fault{Kind: DropBefore}, nil
		}
		return Fault{}, nil
	case Reboot:
		n.reboot(f.For)
		return f, nil
	case ForeignEdit:
		editor, ok := n.personality.(interface{ Edit(text string) error })
		if !ok {
			return Fault{}, fmt.Errorf("%s: nobody can change this device's configuration", n.spec.Name)
		}
		return Fault{}, editor.Edit(f.Text)
	case Cut, Refuse, BlackHole, Latency:
		n.impair(f, true)
		return Fault{}, nil
	}
	return f, nil
}

// impair begins or ends a fault of the device's network. A later one of the same kind takes the place of an earlier one.
func (n *node) impair(f Fault, on bool) {
	network, host := n.lab.options.Network, n.spec.Name
	if network == nil {
		return
	}
	n.mu.Lock()
	n.impaired[f.Kind]++
	generation := n.impaired[f.Kind]
	n.mu.Unlock()
	switch f.Kind {
	case Cut:
		if on {
			network.Cut(host)
		}
		return
	case Refuse:
		network.Refuse(host, on)
	case BlackHole:
		network.BlackHole(host, on)
	case Latency:
		network.Latency(host, f.Delay)
	}
	if !on || f.For == 0 {
		return
	}
	n.lab.wg.Go(func() {
		n.lab.pass(f.For)
		n.mu.Lock()
		current := n.impaired[f.Kind] == generation
		n.mu.Unlock()
		if current {
			n.impair(Fault{Kind: f.Kind}, false)
		}
	})
}
