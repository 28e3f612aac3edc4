package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/cmd/control/lab"
	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/drivers/sim"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/intent/proof/deadlock"
)

// signalAt is SIGNAL:RECORD, both numbers: the signal that a weir which a test starts sends itself, and the record of the journal after
// which it does.
const signalAt = "WEIR_TEST_SIGNAL_AT"

// peakAt names the file that a weir which a test starts writes the most memory to that it ever had, in KiB.
const peakAt = "WEIR_TEST_PEAK_AT"

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"weir": func() {
			c := &console{out: os.Stdout, err: os.Stderr}
			var signal syscall.Signal
			var record int
			if n, _ := fmt.Sscanf(os.Getenv(signalAt), "%d:%d", &signal, &record); n == 2 {
				c.observed = func(r journal.Record) {
					if r.Seq != record {
						return
					}
					_ = syscall.Kill(os.Getpid(), signal)
					if signal == syscall.SIGKILL {
						select {} // until it has come
					}
				}
			}
			code := c.main(os.Args[1:])
			if file := os.Getenv(peakAt); file != "" {
				if err := writePeak(file); err != nil {
					panic(err)
				}
			}
			os.Exit(code)
		},
	})
}

// TestScripts runs what a user types. Beside testscript's own commands there are
//
//	exits CODE COMMAND...  the command ends with exactly this exit code
//	lab DIR                serves devices for the repo until the script ends, and lives 10 times as fast as real ones
//	cutoff DEVICE          cuts a device of the lab off
//	decodes FORM           what the last command printed is one JSON document of this form and has no key that the form does not know
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Values[labKey{}] = new(*sim.Lab)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "lab": serveLab, "cutoff": cutOffDevice, "decodes": decodes,
		},
	})
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	code := "0"
	err := ts.Exec(args[1], args[2:]...)
	var ended *exec.ExitError
	switch {
	case errors.As(err, &ended):
		code = strconv.Itoa(ended.ExitCode())
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if code != args[0] {
		ts.Fatalf("exit code %s, want %s", code, args[0])
	}
}

// labKey finds the lab of a script among its values.
type labKey struct{}

func serveLab(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: lab DIR")
	}
	ctx := context.Background()
	c := &console{out: io.Discard, err: io.Discard}
	r, err := c.mustHold(ts.MkAbs(args[0]), "")
	ts.Check(err)
	twin, err := lab.Start(ctx, r, lab.Options{Scale: labScale})
	ts.Check(err)
	ts.Defer(func() { ts.Check(twin.Close()) })
	*ts.Value(labKey{}).(**sim.Lab) = twin
	ts.Check(twin.SetTraffic(sim.Steady))
}

func cutOffDevice(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: cutoff DEVICE")
	}
	ts.Check((*ts.Value(labKey{}).(**sim.Lab)).Kill(args[0]))
}

// forms are what --json prints, by command.
var forms = map[string]any{
	"findings": findings{}, "explain": explained{}, "plan": plan.Plan{}, "drift": drift{}, "run": runResult{}, "rollback": rollbackPlan{}, "story": runStory{},
	"deadlock": deadlock.Answer{}, "prove": control.PathProof{}, "congestion": congestionAnswer{},
}

func decodes(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 || forms[args[0]] == nil {
		ts.Fatalf("usage: decodes FORM")
	}
	printed := ts.ReadFile("stdout")
	if strings.Contains(printed, ": null") {
		ts.Fatalf("a value is null, which no form has")
	}
	into := reflect.New(reflect.TypeOf(forms[args[0]]))
	d := json.NewDecoder(strings.NewReader(printed))
	d.DisallowUnknownFields()
	if err := d.Decode(into.Interface()); err != nil {
		ts.Fatalf("%v", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		ts.Fatalf("something stands behind the document")
	}
	if n := into.Elem().FieldByName("Format").Int(); n != 1 {
		ts.Fatalf("format %d", n)
	}
}
