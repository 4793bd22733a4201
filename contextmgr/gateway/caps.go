package gateway

import (
	"context"
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

// capped returns why a request may not be sent, and when it may; "" if it may, at the end of a wait that is not longer than
// most.
func (l *limiter) capped(rt *route, most time.Duration) (message string, wait time.Duration) {
	n := l.opts.Caps.RequestsPerMinute
	if n <= 0 {
		return "", 0
	}
	if wait = rt.bucket.take(n, time.Now(), most); wait <= most {
		return "", wait
	}
	return fmt.Sprintf(thread.NotSent+"the thread's cap of %d requests a minute is reached. "+
		"Wait, or raise limits.requests_per_minute in the configuration", n), wait
}

// refuse answers a request that a cap forbids and reports it to the observer: status 429 makes the agent wait. It returns
// whether it did so, or else how long the request has to wait.
func (l *limiter) refuse(w http.ResponseWriter, r *http.Request, rt *route, codec wire.Codec) (wait time.Duration, refused bool) {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return 0, false // lists of models and the like
	}
	message, wait := l.capped(rt, rt.patience())
	if message == "" {
		return wait, false
	}
	l.turnAway(w, r, rt, codec, http.StatusTooManyRequests, message, wait)
	return 0, true
}

// pause holds a request back that a cap allows only later. It reports false if ctx ended before.
func (l *limiter) pause(ctx context.Context, rt *route, wait time.Duration) bool {
	if wait <= 0 {
		return true
	}
	if rt.shown.due("pause", time.Now(), time.Hour) {
		rt.notice(thread.LevelWarn, fmt.Sprintf("its requests wait, because its cap of %d requests a minute is reached: "+
			"limits.requests_per_minute in the configuration", l.opts.Caps.RequestsPerMinute))
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		rt.bucket.back()
		return false
	}
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
		e := thread.Exchange{Main: true, Started: began, Ended: time.Now(), Status: status, Err: message, Fault: thread.FaultOurs}
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
