package thread

import (
	"fmt"
	"time"
)

// Elapsed formats how long something takes: 0:42, 12:05, 1:02:03.
func Elapsed(d time.Duration) string {
	n := int(max(d, 0) / time.Second)
	if n >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", n/3600, n/60%60, n%60)
	}
	return fmt.Sprintf("%d:%02d", n/60, n%60)
}
