package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/mattn/go-sqlite3"

	"orchestrator/checkpoint/sqlfile"
	"orchestrator/thread"
	"orchestrator/thread/failpoint"
)

const (
	// batchLimit is how many requests share a commit.
	batchLimit = 64
	// foldIdle is how long without a commit until the log is folded into the file. From then on losing or damaging the
	// log does no harm.
	foldIdle = time.Second
	// refill is how often the store checks for space after the disk was full.
	refill = 5 * time.Second
)

var (
	errClosed = errors.New("store is closed")
	errPanic  = errors.New("store: a change that shared the transaction panicked")
)

// do writes a request and waits until it is durable. After ctx ends, its outcome is unknown. While the space reserved
// for answers is in use it is refused: answers alone may use that.
func (s *Store) do(ctx context.Context, need int64, run func(*tx) error) error {
	if s.Short() {
		return s.short()
	}
	return s.doFreeing(ctx, need, run)
}

// doFreeing is do for what frees space.
func (s *Store) doFreeing(ctx context.Context, need int64, run func(*tx) error) error {
	return s.submit(&request{ctx: ctx, run: run, need: need, done: make(chan error, 1)})
}

// doVital is do for what must not be refused.
func (s *Store) doVital(ctx context.Context, need int64, run func(*tx) error) error {
	return s.submit(&request{ctx: ctx, run: run, need: need, vital: true, done: make(chan error, 1)})
}

// submit queues a request and waits for its result. Whoever gets the turn in the meantime writes for everyone waiting.
func (s *Store) submit(r *request) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	if !s.enqueue(r) {
		return errClosed
	}
	for {
		select {
		case err := <-r.done:
			return err
		case s.turn <- struct{}{}:
			s.writeBatch(r.ctx)
		case <-r.ctx.Done():
			return r.ctx.Err()
		}
	}
}

// enqueue returns false if the store is closed.
func (s *Store) enqueue(r *request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.queue = append(s.queue, r)
	return true
}

// waiting reports whether there is something to write.
func (s *Store) waiting() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.queue) > 0
}

// gather takes waiting requests, up to a batch.
func (s *Store) gather() []*request {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := min(len(s.queue), batchLimit)
	batch := slices.Clone(s.queue[:n])
	s.queue = slices.Delete(s.queue, 0, n)
	return batch
}

// writeBatch writes a batch of waiting requests and releases the turn.
func (s *Store) writeBatch(ctx context.Context) {
	defer func() { <-s.turn }() // a change that panics must not keep it
	s.serve(ctx)
}

// serve writes a batch of waiting requests. It takes nothing if ctx ends before it has the database's lock: another
// waiting caller then tries. The caller has the turn.
func (s *Store) serve(ctx context.Context) {
	if !s.waiting() {
		return
	}
	err := s.begin(ctx)
	if err != nil && ctx.Err() != nil {
		return
	}
	s.first.Store(nil)
	s.write(s.gather(), err)
	s.idle.Reset(foldIdle)
}

// drain writes all waiting requests, for Close. The caller has the turn.
func (s *Store) drain() {
	for s.waiting() {
		s.serve(context.Background())
	}
}

// foldWhenIdle folds the log after a while without commits.
func (s *Store) foldWhenIdle() {
	defer close(s.stopped)
	for {
		select {
		case <-s.idle.C:
		case <-s.stop:
			return
		}
		select {
		case s.turn <- struct{}{}:
			s.maintain()
			<-s.turn
		case <-s.stop:
			return
		}
	}
}

// maintain folds the log and refills the reserve. The caller has the turn.
func (s *Store) maintain() {
	failpoint.Hit("sqlite.fold.before")
	// After an error SQLite does it at a certain size, or the next start does.
	_ = sqlfile.Fold(s.tx.ctx, s.writer)
	if s.mark != nil {
		_ = s.mark.Sync() // it may lag
	}
	if s.Short() {
		_ = s.room.Refill() // or the next time
		s.used.Store(!s.room.Kept())
		s.idle.Reset(refill)
	}
	failpoint.Hit("sqlite.fold.after")
}

// write runs requests in the transaction that begin started, or failed to, and answers them. If the database fails one
// of them, each is tried alone, so that a request that does not fit affects no others. If the commit fails, the outcome
// of all is unknown.
func (s *Store) write(batch []*request, err error) {
	errs := make([]error, len(batch))
	need := int64(0)
	through := false
	defer func() {
		if !through { // a change panicked
			s.tx.rollback()
			s.answer(batch, errs, errPanic)
		}
	}()
	for i, r := range batch {
		need += r.need
		if err != nil {
			break
		}
		if errs[i] = r.ctx.Err(); errs[i] == nil {
			errs[i] = r.run(s.tx)
		}
		if isDB(errs[i]) {
			err = errs[i]
		}
	}
	through = true
	if err != nil {
		s.tx.rollback()
		if len(batch) > 1 && !sqlfile.IsBusy(err) {
			for i := range batch {
				s.rewrite(batch[i : i+1])
			}
			return
		}
	} else if err = s.commit(); err != nil {
		s.tx.rollback()
	}
	if s.noRoom(err) && slices.ContainsFunc(batch, func(r *request) bool { return r.vital }) && s.room.Release() {
		s.used.Store(true)
		s.rewrite(batch)
		return
	}
	s.answer(batch, errs, s.health.translate(need, err))
}

// answer gives each request its own error, or the common one.
func (s *Store) answer(batch []*request, errs []error, all error) {
	for i, r := range batch {
		r.done <- cmp.Or(all, errs[i])
	}
}

// rewrite retries requests whose callers wait whatever happens to the one that has the turn.
func (s *Store) rewrite(batch []*request) { s.write(batch, s.begin(context.Background())) }

// noRoom reports an error that the reserved space may help against.
func (s *Store) noRoom(err error) bool {
	free, known := sqlfile.FreeSpace(filepath.Dir(s.path))
	return err != nil && s.room != nil && (sqlfile.IsFull(err) || sqlfile.Code(err) == sqlite3.ErrIoErr && known && free < sqlfile.FullBelow)
}

// Short reports whether the disk was full and the reserve for answers is in use.
func (s *Store) Short() bool { return s.used.Load() }

// commit numbers the transaction, makes it durable and marks it. One that changed nothing needs no number.
func (s *Store) commit() error {
	t := s.tx
	next := s.at
	if t.changed {
		next.Seq++
		if err := t.exec("UPDATE mark SET row = ? WHERE n = 1", next.Bytes()); err != nil {
			return err
		}
	}
	failpoint.Hit("sqlite.commit.before")
	if err := t.exec("COMMIT"); err != nil {
		// Whether it is durable is unknown. The next one must not have a smaller number; a gap is harmless.
		s.at = next
		return err
	}
	failpoint.Hit("sqlite.commit.after")
	if t.changed && s.mark != nil {
		_ = s.mark.Put(next) // it may lag
	}
	s.at = next
	return nil
}

// begin takes the write lock. Another program may hold it for a while.
func (s *Store) begin(ctx context.Context) error {
	return sqlfile.Patiently(ctx, s.lock, func() error {
		err := s.tx.exec("BEGIN IMMEDIATE")
		s.tx.changed = false
		return err
	})
}

// short refuses writes that would use the space reserved for answers.
func (s *Store) short() error {
	free, _ := sqlfile.FreeSpace(filepath.Dir(s.path))
	return thread.Hint(fmt.Errorf("store: %w: the last %d bytes in %s are reserved for agents' answers",
		thread.ErrDiskFull, free, filepath.Dir(s.path)),
		"free some space; the store then continues on its own")
}
