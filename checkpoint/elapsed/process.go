package elapsed

import (
	"sync"
	"time"

	"orchestrator/thread"
)

// begun is when this process first asked, with an id.
var begun = sync.OnceValues(func() (time.Time, string) { return time.Now(), thread.NewID[string]() })

// process is the uptime of this process only.
func process() (time.Duration, string) {
	at, name := begun()
	return time.Since(at), name
}
