package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/intent/diag"
)

func TestOneJudgementExitsWithTwoOnWhatIsNotWell(t *testing.T) {
	for name, c := range map[string]struct {
		severity diag.Severity
		want     int
	}{
		"a note":    {diag.Note, exitDone},
		"a warning": {diag.Warning, exitChanges},
		"an error":  {diag.Error, exitChanges},
	} {
		cons := &console{out: io.Discard, err: io.Discard, json: true}
		got := exitDone
		var code exit
		if err := cons.healthOnce(nil, nil, control.Verdicts{{Severity: c.severity}}); errors.As(err, &code) {
			got = int(code)
		} else if err != nil {
			t.Fatal(err)
		}
		if got != c.want {
			t.Errorf("%s: exit code %d, want %d", name, got, c.want)
		}
	}
}

func TestAVerdictBeginsAndEndsInALineOfJSONEach(t *testing.T) {
	var out bytes.Buffer
	cons := &console{out: &out, err: io.Discard, json: true}
	storm := control.Verdict{Check: control.CheckPFCStorm, Device: "leaf1", Port: "Ethernet0", Severity: diag.Error}
	incast := control.Verdict{Check: control.CheckIncast, Device: "leaf1", Port: "Ethernet4", Severity: diag.Note}
	for _, step := range []struct{ before, now control.Verdicts }{
		{nil, control.Verdicts{storm}},
		{control.Verdicts{storm}, control.Verdicts{storm}},
		{control.Verdicts{storm}, control.Verdicts{incast}},
	} {
		if err := cons.printChanges(step.before, step.now); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		var e verdictEvent
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%q is no document: %v", line, err)
		}
		if e.Format != 1 || e.At.IsZero() {
			t.Errorf("got %+v", e)
		}
		got = append(got, e.Event+" "+string(e.Verdict.Check))
	}
	if want := "begin pfc-storm, end pfc-storm, begin incast"; strings.Join(got, ", ") != want {
		t.Errorf("got %s, want %s", strings.Join(got, ", "), want)
	}
}
