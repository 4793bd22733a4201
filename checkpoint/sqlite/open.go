package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/mattn/go-sqlite3" // registers the driver "sqlite3", too
	"golang.org/x/sys/unix"

	"orchestrator/checkpoint/mark"
	"orchestrator/checkpoint/pack"
	"orchestrator/thread"
	"orchestrator/thread/private"
	"orchestrator/thread/reserve"
)

const (
	// pageSize is small because a record fills whole pages: with 4 KB, half of the file would be air.
	pageSize = 1024
	// logPages is how long the log may get before a commit folds it into the file. An idle store does it before that,
	// when it has nothing else to do.
	logPages = 4000
	// readers is how many connections read.
	readers = 4
	// busyMillis is how long SQLite itself waits for a lock; begin tries again after that.
	busyMillis = 250
)

// Options are what Open may be told. The zero value is right.
type Options struct {
	// Now is the clock that names quarantined files; time.Now when nil.
	Now func() time.Time
	// Lock is how long a write waits for another program's lock; 10 seconds when 0.
	Lock time.Duration
	// Room is how many bytes of the disk are kept for answers that come when it is full; none when 0.
	Room int
}

// Store implements thread.Store.
type Store struct {
	*pack.Reader // of single checkpoints

	path   string
	lock   time.Duration
	packer *pack.Packer
	read   *sql.DB
	finder *sql.Stmt // of read, for puts
	report *Report
	dir    *private.Folder
	room   *reserve.Reserve // for answers on a full disk; nil for none
	used   atomic.Bool      // the disk was full and room was released

	turn   chan struct{} // holds an element while somebody writes, and guards the five below
	writer *sql.DB       // one connection
	tx     *tx           // of writer
	at     mark.Mark     // the newest commit
	mark   *mark.File    // says the same beside the database; nil when there was no room for it

	puts map[thread.ID]putThread

	mu     sync.Mutex // guards the two below
	queue  []*request // wait for somebody to write them
	closed bool

	idle     *time.Timer   // fires when nothing was committed for a while
	stop     chan struct{} // closed by Close
	stopped  chan struct{} // closed by folder when it is gone
	once     sync.Once     // for Close
	closeErr error         // of Close, read after once
}

var _ thread.Store = (*Store)(nil)

// Open opens the store at path or makes it. It repairs what is damaged (see Report) and migrates what is old.
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

// openIn opens the store in its folder, which is the store's from then on.
func openIn(ctx context.Context, dir *private.Folder, path string, o Options) (*Store, error) {
	rep, err := finishRescue(dir, path)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	s := &Store{path: path, dir: dir, lock: o.Lock, packer: pack.New(), report: rep,
		turn: make(chan struct{}, 1), puts: map[thread.ID]putThread{}, idle: time.NewTimer(time.Hour), stop: make(chan struct{}), stopped: make(chan struct{})}
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
			s.room = nil // it is a help, and no more
		}
	}
	s.tx = newTx(s.writer)
	go s.folder()
	if err := s.mend(ctx); err != nil {
		_ = s.Close() // the first error says more
		return nil, fmt.Errorf("open %w", translate(path, 0, err))
	}
	if err := s.tell(dir, o.Now()); err != nil {
		return nil, errors.Join(fmt.Errorf("open store: %w", err), s.Close())
	}
	return s, nil
}

// sound looks at what lies there, has it rescued when it is damaged, and connects to it.
func (s *Store) sound(ctx context.Context, dir *private.Folder, now func() time.Time) error {
	l, err := look(dir, filepath.Base(s.path))
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
	if s.report, err = rescue(ctx, dir, s.path, now(), cause); err != nil {
		return err
	}
	return s.connect(ctx)
}

// prepare makes the folder and refuses what somebody else could have planted.
func prepare(path string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
			return thread.Hint(fmt.Errorf("%w: %w", thread.ErrReadOnly, err), "make its folder writable for you")
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
			return thread.Hint(fmt.Errorf("%s belongs to user %d: %w", p, st.Uid, thread.ErrInvalid), "run as that user, or move it away")
		}
		if (p == dir) != info.IsDir() || (p != dir && !info.Mode().IsRegular()) {
			return thread.Hint(fmt.Errorf("%s is no file (%s): %w", p, info.Mode().Type(), thread.ErrInvalid),
				"move it away: the threads are listed again, and all that can be read is brought over")
		}
	}
	if !writable(dir) {
		return thread.Hint(fmt.Errorf("%w: %s", thread.ErrReadOnly, dir), "make the folder writable for you")
	}
	if err := os.Chmod(dir, 0o700); err != nil && !errors.Is(err, syscall.EROFS) {
		return err
	}
	return nil
}

// create makes the file with its mode before anybody can open it, and without a descriptor of our own. Where the
// system does not allow it, secure sets the mode a moment later; the folder is closed anyway.
func create(path string) {
	if !exists(path) {
		_ = unix.Mknod(path, unix.S_IFREG|0o600, 0)
	}
}

