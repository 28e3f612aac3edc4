package journal

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent/plan"
)

func TestAManifestCountsOnlyWithARecordOfTheDevice(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	if err := s.SaveManifest(plan.Manifest{"leaf1": {"M|a"}, "leaf2": {"M|b"}, "leaf3": {}}); err != nil {
		t.Fatal(err)
	}
	j, err := s.Create("20260101-000000.000", nil)
	if err != nil {
		t.Fatal(err)
	}
	write := func(r Record) {
		t.Helper()
		if err := j.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	counts := func(when string, want plan.Manifest, wantOthers ...string) {
		t.Helper()
		m, err := s.Manifest()
		if err != nil {
			t.Fatal(err)
		}
		got, others, err := s.Recorded(m)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", when, diff)
		}
		if diff := cmp.Diff(wantOthers, others); diff != "" {
			t.Errorf("%s: %s", when, diff)
		}
	}
	counts("before any run", plan.Manifest{}, "leaf1", "leaf2")
	write(Record{Kind: Started, Devices: [][]string{{"leaf5"}, {"leaf2"}}})
	counts("while the run goes on", plan.Manifest{"leaf2": {"M|b"}}, "leaf1")
	write(Record{Kind: Ended, Outcome: AsBefore})
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	counts("when it has ended", plan.Manifest{"leaf2": {"M|b"}}, "leaf1")
	if err := os.Remove(files(s).path(j.Run)); err != nil {
		t.Fatal(err)
	}
	counts("when nothing but its summary is left", plan.Manifest{"leaf2": {"M|b"}}, "leaf1")
	if err := s.Strike(); err != nil {
		t.Fatal(err)
	}
	counts("when the next run has begun", plan.Manifest{"leaf2": {"M|b"}})
}
