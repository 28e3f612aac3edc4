package sim

import (
	"time"

	"github.com/weirfabric/weir/intent/qos"
)

// watchdog is the PFC watchdog of one queue.
type watchdog struct {
	stormed            bool
	detected, restored uint64
	due                time.Duration // when the queue becomes stormed, or is restored; 0: nothing is due
	paused             bool          // as of the last solution: PAUSE without progress
}

// watch tells the watchdog how its queue fares from now on. Depth is how many switches away the PAUSE begins: each passes
// it on when its buffer has filled, one step later, so that the watchdog nearest to the cause acts first.
func (w *watchdog) watch(now time.Duration, watched bool, set qos.Watchdog, paused bool, depth int) {
	was := w.paused
	w.paused = paused
	switch {
	case !watched || set.Detection == 0:
		w.due, w.stormed = 0, false
	case !w.stormed && !paused:
		w.due = 0
	case !w.stormed && (!was || w.due == 0):
		// A storm is seen at the first look after it has lasted for the detection time.
		w.due = now + set.Detection + set.Poll + time.Duration(depth)*step
	case w.stormed && paused:
		w.due = 0
	case w.stormed && (was || w.due == 0) && set.Restoration > 0:
		w.due = now + set.Restoration
	}
}

// bite is what happens when the watchdog is due.
func (w *watchdog) bite() {
	w.due = 0
	w.stormed = !w.stormed
	if w.stormed {
		w.detected++
	} else {
		w.restored++
		w.paused = false
	}
}
