package sqlite

import (
	"errors"
	"sync/atomic"
	"time"

	"orchestrator/checkpoint/sqlfile"
	"orchestrator/thread"
)

// health is what is known of whether the database is sound.
type health struct {
	path string
	// whole is set if the start checked all of it, checked is when that had been done last as of the start.
	whole   bool
	checked time.Time
	// again is when all of it was checked since, nil if it was not.
	again atomic.Pointer[time.Time]
	// suspect is set once something of it was found damaged: the next start checks all of it.
	suspect atomic.Bool
}

// translate turns an error of the driver into the domain's, and takes note of it.
func (h *health) translate(need int64, err error) error {
	return translate(h.path, need, h.note(err))
}

// note has the next start check all of the database if err says that something of it is damaged. It returns err.
func (h *health) note(err error) error {
	if sqlfile.IsDamage(err) || errors.Is(err, thread.ErrDamaged) {
		h.suspect.Store(true)
	}
	return err
}

// lastCheck is when all of the database was checked last.
func (h *health) lastCheck() time.Time {
	if at := h.again.Load(); at != nil {
		return *at
	}
	return h.checked
}
