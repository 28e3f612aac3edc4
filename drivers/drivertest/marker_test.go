package drivertest_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/drivers/drivertest"
	"github.com/weirfabric/weir/drivers/sim"
)

// markable are the laboratory's devices that hold markers, and how root puts something else in the marker's place; empty where
// nobody can.
func markable() map[string]struct {
	start func(t *testing.T, n *sim.Network) device
	put   string // before the text
	drop  bool   // a restart takes the marker away
} {
	return map[string]struct {
		start func(t *testing.T, n *sim.Network) device
		put   string
		drop  bool
	}{
		"a session of EOS": {func(t *testing.T, n *sim.Network) device {
			return start(t, sim.Spec{Name: "leaf1", Platform: "eos", SKU: "DCS-7060CX-32S", Ports: []sim.PortSpec{{Name: "Ethernet1/1", Speed: 100e9}}}, n)
		}, "", true},
		"a file of SONiC": {leaf, "/etc/sonic/weir", false},
		"a file of Linux": {host, "/etc/weir", false},
	}
}

// marked dials a device over SSH, and over gNMI where it has that, as weir does.
func marked(t *testing.T, d device) drivers.Marking {
	t.Helper()
	target, err := drivers.Routed{GNMI: d.gnmi, SSH: d.ssh}.Dial(t.Context(), d.endpoint)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = target.Close() })
	return target.(drivers.Marking)
}

func markerOf(run, id string) drivers.Marker {
	return drivers.Marker{Run: run, Verb: "apply", Who: "ada@ws", Journal: "/it's/.weir", ID: id, Since: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
}

// only wants one marker, which is the run's.
func only(t *testing.T, what string, got []drivers.Marker, err error, want drivers.Marker) {
	t.Helper()
	if err != nil || len(got) != 1 || !got[0].Same(want) {
		t.Errorf("%s: got %v, %v, want %v", what, got, err, want)
	}
}

func TestADeviceIsClaimedByOneRunAtATime(t *testing.T) {
	for name, c := range markable() {
		t.Run(name, func(t *testing.T) {
			drivertest.Bubble(t, func(t *testing.T) {
				d := c.start(t, sim.NewNetwork())
				before, err := d.Config(d.endpoint.Device)
				if err != nil {
					t.Fatal(err)
				}
				one, two := marked(t, d), marked(t, d)
				first, second := markerOf("20260301-120000.000", "0123456789ab"), markerOf("20260301-120000.000", "ba9876543210")
				if got, err := one.Markers(t.Context()); err != nil || len(got) > 0 {
					t.Fatalf("a device that nobody marked: got %v, %v", got, err)
				}
				got, err := one.Claim(t.Context(), first)
				only(t, "the first", got, err, first)
				got, err = one.Claim(t.Context(), first)
				only(t, "the first again", got, err, first)
				got, err = two.Claim(t.Context(), second)
				only(t, "the second", got, err, first)
				if body, err := d.Config(d.endpoint.Device); err != nil || string(body) != string(before) {
					t.Errorf("the configuration is another: %v\n%s", err, body)
				}
				if err := d.Reboot(d.endpoint.Device); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Hour)
				one, two = marked(t, d), marked(t, d)
				got, err = two.Markers(t.Context())
				if c.drop {
					if err != nil || len(got) > 0 {
						t.Fatalf("after a restart: got %v, %v", got, err)
					}
					got, err = one.Claim(t.Context(), first)
				}
				only(t, "after a restart", got, err, first)
				read := got[0]
				other := read
				other.Text = strings.Replace(read.Text, "0123456789ab", "0123456789ac", 1)
				if err := two.Unclaim(t.Context(), other); err != nil {
					t.Errorf("to remove what does not stand there: %v", err)
				}
				got, err = two.Markers(t.Context())
				only(t, "it is removed as another", got, err, first)
				if err := one.Unclaim(t.Context(), read); err != nil {
					t.Fatal(err)
				}
				got, err = two.Claim(t.Context(), second)
				only(t, "the second, when the first is gone", got, err, second)
			})
		})
	}
}

