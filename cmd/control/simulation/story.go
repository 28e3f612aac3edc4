package simulation

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing/fstest"
	"time"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/drivers/sim"
	"github.com/weirfabric/weir/inventory"
)

// story is all that a seed chooses.
type story struct {
	seed    uint64
	rng     *rand.Rand
	spec    inventory.ClosSpec
	rolled  bool // the fabric holds the first intent when the story begins; else it is as it left the factory
	change  change
	traffic sim.Traffic
	settle  control.Settle
	acts    []act
	edits   []string // devices that somebody else has changed something on before
	harmful bool     // the change makes the network drop under the traffic, or takes the way of a class
	reboot  bool     // every device restarts once the storm is over
	wide    bool     // waves may be as large as they can be
	two     bool     // there are two lossless classes, and hosts that send in each
	later   change   // a further change of the intent, which acts of the verb "apply later" bring
}

// change is what the intent says newly.
type change struct {
	name    string
	file    string // a further file of the repo
	body    string
	devices []string // that it changes
	runs    []string // that brought it, as far as it came
}

// of is a repo with the change in it.
func (c change) of(repo fstest.MapFS) fstest.MapFS {
	if c.file == "" {
		return repo
	}
	return with(repo, c.file, c.body)
}

// initial is the repo before its change, from the one that the scaffold writes.
func (s *story) initial(repo fstest.MapFS) fstest.MapFS {
	if s.wide {
		body := string(repo["fabric.yaml"].Data)
		repo = with(repo, "fabric.yaml", strings.Replace(body, "apply: {canary: leaf1}", "apply: {canary: leaf1, share: 100%}", 1))
	}
	if s.two {
		repo = secondClass(repo)
	}
	return repo
}

// secondClass is a repo with another lossless class, and a host that sends in it.
func secondClass(repo fstest.MapFS) fstest.MapFS {
	body := string(repo["fabric.yaml"].Data)
	body = strings.Replace(body, "  - {name: cnp,", "  - {name: storage, lossless: true, dscp: [30], priority: 4, share: 20%}\n  - {name: cnp,", 1)
	body = strings.Replace(body, "priority: 0, share: 50%", "priority: 0, share: 30%", 1)
	return with(with(repo, "fabric.yaml", body), "intent/storage.yaml", "kind: Hosts\nname: storage\nselect: {device: gpu2}\nroce: {version: 2, class: storage, cnp: cnp, congestionControl: dcqcn}\nmemlock: unlimited\n")
}

// act is one life of the operator: what it does, and what happens to it.
type act struct {
	verb   string      // apply, apply later, recover, repair or rollback
	back   int         // rollback: of the run so many before the last
	faults []sim.Fault // that devices have from the beginning
	events []event
}

// event is something that happens when a record is on disk.
type event struct {
	kind    journal.Kind
	device  string // empty: of any device
	nth     int    // from 1
	several bool   // of a wave of several devices
	undoing bool   // of a device that is being led back
	what    string // for the log
	do      func(*world, *life, journal.Record)
}

// hit says whether the record is the one that the event waits for.
func (e *event) hit(l *life, r journal.Record) bool {
	if e.several && len(l.waveOf(r.Wave)) < 2 {
		return false
	}
	if e.undoing && l.times(journal.Undoing, r.Device) == 0 {
		return false
	}
	if e.nth == 0 || r.Kind != e.kind || e.device != "" && r.Device != e.device {
		return false
	}
	e.nth--
	return e.nth == 0
}

// storyOf makes the story of a seed.
func storyOf(seed uint64) *story {
	s := &story{seed: seed, rng: rand.New(rand.NewPCG(seed, 0x77656972))}
	s.spec = s.fabric()
	s.rolled = s.chance(0.6)
	s.traffic = pick(s, sim.Quiet, sim.Steady, sim.Steady, sim.Incast)
	s.settle = control.Settle{Blind: s.chance(0.7), Idle: pick(s, "", "accept"), Patience: pick(s, 20*time.Second, 2*time.Minute)}
	if !s.rolled {
		s.settle.Idle = "accept"
	}
	s.wide = s.chance(0.6)
	s.two = s.rolled && s.spec.Hosts > 2 && s.chance(0.4)
	s.change = s.intent("change")
	s.later = s.intent("later")
	for _, d := range s.devices() {
		if s.chance(0.3) {
			s.edits = append(s.edits, d)
		}
	}
	s.reboot = s.chance(0.2)
	if s.chance(0.6) {
		s.plot()
	} else {
		s.turn(s.seed, "apply", s.change.devices)
	}
	s.turn(s.seed+uint64(len(turns))/2, "apply later", s.later.devices)
	for s.chance(0.5) && len(s.acts) < 4 {
		s.acts = append(s.acts, s.act(len(s.acts)))
	}
	return s
}

