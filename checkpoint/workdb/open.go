package workdb

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"orchestrator/checkpoint/sqlfile"
	"orchestrator/checkpoint/workrow"
	"orchestrator/thread/private"
)

// Options configure Open. The zero value is valid.
type Options struct {
	// Now is the clock; time.Now if nil.
	Now func() time.Time
	// Lock is how long a write waits for another program's lock; 10 seconds if 0.
	Lock time.Duration
	// Damaged is called, once, if the check of the whole file finds damage. It may be nil.
	Damaged func(error)
}

// Store implements work.Record.
type Store struct {
	*workrow.Store

	file    *file
	report  string
	end     context.CancelFunc // of the check in the background
	check   sync.WaitGroup     // which it has ended
	once    sync.Once          // for Close
	closing error              // of Close, read after once
}

// Open opens or creates the store at path. What it has to set aside, Report tells.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Lock == 0 {
		o.Lock = 10 * time.Second
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open the list of runs: %w", err)
	}
	if err := sqlfile.Prepare(path, "move it away"); err != nil {
		return nil, fmt.Errorf("open the list of runs: %w", err)
	}
	dir, err := private.Open(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("open the list of runs: %w", err)
	}
	s, err := openIn(ctx, dir, path, o)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the list of runs: %w", sqlfile.Translate(path, 0, err)), dir.Close())
	}
	return s, nil
}

// openIn opens the store in its folder, which it takes over.
func openIn(ctx context.Context, dir *private.Folder, path string, o Options) (*Store, error) {
	r := &rescue{dir: dir, path: path, now: o.Now}
	if err := r.finish(ctx); err != nil {
		return nil, err
	}
	unclean := sizeOf(path+"-wal") > 0
	f := &file{dir: dir, path: path, lock: o.Lock}
	cause := suspected(dir, path)
	if cause == nil {
		cause = f.connect(ctx)
	}
	if cause != nil {
		if !sqlfile.IsDamage(cause) {
			return nil, cause
		}
		if err := r.begin(ctx, cause); err != nil {
			return nil, err
		}
		if err := f.connect(ctx); err != nil {
			return nil, err
		}
	}
	if err := sqlfile.Secure(path); err != nil {
		return nil, errors.Join(err, f.disconnect())
	}
	s := &Store{Store: workrow.New(f, o.Now), file: f, report: r.report}
	ctx, s.end = context.WithCancel(context.WithoutCancel(ctx))
	if unclean && r.report == "" {
		s.check.Go(func() {
			if err := s.Check(ctx); err != nil && ctx.Err() == nil && o.Damaged != nil {
				o.Damaged(err)
			}
		})
	}
	return s, nil
}

// Report says for people what the start had to set aside, "" if nothing was damaged.
func (s *Store) Report() string { return s.report }

// Path returns the path of the store's file.
func (s *Store) Path() string { return s.file.path }

// Check reads all of the file. If it is damaged, the next start sets it aside and copies what can be read.
func (s *Store) Check(ctx context.Context) error {
	var found string
	err := s.file.read.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&found)
	if err == nil && found != "ok" {
		err = fmt.Errorf("%w: %s", sqlfile.ErrCheck, found)
	}
	return s.file.fail(0, err)
}

// Close folds the log into the file and closes it.
func (s *Store) Close() error {
	s.once.Do(func() {
		s.end()
		s.check.Wait()
		_ = sqlfile.Fold(context.Background(), s.file.writer) // or the next commits do
		if err := errors.Join(s.file.disconnect(), s.file.dir.Close()); err != nil {
			s.closing = fmt.Errorf("close the list of runs: %w", err)
		}
	})
	return s.closing
}
