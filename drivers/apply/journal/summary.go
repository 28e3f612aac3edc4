package journal

import "encoding/json"

// summary is what is listed of a run that has ended: its first record and its last, and what stands between them in two words.
// It can be made again from the journal, and stays when that is removed.
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
	return s.backend().Summarise(run, append(body, '\n'))
}

// summaryOf is the run as its summary has it; not ok where that is none.
func summaryOf(run string, body []byte) (r Run, ok bool) {
	var short summary
	if json.Unmarshal(body, &short) != nil || short.Format != format || short.End.Kind != Ended {
		return r, false
	}
	r = Replay([]Record{short.Start, short.End})
	r.Name, r.Records, r.Sent, r.Stays = run, short.Records, short.Sent, short.Stays
	return r, true
}
