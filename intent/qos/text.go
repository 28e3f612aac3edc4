package qos

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// The range of alpha exponents: 1/256 to 128, the widest that a device language of ours takes (SONiC's dynamic_th, -8 to 7).
const (
	MinAlpha AlphaShift = -8
	MaxAlpha AlphaShift = 7
)

// ParseAlpha reads a dynamic threshold as people say it: 1/8, 1, 8. It must be a power of two from 1/256 to 128.
func ParseAlpha(s string) (AlphaShift, error) {
	number, below := strings.CutPrefix(s, "1/")
	n, err := strconv.ParseUint(number, 10, 16)
	if err == nil && bits.OnesCount64(n) == 1 && number[0] != '+' {
		shift := AlphaShift(bits.TrailingZeros64(n))
		if below {
			shift = -shift
		}
		if shift >= MinAlpha && shift <= MaxAlpha {
			return shift, nil
		}
	}
	return 0, fmt.Errorf("%q is no alpha: write a power of two from 1/256 to 128, like 1/8 or 2", s)
}
