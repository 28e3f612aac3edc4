package journal

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestADamagedTailIsCutOffAndWhatItWasAboutIsInDoubt(t *testing.T) {
	for name, c := range map[string]struct {
		change func(string) string
		whole  int
		lost   []string
	}{
		"the end is gone":  {func(b string) string { return strings.Join(strings.SplitAfter(b, "\n")[:2], "") }, 2, []string{"a"}},
		"the end is noise": {func(b string) string { return strings.Join(strings.SplitAfter(b, "\n")[:5], "") + "noise\n" }, 5, nil},
	} {
		s, file := written(t, kinds()...)
		edit(t, file, c.change)
		was, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		d, err := s.Damage("run-1")
		if err != nil || d == nil || !d.Tail || d.Whole != c.whole || len(d.Lost) != 6-c.whole {
			t.Fatalf("%s: got %+v, %v", name, d, err)
		}
		kept, err := s.Repair("run-1")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if copied, err := os.ReadFile(kept); err != nil || string(copied) != string(was) {
			t.Errorf("%s: the copy is %q, %v", name, copied, err)
		}
		r, err := s.Replay("run-1")
		if err != nil || r.Damage != "" || !r.Repaired || r.Ended || r.Recovery != Undo || r.Records != c.whole+1 {
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
		j, err := s.Open("run-1", nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := errors.Join(j.Append(Record{Kind: Ended, Outcome: AsBefore}), j.Close()); err != nil {
			t.Error(err)
		}
		if again, err := s.Damage("run-1"); again != nil || err != nil {
			t.Errorf("%s: it is damaged again: %v, %v", name, again, err)
		}
	}
}

func TestAJournalThatIsDamagedInTheMiddleIsGivenUpAndNotRepaired(t *testing.T) {
	s, file := written(t, kinds()...)
	edit(t, file, func(b string) string { return strings.Replace(b, "9100", "9000", 1) })
	var damaged *DamagedError
	if _, err := s.Repair("run-1"); !errors.As(err, &damaged) || damaged.Tail {
		t.Fatalf("it is repaired: %v", err)
	}
	kept, err := s.GiveUp("run-1", "looked at by hand")
	if err != nil {
		t.Fatal(err)
	}
	if body, err := os.ReadFile(kept); err != nil || !strings.Contains(string(body), "9000") {
		t.Errorf("the copy is %q, %v", body, err)
	}
	runs, err := s.Begun()
	if err != nil || len(runs) != 1 || runs[0].Outcome != Abandoned || runs[0].Why != "looked at by hand" || runs[0].Verb != "apply" || runs[0].Devices() != 2 {
		t.Errorf("got %+v, %v", runs, err)
	}
	if err := s.Free(); err != nil {
		t.Errorf("it is still in the way: %v", err)
	}
}
