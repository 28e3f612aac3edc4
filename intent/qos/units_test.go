package qos

import "testing"

func TestUnitsReadAndWriteExactly(t *testing.T) {
	for _, c := range []struct {
		text string
		want Bytes
	}{{"9216B", 9216}, {"150kB", 150_000}, {"150KiB", 153_600}, {"2MB", 2_000_000}, {"1GiB", 1 << 30}, {"1.5kB", 1500}} {
		got, err := ParseBytes(c.text)
		if err != nil || got != c.want {
			t.Errorf("%s: got %d, %v, want %d", c.text, got, err, c.want)
		}
		again, err := ParseBytes(got.String())
		if err != nil || again != got {
			t.Errorf("%s written as %s reads as %d, %v", c.text, got, again, err)
		}
	}
	for text, want := range map[string]Rate{"400G": 400e9, "1.6T": 1600e9, "100M": 100e6} {
		if got, err := ParseRate(text); err != nil || got != want {
			t.Errorf("%s: got %d, %v, want %d", text, got, err, want)
		}
	}
	if got := Rate(100e9).String(); got != "100G" {
		t.Errorf("100 Gb/s is written %s", got)
	}
	if got, err := ParseMetres("80km"); err != nil || got != 80_000 || got.String() != "80km" {
		t.Errorf("80km: got %d %s, %v", got, got, err)
	}
}

func TestANumberWithoutAKnownUnitIsAnError(t *testing.T) {
	for _, s := range []string{"", "150", "kB", "150 kB", "-1B", "1e3B", "0.5B", "150KB", "99999999999GiB", "1/2B"} {
		if got, err := ParseBytes(s); err == nil {
			t.Errorf("%q was read as %d", s, got)
		}
	}
	for _, s := range []string{"9223372036854775807B", "1001GB"} {
		if got, err := ParseBytes(s); err == nil {
			t.Errorf("%q was read as %d, and sums of it overflow", s, got)
		}
	}
	for _, s := range []string{"9223372036854775807m", "40001km"} {
		if got, err := ParseMetres(s); err == nil {
			t.Errorf("%q was read as %d, and products with it overflow", s, got)
		}
	}
	for _, s := range []string{"50", "101%", "-1%", "%"} {
		if got, err := ParsePercent(s); err == nil {
			t.Errorf("%q was read as %v", s, got)
		}
	}
}

func TestAPrioritySetReadsAsAList(t *testing.T) {
	s := Priorities(4, 3)
	if s.String() != "3,4" || s.Len() != 2 || !s.Has(3) || s.Has(2) {
		t.Errorf("got %q of %d", s, s.Len())
	}
}

func TestTheTrafficClassByteCarriesDSCPAndECN(t *testing.T) {
	if got := DSCP(26).TrafficClassByte(ECT0); got != 106 {
		t.Errorf("DSCP 26 with ECT(0): got %d, want 106", got)
	}
	if got := DSCP(26).TrafficClassByte(NotECT); got != 104 {
		t.Errorf("DSCP 26 without ECT: got %d, want 104", got)
	}
}

func TestAlphaIsAPowerOfTwo(t *testing.T) {
	if AlphaShift(-3).Alpha() != 0.125 || AlphaShift(-3).String() != "1/8" || AlphaShift(2).String() != "4" {
		t.Errorf("got %v %s %s", AlphaShift(-3).Alpha(), AlphaShift(-3), AlphaShift(2))
	}
}
