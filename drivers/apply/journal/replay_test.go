package journal

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent/plan"
)

// sending is the announcement of a change; timed says that the device has a commit timer.
func sending(device, name string, timed bool) Record {
	p := plan.Pending{Device: device, Name: name, Route: plan.GNMISet}
	if timed {
		p.Deadline = time.Unix(1, 0)
	}
	return Record{Kind: Pending, Device: device, Pending: &p}
}

func of(kind Kind, device string) Record { return Record{Kind: kind, Device: device} }

// begun is a run on a and b, and then on c.
func begun(records ...Record) []Record {
	return append([]Record{{Kind: Started, Verb: "apply", Plan: "plan-1", Devices: [][]string{{"a", "b"}, {"c"}}}}, records...)
}

// passed is a run whose first wave has its good verdict.
func passed(records ...Record) []Record {
	return append(begun(of(Before, "a"), of(Before, "b"), sending("a", "weir-1", true), of(Sending, "a"), of(Sent, "a"),
		of(Reached, "a"), of(Reached, "b"), Record{Kind: Passed}), records...)
}

// ended is a run whose first wave has ended.
func ended(records ...Record) []Record {
	return append(passed(of(Confirmed, "a"), of(Confirmed, "b"), Record{Kind: WaveEnded}), records...)
}

