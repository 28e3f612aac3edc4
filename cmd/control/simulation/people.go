package simulation

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/drivers/sim"
)

// inject makes a device go wrong, where its platform can go wrong so. One that shows for a minute what was, after it said that it
// changed, cannot be seen through: what is said of it is not judged.
func (w *world) inject(f sim.Fault) {
	if f.Kind == sim.Lie {
		w.mu.Lock()
		w.storm.lied[f.Device] = true
		w.mu.Unlock()
	}
	if f.Kind == sim.ForeignEdit {
		f.Text = w.editOf(f.Device, "foreign-meanwhile")
	}
	if err := w.lab.Inject(f); err != nil {
		w.note("not possible: %v", err)
	}
}

// cutOff takes a device off its management network for a time.
func (w *world) cutOff(device string, back time.Duration) {
	w.count("cut off")
	if err := w.lab.Kill(device); err != nil {
		w.note("%v", err)
		return
	}
	w.storm.secondly.Go(func() {
		time.Sleep(back)
		if err := w.lab.Revive(device); err != nil {
			w.note("%v", err)
		}
	})
}

// edit changes something on a device that is not weir's, as a person does.
func (w *world) edit(device, value string) {
	if err := w.lab.Inject(sim.Fault{Kind: sim.ForeignEdit, Device: device, Text: w.editOf(device, value)}); err != nil {
		w.note("%v", err)
	}
}

// meddle changes on a device what is weir's, as a person does.
func (w *world) meddle(device string) {
	err := w.person(device, map[string]string{
		"sonic": "sonic-db-cli CONFIG_DB HSET 'PFC_WD|Ethernet0' detection_time 900 restoration_time 900 action drop",
		"eos":   "priority-flow-control pause watchdog default recovery-time 0.9",
		"linux": "dcb pfc set dev eth0 prio-pfc 3:off",
	})
	if err == nil {
		w.count("changed by hand")
		w.mu.Lock()
		w.storm.meddled[device] = time.Now()
		w.mu.Unlock()
	}
}

// person does something on a device, by the platforms' words for it.
func (w *world) person(device string, words map[string]string) error {
	err := w.lab.Inject(sim.Fault{Kind: sim.ForeignEdit, Device: device, Text: words[w.storm.platform(device)]})
	if err != nil {
		w.note("%v", err)
	}
	return err
}

// everyRow is a command that sets fields of every row of a table of a SONiC switch.
func (w *world) everyRow(device, table, fields string) string {
	if w.storm.platform(device) != "sonic" {
		return ""
	}
	commands := []string{"true"}
	for _, row := range slices.Sorted(maps.Keys(w.rows(device, table))) {
		commands = append(commands, fmt.Sprintf("sonic-db-cli CONFIG_DB HSET '%s|%s' %s", table, row, fields))
	}
	return strings.Join(commands, "; ")
}

// editOf is a change of something that is not weir's, in the device's own words.
func (w *world) editOf(device, value string) string {
	switch w.storm.platform(device) {
	case "sonic":
		return "sonic-db-cli CONFIG_DB HSET 'DEVICE_METADATA|localhost' hostname " + value
	case "eos":
		return "hostname " + value
	}
	return "echo " + value + " > /etc/modprobe.d/other.conf"
}

// sleep puts the machine of a life to sleep. Meanwhile somebody on another one looks, takes the lock from it and goes on. It waits
// for waves of one device: of several, the others would hold what the sleeper holds.
func (w *world) sleep(l *life, r journal.Record, span time.Duration, next string) {
	if len(l.waveOf(r.Wave)) != 1 {
		return
	}
	w.count("asleep")
	s := w.storm
	s.mu.Lock()
	delete(s.running, l.name)
	s.mu.Unlock()
	wait := max(130*time.Second, span-time.Duration(s.seed%40)*time.Second) // so that at times it wakes while the other is at work
	s.secondly.Go(func() {
		time.Sleep(wait)
		for _, verb := range []string{"break", next} {
			s.ends(s.do(context.Background(), "other@b", s.second, act{verb: verb}, s.settle))
		}
	})
	l.gate.sleep(span)
	w.note("%s wakes up", l.name)
}

// typed enters lines on a device that are not weir's, which must stay or be told.
func (w *world) typed(device string) {
	if w.person(device, map[string]string{
		"sonic": w.editOf(device, "foreign-typed"),
		"linux": w.editOf(device, "foreign-typed"),
		"eos":   "logging host foreign-typed", // a name of the device's own would change its prompt
	}) != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.storm.typedOn = append(w.storm.typedOn, device)
}

// use binds a port that weir does not manage to weir's marking profile.
func (w *world) use(device string) {
	s := w.storm
	if s.platform(device) != "sonic" {
		return
	}
	rows := w.rows(device, "WRED_PROFILE")
	if len(rows) == 0 {
		return
	}
	profile := slices.Sorted(maps.Keys(rows))[0]
	if w.person(device, map[string]string{"sonic": "sonic-db-cli CONFIG_DB HSET 'QUEUE|Ethernet200|3' wred_profile " + profile}) != nil {
		return
	}
	w.count("used by others")
	w.mu.Lock()
	defer w.mu.Unlock()
	s.used = append(s.used, usage{device, profile, rows[profile]})
	s.exempt[device] = true
}

// cut takes the last records from the newest journal, where its run stands open.
func (w *world) cut(records int) {
	folder := filepath.Join(control.LabDir(w.storm.dir), "runs")
	w.disk.mu.Lock()
	defer w.disk.mu.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	newest := ""
	for name := range w.disk.files {
		if filepath.Dir(name) == folder && strings.HasSuffix(name, ".jsonl") {
			newest = max(newest, name)
		}
	}
	c := w.disk.files[newest]
	lines := bytes.SplitAfter(c.body, []byte("\n"))
	if bytes.Contains(lines[max(0, len(lines)-2)], []byte(`"kind":"ended"`)) {
		return
	}
	w.counts["journal cut"]++
	c.body = bytes.Join(lines[:max(1, len(lines)-1-records)], nil)
	c.synced = min(c.synced, len(c.body))
}

// usage is that a row of somebody else uses an object.
type usage struct {
	device, profile string
	fields          any // of the object then
}

// rows are those of a table of a SONiC switch.
func (w *world) rows(device, table string) map[string]any {
	var tables map[string]map[string]any
	body, err := w.lab.Config(device)
	if err == nil {
		err = json.Unmarshal(body, &tables)
	}
	if err != nil {
		w.note("%v", err)
	}
	return tables[table]
}

// diversion is that the second class lost its way at a device.
type diversion struct {
	device string
	at     time.Time
	sent   map[string]uint64 // packets of it by the device's ports then
}

// divert makes a switch take the packets of the second class for those of none, as a person does who maps a DSCP wrongly.
func (w *world) divert(device string) {
	s := w.storm
	if w.person(device, map[string]string{
		"sonic": w.everyRow(device, "DSCP_TO_TC_MAP", "30 0"),
		"eos":   "qos map dscp 30 to traffic-class 0",
	}) != nil {
		return
	}
	w.count("class diverted")
	sent := s.sentBy(device)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.meddled[device], s.exempt[device] = time.Now(), true
	s.diverted = append(s.diverted, diversion{device, time.Now(), sent})
}