func (s *story) chance(p float64) bool { return s.rng.Float64() < p }

func pick[T any](s *story, from ...T) T { return from[s.rng.IntN(len(from))] }

// fabric is a small Clos of mixed platforms.
func (s *story) fabric() inventory.ClosSpec {
	platforms := []string{"sonic", "eos"}
	spec := inventory.ClosSpec{
		Name: "pod1", Leaves: pick(s, 2, 2, 3), Spines: 1 + s.rng.IntN(2), Hosts: pick(s, 1, 2, 3, 3, 4), Ports: 8,
		Leaf: []string{pick(s, platforms...), pick(s, platforms...)}, Spine: []string{pick(s, platforms...), pick(s, platforms...)},
	}
	if spec.NICs = 1 + s.rng.IntN(2); spec.Leaves%spec.NICs > 0 {
		spec.NICs = 1
	}
	return spec
}

// devices are the names that the scaffold gives them.
func (s *story) devices() []string {
	var names []string
	for _, group := range []struct {
		name string
		n    int
	}{{"leaf", s.spec.Leaves}, {"spine", s.spec.Spines}, {"gpu", s.spec.Hosts}} {
		for i := range group.n {
			names = append(names, fmt.Sprint(group.name, i+1))
		}
	}
	return names
}

// intent is what changes in it. On a fabric as it left the factory the whole intent is new.
func (s *story) intent(name string) change {
	file := "intent/" + name + ".yaml"
	if !s.rolled && name == "change" {
		return change{name: "first rollout", devices: s.devices()}
	}
	if name == "change" && s.traffic == sim.Incast && s.spec.Hosts > 2 && s.chance(0.4) {
		s.harmful, s.settle.Blind, s.settle.Idle = true, false, "accept"
		return change{name: "PFC off on a leaf", file: file, body: `kind: Override
select: {device: leaf1}
pfc: off
---
kind: Fabric
accept:
  - {check: link-priorities, address: leaf1, reason: "the story wants to see it drop", expires: 2001-01-01}
`, devices: []string{"leaf1"}}
	}
	role := func(prefixes ...string) []string {
		return slices.DeleteFunc(s.devices(), func(d string) bool {
			return !slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(d, p) })
		})
	}
	switches := role("leaf", "spine")
	one, rest := pick(s, switches...), 45
	if s.two {
		rest = 25
	}
	all := []change{
		{name: "watchdog times", file: file, body: "kind: Override\nselect: {role: leaf}\npfc: {watchdog: {detection: 300ms, restoration: 600ms}}\n", devices: role("leaf")},
		{name: "watchdog of one switch", file: file, body: fmt.Sprintf("kind: Override\nselect: {device: %s}\npfc: {watchdog: {detection: 400ms}}\n", one), devices: []string{one}},
		{name: "marking", file: file, body: "kind: Override\nselect: {role: leaf}\nclasses:\n  - {name: rdma, ecn: {min: 200kB, max: 900kB, probability: 10%}}\n", devices: role("leaf")},
		{name: "marking of a spine", file: file, body: "kind: Override\nselect: {role: spine}\nclasses:\n  - {name: rdma, ecn: {min: 220kB, max: 950kB, probability: 15%}}\n", devices: role("spine")},
		{name: "marking of all switches", file: file, body: "kind: Override\nselect: {role: leaf}\nclasses:\n  - {name: rdma, ecn: {min: 210kB, max: 920kB, probability: 12%}}\n---\nkind: Override\nselect: {role: spine}\nclasses:\n  - {name: rdma, ecn: {min: 210kB, max: 920kB, probability: 12%}}\n", devices: switches},
		{name: "pinned memory of hosts", file: "intent/hosts.yaml", body: fmt.Sprintf("kind: Hosts\nname: gpu\nselect: {role: gpu}\nroce: {version: 2, class: rdma, cnp: cnp, congestionControl: dcqcn}\nmemlock: %s\n", map[string]string{"change": "64GiB", "later": "32GiB"}[name]), devices: role("gpu")},
		{name: "guaranteed share", file: file, body: fmt.Sprintf("kind: Override\nselect: {device: %s}\nclasses:\n  - {name: rdma, guaranteed: 20%%}\n", one), devices: []string{one}},
		{name: "shares", file: file, body: fmt.Sprintf("kind: Override\nselect: {device: %s}\nclasses:\n  - {name: rdma, share: 55%%}\n  - {name: default, share: %d%%}\n", one, rest), devices: []string{one}},
	}
	if turnOf(s.seed) == string(sim.Unsure) { // only hosts answer so
		all = slices.DeleteFunc(all, func(c change) bool { return c.devices[0] != "gpu1" })
	}
	return pick(s, all...)
}

