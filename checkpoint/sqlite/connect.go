package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"

	"orchestrator/checkpoint/sqlfile"
)

const (
	// logPages is how long the log may get before a commit folds it into the file. An idle store does so earlier.
	logPages = 4000
	// readers is how many connections read.
	readers = 4
	// statements is how many prepared statements each connection keeps: many queries are run for each thread in turn.
	statements = 16
)

// connect opens the connections and migrates the schema.
func (s *Store) connect(ctx context.Context) (err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, s.disconnect())
		}
	}()
	if err := format(ctx, s.path); err != nil {
		return err
	}
	s.writer = sql.OpenDB(sqlfile.Connector(sqlfile.DSN(s.path, "")))
	s.writer.SetMaxOpenConns(1)
	s.writer.SetConnMaxLifetime(0)
	if err := check(ctx, s.writer, s.health.whole); err != nil {
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
	if err := sqlfile.Fold(ctx, s.writer); err != nil && sqlfile.IsDamage(err) {
		return err // any other one leaves the log as it is
	}
	if _, err := s.writer.ExecContext(ctx, fmt.Sprintf("PRAGMA wal_autocheckpoint = %d", logPages)); err != nil {
		return db(err)
	}
	s.read = sql.OpenDB(sqlfile.Connector(sqlfile.DSN(s.path, sqlfile.Reads+fmt.Sprintf("&_stmt_cache_size=%d", statements))))
	s.read.SetMaxOpenConns(readers)
	s.read.SetMaxIdleConns(readers)
	s.finder, err = s.read.PrepareContext(ctx, pairQuery)
	return db(err)
}

// format prepares an empty file. It must run before the file is put into WAL mode, which fixes the layout.
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
	// The page size first: the other settings fix it.
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
