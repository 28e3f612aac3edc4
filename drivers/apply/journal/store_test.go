package journal

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAHalfWrittenRecordIsCutOff(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	j, err := s.Create("run-1", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []Kind{Started, Before} {
		if err := j.Append(Record{Kind: k}); err != nil {
			t.Fatal(err)
		}
	}
	j.Close()
	name := filepath.Join(s.Dir, "runs", "run-1.jsonl")
	body, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, append(body, `{"seq":3,"kind":"pen`...), 0o600); err != nil {
		t.Fatal(err)
	}
	j, err = s.Open("run-1", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if err := j.Append(Record{Kind: Ended}); err != nil {
		t.Fatal(err)
	}
	records, err := s.Read("run-1")
	if err != nil || len(records) != 3 || records[2].Kind != Ended || records[2].Seq != 3 {
		t.Errorf("got %+v, %v", records, err)
	}
}

func TestOnlyOneRunHoldsTheLock(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	if err := s.Lock(Lock{Run: "1", Verb: "apply", Who: "ada@host", PID: os.Getpid()}); err != nil {
		t.Fatal(err)
	}
	err := s.Lock(Lock{Run: "2"})
	var locked *LockedError
	if !errors.As(err, &locked) || locked.Lock.Run != "1" || !strings.Contains(err.Error(), "ada@host") {
		t.Fatalf("got %v", err)
	}
	if err := s.Unlock(); err != nil {
		t.Fatal(err)
	}
	if err := s.Lock(Lock{Run: "2"}); err != nil {
		t.Error(err)
	}
}
