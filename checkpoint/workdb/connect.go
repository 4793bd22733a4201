package workdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"orchestrator/checkpoint/sqlfile"
)

const (
	// readers is how many connections read.
	readers = 2
	// statements is how many prepared statements each connection keeps.
	statements = 32
	// logPages is how long the log may get before a commit folds it into the file: 4 MB.
	logPages = 1000
	// headSize is less than any database has.
	headSize = 512
)

// connect opens the connections and brings the tables to the newest version.
func (f *file) connect(ctx context.Context) (err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, f.disconnect())
		}
	}()
	sqlfile.Create(f.path)
	if n := sizeOf(f.path); n > 0 && n < headSize {
		return fmt.Errorf("%w: the file has %d bytes", sqlfile.ErrCheck, n) // to SQLite it would be empty
	}
	if err := sqlfile.Format(ctx, f.path, "auto_vacuum = incremental", fmt.Sprintf("application_id = %d", application)); err != nil {
		return err
	}
	cached := fmt.Sprintf("&_stmt_cache_size=%d", statements)
	f.writer = sql.OpenDB(sqlfile.Connector(sqlfile.DSN(f.path, "&_txlock=immediate&_foreign_keys=1"+cached)))
	f.writer.SetMaxOpenConns(1)
	f.writer.SetConnMaxLifetime(0)
	if err := sqlfile.Patiently(ctx, f.lock, func() error { return f.migrate(ctx) }); err != nil {
		return err
	}
	if err := sound(ctx, f.writer); err != nil {
		return err
	}
	if _, err := f.writer.ExecContext(ctx, fmt.Sprintf("PRAGMA wal_autocheckpoint = %d; PRAGMA journal_size_limit = %d", logPages,
		logPages*4096)); err != nil {
		return err
	}
	f.read = sql.OpenDB(sqlfile.Connector(sqlfile.DSN(f.path, sqlfile.Reads+cached)))
	f.read.SetMaxOpenConns(readers)
	f.read.SetMaxIdleConns(readers)
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
