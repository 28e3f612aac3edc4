package qos

import "testing"

func TestEveryAlphaReadsBackAsItIsWritten(t *testing.T) {
	for shift := MinAlpha; shift <= MaxAlpha; shift++ {
		got, err := ParseAlpha(shift.String())
		if err != nil || got != shift {
			t.Errorf("%s: got %d, %v, want %d", shift, got, err, shift)
		}
	}
	if got, err := ParseAlpha("1/1"); err != nil || got != 0 {
		t.Errorf("1/1: got %d, %v, want 0", got, err)
	}
}

func TestAnAlphaIsAPowerOfTwoInRange(t *testing.T) {
	for _, s := range []string{"", "0", "1/0", "3", "1/3", "256", "1/512", "-1", "+2", "1/+2", "0.5", "1/", "2/8", "8 "} {
		if got, err := ParseAlpha(s); err == nil {
			t.Errorf("%q was read as %s", s, got)
		}
	}
}
