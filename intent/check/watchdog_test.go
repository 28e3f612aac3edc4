package check

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/inventory"
)

// TestTheWatchdogsTimesMakeSense complements the archives with cases that differ in one setting.
func TestTheWatchdogsTimesMakeSense(t *testing.T) {
	all := func(in *intent.Fabric, _ *inventory.Inventory) *intent.Watchdog { return &in.Settings.PFC.Watchdog }
	for _, c := range []struct {
		name  string
		check func(*fabric.Fabric) diag.List
		bend  func(*intent.Fabric, *inventory.Inventory)
		want  []string
	}{
		{"nothing wrong", watchdog, func(*intent.Fabric, *inventory.Inventory) {}, nil},
		{"no watchdog towards hosts", watchdog, func(in *intent.Fabric, inv *inventory.Inventory) { all(in, inv).Off = at(true, 7) }, []string{
			"warning: leaf1/Ethernet1/watchdog: PFC is on towards host gpu1 and the watchdog is off",
			"warning: leaf1/Ethernet2/watchdog: PFC is on towards host gpu2 and the watchdog is off",
		}},
		{"an alert only", watchdog, func(in *intent.Fabric, inv *inventory.Inventory) { all(in, inv).Action = at(qos.Alert, 7) }, []string{
			"warning: leaf1/Ethernet1/watchdog: the watchdog only reports what it finds (action alert)",
			"warning: leaf1/Ethernet2/watchdog: the watchdog only reports what it finds (action alert)",
		}},
		{"no restoration", watchdog, func(in *intent.Fabric, inv *inventory.Inventory) {
			all(in, inv).Restoration = at(time.Duration(0), 7)
		}, []string{
			"warning: leaf1/Ethernet1/watchdog: the watchdog never gives a queue back (restoration 0s)",
			"warning: leaf1/Ethernet2/watchdog: the watchdog never gives a queue back (restoration 0s)",
		}},
		{"the poll of SONiC's limits", watchdogLimits, func(in *intent.Fabric, inv *inventory.Inventory) {
			w := all(in, inv)
			w.Poll, w.Detection, w.Restoration = at(time.Second, 7), at(5*time.Second, 7), at(time.Minute, 7)
		}, nil},
		{"a poll beyond SONiC's limits", watchdogLimits, func(in *intent.Fabric, inv *inventory.Inventory) {
			w := all(in, inv)
			w.Poll, w.Detection, w.Restoration = at(1001*time.Millisecond, 7), at(5*time.Second, 7), at(time.Minute, 7)
		}, []string{
			"error: leaf1/Ethernet1/watchdog: platform sonic cannot be told this: watchdog.poll is 1.001s where it takes 100ms to 1s",
			"error: leaf1/Ethernet2/watchdog: platform sonic cannot be told this: watchdog.poll is 1.001s where it takes 100ms to 1s",
		}},
		{"a platform that nobody knows", watchdogLimits, func(in *intent.Fabric, inv *inventory.Inventory) {
			inv.Devices[0].Platform = at("beos", 50)
			all(in, inv).Poll = at(time.Minute, 7)
		}, nil},
		// 335.5 us a frame at 100G; ten of them are 3.36 ms, and the buffer of 60.8 MB needs 4.87 ms.
		{"one legal PAUSE", watchdogPause, func(in *intent.Fabric, inv *inventory.Inventory) {
			all(in, inv).Detection = at(335*time.Microsecond, 7)
		}, []string{
			"error: leaf1/Ethernet1/watchdog: the watchdog detects in 335µs, and one legal PAUSE frame stops a 100G port for 336µs",
			"error: leaf1/Ethernet2/watchdog: the watchdog detects in 335µs, and one legal PAUSE frame stops a 100G port for 336µs",
		}},
		{"ten legal PAUSE frames", watchdogPause, func(in *intent.Fabric, inv *inventory.Inventory) {
			all(in, inv).Detection = at(3*time.Millisecond, 7)
		}, []string{
			"warning: leaf1/Ethernet1/watchdog: the watchdog detects in 3ms, and 10 legal PAUSE frames in a row stop a 100G port for 3.355ms",
			"warning: leaf1/Ethernet2/watchdog: the watchdog detects in 3ms, and 10 legal PAUSE frames in a row stop a 100G port for 3.355ms",
		}},
		{"enough for all", watchdogPause, func(in *intent.Fabric, inv *inventory.Inventory) {
			all(in, inv).Detection = at(4*time.Millisecond, 7)
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			in, inv := soundHosts(), withHosts("sonic", "Mellanox-SN4600C-C64", "ConnectX-6")
			c.bend(in, inv)
			if diff := cmp.Diff(c.want, saidOf(t, in, inv, c.check)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// saidOf is what a check says of a repo, before findings are joined.
func saidOf(t *testing.T, in *intent.Fabric, inv *inventory.Inventory, check func(*fabric.Fabric) diag.List) []string {
	t.Helper()
	f, findings := fabric.Resolve(in, inv)
	if findings.HasErrors() {
		t.Fatal(findings)
	}
	l := check(f)
	var got []string
	for i, d := range l {
		if i < 2 {
			got = append(got, fmt.Sprintf("%s: %s: %s", d.Severity, d.Addr, d.Summary))
		}
	}
	return got
}

// TestAFullBufferBehindAPortHoldsIt has a switch of 60.8 MB with a lossless port of 10G, which needs 48.7 ms to send it.
func TestAFullBufferBehindAPortHoldsIt(t *testing.T) {
	for _, c := range []struct {
		detection time.Duration
		want      []string
	}{
		{97 * time.Millisecond, []string{
			"warning: a/Ethernet2/watchdog: the watchdog detects in 97ms, and x may need 48.654ms to send a full buffer out of one port",
			"warning: b/Ethernet2/watchdog: the watchdog detects in 97ms, and x may need 48.654ms to send a full buffer out of one port",
		}},
		{98 * time.Millisecond, nil},
	} {
		in, inv := sound(), cabled([]string{"a@:leaf", "b@:leaf", "x:spine"}, []string{"a-x", "b-x"})
		for _, d := range inv.Devices {
			for i := range d.Ports {
				d.Ports[i].Speed = 10e9
			}
		}
		in.Settings.PFC.Watchdog.Detection = at(c.detection, 7)
		if diff := cmp.Diff(c.want, saidOf(t, in, inv, watchdogPause)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.detection, diff)
		}
	}
}
