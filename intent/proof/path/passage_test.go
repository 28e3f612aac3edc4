package path

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/fabric"
)

// TestTheStatesOfACableAreThoseThatTheWavesPassThrough goes through every moment: before a wave, within it with any of its devices done,
// and after it.
func TestTheStatesOfACableAreThoseThatTheWavesPassThrough(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 3))
	for range 2000 {
		w := Passage{Wave: map[string]int{}}
		waves := 1 + r.IntN(4)
		devices := []string{"from", "to", "h1", "h2", "h3"}
		still := r.IntN(4) == 0 // no host changes
		for _, d := range devices {
			if n := r.IntN(waves + 1); n < waves && !(still && d[0] == 'h') || !still && d[0] == 'h' {
				w.Wave[d] = min(n, waves-1)
			}
		}
		j := &judge{Passage: w}
		first, last := never, -1
		for _, h := range devices[2:] {
			first, last = min(first, j.wave(h)), max(last, j.wave(h))
		}
		got := map[[3]bool]bool{}
		for _, s := range j.states("from", "to", first, last, false) {
			got[[3]bool{s.sender, s.from, s.to}] = true
		}
		want := map[[3]bool]bool{}
		for n := range waves {
			for done := range 1 << len(devices) {
				changed := map[string]bool{}
				for i, d := range devices {
					changed[d] = j.wave(d) < n || j.wave(d) == n && done&(1<<i) != 0
				}
				for _, h := range devices[2:] {
					open := func(d string) bool { return !changed[d] && j.wave(d) != never }
					begun := changed[h] || changed["from"] || changed["to"]
					ahead := open(h) || open("from") || open("to")
					if begun && ahead {
						want[[3]bool{changed[h], changed["from"], changed["to"]}] = true
					}
				}
			}
		}
		for s := range want {
			if !got[s] {
				t.Errorf("waves %v: state %v (sender, from, to) is passed through and not judged", w.Wave, s)
			}
		}
		for s := range got {
			if !want[s] {
				t.Errorf("waves %v: state %v (sender, from, to) is judged and cannot be", w.Wave, s)
			}
		}
	}
}

func TestAStateInBetweenIsJudgedByWhatWasLosslessBefore(t *testing.T) {
	moved := func(was, is string) map[string]string {
		files := pod()
		files["fabric.yaml"] = strings.ReplaceAll(files["fabric.yaml"], was, is)
		return files
	}
	apart := map[string]int{"leaf1": 0, "leaf2": 1, "spine1": 2, "spine2": 3, "gpu1": 4, "gpu2": 5}
	forget := func(f *fabric.Fabric) { // what leaf1 does with the DSCP is not understood
		for _, sw := range f.Switches[:1] {
			sw.Gaps = []fabric.Gap{{At: addr.Device(sw.Name).Of(addr.Map, ""), Reading: fabric.Strange, Line: "odd"}}
		}
	}
	off := func(f *fabric.Fabric) {
		for _, sw := range f.Switches {
			for _, p := range sw.Ports {
				p.PFC = 0
			}
		}
		for _, h := range f.Hosts {
			for _, n := range h.NICs {
				n.PFC = 0
			}
		}
	}
	drifted := func(f *fabric.Fabric) { f.Switches[2].Ports[0].PFC = 0 }
	for name, c := range map[string]struct {
		files  map[string]string
		before func(*fabric.Fabric)
		wave   map[string]int
		known  string // of what is found
		unsure string
	}{
		"the class moves from 3 to 4, one device after the other": {files: moved("priority: 3", "priority: 4"), wave: apart, known: "it pauses priority 3, and the other end stops the class for priority 4 alone"},
		"all in one wave, of which one is first":                  {files: moved("priority: 3", "priority: 4"), wave: map[string]int{"leaf1": 0, "leaf2": 0, "spine1": 0, "spine2": 0, "gpu1": 0, "gpu2": 0}, known: "it pauses priority 4, and the other end stops the class for priority 3 alone"},
		"nothing is lossless before":                              {files: moved("priority: 3", "priority: 4"), before: off, wave: apart},
		"a port lost PFC, and gets it back":                       {files: pod(), before: drifted, wave: map[string]int{"leaf1": 0, "spine1": 1}},
		"what a switch does with it is not known":                 {files: moved("dscp: [26]", "dscp: [24]"), before: forget, wave: map[string]int{"leaf1": 0, "gpu1": 1}, unsure: "PFC is off for priority 0"},
		"nothing changes":                                         {files: moved("priority: 3", "priority: 4")},
	} {
		before := resolved(t, pod())
		if c.before != nil {
			c.before(before)
		}
		found := Passage{Before: before, After: resolved(t, c.files), Wave: c.wave}.Judge()
		says := func(what string, known bool) bool {
			return slices.ContainsFunc(found, func(u Unsafe) bool { return u.Known == known && strings.Contains(u.What, what) })
		}
		switch {
		case c.known == "" && slices.ContainsFunc(found, func(u Unsafe) bool { return u.Known }), c.known != "" && !says(c.known, true):
			t.Errorf("%s: want %q of what is lossless, got %+v", name, c.known, found)
		case c.unsure == "" && slices.ContainsFunc(found, func(u Unsafe) bool { return !u.Known }), c.unsure != "" && !says(c.unsure, false):
			t.Errorf("%s: want %q of what is not known, got %+v", name, c.unsure, found)
		}
	}
}
