package main

import (
	"errors"
	"io"
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
