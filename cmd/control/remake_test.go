package control

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"testing"

	"github.com/weirfabric/weir/drivers/apply"
	"github.com/weirfabric/weir/intent/plan"
)

// planned is a repo of one switch, what was read of it, and the plan, as it comes from a file.
func planned(t *testing.T) (*Repo, map[string]Observation, plan.Plan) {
	t.Helper()
	r, err := Open(t.TempDir(), Options{Effects: Effects{Files: small("address: x")}})
	if err != nil {
		t.Fatal(err)
	}
	read := func(body string) Observation {
		var answers []plan.Answer
		for _, q := range r.Queries("leaf1") {
			answers = append(answers, plan.Answer{Name: q.Name, Body: []byte(body)})
		}
		state, err := r.bound["leaf1"].Read(answers)
		if err != nil {
			t.Fatal(err)
		}
		return Observation{Answers: answers, State: state}
	}
	seen := map[string]Observation{"leaf1": read(`{"PORT":{"Ethernet0":{"mtu":"9100"}},"DEVICE_METADATA":{"localhost":{"hwsku":"Mellanox-SN4600C-C64"}}}`)}
	p, err := r.Plan(r.Names, seen, PlanOptions{})
	if err != nil || len(p.Waves) != 1 {
		t.Fatal(err, p.Waves)
	}
	file := filepath.Join(t.TempDir(), "plan.json")
	if err := SavePlan(file, p); err != nil {
		t.Fatal(err)
	}
	if p, err = LoadPlan(file); err != nil {
		t.Fatal(err)
	}
	return r, seen, p
}

func TestAPlanThatNobodyTouchedIsMadeAgain(t *testing.T) {
	r, seen, p := planned(t)
	again, err := r.Remake(p, seen)
	if err != nil || again.ID != p.ID {
		t.Fatal(err)
	}
	a, _ := json.Marshal(p.Waves)
	b, _ := json.Marshal(again.Waves)
	if string(a) != string(b) {
		t.Errorf("got %s, want %s", b, a)
	}
}

// TestAPlanThatSomebodyEditedIsRefused edits every part of a plan that is carried out or agreed to.
func TestAPlanThatSomebodyEditedIsRefused(t *testing.T) {
	for name, edit := range map[string]func(s *plan.Step, p *plan.Plan){
		"a command more": func(s *plan.Step, _ *plan.Plan) {
			s.Chunks[0].Send = append(s.Chunks[0].Send, plan.Message{Op: plan.Run, Body: "id"})
		},
		"a command that undoes": func(s *plan.Step, _ *plan.Plan) {
			s.Chunks[0].Undo = append(s.Chunks[0].Undo, plan.Message{Op: plan.Run, Body: "id"})
		},
		"a chunk more": func(s *plan.Step, _ *plan.Plan) {
			s.Chunks = append(s.Chunks, plan.Chunk{Send: []plan.Message{{Op: plan.Run, Body: "id"}}})
		},
		"another value": func(s *plan.Step, _ *plan.Plan) { s.Chunks[0].Send[0].Body += " " },
		"a command when it is kept": func(s *plan.Step, _ *plan.Plan) {
			s.Persist = append(s.Persist, plan.Message{Op: plan.Run, Body: "id"})
		},
		"a question of somebody else": func(s *plan.Step, _ *plan.Plan) {
			s.Quiet = append(s.Quiet, plan.Query{Name: "q", Ways: []plan.Way{{Via: plan.SSH, Text: "id"}}})
		},
		"no changes to show":           func(s *plan.Step, _ *plan.Plan) { s.Changes = nil },
		"nothing that is adopted":      func(s *plan.Step, _ *plan.Plan) { s.Changes[0].Adopt = !s.Changes[0].Adopt },
		"an impact that is none":       func(s *plan.Step, _ *plan.Plan) { s.Chunks[0].Impact = plan.Reboots },
		"another way":                  func(s *plan.Step, _ *plan.Plan) { s.Route = "other" },
		"a timer":                      func(s *plan.Step, _ *plan.Plan) { s.Confirm++ },
		"a device twice":               func(_ *plan.Step, p *plan.Plan) { p.Waves = append(p.Waves, p.Waves[0]) },
		"a reason that nobody checked": func(s *plan.Step, _ *plan.Plan) { s.Why = "trust me" },
	} {
		t.Run(name, func(t *testing.T) {
			r, seen, p := planned(t)
			edit(&p.Waves[0][0], &p)
			_, err := r.Remake(p, seen)
			var altered *AlteredError
			if !errors.As(err, &altered) {
				t.Errorf("got %v, want that it was altered", err)
			}
		})
	}
}

func TestAPlanOfADeviceThatMovedIsStale(t *testing.T) {
	r, seen, p := planned(t)
	p.Waves[0][0].Base, p.Waves[0][0].Parts = "another", map[string]plan.Digest{"Ethernet0": "another"}
	_, err := r.Remake(p, seen)
	var stale *apply.StaleError
	if !errors.As(err, &stale) {
		t.Errorf("got %v, want that it is stale", err)
	}
	p.Intent = "another"
	if _, err := r.Remake(p, seen); !errors.Is(err, ErrMoved) {
		t.Errorf("got %v, want that the repo moved", err)
	}
}
