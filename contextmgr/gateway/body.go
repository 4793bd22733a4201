package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"orchestrator/thread"
)

// firstBody is the initial size of the buffer for a body, and firstChunk the one for a body of unknown length.
const (
	firstBody  = 8 << 20
	firstChunk = 64 << 10
)

// perRequest is the memory that a request needs in addition to its body, in bytes.
const perRequest = 4 << 10

// statusFull is the status of a request for whose body there was no memory in time.
const statusFull = -1

// retryFull is how long an agent should wait before it retries after that.
const retryFull = 5 * time.Second

// bodies reads requests' bodies, within the limit for the bytes that are held at once.
type bodies struct {
	opts    *Options
	memory  *memory
	growing chan struct{} // contains an element while a body of unknown length grows
}

// read reads a request's whole body: an answer may begin before the body has been read, and would then be cut off. It
// waits while too much is held, for StoreLimit or the patience given.
func (b *bodies) read(w http.ResponseWriter, r *http.Request, held *hold, patience time.Duration) (body []byte, status int) {
	if r.ContentLength > b.opts.MaxBody {
		w.Header().Set("Connection", "close")
		return nil, http.StatusRequestEntityTooLarge
	}
	patience = max(patience, b.opts.StoreLimit)
	size := r.ContentLength
	if size < 0 {
		size = firstChunk
	}
	if size == 0 {
		held.force(perRequest)
		return nil, 0
	}
	if !b.room(r, held, size+perRequest, patience) {
		return nil, statusFull
	}
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Now().Add(b.opts.BodyLimit)) // only a test's writer has no deadlines
	in := http.MaxBytesReader(w, r.Body, b.opts.MaxBody)
	body = make([]byte, 0, min(size, firstBody))
	growing := false
	defer func() {
		if growing {
			<-b.growing
		}
	}()
	var err error
	for err == nil {
		if len(body) == cap(body) {
			if len(body) == int(r.ContentLength) { // complete
				if _, err = io.ReadFull(in, make([]byte, 1)); errors.Is(err, io.EOF) {
					break
				}
				continue
			}
			grown := r.ContentLength
			if grown < 0 {
				grown = 2 * int64(cap(body))
			}
			if r.ContentLength < 0 {
				growing = growing || b.mayGrow(r, patience)
				if !growing || !b.room(r, held, grown-int64(cap(body)), patience) {
					return nil, statusFull
				}
			}
			body = append(make([]byte, 0, grown), body...)
		}
		var n int
		n, err = in.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
	}
	_ = rc.SetReadDeadline(time.Time{})
	var tooLarge *http.MaxBytesError
	var timeout net.Error
	switch {
	case errors.Is(err, io.EOF):
		return body, 0
	case errors.As(err, &tooLarge):
		return nil, http.StatusRequestEntityTooLarge
	case errors.As(err, &timeout) && timeout.Timeout():
		w.Header().Set("Connection", "close")
		return nil, http.StatusRequestTimeout
	default:
		w.Header().Set("Connection", "close")
		return nil, http.StatusBadRequest
	}
}

// room waits until n more bytes may be held, but not forever.
func (b *bodies) room(r *http.Request, held *hold, n int64, patience time.Duration) bool {
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	return held.take(ctx, n) == nil
}

// mayGrow waits until no other body of unknown length is larger than its first chunk. If several of them held some
// bytes and waited for more, none would ever get them.
func (b *bodies) mayGrow(r *http.Request, patience time.Duration) bool {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case b.growing <- struct{}{}:
		return true
	case <-timer.C:
	case <-r.Context().Done():
	}
	return false
}

// full returns why a request was not sent: too much is held.
func (b *bodies) full(rt *route) string {
	return fmt.Sprintf(thread.NotSent+"it holds %d MB of requests that are running or "+
		"not stored yet (%d MB of this thread), and its cap is %d MB, an eighth of it for a thread. "+
		"Try again when they are stored, or raise limits.memory_mb in the configuration",
		b.memory.total()>>20, b.memory.of(&rt.held)>>20, b.memory.max>>20)
}
