package simulation

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/drivers/sim"
)

// harmless checks that a change under which the class loses packets does not stay.
func (s *storm) harmless(wanted map[string]bool) {
	if !s.harmful || !wanted["leaf1"] || len(s.later.runs) > 0 { // with another change beside it, when it loses them is not known
		return
	}
	since := s.lab.Now()
	time.Sleep(10 * time.Minute)
	for _, l := range s.lab.Lost(since) {
		if l.RDMA >= 1 {
			s.violate("a change under which the class loses packets has stayed on leaf1: %.0f in ten minutes at %s/%s", l.RDMA, l.Device, l.Port)
			return
		}
	}
}

// markers checks that no device is marked when all runs have ended. It is looked at in some seeds, since it takes a login each.
func (s *storm) markers(ctx context.Context) {
	if s.seed%4 > 0 || s.counts["stranger"] > 0 {
		return
	}
	r, end := s.judge(ctx)
	defer end()
	if r == nil {
		return
	}
	told := map[string]bool{} // devices whose marker could not be removed then, and goes with the next run
	for _, e := range s.endings {
		for _, l := range e.result.Marked {
			told[l.Device] = true
		}
	}
	for _, d := range s.devices() {
		if told[d] {
			continue
		}
		target, err := r.Dial(ctx, d)
		if err == nil {
			err = s.unmarked(ctx, target, d)
		}
		if err != nil {
			s.violate("%s: %v", d, err)
		}
	}
}

func (s *storm) unmarked(ctx context.Context, target drivers.Target, device string) error {
	marking, ok := target.(drivers.Marking)
	if !ok {
		return target.Close()
	}
	standing, err := marking.Markers(ctx)
	if len(standing) > 0 {
		s.violate("%s: a marker stands, and no run: %v", device, standing)
	}
	return errors.Join(err, target.Close())
}

// secrets checks that no password is in what weir has written.
func (s *storm) secrets() {
	_, password := s.lab.Credentials()
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	for name, c := range s.disk.files {
		if bytes.Contains(c.body, []byte(password)) {
			s.violate("%s holds the password of the devices", name)
		}
	}
}

// foreign checks that nothing changed that is not weir's.
func (s *storm) foreign(truth snapshot) {
	for device, now := range truth.states {
		was := map[string]string{}
		if _, meddled := s.meddled[device]; meddled {
			continue
		}
		for _, l := range s.before.states[device].Foreign {
			was[strings.Join(l.Path, " ")] = l.Value
		}
		is := leaves(now)
		for path, value := range was {
			if is[path] != value {
				s.violate("%s: %s was %q, is %q and is not weir's", device, path, value, is[path])
			}
		}
	}
	if s.reboot || s.lab.Met()[sim.Reboot] > 0 {
		return // what a person did not make persistent is lost with a restart
	}
	for _, d := range s.edits {
		if body, err := s.lab.Config(d); err == nil && !strings.Contains(string(body), "foreign-") {
			s.violate("%s: what somebody else had set is gone", d)
		}
	}
	for _, d := range s.typedOn {
		if body, err := s.lab.Config(d); err == nil && !strings.Contains(string(body), "foreign-") && s.attended() && !s.toldOf(d) {
			s.violate("%s: what somebody typed meanwhile is gone, and nobody was told", d)
		}
	}
}

// takenBack checks that what others use was not changed, and has them take their rows away again: a device refuses to lose what is used.
func (s *storm) takenBack() {
	for _, u := range s.used {
		now, there := s.rows(u.device, "WRED_PROFILE")[u.profile]
		if _, meddled := s.meddled[u.device]; !meddled && (!there || fmt.Sprint(now) != fmt.Sprint(u.fields)) {
			s.violate("%s: %s was changed while somebody else's row uses it", u.device, u.profile)
		}
		_ = s.person(u.device, map[string]string{"sonic": "sonic-db-cli CONFIG_DB DEL 'QUEUE|Ethernet200|3'"}) // which is noted
	}
}

// attended says that weir was there all the time, so that no timer of a device ended without its knowledge.
func (s *storm) attended() bool {
	met := s.lab.Met()
	return s.counts["killed"]+s.counts["power lost"]+s.counts["asleep"]+s.counts["cut off"]+met[sim.Revert]+met[sim.Hang]+met[sim.BlackHole]+met[sim.Refuse] == 0
}

// toldOf says whether somebody was told of lines that a device lost.
func (s *storm) toldOf(device string) bool {
	return slices.ContainsFunc(s.endings, func(e ending) bool {
		return slices.ContainsFunc(e.result.Devices, func(d control.DeviceResult) bool { return d.Device == device && len(d.Lost) > 0 })
	})
}

// claims checks that the manifest says what is weir's.
func (s *storm) claims(ctx context.Context, truth snapshot, wanted map[string]bool) {
	r, end := s.judge(ctx)
	defer end()
	if r == nil {
		return
	}
	for device := range truth.states {
		before, has := s.isBefore(device, truth), truth.manifest[device]
		switch {
		case s.released[device] || s.exempt[device] || s.lied[device]:
		case before && !wanted[device] && !slices.Equal(sorted(s.before.manifest[device]), sorted(has)):
			s.violate("%s is as before, and weir claims %v, before %v", device, has, s.before.manifest[device])
		case wanted[device] && !before:
			for _, leaf := range r.Wanted(device) {
				if leaf.Object != "" && !slices.Contains(has, leaf.Object) {
					s.violate("%s is as wanted, and weir does not claim %s", device, leaf.Object)
					break
				}
			}
		}
	}
}

// losses checks that the class lost nothing that no plan announced and no fault explains.
func (s *storm) losses() {
	met := s.lab.Met()
	if !s.rolled || s.announced || s.harmful || len(s.meddled) > 0 || met["reboot"] > 0 || s.traffic == "quiet" {
		return
	}
	s.world.mu.Lock()
	s.world.counts["losses judged"]++
	s.world.mu.Unlock()
	for _, l := range s.lab.Lost(s.stormed) {
		if l.RDMA >= 1 {
			s.violate("the class lost %.0f packets at %s/%s, and no plan announced that", l.RDMA, l.Device, l.Port)
		}
	}
}
