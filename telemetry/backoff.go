package telemetry

import (
	"time"

	"github.com/weirfabric/weir/drivers"
)

// longestRetry is the longest pause of a source before it tries again, in first ones.
const longestRetry = 60

// Backoff is the pauses of a source, which never gives up: they grow from the first one to sixty times that.
func Backoff(first time.Duration) *drivers.Backoff {
	return &drivers.Backoff{First: first, Longest: longestRetry * first}
}
