package journal

import (
	"encoding/json"
	"path/filepath"
)

// summary is what is listed of a run that has ended: its first record and its last, and what stands between them in two words.
// It can be made again from the journal.
type summary struct {
	Format  int    `json:"format"`
	Records int    `json:"records"`
	Start   Record `json:"start"`
	End     Record `json:"end"`
	Sent    bool   `json:"sent"`
	Stays   bool   `json:"stays"`
}

// summarise writes the summary of a run that has ended.
func (s Store) summarise(run string, r Run, records []Record) error {
	body, err := json.Marshal(summary{format, len(records), records[0].skeleton(), records[len(records)-1].skeleton(), r.Sent, r.Stays})
	if err != nil {
		return err
	}
	return s.replace(s.summaryFile(run), append(body, '\n'))
}

// summary is the run as its summary has it; not ok where it has none.
func (s Store) summary(run string) (r Run, ok bool) {
	body, err := s.disk().ReadFile(s.summaryFile(run))
	var short summary
	if err != nil || json.Unmarshal(body, &short) != nil || short.Format != format || short.End.Kind != Ended {
		return r, false
	}
	r = Replay([]Record{short.Start, short.End})
	r.Name, r.Records, r.Sent, r.Stays = run, short.Records, short.Sent, short.Stays
	return r, true
}

func (s Store) summaryFile(run string) string { return filepath.Join(s.runs(), run+summaryExtension) }
