package gateway

import (
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"time"

	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
)

// limiter enforces the threads' caps.
type limiter struct {
	opts *Options
}

// capped returns why a request may not be sent, or "" if it may. Status 429 makes the agent wait.
func (l *limiter) capped(rt *route) (status int, message string, wait time.Duration) {
	caps := l.opts.Caps
	if n := caps.RequestsPerMinute; n > 0 {
		if wait := rt.bucket.take(n, time.Now()); wait > 0 {
			return http.StatusTooManyRequests, fmt.Sprintf(
				thread.NotSent+"the thread's cap of %d requests a minute is reached. "+
					"Wait, or raise limits.requests_per_minute in the configuration", n), wait
		}
	}
	return 0, "", 0
}

// refuse answers a request that a cap forbids and reports it to the observer. It returns whether it did so.
func (l *limiter) refuse(w http.ResponseWriter, r *http.Request, rt *route, codec wire.Codec) bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return false // lists of models and the like
	}
	status, message, wait := l.capped(rt)
	if status == 0 {
		return false
	}
	l.turnAway(w, r, rt, codec, status, message, wait)
	return true
}

// turnAway answers a request that we do not send upstream, with the time after which it may be retried, and reports the
// reason to the observer and the person.
func (l *limiter) turnAway(
	w http.ResponseWriter, r *http.Request, rt *route, codec wire.Codec, status int, message string, wait time.Duration,
) {
	began := time.Now()
	// Agents read an answer only after they have sent their whole request.
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(began.Add(l.opts.BodyLimit)) // only a test's writer has no deadlines
	_, _ = io.Copy(io.Discard, http.MaxBytesReader(w, r.Body, l.opts.MaxBody))
	_ = rc.SetReadDeadline(time.Time{})
	if wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	}
	deny(w, codec, status, message)
	rt.queue.offer(func() {
		e := thread.Exchange{Main: true, Started: began, Ended: time.Now(), Status: status, Err: message}
		if wait > 0 {
			e.Until = believed(began.Add(wait), began)
		}
		rt.observer.RequestStarted(rt.id, thread.Begun{Main: true, At: began, Again: rt.last.again(nil)})
		rt.last.ended(e)
		rt.observer.ExchangeEnded(rt.id, e)
	})
	if status != http.StatusPaymentRequired && rt.shown.due(strconv.Itoa(status), began, time.Minute) { // else its state tells
		rt.notice(thread.LevelWarn, message)
	}
}
