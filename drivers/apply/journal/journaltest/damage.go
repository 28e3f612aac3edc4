package journaltest

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/drivers/apply/journal"
)

// damaged edits a journal in every way, and sees that it is neither believed nor in the way of the others.
func damaged(t *testing.T, p Place) {
	other := func(from, to string) func([]string) []string {
		return func(l []string) []string {
			out := make([]string, len(l))
			for i := range l {
				out[i] = strings.Replace(l[i], from, to, 1)
			}
			return out
		}
	}
	for name, c := range map[string]struct {
		change func([]string) []string
		want   string
		tail   bool
	}{
		"it is emptied":                     {func([]string) []string { return nil }, "6 records were written, and 0 are there", false},
		"its last record is gone":           {func(l []string) []string { return l[:5] }, "6 records were written, and 5 are there", true},
		"its last two records are gone":     {func(l []string) []string { return l[:4] }, "6 records were written, and 4 are there", true},
		"a record in the middle is gone":    {func(l []string) []string { return append(l[:2:2], l[3:]...) }, "record 3 has not its checksum", false},
		"a value is another":                {other("9100", "9000"), "record 2 has not its checksum", false},
		"the last record is another":        {other(`"passed"`, `"undone"`), "record 6 has not its checksum", true},
		"a line of it is noise":             {func(l []string) []string { l[3] = "\x00\x00\n"; return l }, "record 4 is not readable", false},
		"its end is noise":                  {func(l []string) []string { l[5] = "\x00\x00\n"; return l }, "record 6 is not readable", true},
		"it begins with a record that is 2": {func(l []string) []string { return l[1:] }, "record 1 has not its checksum", false},
		"it is of the format before": {func([]string) []string { return []string{`{"seq":1,"kind":"started","verb":"apply"}` + "\n"} },
			"record 1 has format 0, and this weir reads format 2", false},
	} {
		s := p.process("one", 1)
		bad, good := "bad-"+strings.ReplaceAll(name, " ", "-"), "good-"+strings.ReplaceAll(name, " ", "-")
		run(t, s, bad, kinds()...)
		run(t, s, good, kinds()[0], journal.Record{Kind: journal.Ended, Outcome: journal.AsBefore})
		p.Edit(bad, c.change)
		var wrong *journal.DamagedError
		if _, err := s.Read(bad); !errors.As(err, &wrong) || wrong.Run != bad || !strings.Contains(wrong.Damage, c.want) || wrong.Tail != c.tail {
			t.Errorf("%s: got %+v", name, err)
		}
		if _, err := s.Open(bad, nil); !errors.As(err, &wrong) {
			t.Errorf("%s: it is opened: %v", name, err)
		}
		runs, err := s.Begun()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var rows []string
		for _, r := range runs {
			if r.Name == bad && r.Damage != "" && !r.Ended || r.Name == good && r.Outcome == journal.AsBefore {
				rows = append(rows, r.Name)
			}
		}
		if diff := cmp.Diff([]string{bad, good}, rows); diff != "" {
			t.Errorf("%s: the list: %s", name, diff)
		}
		if err := s.Free(); !errors.As(err, &wrong) {
			t.Errorf("%s: nothing is in the way of a run: %v", name, err)
		}
		if _, err := under(t, s, func() (string, error) { return s.GiveUp(bad, "the next case") }); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
}

// repaired cuts damaged tails off, and sees that what they were about is in doubt.
func repaired(t *testing.T, p Place) {
	for name, c := range map[string]struct {
		change func([]string) []string
		whole  int
		lost   []string
	}{
		"the end is gone":  {func(l []string) []string { return l[:2] }, 2, []string{"a"}},
		"the end is noise": {func(l []string) []string { return append(l[:5:5], "noise\n") }, 5, nil},
	} {
		s := p.process("one", 1)
		bad := strings.ReplaceAll(name, " ", "-")
		run(t, s, bad, kinds()...)
		p.Edit(bad, c.change)
		d, err := s.Damage(bad)
		if err != nil || d == nil || !d.Tail || d.Whole != c.whole || len(d.Lost) != 6-c.whole {
			t.Fatalf("%s: got %+v, %v", name, d, err)
		}
		kept, err := under(t, s, func() (string, error) { return s.Repair(bad) })
		if err != nil || !strings.Contains(kept, bad) {
			t.Fatalf("%s: the copy is %q: %v", name, kept, err)
		}
		r, err := s.Replay(bad)
		if err != nil || r.Damage != "" || !r.Repaired || r.Ended || r.Recovery != journal.Undo || r.Records != c.whole+1 {
			t.Errorf("%s: got %+v, %v", name, r, err)
		}
		var doubt []string
		for _, d := range r.Left() {
			if d.Doubt {
				doubt = append(doubt, d.Name)
			}
		}
		if diff := cmp.Diff(c.lost, doubt); diff != "" {
			t.Errorf("%s: in doubt: %s", name, diff)
		}
		_, err = under(t, s, func() (struct{}, error) {
			j, err := s.Open(bad, nil)
			if err != nil {
				return struct{}{}, err
			}
			return struct{}{}, errors.Join(j.Append(journal.Record{Kind: journal.Ended, Outcome: journal.AsBefore}), j.Close())
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if again, err := s.Damage(bad); again != nil || err != nil {
			t.Errorf("%s: it is damaged again: %v, %v", name, again, err)
		}
	}
}

func givenUp(t *testing.T, p Place) {
	s := p.process("one", 1)
	run(t, s, "run-1", kinds()...)
	p.Edit("run-1", func(l []string) []string { l[1] = strings.Replace(l[1], "9100", "9000", 1); return l })
	var wrong *journal.DamagedError
	if _, err := under(t, s, func() (string, error) { return s.Repair("run-1") }); !errors.As(err, &wrong) || wrong.Tail {
		t.Fatalf("it is repaired: %v", err)
	}
	if _, err := under(t, s, func() (string, error) { return s.GiveUp("run-1", "looked at by hand") }); err != nil {
		t.Fatal(err)
	}
	runs, err := s.Begun()
	if err != nil || len(runs) != 1 || runs[0].Outcome != journal.Abandoned || runs[0].Why != "looked at by hand" || runs[0].Verb != "apply" || runs[0].Devices() != 2 {
		t.Errorf("got %+v, %v", runs, err)
	}
	if err := s.Free(); err != nil {
		t.Errorf("it is still in the way: %v", err)
	}
}

func notReopened(t *testing.T, p Place) {
	s := p.process("one", 1)
	run(t, s, "run-1", append(kinds(), journal.Record{Kind: journal.Ended, Outcome: journal.AsBefore})...)
	p.Edit("run-1", func(l []string) []string { return l[:3] })
	var wrong *journal.DamagedError
	if _, err := under(t, s, func() (string, error) { return s.Repair("run-1") }); !errors.As(err, &wrong) || wrong.Tail {
		t.Errorf("got %v", err)
	}
}