// connect opens the connections and brings the schema up to date.
func (s *Store) connect(ctx context.Context) (err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, s.disconnect())
		}
	}()
	if err := format(ctx, s.path); err != nil {
		return err
	}
	s.writer = sql.OpenDB(connector(dsn(s.path, "")))
	s.writer.SetMaxOpenConns(1)
	s.writer.SetConnMaxLifetime(0)
	if err := check(ctx, s.writer); err != nil {
		return err
	}
	if err := migrate(ctx, s.writer); err != nil {
		return err
	}
	if err := checkSchema(ctx, s.writer); err != nil {
		return err
	}
	if s.at, err = newest(ctx, s.writer); err != nil {
		return err
	}
	if err := fold(ctx, s.writer); err != nil && isDamage(err) {
		return err // any other one leaves the log as it is
	}
	if _, err := s.writer.ExecContext(ctx, fmt.Sprintf("PRAGMA wal_autocheckpoint = %d", logPages)); err != nil {
		return db(err)
	}
	s.read = sql.OpenDB(connector(dsn(s.path, "&_query_only=1")))
	s.read.SetMaxOpenConns(readers)
	s.read.SetMaxIdleConns(readers)
	s.finder, err = s.read.PrepareContext(ctx, pairQuery)
	return db(err)
}

// format lays out an empty file. It must come before the file is put into WAL mode, which fixes the layout.
func format(ctx context.Context, path string) error {
	if info, err := os.Stat(path); err == nil && info.Size() > 0 {
		return nil
	}
	u := url.URL{Scheme: "file", Path: path, RawQuery: "_synchronous=FULL"}
	c, err := sql.Open("sqlite3", u.String())
	if err != nil {
		return db(err)
	}
	defer c.Close()
	c.SetMaxOpenConns(1)
	// The page's size first: the other settings fix it.
	for _, q := range []string{fmt.Sprintf("PRAGMA page_size = %d", pageSize), "PRAGMA auto_vacuum = incremental",
		fmt.Sprintf("PRAGMA application_id = %d", application)} {
		if _, err := c.ExecContext(ctx, q); err != nil {
			return db(err)
		}
	}
	return nil
}

func (s *Store) disconnect() error {
	var errs []error
	for _, c := range []*sql.DB{s.read, s.writer} {
		if c != nil {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}

// fold moves the log into the file and empties it. It waits for nobody: a reader that still needs the log leaves it to
// the next time.
func fold(ctx context.Context, w *sql.DB) error {
	for _, q := range []string{"PRAGMA busy_timeout = 0", "PRAGMA wal_checkpoint(TRUNCATE)", fmt.Sprintf("PRAGMA busy_timeout = %d", busyMillis)} {
		rows, err := w.QueryContext(ctx, q) // they return rows
		if err != nil {
			return db(err)
		}
		if err := each(rows, func(func(...any) error) error { return nil }); err != nil {
			return err
		}
	}
	return nil
}

func dsn(path, more string) string {
	u := url.URL{Scheme: "file", Path: path, RawQuery: fmt.Sprintf("_journal_mode=WAL&_synchronous=%s&_busy_timeout=%d%s", synchronous, busyMillis, more)}
	return u.String()
}

// connector makes connections by what they are told at their start.
type connector string

// Connect implements driver.Connector.
func (c connector) Connect(context.Context) (driver.Conn, error) { return c.Driver().Open(string(c)) }

// Driver implements driver.Connector. Its connections refuse cells that reach out of their page.
func (c connector) Driver() driver.Driver {
	return &sqlite3.SQLiteDriver{ConnectHook: func(conn *sqlite3.SQLiteConn) error {
		_, err := conn.Exec("PRAGMA cell_size_check = 1", nil)
		return err
	}}
}

// secure closes the files to others. SQLite gives -wal and -shm the mode of the file itself.
func (s *Store) secure() error {
	for _, p := range []string{s.path, s.path + "-wal", s.path + "-shm"} {
		if err := os.Chmod(p, 0o600); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Path returns where the store's file is.
func (s *Store) Path() string { return s.path }

// Close waits for what was asked for, folds the log into the file and closes it.
func (s *Store) Close() error {
	s.once.Do(func() {
		s.mu.Lock()
		s.closed = true
		s.mu.Unlock()
		close(s.stop)
		<-s.stopped
		s.turn <- struct{}{} // never given back
		s.drain()
		s.idle.Stop()
		s.tx.close()
		var errs []error
		if err := s.read.Close(); err != nil {
			errs = append(errs, err)
		}
		_ = leaveLog(s.writer) // without, the next start needs some room
		if err := s.writer.Close(); err != nil {
			errs = append(errs, err)
		}
		if s.mark != nil {
			errs = append(errs, s.mark.Close())
		}
		errs = append(errs, s.dir.Close())
		if err := errors.Join(errs...); err != nil {
			s.closeErr = fmt.Errorf("close store: %w", err)
		}
	})
	return s.closeErr
}

// leaveLog has the last connection leave the files of the log where they are, the log itself empty: on a full disk the
// next start could not make them.
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
