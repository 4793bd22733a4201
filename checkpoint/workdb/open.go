package workdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"orchestrator/checkpoint/sqlfile"
	"orchestrator/checkpoint/workrow"
	"orchestrator/thread/private"
)

const (
	// readers is how many connections read.
	readers = 2
	// statements is how many prepared statements each connection keeps.
	statements = 16
	// logPages is how long the log may get before a commit folds it into the file: 4 MB.
	logPages = 1000
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

// Store implements work.Store.
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

func sizeOf(path string) int64 {
	info, err := os.Lstat(path)
	if err != nil {
		return 0
	}
	return info.Size()
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

// connect opens the connections and brings the tables to the newest version.
func (f *file) connect(ctx context.Context) (err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, f.disconnect())
		}
	}()
	sqlfile.Create(f.path)
	if err := format(ctx, f.path); err != nil {
		return err
	}
	cached := fmt.Sprintf("&_stmt_cache_size=%d", statements)
	f.writer = sql.OpenDB(sqlfile.Connector(sqlfile.DSN(f.path, "&_txlock=immediate"+cached)))
	f.writer.SetMaxOpenConns(1)
	f.writer.SetConnMaxLifetime(0)
	if err := sqlfile.Patiently(ctx, f.lock, func() error { return migrate(ctx, f.writer) }); err != nil {
		return err
	}
	if err := sound(ctx, f.writer); err != nil {
		return err
	}
	if _, err := f.writer.ExecContext(ctx, fmt.Sprintf("PRAGMA wal_autocheckpoint = %d", logPages)); err != nil {
		return err
	}
	f.read = sql.OpenDB(sqlfile.Connector(sqlfile.DSN(f.path, "&_query_only=1"+cached)))
	f.read.SetMaxOpenConns(readers)
	f.read.SetMaxIdleConns(readers)
	return nil
}

// format prepares an empty file. It must run before the file is put into WAL mode, which fixes the layout.
func format(ctx context.Context, path string) error {
	if sizeOf(path) > 0 {
		return nil
	}
	u := url.URL{Scheme: "file", Path: path, RawQuery: "_synchronous=FULL"}
	c := sql.OpenDB(sqlfile.Connector(u.String()))
	defer c.Close()
	c.SetMaxOpenConns(1)
	for _, q := range []string{"PRAGMA auto_vacuum = incremental", fmt.Sprintf("PRAGMA application_id = %d", application)} {
		if _, err := c.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	return nil
}

// disconnect closes the connections. The files of the log stay: a full disk has no room to make them again.
func (f *file) disconnect() error {
	var errs []error
	if f.read != nil {
		errs = append(errs, f.read.Close())
	}
	if f.writer != nil {
		_ = sqlfile.LeaveLog(f.writer) // without it, the next start needs some space
		errs = append(errs, f.writer.Close())
	}
	f.read, f.writer = nil, nil
	return errors.Join(errs...)
}
