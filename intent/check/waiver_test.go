package check

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/qos"
)

// summaries of what Run finds on the date, in an intent whose shares sum to 120 % and that has the waiver.
func summaries(t *testing.T, date string, w intent.Waiver) []string {
	t.Helper()
	now, err := time.Parse(time.DateTime, date)
	if err != nil {
		t.Fatal(err)
	}
	in := sound()
	in.Classes[0].Share, in.Classes[2].Share = at(qos.Percent(70), 3), at(qos.Percent(50), 5)
	in.Accept = []intent.Waiver{w}
	f, findings := fabric.Resolve(in, leaves(2, 2))
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	var got []string
	for _, d := range Run(f, now) {
		got = append(got, d.Severity.String()+": "+d.Addr.String()+": "+d.Summary)
	}
	return got
}

func TestAWaiverAcceptsUntilItsDayEnds(t *testing.T) {
	const (
		found   = "error: sw0/Ethernet0: the shares sum to 120% (and at 3 more)"
		foundIn = "error: sw0/Ethernet0: the shares sum to 120% (and at 1 more)"
		expires = "2026-03-31"
	)
	day, err := time.Parse(time.DateOnly, expires)
	if err != nil {
		t.Fatal(err)
	}
	waiver := func(check, address string) intent.Waiver {
		return intent.Waiver{Check: at(check, 9), Address: at(address, 9), Reason: at("old NICs", 9), Expires: at(day, 9), At: place(9)}
	}
	for _, c := range []struct {
		name, now string
		waiver    intent.Waiver
		want      []string
	}{
		{"in time, everywhere", "2026-03-31 23:59:59", waiver("shares", ""), nil},
		{"in time, on one switch", "2026-03-01 00:00:00", waiver("shares", "sw1"), []string{foundIn}},
		{"too late", "2026-04-01 00:00:00", waiver("shares", ""), []string{found, "warning: : the waiver of shares expired on 2026-03-31, and the finding is still there"}},
		{"too late and unused", "2026-04-01 00:00:00", waiver("trust", ""), []string{found, "warning: : the waiver of trust expired on 2026-03-31"}},
		{"unused", "2026-03-01 00:00:00", waiver("shares", "sw9"), []string{found, "note: sw9: a waiver of shares accepts nothing"}},
		{"of no check", "2026-03-01 00:00:00", waiver("share", ""), []string{`error: : a waiver accepts "share", and there is no such check; did you mean "shares"?`, found}},
		{"of drift, which is found later", "2026-03-01 00:00:00", waiver("drift", "sw0"), []string{found}},
		{"of drift, too late", "2026-04-01 00:00:00", waiver("drift", "sw0"), []string{found, "warning: sw0: the waiver of drift expired on 2026-03-31"}},
		{"of what a language finds", "2026-03-01 00:00:00", waiver("sonic", "sw0"), []string{found}},
		{"of a stage that is misspelt", "2026-03-01 00:00:00", waiver("boundry", ""), []string{`error: : a waiver accepts "boundry", and there is no such check; did you mean "boundary"?`, found}},
		{"at no address", "2026-03-01 00:00:00", waiver("shares", "sw0//"), []string{
			`error: : a waiver names no address: address "sw0//": want DEVICE[/PORT][/KIND[/NAME]][:VALUE], for example leaf1/Ethernet0/pfc/3`, found,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, summaries(t, c.now, c.waiver)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAWaiverOfWhatIsFoundLaterAcceptsItThere(t *testing.T) {
	day := time.Date(2026, 3, 31, 0, 0, 0, 0, time.UTC)
	in := sound()
	in.Accept = []intent.Waiver{
		{Check: at(Drift, 9), Address: at("sw0/Ethernet0", 9), Reason: at("forever", 9), At: place(9)},
		{Check: at("boundary", 10), Reason: at("until then", 10), Expires: at(day, 10), At: place(10)},
	}
	f, findings := fabric.Resolve(in, leaves(2, 2))
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	for _, c := range []struct {
		name, stage string
		at          addr.Addr
		now         time.Time
		want        bool
	}{
		{"inside the address, without an end", Drift, addr.Port("sw0", "Ethernet0").Of(addr.MTU, ""), day.AddDate(50, 0, 0), true},
		{"at another port", Drift, addr.Port("sw0", "Ethernet4"), day, false},
		{"of another stage", "ownership", addr.Port("sw0", "Ethernet0"), day, false},
		{"everywhere, on its last day", "boundary", addr.Device("sw1"), day.Add(23 * time.Hour), true},
		{"everywhere, the day after", "boundary", addr.Device("sw1"), day.Add(24 * time.Hour), false},
	} {
		if got := WaiversOf(f, c.now).Cover(c.stage, c.at); got != c.want {
			t.Errorf("%s: got %t", c.name, got)
		}
	}
}

func TestASoundFabricHasNoFindings(t *testing.T) {
	f, findings := fabric.Resolve(sound(), leaves(2, 2))
	if findings = append(findings, Run(f, time.Time{})...); len(findings) > 0 {
		t.Error(findings)
	}
}

func TestNoTwoChecksHaveOneName(t *testing.T) {
	seen := map[string]bool{Waiver: true}
	for _, c := range All() {
		if seen[c.Name] || c.Doc == "" {
			t.Errorf("%q is taken, or has no sentence", c.Name)
		}
		seen[c.Name] = true
	}
}
