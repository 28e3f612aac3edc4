package health

import (
	"fmt"
	"strings"
)

// percent writes a share, with one digit behind the point where it would be nothing without.
func percent(share float64) string {
	if share > 0 && share < 0.01 {
		return fmt.Sprintf("%.1f %%", share*100)
	}
	return fmt.Sprintf("%.0f %%", share*100)
}

// ofRate is the share of a port's rate as it is told: a port sends no more than its rate, and what is above comes from readings that
// are not taken at the very times that they say.
func ofRate(used float64) float64 { return min(used, 1) }

// some lists a few names and counts the others.
func some(names []string) string {
	const shown = 3
	if len(names) > shown {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
	}
	return strings.Join(names, ", ")
}
