package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"time"

	"github.com/mattn/go-sqlite3"

	"orchestrator/thread/failpoint"
)

const (
	// batchLimit is how many requests share a commit.
	batchLimit = 64
	// foldIdle is how long no commit may come for the writer to fold the log into the file. From then on a log that
	// is lost or damaged costs nothing.
	foldIdle = time.Second
	// refill is how often it looks for room on a disk that was full.
	refill = 5 * time.Second
)

var errClosed = errors.New("store is closed")

// request is one change that waits for the writer.
type request struct {
	ctx  context.Context // travels with its request through the queue
	run  func(*tx) error // checks first, writes last; may be run again after a rollback
	need int64           // about how many bytes it writes
	// vital is set for what must not be refused: it may take the room that is kept for a full disk.
	vital bool
	done  chan error // buffered: the writer never waits
}

// do has the writer run a request and waits until it is durable. After ctx ends, its outcome is unknown.
func (s *Store) do(ctx context.Context, need int64, run func(*tx) error) error {
	return s.ask(&request{ctx: ctx, run: run, need: need, done: make(chan error, 1)})
}

// doVital is do for what must not be refused.
func (s *Store) doVital(ctx context.Context, need int64, run func(*tx) error) error {
	return s.ask(&request{ctx: ctx, run: run, need: need, vital: true, done: make(chan error, 1)})
}

func (s *Store) ask(r *request) error {
	ctx := r.ctx
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case s.requests <- r:
	case <-s.stop:
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-r.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-s.stopped:
		select {
		case err := <-r.done:
			return err
		default:
			return errClosed // it came after the writer's last look
		}
	}
}

// writer is the one goroutine that writes. It owns the write connection until Close.
func (s *Store) writer() {
	defer close(s.stopped)
	t := &tx{ctx: context.Background(), db: s.write, stmts: map[string]*sql.Stmt{}}
	defer t.close()
	idle := time.NewTimer(time.Hour)
	defer idle.Stop()
	for {
		select {
		case r := <-s.requests:
			s.batch(t, s.gather(r))
			idle.Reset(foldIdle)
		case <-idle.C:
			failpoint.Hit("sqlite.fold.before")
			// An error leaves it to SQLite, which does it at a size, and to the next start.
			_ = fold(t.ctx, s.write)
			if s.mark != nil {
				_ = s.mark.Sync() // it may lag
			}
			if s.Short() {
				_ = s.room.Refill() // or the next time
				s.used.Store(!s.room.Kept())
				idle.Reset(refill)
			}
			failpoint.Hit("sqlite.fold.after")
		case <-s.stop:
			for { // what came before Close is still written
				select {
				case r := <-s.requests:
					s.batch(t, s.gather(r))
				default:
					return
				}
			}
		}
	}
}

// gather takes what waits, up to a batch.
func (s *Store) gather(first *request) []*request {
	batch := []*request{first}
	for len(batch) < batchLimit {
		select {
		case r := <-s.requests:
			batch = append(batch, r)
		default:
			return batch
		}
	}
	return batch
}

// batch runs requests in one transaction. When the database fails one of them, each is tried alone, so that a
// request that does not fit takes none with it. When the commit fails, the outcome of all is unknown.
func (s *Store) batch(t *tx, batch []*request) {
	errs := make([]error, len(batch))
	need := int64(0)
	err := s.begin(t)
	for i, r := range batch {
		need += r.need
		if err != nil {
			break
		}
		if errs[i] = r.ctx.Err(); errs[i] == nil {
			errs[i] = r.run(t)
		}
		if isDB(errs[i]) {
			err = errs[i]
		}
	}
	if err != nil {
		t.rollback()
		if len(batch) > 1 && !isBusy(err) {
			for i := range batch {
				s.batch(t, batch[i:i+1])
			}
			return
		}
	} else if err = s.commit(t); err != nil {
		t.rollback()
	}
	if s.noRoom(err) && slices.ContainsFunc(batch, func(r *request) bool { return r.vital }) && s.room.Release() {
		s.used.Store(true)
		s.batch(t, batch)
		return
	}
	for i, r := range batch {
		if err != nil {
			errs[i] = translate(s.path, need, err)
		}
		r.done <- errs[i]
	}
}

