package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/mattn/go-sqlite3" // registers the driver "sqlite3", too

	"orchestrator/checkpoint/mark"
	"orchestrator/checkpoint/pack"
	"orchestrator/thread"
	"orchestrator/thread/private"
	"orchestrator/thread/reserve"
)

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
	if err := prepare(path); err != nil {
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
	if err := s.secure(); err != nil {
		return nil, errors.Join(fmt.Errorf("open store: %w", err), s.disconnect())
	}
	if s.mark, err = mark.Open(dir, filepath.Base(path)+markEnd, s.at); err != nil && !isNoRoom(err) {
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
		create(s.path)
		if cause = s.connect(ctx); cause == nil {
			if other != "" && s.report == nil {
				s.report = &Report{Cause: other}
			}
			return nil
		}
		if !isDamage(cause) {
			return cause
		}
	}
	s.health.whole, s.health.checked = true, now()
	if s.report, err = rescue(ctx, dir, s.path, now(), cause); err != nil {
		return err
	}
	return s.connect(ctx)
}

// prepare creates the folder and refuses files that somebody else could have planted.
func prepare(path string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
			return thread.Hint(fmt.Errorf("%w: %w", thread.ErrReadOnly, err), "make its folder writable")
		}
		return err
	}
	for _, p := range []string{dir, path, path + "-wal", path + "-shm"} {
		info, err := os.Lstat(p)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
			return thread.Hint(thread.Kindf(thread.ErrInvalid, "%s belongs to user %d", p, st.Uid),
				"run as that user, or move it away")
		}
		if (p == dir) != info.IsDir() || (p != dir && !info.Mode().IsRegular()) {
			return thread.Hint(thread.Kindf(thread.ErrInvalid, "%s is not a file (%s)", p, info.Mode().Type()),
				"move it away: the list of threads is restored, with everything that can be read")
		}
	}
	if !writable(dir) {
		return thread.Hint(fmt.Errorf("%w: %s", thread.ErrReadOnly, dir), "make the folder writable")
	}
	if err := os.Chmod(dir, 0o700); err != nil && !errors.Is(err, syscall.EROFS) {
		return err
	}
	return nil
}

// secure makes the files private. SQLite gives -wal and -shm the mode of the file itself.
func (s *Store) secure() error {
	for _, p := range []string{s.path, s.path + "-wal", s.path + "-shm"} {
		if err := os.Chmod(p, 0o600); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
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
		_ = leaveLog(s.writer) // without it, the next start needs some space
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

// leaveLog makes the last connection leave the log's files in place, with an empty log: on a full disk the next start
// could not create them.
func leaveLog(last *sql.DB) error {
	ctx := context.Background()
	c, err := last.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	if _, err := c.ExecContext(ctx, "PRAGMA journal_size_limit = 0"); err != nil {
		return err
	}
	return c.Raw(func(conn any) error {
		if conn, ok := conn.(*sqlite3.SQLiteConn); ok {
			return conn.SetFileControlInt("main", sqlite3.SQLITE_FCNTL_PERSIST_WAL, 1)
		}
		return nil
	})
}
