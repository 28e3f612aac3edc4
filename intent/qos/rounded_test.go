package qos

import (
	"testing"
	"time"
)

func TestSizesAndTimesAreRoundedForReading(t *testing.T) {
	for n, want := range map[Bytes]string{
		0: "0B", 150_000: "150kB", 9100: "9100B", 38912: "38KiB", 931_272: "931.3kB", 12_560_896: "12.56MB", -560_896: "-560.9kB",
		1_707_733: "1.708MB", 60_817_392: "60.82MB", 1_234_567_890: "1.235GB", 19_700: "19.7kB", 16_000_000: "16MB", 98_765: "98.77kB",
	} {
		if got := n.Rounded(); got != want {
			t.Errorf("%d: got %s, want %s", n, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		0: "0us", 120 * time.Microsecond: "120us", 74_501 * time.Nanosecond: "74.5us", 1_200_400 * time.Nanosecond: "1.2ms",
		2 * time.Second: "2s", 350 * time.Nanosecond: "0.35us",
	} {
		if got := RoundedTime(d); got != want {
			t.Errorf("%s: got %s, want %s", d, got, want)
		}
	}
}
