package postgres

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"orchestrator/thread"
)

const (
	// holdWait is how long a server that was ended a moment ago may take to let go, holdAgain how often that is looked at.
	holdWait  = 5 * time.Second
	holdAgain = 100 * time.Millisecond
	// holdLimit is for one try.
	holdLimit = 15 * time.Second
)

// holder keeps a host's name for one server: by a lock of a session of its own, which ends with the server, however it ends.
// Two servers of one name would take each other's work for that of a server that was killed.
type holder struct {
	cfg  *pgx.ConnConfig
	lock string // what is locked
	lost func() // is called when the session ends before close

	mu      sync.Mutex // guards all below
	conn    *pgx.Conn  // nil while there is none
	closing context.Context
	close   context.CancelFunc
	over    sync.WaitGroup
}

func newHolder(cfg *pgx.ConnConfig, project, host string, lost func()) *holder {
	cfg = cfg.Copy()
	// A machine that is gone without a word does not keep the name for hours.
	for name, value := range map[string]string{"tcp_keepalives_idle": "20", "tcp_keepalives_interval": "5", "tcp_keepalives_count": "3"} {
		cfg.RuntimeParams[name] = value
	}
	h := &holder{cfg: cfg, lock: "orchestrator\n" + project + "\n" + host, lost: lost}
	h.closing, h.close = context.WithCancel(context.Background())
	return h
}

// begin takes the name, or fails if another server keeps it.
func (h *holder) begin(ctx context.Context, host string) error {
	for begin := time.Now(); ; {
		got, err := h.take(ctx)
		switch {
		case err != nil || got:
			return err
		case time.Since(begin) > holdWait:
			return thread.Hint(fmt.Errorf("another server that is called %s works on this project in this database", host),
				"stop that one; if it is another machine or another person, give this one a name of its own: host = \"NAME\" in your configuration")
		}
		select {
		case <-time.After(holdAgain):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// take takes the name once, if nobody has it. It is kept until the session ends.
func (h *holder) take(ctx context.Context) (got bool, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.conn != nil || h.closing.Err() != nil {
		return true, nil
	}
	ctx, cancel := context.WithTimeout(ctx, holdLimit)
	defer cancel()
	c, err := pgx.ConnectConfig(ctx, h.cfg)
	if err != nil {
		return false, err
	}
	if err = c.QueryRow(ctx, "SELECT pg_try_advisory_lock(hashtextextended($1, 0))", h.lock).Scan(&got); err != nil || !got {
		_ = c.Close(ctx) // it has nothing
		return false, err
	}
	h.conn = c
	h.over.Go(func() { h.keep(c) })
	return true, nil
}

// again takes the name again after the database was away.
func (h *holder) again(ctx context.Context) error {
	got, err := h.take(ctx)
	if err == nil && !got {
		err = fmt.Errorf("another server has taken the name of this one: %w", thread.ErrUnreachable)
	}
	return err
}

// keep waits for the end of the session.
func (h *holder) keep(c *pgx.Conn) {
	for h.closing.Err() == nil {
		if _, err := c.WaitForNotification(h.closing); err != nil {
			break
		}
	}
	h.mu.Lock()
	h.conn = nil
	h.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), silence)
	defer cancel()
	_ = c.Close(ctx) // and with it the lock goes
	if h.closing.Err() == nil {
		h.lost()
	}
}

// end lets go of the name.
func (h *holder) end() {
	h.close()
	h.over.Wait()
}
