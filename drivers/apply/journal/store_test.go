package journal

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
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

func TestAProcessIsSeenFromItsOwnMachineOnly(t *testing.T) {
	s := Store{Alive: func(pid int) bool { return pid == 7 || pid == 0 }}
	for name, c := range map[string]struct {
		lock Lock
		want bool
	}{
		"its process runs":                    {Lock{Who: "ada@host", PID: 7}, true},
		"its process is gone":                 {Lock{Who: "ada@host", PID: 8}, false},
		"it is of another machine":            {Lock{Who: "ada@elsewhere", PID: 7}, false},
		"it was cut off while it was written": {Lock{Who: "ada@host"}, false},
	} {
		if got := s.Running(c.lock, "ada@host"); got != c.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
	if !(Store{}).Running(Lock{Who: "ada@host", PID: os.Getpid()}, "ada@host") {
		t.Error("this process does not run, says the machine")
	}
}

func TestRecordsAreDatedByTheClockOfTheStore(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.FixedZone("", 3600))
	j, err := Store{Dir: t.TempDir(), Now: func() time.Time { return noon }}.Create("run-1", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if err := j.Append(Record{Kind: Started}); err != nil {
		t.Fatal(err)
	}
	if got := j.Records()[0].At; got != noon.UTC() {
		t.Errorf("got %v", got)
	}
}

func TestAStoreThatHoldsNothingHasNoRuns(t *testing.T) {
	s := Store{Dir: filepath.Join(t.TempDir(), "never made")}
	runs, err := s.Begun()
	if err != nil || len(runs) != 0 {
		t.Errorf("got %v, %v", runs, err)
	}
	if err := s.Free("ada@host"); err != nil {
		t.Error(err)
	}
}

// one is a disk whose every file holds the same.
type one struct {
	OS
	body []byte
}

func (o one) ReadFile(string) ([]byte, error)  { return o.body, nil }
func (o one) ReadDir(string) ([]string, error) { return []string{"run-1.jsonl", "other"}, nil }

// FuzzStore reads a folder whose files hold anything.
func FuzzStore(f *testing.F) {
	for _, seed := range []string{
		"", "{", "null\n", "{}\n\n", `{"seq":1,"kind":"started","verb":"apply","devices":[["a"],null]}` + "\n" + `{"seq":2,"kind":"pen`,
		`{"kind":"started","devices":[["a"]]}` + "\n" + `{"kind":"before","device":"a"}` + "\n" + `{"kind":"pending","device":"a"}` + "\n",
		`{"kind":"ended","wave":-9223372036854775808}` + "\n", `{"a":["x"]}`, `{"run":"1","pid":-1}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		s := Store{Dir: "/journal", Disk: one{body: body}, Alive: func(int) bool { return false }}
		records, whole, err := s.read("run-1")
		if err == nil && (whole > int64(len(body)) || whole > 0 && body[whole-1] != '\n') {
			t.Errorf("%d bytes of %d are whole records", whole, len(body))
		}
		runs, unread := s.Begun()
		if (err == nil) != (unread == nil) || err == nil && len(runs) != min(len(records), 1) {
			t.Errorf("%d records, %v; %d runs, %v", len(records), err, len(runs), unread)
		}
		_ = s.Free("ada@host")
		_, _ = s.Manifest()
		sound(t, records)
	})
}