func TestOfTwoThatClaimADeviceAtOnceAtMostOneHasIt(t *testing.T) {
	for name, c := range markable() {
		t.Run(name, func(t *testing.T) {
			drivertest.Bubble(t, func(t *testing.T) {
				d := c.start(t, sim.NewNetwork())
				for range 8 {
					var all sync.WaitGroup
					var mu sync.Mutex
					alone := 0
					for _, id := range []string{"aaaaaaaaaaaa", "bbbbbbbbbbbb", "cccccccccccc"} {
						m, target := markerOf("20260301-120000.000", id), marked(t, d)
						all.Go(func() {
							got, err := target.Claim(t.Context(), m)
							if err != nil {
								t.Error(err)
							}
							if len(got) == 1 && got[0].Same(m) {
								mu.Lock()
								alone++
								mu.Unlock()
							}
						})
					}
					all.Wait()
					if alone > 1 {
						t.Fatalf("%d runs have the device", alone)
					}
					sweeper := marked(t, d)
					left, err := sweeper.Markers(t.Context())
					if err != nil || len(left) != alone {
						t.Errorf("%d have it, and there stand %v, %v", alone, left, err)
					}
					for _, m := range left {
						if err := sweeper.Unclaim(t.Context(), m); err != nil {
							t.Error(err)
						}
					}
				}
			})
		})
	}
}

func TestWhatSomebodyElsePutIntoTheMarkersPlaceIsNotBelieved(t *testing.T) {
	for name, c := range markable() {
		if c.put == "" {
			continue
		}
		for what, put := range map[string]string{
			"nothing":            "printf '%s\\n' '' > " + c.put,
			"control characters": "printf '%s\\n' '{\"run\":\"\x1b[2J\",\"id\":' > " + c.put,
			"more than is read":  "printf '%s\\n' '" + strings.Repeat("\x07busy", 5000) + "' > " + c.put,
		} {
			t.Run(name+" holds "+what, func(t *testing.T) {
				drivertest.Bubble(t, func(t *testing.T) {
					d := c.start(t, sim.NewNetwork())
					if err := d.Inject(sim.Fault{Kind: sim.ForeignEdit, Device: d.endpoint.Device, Text: put}); err != nil {
						t.Fatal(err)
					}
					got, err := marked(t, d).Claim(t.Context(), markerOf("1", "0123456789ab"))
					if err != nil || len(got) != 1 || got[0].Run != "" || len(got[0].Text) > drivers.MaxMarker || strings.ContainsAny(got[0].String(), "\x1b\x07") {
						t.Errorf("got %v, %v", got, err)
					}
				})
			})
		}
	}
}

func TestADeviceWithoutSSHHoldsNoMarker(t *testing.T) {
	drivertest.Bubble(t, func(t *testing.T) {
		d := leaf(t, sim.NewNetwork())
		d.endpoint.SSH = ""
		var none *drivers.NoMarkerError
		for name, ask := range map[string]func(drivers.Marking) error{
			"claim": func(k drivers.Marking) error {
				_, err := k.Claim(t.Context(), markerOf("1", "0123456789ab"))
				return err
			},
			"markers": func(k drivers.Marking) error { _, err := k.Markers(t.Context()); return err },
			"unclaim": func(k drivers.Marking) error { return k.Unclaim(t.Context(), markerOf("1", "0123456789ab")) },
		} {
			if err := ask(marked(t, d)); !errors.As(err, &none) || err.Error() != "leaf1: no marker can stand on it: it is reached over gNMI alone" {
				t.Errorf("%s: got %v", name, err)
			}
		}
	})
}

// TestAUserWhoMayNotWriteTheMarkerIsToldApartFromAFailure has sudo refuse the user, and then something else in the way.
func TestAUserWhoMayNotWriteTheMarkerIsToldApartFromAFailure(t *testing.T) {
	for name, c := range map[string]struct {
		edit, want string
		none       bool
	}{
		"sudo refuses":              {"mkdir -p /etc/sudoers.d; echo 'root ALL=(ALL) ALL' > /etc/sudoers.d/lab", "is not in the sudoers file", true},
		"a folder stands there":     {"mkdir /etc/weir", "Is a directory", false},
		"a file is in /etc's place": {"rm -r /etc", "No such file or directory", false},
	} {
		t.Run(name, func(t *testing.T) {
			drivertest.Bubble(t, func(t *testing.T) {
				d := host(t, sim.NewNetwork())
				target := marked(t, d)
				if err := d.Inject(sim.Fault{Kind: sim.ForeignEdit, Device: "gpu1", Text: c.edit}); err != nil {
					t.Fatal(err)
				}
				_, err := target.Claim(t.Context(), markerOf("1", "0123456789ab"))
				_, none := errors.AsType[*drivers.NoMarkerError](err)
				if err == nil || none != c.none || !strings.Contains(err.Error(), c.want) {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}