// act is one life of the operator. The first applies.
func (s *story) act(n int) act {
	a := act{verb: "apply"}
	if n > 0 {
		a.verb = pick(s, "recover", "recover", "recover", "rollback", "apply")
	}
	for s.chance(0.6) && len(a.faults) < 3 {
		a.faults = append(a.faults, s.fault(s.touched()))
	}
	for s.chance(0.82) && len(a.events) < 6 {
		a.events = append(a.events, s.event(a.verb))
	}
	return a
}

// touched is a device, most often one that the change is about.
func (s *story) touched() string {
	if s.chance(0.85) {
		return pick(s, s.change.devices...)
	}
	return pick(s, s.devices()...)
}

// kinds are the records that events hang on, the more often the more is at stake behind them.
var kinds = []journal.Kind{
	journal.Started, journal.Before, journal.Pending, journal.Pending, journal.Sending, journal.Sending, journal.Sent, journal.Sent,
	journal.Reached, journal.Reached, journal.Passed, journal.Passed, journal.Confirmed, journal.Confirmed, journal.Undoing, journal.Undoing,
	journal.Undone, journal.WaveEnded, journal.Stuck,
}

func (s *story) event(verb string) event {
	e := event{kind: pick(s, kinds...), nth: 1}
	if s.chance(0.4) {
		e.nth++
	}
	if s.chance(0.5) && e.kind != journal.Started && e.kind != journal.Passed && e.kind != journal.WaveEnded {
		e.device = s.touched()
	}
	if verb == "recover" && s.chance(0.7) {
		e.kind = pick(s, journal.Undoing, journal.Undone, journal.Confirmed, journal.Stuck, journal.Pending, journal.Sent)
		e.device = ""
	}
	if s.chance(0.4) { // from the beginning: most of what goes wrong waits for no record
		e.kind, e.device = journal.Started, ""
		e.nth = 1
	}
	s.happening(&e)
	return e
}

// happening chooses what the event does.
func (s *story) happening(e *event) {
	device := s.touched()
	if e.device != "" && s.chance(0.7) {
		device = e.device
	}
	switch n := s.rng.IntN(25); {
	case n < 4: // the end of the life
		effects, at, power := s.rng.IntN(6), pick(s, before, within, after), s.chance(0.3)
		e.what = fmt.Sprintf("the life ends %v effect %d", at, effects)
		e.do = func(_ *world, l *life, _ journal.Record) { l.gate.condemn(effects, at, power) }
	case n < 16: // a device goes wrong
		f := s.fault(device)
		e.what = fmt.Sprintf("%s %s on %s", f.Device, f.Kind, f.On)
		e.do = func(w *world, _ *life, _ journal.Record) { w.inject(f) }
	case n == 16:
		effects := 1 + s.rng.IntN(4)
		e.what = "the disk is full"
		e.do = func(_ *world, l *life, _ journal.Record) { l.gate.fill(effects) }
	case n == 17:
		d := pick(s, -time.Hour, -time.Minute, time.Minute, 25*time.Hour)
		e.what = "the clock jumps"
		e.do = func(w *world, _ *life, _ journal.Record) { w.jump(d) }
	case n == 18:
		e.what = "an interrupt"
		e.do = func(w *world, l *life, _ journal.Record) { w.count("interrupt"); l.gate.stop() }
	case n == 19:
		verb, who := pick(s, "apply", "recover"), pick(s, "other@b", "other@a")
		e.what = "a second operator, " + who + ": " + verb
		e.do = func(w *world, _ *life, _ journal.Record) { w.second(who, verb) }
	case n == 20:
		e.what = device + " is cut off"
		back := pick(s, 30*time.Second, 10*time.Minute)
		e.do = func(w *world, _ *life, _ journal.Record) { w.cutOff(device, back) }
	case n == 21:
		e.what = "somebody changes what is weir's on " + device
		e.do = func(w *world, _ *life, _ journal.Record) { w.meddle(device) }
	case n == 22:
		effects := 1 + s.rng.IntN(6)
		e.what = "the disk answers nothing"
		e.do = func(_ *world, l *life, _ journal.Record) { l.gate.lose(effects) }
	case n == 23:
		e.what = "the machine sleeps"
		span, next := time.Duration(3+s.rng.IntN(40))*time.Minute, pick(s, "recover", "apply")
		e.do = func(w *world, l *life, r journal.Record) { w.sleep(l, r, span, next) }
	default:
		e.what = device + " reboots"
		e.do = func(w *world, _ *life, _ journal.Record) { w.inject(sim.Fault{Kind: sim.Reboot, Device: device}) }
	}
}

