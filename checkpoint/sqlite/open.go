package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"orchestrator/checkpoint/mark"
	"orchestrator/checkpoint/pack"
	"orchestrator/checkpoint/sqlfile"
	"orchestrator/thread"
	"orchestrator/thread/private"
	"orchestrator/thread/reserve"
)

// notAFile is the hint on something else in the place of one of our files.
const notAFile = "move it away: the list of threads is restored, with everything that can be read"

// Open opens or creates the store at path. It repairs damage (see Report) and migrates old versions.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Lock == 0 {
		o.Lock = 10 * time.Second
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	if err := sqlfile.Prepare(path, notAFile); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	dir, err := private.Open(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	s, err := openIn(ctx, dir, path, o)
	if err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	return s, nil
}

func packer(o Options) *pack.Packer {
	if o.InOrder {
		return pack.InOrder()
	}
	return pack.New()
}

// openIn opens the store in its folder, which it takes over.
func openIn(ctx context.Context, dir *private.Folder, path string, o Options) (*Store, error) {
	rep, err := finishRescue(dir, path)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	s := &Store{path: path, dir: dir, lock: o.Lock, packer: packer(o), report: rep,
		health: &health{path: path, whole: true, checked: o.Now()},
		turn:   make(chan struct{}, 1), puts: map[thread.ID]putThread{}, idle: time.NewTimer(time.Hour),
		stop: make(chan struct{}), stopped: make(chan struct{})}
	s.Reader = s.packer.Reader(table{s})
	if err := s.sound(ctx, dir, o.Now); err != nil {
		return nil, fmt.Errorf("open %w", translate(path, 0, err))
	}
	if err := sqlfile.Secure(path); err != nil {
		return nil, errors.Join(fmt.Errorf("open store: %w", err), s.disconnect())
	}
	if s.mark, err = mark.Open(dir, filepath.Base(path)+markEnd, s.at); err != nil && !sqlfile.IsNoRoom(err) {
		return nil, errors.Join(fmt.Errorf("open store: %w", err), s.disconnect())
	}
	if o.Room > 0 {
		if s.room, err = reserve.New(dir, filepath.Base(path)+roomEnd, o.Room); err != nil {
			s.room = nil // it is only a safeguard
		}
	}
	s.tx = newTx(s.writer)
	go s.foldWhenIdle()
	if s.health.whole {
		if err := repairRows(ctx, s); err != nil {
			_ = s.Close() // the first error says more
			return nil, fmt.Errorf("open %w", translate(path, 0, err))
		}
	}
	if err := s.writeReport(dir, o.Now()); err != nil {
		return nil, errors.Join(fmt.Errorf("open store: %w", err), s.Close())
	}
	return s, nil
}

// sound inspects the files, rescues a damaged database, and connects to it.
func (s *Store) sound(ctx context.Context, dir *private.Folder, now func() time.Time) error {
	l, err := inspect(dir, filepath.Base(s.path))
	if err != nil {
		return err
	}
	if err := l.foreign(); err != nil {
		return errors.Join(err, l.close())
	}
	cause, other := l.damage(), l.replaced()
	if err := l.close(); err != nil {
		return err
	}
	if c := takeClean(dir, s.path, l.shows.Mark); c != nil && l.shows.ok && cause == nil && other == "" && s.report == nil {
		s.health.whole, s.health.checked = false, c.Checked
	}
	if cause == nil {
		sqlfile.Create(s.path)
		if cause = s.connect(ctx); cause == nil {
			if other != "" && s.report == nil {
				s.report = &Report{Cause: other}
			}
			return nil
		}
		if !sqlfile.IsDamage(cause) {
			return cause
		}
	}
	s.health.whole, s.health.checked = true, now()
	if s.report, err = rescue(ctx, dir, s.path, now(), cause); err != nil {
		return err
	}
	return s.connect(ctx)
}

// Commit names the newest commit, also once the store is closed, and tells whether the start found the database just as
// it had been closed.
func (s *Store) Commit() (name string, asLeft bool) {
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if !closed { // otherwise Close has the turn for good
		s.turn <- struct{}{}
		defer func() { <-s.turn }()
	}
	return fmt.Sprintf("%x:%d", s.at.DB, s.at.Seq), !s.health.whole
}

// Path returns the path of the store's file.
func (s *Store) Path() string { return s.path }

// Close waits for pending requests, folds the log into the file and closes it. Then it says so: the next start need not
// check what nobody has touched since.
func (s *Store) Close() error {
	s.once.Do(func() {
		s.mu.Lock()
		s.closed = true
		s.mu.Unlock()
		close(s.stop)
		<-s.stopped
		s.turn <- struct{}{} // never released
		s.drain()
		s.idle.Stop()
		s.tx.close()
		var errs []error
		if err := s.read.Close(); err != nil {
			errs = append(errs, err)
		}
		_ = sqlfile.LeaveLog(s.writer) // without it, the next start needs some space
		if err := s.writer.Close(); err != nil {
			errs = append(errs, err)
		}
		if s.mark != nil {
			errs = append(errs, s.mark.Close())
		}
		if errors.Join(errs...) == nil && s.mark != nil && !s.health.suspect.Load() {
			_ = leaveClean(s.dir, s.path, s.at, s.health.lastCheck())
		}
		errs = append(errs, s.dir.Close())
		if err := errors.Join(errs...); err != nil {
			s.closeErr = fmt.Errorf("close store: %w", err)
		}
	})
	return s.closeErr
}
