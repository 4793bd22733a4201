package agenttest

import (
	"fmt"
	"time"
)

// UUID7 returns a UUID of version 7, which has a time in it.
func UUID7(at time.Time, n byte) string {
	h := fmt.Sprintf("%012x", at.UnixMilli())
	return fmt.Sprintf("%s-%s-7000-8000-0000000000%02x", h[:8], h[8:], n)
}
