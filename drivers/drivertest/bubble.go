package drivertest

import (
	"runtime"
	"testing"
	"testing/synctest"
)

// Bubble runs f in a testing/synctest bubble, as synctest.Test does, on one processor: with more, timers of a bubble that fire
// at once can crash the race detector (golang/go issue 78156). One is also the fastest. The test must not be parallel.
func Bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	synctest.Test(t, f)
}