// fault is something that a device does wrong.
func (s *story) fault(device string) sim.Fault {
	f := sim.Fault{Device: device, After: s.rng.IntN(3), Times: 1 + s.rng.IntN(2)}
	if s.chance(0.3) {
		f.Kind = pick(s, sim.Cut, sim.Refuse, sim.BlackHole, sim.Latency)
		f.For = pick(s, 5*time.Second, time.Minute, 5*time.Minute)
		f.Delay = pick(s, 50*time.Millisecond, 2*time.Second)
		if s.chance(0.5) {
			f.On = pick(s, sim.Set, sim.Get, sim.Session)
		}
		return f
	}
	change := sim.Set
	if s.platform(device) == "eos" {
		change = sim.Commit
	}
	f.After = pick(s, 0, 0, 0, 1)
	switch n := s.rng.IntN(14); {
	case n < 9:
		f.On = change
		f.Kind = pick(s, sim.Reject, sim.Hang, sim.Slow, sim.Drop, sim.DropBefore, sim.Partial, sim.Ignore, sim.Ignore, sim.Lie, sim.Lie, sim.ForeignEdit)
		if change == sim.Set && f.Kind == sim.Reject && s.platform(device) == "linux" {
			f.Kind = sim.Unsure
		}
	case n < 12 && change == sim.Commit:
		f.On, f.Kind = sim.Timer, pick(s, sim.Hang, sim.Revert, sim.Revert, sim.Revert)
	case n == 12 && !s.settle.Blind && s.platform(device) != "linux":
		f.On, f.Kind = sim.Subscribe, pick(s, sim.Reject, sim.Hang, sim.Drop)
	default:
		f.On = pick(s, sim.Get, sim.Session)
		f.Kind = pick(s, sim.Reject, sim.Hang, sim.Slow, sim.Drop, sim.DropBefore, sim.Partial)
	}
	return f
}

// platform is that of a device.
func (s *story) platform(device string) string {
	for _, l := range []struct {
		prefix string
		of     []string
	}{{"leaf", s.spec.Leaf}, {"spine", s.spec.Spine}} {
		var n int
		if _, err := fmt.Sscanf(device, l.prefix+"%d", &n); err == nil {
			return l.of[(n-1)%len(l.of)]
		}
	}
	return "linux"
}

func (s *story) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d: %v leaves, %v spines, %d hosts with %d NICs; %s, traffic %s, blind %t, idle %q\n", s.seed, s.spec.Leaf, s.spec.Spine[:s.spec.Spines],
		s.spec.Hosts, s.spec.NICs, s.change.name, s.traffic, s.settle.Blind, s.settle.Idle)
	for _, a := range s.acts {
		fmt.Fprintf(&b, "  %s\n", a.verb)
		for _, f := range a.faults {
			fmt.Fprintf(&b, "    %s: %s on %s, after %d, %d times\n", f.Device, f.Kind, f.On, f.After, f.Times)
		}
		for _, e := range a.events {
			fmt.Fprintf(&b, "    after %s %s, time %d: %s\n", e.kind, e.device, e.nth, e.what)
		}
	}
	return b.String()
}
