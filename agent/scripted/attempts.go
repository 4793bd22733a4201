package scripted

import "sync"

// maxAttempts is how many requests are remembered that failed.
const maxAttempts = 1000

// Attempts counts the attempts at requests, so that failures end. It is safe for concurrent use and its zero value is
// ready.
type Attempts struct {
	mu    sync.Mutex
	tries map[string]int
}

// Fail reports whether one more attempt at a request fails, if n attempts should; 0 means all.
func (a *Attempts) Fail(request string, times int) bool {
	if times == 0 {
		return true
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.tries == nil || len(a.tries) > maxAttempts {
		a.tries = make(map[string]int)
	}
	a.tries[request]++
	return a.tries[request] <= times
}
