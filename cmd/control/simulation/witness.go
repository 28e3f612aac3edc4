package simulation

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/intent/fabric"
)

// changing is the device that a life changes, and whether with a journal of its own.
type changing struct {
	device string
	own    bool
}

// follow keeps what a record says of the run, and holds it against what really is.
func (s *storm) follow(l *life, r journal.Record) {
	s.mu.Lock()
	var other string
	switch r.Kind {
	case journal.Ended:
		delete(s.running, l.name)
	case journal.Confirmed, journal.Undone:
		s.settled[r.Device] = time.Now()
	case journal.Pending, journal.Undoing, journal.Sending:
		s.running[l.name] = changing{r.Device, l.own}
		for name, c := range s.running {
			if name != l.name && (c.own == l.own || c.device == r.Device) {
				other = name
			}
		}
	}
	if l.own && r.Device != "" {
		s.exempt[r.Device] = true
	}
	s.mu.Unlock()
	if other != "" {
		s.violate("%s and %s change devices at the same time", l.name, other)
	}
	if l.own {
		return
	}
	switch r.Kind {
	case journal.Started:
		s.begins(l)
	case journal.Before:
		s.furthers(l, r)
	case journal.Confirmed:
		s.keeps(l, r)
	case journal.Pending:
		s.furthers(l, r)
		s.goesBack(l, r)
	case journal.Passed:
		s.believed(l, r)
	}
}

// furthers exempts the devices that are about to be changed by a run which is not about the story's change, or by what undoes it.
func (s *storm) furthers(l *life, r journal.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.Contains(s.later.runs, l.run) || slices.Contains(s.later.runs, l.of) {
		s.exempt[r.Device] = true
	}
}

// begins notes which run a life has begun.
func (s *storm) begins(l *life) {
	l.run, _, _ = strings.Cut(slices.Max(s.disk.names(filepath.Join(control.LabDir(s.dir), "runs"))), ".jsonl")
	if l.verb == "apply later" {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.later.runs = append(s.later.runs, l.run)
	}
}

// keeps writes down what a device is when a run has kept its change on it.
func (s *storm) keeps(l *life, r journal.Record) {
	config, err := s.configNow(r.Device)
	if err != nil {
		s.violate("%v", err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept[l.run] == nil {
		s.kept[l.run] = map[string][]string{}
	}
	s.kept[l.run][r.Device] = config
}

// goesBack checks that a rollback begins with what its run has left: what was done since would be lost.
func (s *storm) goesBack(l *life, r journal.Record) {
	if l.of == "" || l.times(journal.Pending, r.Device) > 1 {
		return
	}
	now, err := s.configNow(r.Device)
	s.mu.Lock()
	left, known := s.kept[l.of][r.Device]
	s.mu.Unlock()
	if err == nil && known && !slices.Equal(now, left) {
		s.violate("%s leads %s back, which is not as the run left it", l.name, r.Device)
	}
}

// configNow is the configuration of a device at this moment, line by line, without what a person may change in a story.
func (s *storm) configNow(device string) ([]string, error) {
	body, err := s.lab.Config(device)
	return slices.DeleteFunc(own(strings.Split(string(body), "\n")), func(line string) bool {
		return strings.Contains(line, "<BROADCAST") // says whether the other end of the cable is up
	}), err
}

// believed checks that no wave is good while a class has lost its way beside it.
func (s *storm) believed(l *life, r journal.Record) {
	if l.settle.Blind {
		return
	}
	s.mu.Lock()
	diverted := slices.Clone(s.diverted)
	s.mu.Unlock()
	for _, d := range diverted {
		if since := l.began(r.Wave); since.IsZero() || d.at.Before(since) || time.Since(d.at) < time.Minute {
			continue
		}
		now := s.sentBy(d.device)
		for _, p := range s.facing[d.device] {
			name := d.device + "/" + p.name
			if s.flowed[name] && now[name] == d.sent[name] && slices.Contains(l.waveOf(r.Wave), p.peer) {
				s.violate("%s found a wave of %s good, and a class that passed %s before does not any more", l.name, p.peer, name)
			}
		}
	}
}

// port is one of a switch, and the switch at its other end.
type port struct{ name, peer string }

// secondPriority is that of the second lossless class.
const secondPriority = 4

// sentBy is how many packets of the second class each port of a switch that faces a switch has sent, by device/port.
func (s *storm) sentBy(device string) map[string]uint64 {
	out := map[string]uint64{}
	for _, p := range s.facing[device] {
		if c, err := s.lab.Counters(device, p.name); err == nil {
			out[device+"/"+p.name] = c.QueuePackets[secondPriority]
		}
	}
	return out
}

// ways finds the ports between switches, and which of them the second class passes within a minute.
func (s *storm) ways(links []*fabric.Link) {
	s.facing, s.flowed = map[string][]port{}, map[string]bool{}
	for _, l := range links {
		for _, ends := range [][2]fabric.End{{l.A, l.B}, {l.B, l.A}} {
			if near, far := ends[0], ends[1]; near.Switch != nil && far.Switch != nil {
				at := near.Address()
				s.facing[at.Device] = append(s.facing[at.Device], port{at.Port, far.Address().Device})
			}
		}
	}
	before := map[string]uint64{}
	for device := range s.facing {
		maps.Copy(before, s.sentBy(device))
	}
	time.Sleep(time.Minute)
	for device := range s.facing {
		for name, n := range s.sentBy(device) {
			s.flowed[name] = n > before[name]+1000
		}
	}
}
