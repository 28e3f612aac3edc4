package drivertest

import (
	"runtime"
	"runtime/debug"
	"testing"
	"testing/synctest"
)

// garbage is how many percent of what a bubble holds may be garbage before it is collected. What a laboratory holds is small, and virtual
// time passes without a pause: at Go's 100, a quarter of the processor's time goes into collecting.
const garbage = 400

// Bubble runs f in a testing/synctest bubble, as synctest.Test does, on one processor: with more, timers of a bubble that fire
// at once can crash the race detector (golang/go issue 78156). One is also the fastest. The test must not be parallel.
func Bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	defer debug.SetGCPercent(debug.SetGCPercent(garbage))
	synctest.Test(t, f)
}
