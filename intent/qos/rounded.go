package qos

import (
	"math"
	"strconv"
	"time"
)

// Rounded writes a size for reading: exactly where that is short (150kB, 9100B), else to four digits (931.3kB, 12.56MB).
func (b Bytes) Rounded() string {
	if exact := b.String(); len(exact) <= len("9100B") {
		return exact
	}
	scale, unit := 1e3, "kB"
	switch {
	case b >= 1e9 || b <= -1e9:
		scale, unit = 1e9, "GB"
	case b >= 1e6 || b <= -1e6:
		scale, unit = 1e6, "MB"
	}
	return digits(float64(b)/scale, 4) + unit
}

// RoundedTime writes a short time for reading, to three digits: 120us, 74.5us, 1.2ms.
func RoundedTime(d time.Duration) string {
	n, unit := float64(d.Nanoseconds())/1e3, "us"
	switch {
	case n >= 1e6:
		n, unit = n/1e6, "s"
	case n >= 1e3:
		n, unit = n/1e3, "ms"
	}
	return digits(n, 3) + unit
}

// digits rounds to so many digits, and leaves whole numbers whole.
func digits(n float64, count int) string {
	places := 0
	for limit := math.Pow(10, float64(count-1)); places < count-1 && math.Abs(n) < limit; limit /= 10 {
		places++
	}
	shift := math.Pow(10, float64(places))
	return strconv.FormatFloat(math.Round(n*shift)/shift, 'f', -1, 64)
}