// noRoom reports an error that the room which is kept may help against.
func (s *Store) noRoom(err error) bool {
	free, known := freeSpace(filepath.Dir(s.path))
	return err != nil && s.room != nil && (isFull(err) || code(err) == sqlite3.ErrIoErr && known && free < fullBelow)
}

// Short reports whether the disk was full and the room that is kept for answers is in use.
func (s *Store) Short() bool { return s.used.Load() }

// commit numbers the transaction, makes it durable and marks it. One that changed nothing needs no number.
func (s *Store) commit(t *tx) error {
	next := s.at
	if t.changed {
		next.Seq++
		if err := t.exec("UPDATE mark SET row = ? WHERE n = 1", next.Bytes()); err != nil {
			return err
		}
	}
	failpoint.Hit("sqlite.commit.before")
	if err := t.exec("COMMIT"); err != nil {
		// Whether it is durable is unknown. The next one must not have a smaller number; a gap does no harm.
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

// begin takes the write lock. Another program may hold it for a while: it tries again with jitter.
func (s *Store) begin(t *tx) error {
	deadline := time.Now().Add(s.lock)
	for {
		err := t.exec("BEGIN IMMEDIATE")
		t.changed = false
		if err == nil || !isBusy(err) || time.Now().After(deadline) {
			return err
		}
		time.Sleep(time.Duration(5+rand.IntN(45)) * time.Millisecond)
	}
}

// tx is the write connection inside a transaction. Its errors are the database's.
type tx struct {
	ctx   context.Context // of the writer: a request's end must not roll others back
	db    *sql.DB
	stmts map[string]*sql.Stmt
	// changed is set by what writes.
	changed bool
}

func (t *tx) stmt(query string) (*sql.Stmt, error) {
	if st := t.stmts[query]; st != nil {
		return st, nil
	}
	st, err := t.db.PrepareContext(t.ctx, query)
	if err != nil {
		return nil, db(err)
	}
	t.stmts[query] = st
	return st, nil
}

func (t *tx) exec(query string, args ...any) error {
	st, err := t.stmt(query)
	if err != nil {
		return err
	}
	t.changed = true
	_, err = st.ExecContext(t.ctx, args...)
	return db(err)
}

// insert returns the new row's number.
func (t *tx) insert(query string, args ...any) (int64, error) {
	st, err := t.stmt(query)
	if err != nil {
		return 0, err
	}
	t.changed = true
	res, err := st.ExecContext(t.ctx, args...)
	if err != nil {
		return 0, db(err)
	}
	n, err := res.LastInsertId()
	return n, db(err)
}

// row reads one row; found is false when there is none.
func (t *tx) row(query string, args []any, to ...any) (found bool, err error) {
	st, err := t.stmt(query)
	if err != nil {
		return false, err
	}
	err = st.QueryRowContext(t.ctx, args...).Scan(to...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, db(err)
}

// each reads rows; scan gets a function that scans the one it stands on.
func (t *tx) each(query string, args []any, scan func(func(...any) error) error) error {
	st, err := t.stmt(query)
	if err != nil {
		return err
	}
	rows, err := st.QueryContext(t.ctx, args...)
	if err != nil {
		return db(err)
	}
	return each(rows, scan)
}

func each(rows *sql.Rows, scan func(func(...any) error) error) error {
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows.Scan); err != nil {
			return db(fmt.Errorf("read row: %w", err))
		}
	}
	return db(rows.Err())
}

func (t *tx) rollback() {
	_ = t.exec("ROLLBACK") // SQLite may have done it already
}

func (t *tx) close() {
	for _, st := range t.stmts {
		_ = st.Close()
	}
}
