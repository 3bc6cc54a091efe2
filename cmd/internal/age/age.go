// Package age words how long ago something was or how long it took, in one way for every command and the status page.
package age

import (
	"fmt"
	"time"
)

// Of words d in the largest unit of which it has at least two, cut off: "under 1 s", "119 s", "2 min", "47 h", "2 days". A negative d, which is what clocks
// that differ make of a moment, is under a second.
func Of(d time.Duration) string {
	switch {
	case d < time.Second:
		return "under 1 s"
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}
