package postgres

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

// silence is how long a database may send no byte, or take none, while it is asked something. Then it is away.
const silence = 5 * time.Second

// piece is how many bytes are written under one such limit.
const piece = 64 << 10

// errNoAnswer is the cause of a call that the database did not answer.
var errNoAnswer = errors.New("no answer")

// watched is a connection that does not wait longer than that.
type watched struct {
	net.Conn
	limit  time.Duration
	silent func() // is called when it happened

	mu          sync.Mutex
	read, write time.Time // deadlines of the driver, zero for none
}

// dialer connects with watched connections.
func dialer(limit time.Duration, silent func()) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := (&net.Dialer{Timeout: limit, KeepAlive: time.Minute}).DialContext(ctx, network, address)
		if err != nil {
			var timeout net.Error
			if errors.As(err, &timeout) && timeout.Timeout() && ctx.Err() == nil {
				silent()
			}
			return nil, err
		}
		return &watched{Conn: c, limit: limit, silent: silent}, nil
	}
}

// Read implements net.Conn.
func (w *watched) Read(b []byte) (int, error) {
	own, err := w.arm(&w.read, w.Conn.SetReadDeadline)
	if err != nil {
		return 0, err
	}
	n, err := w.Conn.Read(b)
	return n, w.judge(err, own, &w.read)
}

// Write implements net.Conn.
func (w *watched) Write(b []byte) (n int, err error) {
	for err == nil && n < len(b) {
		var own bool
		if own, err = w.arm(&w.write, w.Conn.SetWriteDeadline); err != nil {
			return n, err
		}
		var some int
		some, err = w.Conn.Write(b[n:min(len(b), n+piece)])
		n, err = n+some, w.judge(err, own, &w.write)
	}
	return n, err
}

// arm sets the earlier deadline of the driver's and ours; own is set if that is ours.
func (w *watched) arm(theirs *time.Time, set func(time.Time) error) (own bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := time.Now().Add(w.limit)
	if own = theirs.IsZero() || at.Before(*theirs); !own {
		at = *theirs
	}
	return own, set(at)
}

// judge tells silence from the driver's own deadline, which it sets to end a call.
func (w *watched) judge(err error, own bool, theirs *time.Time) error {
	if !own || !errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	w.mu.Lock()
	ended := !theirs.IsZero() && !time.Now().Before(*theirs)
	w.mu.Unlock()
	if ended {
		return err
	}
	w.silent()
	return errNoAnswer
}

// SetDeadline implements net.Conn.
func (w *watched) SetDeadline(t time.Time) error {
	return errors.Join(w.SetReadDeadline(t), w.SetWriteDeadline(t))
}

// SetReadDeadline implements net.Conn.
func (w *watched) SetReadDeadline(t time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.read = t
	return w.Conn.SetReadDeadline(t)
}

// SetWriteDeadline implements net.Conn.
func (w *watched) SetWriteDeadline(t time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.write = t
	return w.Conn.SetWriteDeadline(t)
}
