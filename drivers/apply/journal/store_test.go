package journal

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent/plan"
)

// kinds are those of a run on a and then b, of which a is applied.
func kinds() []Record {
	return []Record{{Kind: Started, Verb: "apply", Plan: "plan-1", Devices: [][]string{{"a"}, {"b"}}}, {Kind: Before, Device: "a", Owned: plan.Document{{Path: []string{"mtu"}, Value: "9100"}}},
		sending("a", "weir-1", false), of(Sending, "a"), of(Reached, "a"), {Kind: Passed}}
}

// written is a store with one journal, which holds the records.
func written(t *testing.T, records ...Record) (Store, string) {
	t.Helper()
	s := Store{Dir: t.TempDir()}
	j, err := s.Create("run-1", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if err := j.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return s, files(s).path("run-1")
}

// files is where a store in a folder has its files.
func files(s Store) folder { return s.backend().(folder) }

// edit changes the content of a file.
func edit(t *testing.T, name string, change func(string) string) {
	t.Helper()
	body, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(change(string(body))), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAHalfWrittenRecordIsCutOff(t *testing.T) {
	s, name := written(t, kinds()[:2]...)
	edit(t, name, func(body string) string { return body + `{"format":2,"sum":"1","rec` })
	j, err := s.Open("run-1", nil)
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

func TestAJournalInWhichNothingWasWrittenIsARunThatNeverBegan(t *testing.T) {
	s, _ := written(t)
	runs, err := s.Begun()
	if err != nil || len(runs) != 0 || s.Free() != nil {
		t.Errorf("got %+v, %v, %v", runs, err, s.Free())
	}
	if err := os.Remove(files(s).path("run-1")); err != nil { // killed before it was made
		t.Fatal(err)
	}
	if runs, err := s.Begun(); err != nil || len(runs) != 0 {
		t.Errorf("without the journal: got %+v, %v", runs, err)
	}
}

func TestAJournalThatIsGoneIsMissed(t *testing.T) {
	s, file := written(t, kinds()...)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	var damaged *DamagedError
	if err := s.Free(); !errors.As(err, &damaged) {
		t.Errorf("got %v", err)
	}
}

// full is a disk that fails at the nth thing that is done to an open file, from then on.
type full struct {
	OS
	fails map[int]bool
	done  *int
}

func (f full) Create(name string) (File, error) {
	file, err := f.OS.Create(name)
	if strings.HasSuffix(name, indexExtension) {
		return file, err
	}
	return fullFile{file, f}, err
}

type fullFile struct {
	File
	on full
}

func (f fullFile) step() error {
	*f.on.done++
	if f.on.fails[*f.on.done] {
		return syscall.ENOSPC
	}
	return nil
}

func (f fullFile) Write(body []byte) (int, error) {
	if err := f.step(); err != nil {
		n, _ := f.File.Write(body[:len(body)/2])
		return n, err
	}
	return f.File.Write(body)
}

func (f fullFile) Sync() error {
	if err := f.step(); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f fullFile) Truncate(size int64) error {
	if err := f.step(); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

func TestAFailedAppendIsCutOffOrClosesTheJournalForGood(t *testing.T) {
	for name, c := range map[string]struct {
		fails map[int]bool
		want  int // records in the end
		after bool
	}{
		"a write fails once":                             {map[int]bool{3: true}, 2, true},
		"a sync fails once":                              {map[int]bool{4: true}, 2, true},
		"a write fails, and cutting it off does as well": {map[int]bool{3: true, 4: true}, 1, false},
	} {
		s := Store{Dir: t.TempDir(), Disk: full{fails: c.fails, done: new(int)}}
		j, err := s.Create("run-1", nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := j.Append(kinds()[0]); err != nil {
			t.Fatal(err)
		}
		if err := j.Append(kinds()[1]); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s: got %v", name, err)
		}
		if err := j.Append(kinds()[1]); (err == nil) != c.after {
			t.Errorf("%s: and then %v", name, err)
		}
		records, err := Store{Dir: s.Dir}.Read("run-1")
		if err != nil || len(records) != c.want {
			t.Errorf("%s: %d records, %v", name, len(records), err)
		}
	}
}

func TestWhatIsListedIsMadeAgainWhereItIsGone(t *testing.T) {
	s, _ := written(t, append(kinds(), Record{Kind: Ended, Outcome: AsBefore})...)
	first, err := s.Begun()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{files(s).summaryFile("run-1"), files(s).indexFile("run-1")} {
		was, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Begun(); err != nil {
			t.Fatal(err)
		}
		j, err := s.Open("run-1", nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		now, err := os.ReadFile(name)
		if diff := cmp.Diff(string(was), string(now)); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
	again, err := s.Begun()
	if diff := cmp.Diff(first, again); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
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
	if err := s.Free(); err != nil {
		t.Error(err)
	}
}

// one is a disk whose every file holds the same.
type one struct {
	OS
	body []byte
}

func (o one) ReadFile(string) ([]byte, error) { return o.body, nil }
func (o one) ReadDir(string) ([]string, error) {
	return []string{"run-1.jsonl", "run-1.ended", "other"}, nil
}
func (one) CreateTemp(string) (string, File, error) { return "", nil, syscall.EROFS }
func (one) Lock(string) (io.Closer, error)          { return nil, ErrHeld }

// FuzzStore reads a folder whose files hold anything.
func FuzzStore(f *testing.F) {
	for _, seed := range []string{
		"", "{", "null\n", "{}\n\n", `{"seq":1,"kind":"started","verb":"apply","devices":[["a"],null]}` + "\n" + `{"seq":2,"kind":"pen`,
		`{"format":2,"sum":"0123456789abcdef","record":{"seq":1,"kind":"started"}}` + "\n",
		`{"sum":"1","record":{"seq":1,"kind":"started","devices":[["a"]]}}` + "\n" + `{"sum":"2","record":{"seq":2,"kind":"ended"}}` + "\n",
		`{"kind":"ended","wave":-9223372036854775808}` + "\n", `{"a":["x"]}`, `{"run":"1","pid":-1}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		s := Store{Dir: "/journal", Disk: one{body: body}, Owner: Owner{Who: "ada@host", PID: 1}, Alive: func(int) bool { return false }}
		p := parse("run-1", body)
		if p.whole > int64(len(body)) || p.whole > 0 && body[p.whole-1] != '\n' {
			t.Errorf("%d bytes of %d are whole records", p.whole, len(body))
		}
		if _, err := s.Begun(); err != nil {
			t.Error(err)
		}
		_ = s.Free()
		_, _ = s.Manifest()
		_, _ = s.Damage("run-1")
		sound(t, p.records)
		var indexed []Record
		for _, e := range parseIndex(body) {
			indexed = append(indexed, e.Record)
		}
		sound(t, indexed)
	})
}
