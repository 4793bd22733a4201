package sqlfile

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"time"

	"github.com/mattn/go-sqlite3" // registers the driver "sqlite3", too
)

// busyMillis is how long SQLite itself waits for a lock; writers then retry.
const busyMillis = 250

// Small makes a connection keep a quarter of a megabyte of the file's pages, instead of two: who passes through a long file fills
// that in each connection, and it is never given back. The system has the pages in memory, too.
const Small = "&_cache_size=-256"

// Reads are the settings of a connection that only reads.
const Reads = "&_query_only=1" + Small

// DSN is the data source name of a file, with the settings that durability hangs on, and more.
func DSN(path, more string) string {
	u := url.URL{Scheme: "file", Path: path,
		RawQuery: fmt.Sprintf("_journal_mode=WAL&_synchronous=%s&_busy_timeout=%d%s", synchronous, busyMillis, more)}
	return u.String()
}

// Connector opens connections by a data source name.
type Connector string

// Connect implements driver.Connector.
func (c Connector) Connect(context.Context) (driver.Conn, error) { return c.Driver().Open(string(c)) }

// Driver implements driver.Connector. Its connections refuse cells that extend beyond their page.
func (c Connector) Driver() driver.Driver {
	return &sqlite3.SQLiteDriver{ConnectHook: func(conn *sqlite3.SQLiteConn) error {
		_, err := conn.Exec("PRAGMA cell_size_check = 1", nil)
		return err
	}}
}

// Format prepares an empty file with settings that its first write fixes, so that it must run before the file is put into WAL
// mode. A file that has content stays as it is.
func Format(ctx context.Context, path string, settings ...string) error {
	if info, err := os.Stat(path); err == nil && info.Size() > 0 {
		return nil
	}
	u := url.URL{Scheme: "file", Path: path, RawQuery: "_synchronous=FULL"}
	c := sql.OpenDB(Connector(u.String()))
	defer c.Close()
	c.SetMaxOpenConns(1)
	for _, s := range settings {
		if _, err := c.ExecContext(ctx, "PRAGMA "+s); err != nil {
			return err
		}
	}
	return nil
}

// Patiently takes a lock that another program may hold for a while: it tries again with jitter, up to a limit or until ctx
// ends.
func Patiently(ctx context.Context, limit time.Duration, try func() error) error {
	deadline := time.Now().Add(limit)
	for {
		err := try()
		if err == nil || !IsBusy(err) || time.Now().After(deadline) {
			return err
		}
		select {
		case <-time.After(time.Duration(5+rand.IntN(45)) * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Fold moves the log into the file and empties it. It does not wait: if a reader still needs the log it is left for the
// next time.
func Fold(ctx context.Context, w *sql.DB) error {
	for _, q := range []string{"PRAGMA busy_timeout = 0", "PRAGMA wal_checkpoint(TRUNCATE)",
		fmt.Sprintf("PRAGMA busy_timeout = %d", busyMillis)} {
		rows, err := w.QueryContext(ctx, q) // they return rows
		if err != nil {
			return err
		}
		for rows.Next() {
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return err
		}
	}
	return nil
}

// LeaveLog makes the last connection leave the log's files in place, with an empty log: on a full disk the next start
// could not create them.
func LeaveLog(last *sql.DB) error {
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
