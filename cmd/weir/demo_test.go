package main

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/cmd/control"
	"github.com/weirfabric/weir/drivers/drivertest"
	"github.com/weirfabric/weir/drivers/sim"
	"github.com/weirfabric/weir/telemetry/health"
)

// TestTheDemoSeesAllThatItSetsOutToShow runs the demo in memory, and where everything is to be tested also as a user does, on loopback.
func TestTheDemoSeesAllThatItSetsOutToShow(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Run("in memory", func(t *testing.T) {
		drivertest.Bubble(t, func(t *testing.T) {
			network := sim.NewNetwork()
			seesAll(t, &console{network: network, effects: control.Effects{Dial: network.DialContext}}, "--listen", "")
		})
	})
	t.Run("on loopback", func(t *testing.T) {
		if os.Getenv("WEIR_TEST_ALL") != "1" {
			t.Skip("make test-all runs it: its devices live in the time of the wall")
		}
		seesAll(t, &console{}, "--scale", "10") // a fourth of what users see, for a machine with much else to do
	})
}

// seesAll runs the demo once.
func seesAll(t *testing.T, c *console, flags ...string) {
	t.Helper()
	var out, errs strings.Builder
	c.out, c.err = &out, &errs
	began := time.Now()
	code := c.mainUntil(t.Context(), append([]string{"demo", "--once", "--json"}, flags...))
	if errs.Len() > 0 {
		t.Errorf("it complains: %s", errs.String())
	}
	var got demoReport
	parsing := json.NewDecoder(strings.NewReader(out.String()))
	parsing.DisallowUnknownFields()
	if err := parsing.Decode(&got); err != nil {
		t.Fatalf("%v in %q", err, out.String())
	}
	if parsing.More() {
		t.Errorf("more than the report was printed: %s", out.String())
	}
	if diff := cmp.Diff(got.Unsatisfied, []string{}); diff != "" || code != exitDone {
		t.Errorf("exit code %d, not seen (-got +want):\n%s", code, diff)
	}
	if got.Devices != 16 || got.Applied == 0 || got.SecondPlan != 0 || !got.RolledBack {
		t.Errorf("got %d devices, %d changes, %d in a second plan, bad change led back: %t", got.Devices, got.Applied, got.SecondPlan, got.RolledBack)
	}
	if len(got.Drift) != 1 || !strings.HasSuffix(got.Drift[0], "green_max_threshold") {
		t.Errorf("drift %v, want the one value that was changed by hand", got.Drift)
	}
	checks := map[string]string{}
	for _, v := range got.Verdicts {
		checks[v.Check] = v.Culprit
		if v.Seconds <= 0 || v.Seconds*got.Scale != v.DeviceSeconds || v.Seconds > time.Since(began).Seconds() {
			t.Errorf("%s was found after %v s of %v s of the devices at scale %v", v.Check, v.Seconds, v.DeviceSeconds, got.Scale)
		}
	}
	if culprit := checks[string(health.PFCStorm)]; !slices.Contains([]string{"gpu8/eth0", "gpu8/eth1"}, culprit) {
		t.Errorf("the storm is blamed on %q, want a port of gpu8", culprit)
	}
	if culprit := checks[string(health.Incast)]; !slices.Contains([]string{"gpu1/eth0", "gpu1/eth1"}, culprit) {
		t.Errorf("the incast is said to go to %q, want a port of gpu1", culprit)
	}
}
