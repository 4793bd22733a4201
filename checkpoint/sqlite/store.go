package sqlite

import (
	"context"
	"database/sql"
	"sync"
	"sync/atomic"
	"time"

	"orchestrator/checkpoint/mark"
	"orchestrator/checkpoint/pack"
	"orchestrator/thread"
	"orchestrator/thread/private"
	"orchestrator/thread/reserve"
)

// Options configure Open. The zero value is valid.
type Options struct {
	// Now is the clock that names quarantined files; time.Now if nil.
	Now func() time.Time
	// Lock is how long a write waits for another program's lock; 10 seconds if 0.
	Lock time.Duration
	// Room is how many bytes of disk space are reserved for answers that arrive when the disk is full; none if 0.
	Room int
	// InOrder is set if one caller fills the store, thread by thread, as a copy does: it then takes little memory.
	InOrder bool
}

// Store implements thread.Store.
type Store struct {
	*pack.Reader // of single checkpoints

	path   string
	lock   time.Duration
	packer *pack.Packer
	read   *sql.DB
	finder *sql.Stmt // of read, for puts
	health *health
	report *Report
	dir    *private.Folder
	room   *reserve.Reserve // for answers on a full disk; nil for none
	used   atomic.Bool      // the disk was full and the reserve was released

	turn   chan struct{} // holds an element while somebody writes, and guards the five below
	writer *sql.DB       // one connection
	tx     *tx           // of writer
	at     mark.Mark     // the newest commit
	mark   *mark.File    // the same, beside the database; nil if there was no space for it

	puts map[thread.ID]putThread

	first atomic.Pointer[[]thread.Thread] // all threads as the start read them, until asked for or something is written

	mu     sync.Mutex // guards the two below
	queue  []*request // waiting to be written
	closed bool

	idle     *time.Timer   // fires after a while without commits
	stop     chan struct{} // closed by Close
	stopped  chan struct{} // closed by foldWhenIdle when it is gone
	once     sync.Once     // for Close
	closeErr error         // of Close, read after once
}

var _ thread.Store = (*Store)(nil)

// request is one change waiting to be written.
type request struct {
	ctx  context.Context // travels with its request through the queue
	run  func(*tx) error // checks first, writes last; may run again after a rollback
	need int64           // approximate size of the write
	// vital is set for what must not be refused: it may use the space reserved for a full disk.
	vital bool
	done  chan error // buffered: the writer never waits
}

// putThread is a thread as a put left it, with the hash of its document.
type putThread struct {
	sum string
	t   thread.Thread
}

// Report returns what Open repaired, nil if nothing was damaged.
func (s *Store) Report() *Report { return s.report }