func TestWhatRecoveryIsAbout(t *testing.T) {
	type device struct {
		Phase   Kind
		Pending string
		Timer   bool
		Outcome Outcome
	}
	for name, c := range map[string]struct {
		records []Record
		want    Recovery
		left    map[string]device
	}{
		"nothing is on record":                      {nil, Undo, nil},
		"nothing was read":                          {begun(), Undo, nil},
		"a device was read":                         {begun(of(Before, "b")), Undo, map[string]device{"b": {Phase: Before}}},
		"a change is announced":                     {begun(of(Before, "a"), sending("a", "x", false)), Undo, map[string]device{"a": {Phase: Pending, Pending: "x"}}},
		"a change runs on the device's timer":       {begun(of(Before, "a"), sending("a", "x", true), of(Sent, "a")), Undo, map[string]device{"a": {Phase: Sent, Pending: "x", Timer: true}}},
		"the undo is sent":                          {begun(of(Before, "a"), sending("a", "x", true), of(Undoing, "a"), sending("a", "back", false), of(Sending, "a")), Undo, map[string]device{"a": {Phase: Undoing, Pending: "back"}}},
		"a device is undone":                        {begun(of(Before, "a"), sending("a", "x", true), of(Undoing, "a"), of(Undone, "a")), Undo, map[string]device{"a": {Phase: Undone, Outcome: AsBefore}}},
		"a device is stuck":                         {begun(of(Before, "a"), sending("a", "x", true), of(Undoing, "a"), of(Stuck, "a")), Undo, map[string]device{"a": {Phase: Stuck, Pending: "x", Timer: true}}},
		"the verdict is good":                       {passed(), Finish, map[string]device{"a": {Phase: Reached, Pending: "weir-1", Timer: true}, "b": {Phase: Reached}}},
		"undoing began after the good verdict":      {passed(of(Undoing, "a"), of(Undone, "a")), Undo, map[string]device{"a": {Phase: Undone, Outcome: AsBefore}, "b": {Phase: Reached}}},
		"undoing began after a confirmation":        {passed(of(Confirmed, "a"), of(Undoing, "a")), Undo, map[string]device{"a": {Phase: Undoing, Pending: "weir-1"}, "b": {Phase: Reached}}},
		"records are lost after the good verdict":   {passed(Record{Kind: Repaired, Lost: []string{"b"}}), Undo, map[string]device{"a": {Phase: Reached, Pending: "weir-1", Timer: true}, "b": {Phase: Reached}}},
		"records of the next wave are lost":         {passed(Record{Kind: Repaired, Wave: 1, Lost: []string{"c"}}), Undo, map[string]device{"a": {Phase: Reached, Pending: "weir-1", Timer: true}, "b": {Phase: Reached}, "c": {}}},
		"one is confirmed, one is not":              {passed(of(Confirmed, "a")), Finish, map[string]device{"a": {Confirmed, "weir-1", false, Applied}, "b": {Phase: Reached}}},
		"all are confirmed, and the wave not ended": {passed(of(Confirmed, "a"), of(Confirmed, "b")), Finish, map[string]device{"a": {Confirmed, "weir-1", false, Applied}, "b": {Phase: Confirmed, Outcome: Applied}}},
		"a device is marked, and was not read":      {begun(of(Marking, "a")), Undo, nil},
		"a device of a wave that ended is unmarked": {ended(of(Unmarked, "a")), Nothing, nil},
		"a device of the next wave is marked":       {ended(Record{Kind: Marking, Wave: 1, Device: "c"}), Nothing, nil},
		"the wave has ended":                        {ended(), Nothing, nil},
		"the next wave is begun":                    {ended(Record{Kind: Before, Wave: 1, Device: "c"}), Undo, map[string]device{"c": {Phase: Before}}},
	} {
		run := Replay(c.records)
		var left map[string]device
		for _, d := range run.Left() {
			if left == nil {
				left = map[string]device{}
			}
			got := device{Phase: d.Phase, Timer: d.Timer, Outcome: d.Outcome}
			if d.Pending != nil {
				got.Pending = d.Pending.Name
			}
			left[d.Name] = got
		}
		if run.Recovery != c.want || run.Damage != "" {
			t.Errorf("%s: got %s, damage %q", name, run.Recovery, run.Damage)
		}
		if diff := cmp.Diff(c.left, left); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestWhatNoRunWritesIsNamed(t *testing.T) {
	end := Record{Kind: Ended, Outcome: Applied}
	for name, c := range map[string]struct {
		records []Record
		want    string
	}{
		"a run that recovery ended before its first record": {[]Record{end}, ""},
		"a run that was ended twice":                        {ended(end, end), ""},
		"an undo whose announcement could not be written":   {begun(of(Before, "a"), sending("a", "x", true), sending("a", "back", false), of(Undone, "a")), ""},
		"no beginning":                                       {[]Record{of(Before, "a")}, `record 1 (before): the run has no wave 0`},
		"two beginnings":                                     {begun(begun()...), `record 2 (started): a run is started by its first record, and only by it`},
		"something after the end":                            {ended(end, Record{Kind: Before, Wave: 1, Device: "c"}), `record 14 (before): the run had ended`},
		"a wave that is not of the run":                      {begun(Record{Kind: Before, Wave: 2, Device: "c"}), `record 2 (before): the run has no wave 2`},
		"a wave below nothing":                               {begun(Record{Kind: Passed, Wave: -1}), `record 2 (passed): the run has no wave -1`},
		"a device that is not of the wave":                   {begun(of(Before, "c")), `record 2 (before): wave 0 has no device "c"`},
		"a wave before the one before it has ended":          {passed(Record{Kind: Before, Wave: 1, Device: "c"}), `record 10 (before): wave 0 had not ended`},
		"an earlier wave after a later one":                  {ended(Record{Kind: Before, Wave: 1, Device: "c"}, of(Undone, "a")), `record 14 (undone): wave 1 was begun`},
		"a change of a device of which nothing was read":     {begun(sending("a", "x", true)), `record 2 (pending): what the device was before is written down once, and first`},
		"a device that was read twice":                       {begun(of(Before, "a"), of(Before, "a")), `record 3 (before): what the device was before is written down once, and first`},
		"an announcement of nothing":                         {begun(of(Before, "a"), of(Pending, "a")), `record 3 (pending): it does not say what is sent`},
		"a verdict on a device that was not read back":       {begun(of(Before, "a"), of(Reached, "a"), Record{Kind: Passed}), `record 4 (passed): not every device was read back`},
		"a confirmation without a verdict":                   {begun(of(Before, "a"), of(Confirmed, "a")), `record 3 (confirmed): the wave has no good verdict`},
		"a wave that ends with a device that is unconfirmed": {passed(of(Confirmed, "a"), Record{Kind: WaveEnded}), `record 11 (wave-ended): not every device is confirmed`},
		"an undo after the wave has ended":                   {ended(of(Undoing, "a")), `record 13 (undoing): the wave had ended`},
		"a verdict on a wave of which a device was led back": {begun(of(Before, "a"), of(Undone, "a"), Record{Kind: Passed}), `record 4 (passed): the wave was being undone`},
		"a mark on a device that is not of the wave":         {begun(of(Marking, "c")), `record 2 (marking): wave 0 has no device "c"`},
		"a mark after the end":                               {ended(end, of(Marking, "a")), `record 14 (marking): the run had ended`},
		"a word that is not known":                           {begun(of(Before, "a"), of("melted", "a")), `record 3 (melted): there is no record "melted"`},
	} {
		if got := Replay(c.records).Damage; got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestARollbackStartsFromWhatStaysOfARun(t *testing.T) {
	end := Record{Kind: Ended, Outcome: AsBefore, Text: "the counters say no"}
	second := []Record{{Kind: Before, Wave: 1, Device: "c"}, {Kind: Undone, Wave: 1, Device: "c"}}
	run := Replay(append(ended(second...), end))
	past, err := run.Past()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]string{{"a", "b"}}, past.Waves); diff != "" {
		t.Error(diff)
	}
	if run.Outcome != AsBefore || run.Why != "the counters say no" || run.Devices() != 3 {
		t.Errorf("got %s, %q, %d devices", run.Outcome, run.Why, run.Devices())
	}
	if _, err := Replay(begun(end)).Past(); err == nil {
		t.Error("a run that left nothing applied is rolled back")
	}
	if _, err := Replay(ended()).Past(); !reflect.DeepEqual(err, &UnfinishedError{}) {
		t.Errorf("a run without an end: got %v", err)
	}
}

// FuzzReplay reads records in any order: each byte is one, of a device and a wave that the run may not have.
func FuzzReplay(f *testing.F) {
	f.Add([]byte{0, 1, 14, 2, 3, 4, 5, 6, 7, 11, 12})
	f.Add([]byte{0, 1, 2, 8, 2, 9, 12, 10})
	f.Add([]byte{13, 255, 0})
	f.Fuzz(func(t *testing.T, order []byte) {
		kinds := []Kind{Started, Before, Pending, Sending, Sent, Reached, Passed, Confirmed, Undoing, Undone, Stuck, WaveEnded, Ended, "?", Repaired, Marking, Unmarked}
		names := []string{"a", "b", "c", ""}
		var records []Record
		for i, b := range order {
			r := Record{Kind: kinds[int(b)%len(kinds)], Wave: int(b)/len(kinds)%4 - 1 + i%2, Device: names[int(b)/len(kinds)%len(names)]}
			if r.Kind == Started {
				r.Devices = [][]string{{"a", "b", "a"}, {}, {"c"}}
			}
			if r.Kind == Repaired {
				r.Lost = []string{"a", "z"}
			}
			if r.Kind == Pending && b%2 == 0 {
				r.Pending = &plan.Pending{Name: "x"}
			}
			records = append(records, r)
		}
		sound(t, records)
	})
}

// sound checks what holds of any sequence of records.
func sound(t *testing.T, records []Record) {
	t.Helper()
	run := Replay(records)
	if !reflect.DeepEqual(run, Replay(records)) {
		t.Error("read twice, the records mean two things")
	}
	if run.Records != len(records) || run.Ended != (len(records) > 0 && records[len(records)-1].Kind == Ended) {
		t.Errorf("%d records: got %d, ended %t", len(records), run.Records, run.Ended)
	}
	for _, d := range run.Left() {
		if !d.Known && !d.Doubt || run.Recovery == Nothing {
			t.Errorf("%s is left of a run with %s to do", d.Name, run.Recovery)
		}
	}
	if run.Result() == Applied && !run.Stays && run.Devices() > 0 {
		t.Error("a run is applied of which nothing stays")
	}
	if past, err := run.Past(); err == nil && (!run.Ended || len(past.Waves) == 0) {
		t.Error("what is not there is rolled back")
	}
	if len(records) > 0 {
		sooner := Replay(records[:len(records)-1])
		if sooner.Damage != "" && sooner.Damage != run.Damage {
			t.Errorf("the first damage was %q, and is %q", sooner.Damage, run.Damage)
		}
		if sooner.Ended && !run.Ended && run.Damage == "" {
			t.Error("a run that had ended is open, and nothing is wrong with it")
		}
	}
}

func TestAMarkerMayStandUntilItIsOnRecordThatItDoesNot(t *testing.T) {
	for name, c := range map[string]struct {
		records []Record
		want    []string
	}{
		"before anything was read":          {begun(of(Marking, "a")), []string{"a"}},
		"none could be made":                {begun(of(Marking, "a"), of(Unmarked, "a")), nil},
		"it is put there again":             {begun(of(Marking, "a"), of(Unmarked, "a"), of(Marking, "a")), []string{"a"}},
		"the device is confirmed":           {passed(of(Marking, "a"), of(Marking, "b"), of(Confirmed, "a"), of(Unmarked, "a")), []string{"b"}},
		"the next wave is marked, not read": {ended(of(Marking, "b"), Record{Kind: Marking, Wave: 1, Device: "c"}), []string{"b", "c"}},
	} {
		var got []string
		run := Replay(c.records)
		for _, w := range run.Waves {
			for _, d := range w.Devices {
				if d.Marked {
					got = append(got, d.Name)
				}
			}
		}
		if !slices.Equal(got, c.want) || run.Damage != "" {
			t.Errorf("%s: got %v, want %v, damage %q", name, got, c.want, run.Damage)
		}
	}
}
