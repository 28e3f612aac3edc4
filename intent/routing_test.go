package intent

import (
	"math"
	"testing"
)

func TestARatioIsReadAsItIsWritten(t *testing.T) {
	for text, want := range map[string]Ratio{"2": 2, "2:1": 2, "1.5:1": 1.5, "0.5:1": 0.5} {
		var got Ratio
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want {
			t.Errorf("%s: got %v, %v", text, float64(got), err)
		}
	}
	for _, text := range []string{"", "0", "-1", "1.5", "2:2", "1e3", "x:1", ":1", "NaN:1", "Inf", "1.2.3:1"} {
		var got Ratio
		if err := got.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is read as %v", text, float64(got))
		}
	}
}

func TestARatioIsWrittenShortly(t *testing.T) {
	for ratio, want := range map[Ratio]string{2: "2:1", 1.5: "1.5:1", 12.0 / 7: "1.71:1", Ratio(math.Inf(1)): "infinite"} {
		if got := ratio.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
