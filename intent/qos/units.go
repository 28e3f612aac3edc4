package qos

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"
)

// Bytes counts bytes.
type Bytes int64

// Rate is a bit rate in bit/s.
type Rate int64

// Metres is a length in metres.
type Metres int64

// Percent is a share in percent, 0 to 100.
type Percent float64

// unit is one suffix and what it multiplies by.
type unit struct {
	suffix string
	scale  int64
}

// Longer suffixes come before the shorter ones that they end in.
var (
	byteUnits  = []unit{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"B", 1}}
	rateUnits  = []unit{{"T", 1e12}, {"G", 1e9}, {"M", 1e6}}
	metreUnits = []unit{{"km", 1e3}, {"m", 1}}
)

// The largest size and length that are read. No switch and no cable comes near them, and sums over all ports and products
// with the fastest speed still fit int64.
const (
	mostBytes  = 1000 * 1_000_000_000
	mostMetres = 40_000_000 // around the Earth
)

// ParseBytes reads 9216B, 150kB (1000), 150KiB (1024), 2MB, 1GiB; at most 1000GB.
func ParseBytes(s string) (Bytes, error) {
	n, err := parseUnit(s, byteUnits, "9216B, 150kB (1000), 150KiB (1024), 2MB")
	if err == nil && n > mostBytes {
		return 0, fmt.Errorf("%q is more than any switch has: write %s or less", s, Bytes(mostBytes))
	}
	return Bytes(n), err
}

// ParseRate reads 25G, 400G, 1.6T.
func ParseRate(s string) (Rate, error) {
	n, err := parseUnit(s, rateUnits, "25G, 400G, 1.6T")
	return Rate(n), err
}

// ParseMetres reads 5m, 300m, 80km; at most 40000km.
func ParseMetres(s string) (Metres, error) {
	n, err := parseUnit(s, metreUnits, "5m, 300m, 80km")
	if err == nil && n > mostMetres {
		return 0, fmt.Errorf("%q is longer than any cable: write %s or less", s, Metres(mostMetres))
	}
	return Metres(n), err
}

// ParsePercent reads 50%, 0.5%.
func ParsePercent(s string) (Percent, error) {
	number, found := strings.CutSuffix(s, "%")
	f, err := strconv.ParseFloat(number, 64)
	if !found || err != nil || f < 0 || f > 100 {
		return 0, fmt.Errorf("%q is no share: write a number from 0 to 100 and a percent sign, like 50%%", s)
	}
	return Percent(f), nil
}

// ParseDuration reads 100ms, 2s, as Go spells durations; it must not be negative.
func ParseDuration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is no duration: write a number and a unit, like 200ms or 2s", s)
	}
	return d, nil
}

// parseUnit reads a decimal number followed by one of the units; the product must be a whole number that fits int64.
func parseUnit(s string, units []unit, example string) (int64, error) {
	for _, u := range units {
		number, found := strings.CutSuffix(s, u.suffix)
		if !found {
			continue
		}
		if strings.Trim(number, "0123456789.") != "" {
			break
		}
		r, ok := new(big.Rat).SetString(number)
		if !ok {
			break
		}
		if r.Mul(r, new(big.Rat).SetInt64(u.scale)); r.IsInt() && r.Num().IsInt64() {
			return r.Num().Int64(), nil
		}
	}
	return 0, fmt.Errorf("%q has no unit that is known here: write it like %s", s, example)
}

// String writes the shortest exact form: 150kB, 18KiB, 9216B.
func (b Bytes) String() string { return formatUnit(int64(b), byteUnits, "B") }

// String writes the shortest exact form: 400G.
func (r Rate) String() string { return formatUnit(int64(r), rateUnits, "") }

// String writes the length: 40m, 80km.
func (m Metres) String() string { return formatUnit(int64(m), metreUnits, "m") }

// String writes the share: 50%.
func (p Percent) String() string { return strconv.FormatFloat(float64(p), 'f', -1, 64) + "%" }

// formatUnit picks, of the units that divide n, the one that gives the shortest text; the first wins a tie.
func formatUnit(n int64, units []unit, plain string) string {
	best := strconv.FormatInt(n, 10) + plain
	for _, u := range units {
		if n == 0 || n%u.scale != 0 {
			continue
		}
		if s := strconv.FormatInt(n/u.scale, 10) + u.suffix; len(s) < len(best) {
			best = s
		}
	}
	return best
}

// Mbps is the rate in Mb/s, as many tables of speeds count it.
func (r Rate) Mbps() int64 { return int64(r) / 1e6 }

// Time is how long n bytes take at rate r.
func (r Rate) Time(n Bytes) time.Duration {
	if r == 0 {
		return 0
	}
	return time.Duration(float64(n) * 8 / float64(r) * float64(time.Second))
}
