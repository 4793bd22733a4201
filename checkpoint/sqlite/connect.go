package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

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
	err = sqlfile.Format(ctx, s.path, fmt.Sprintf("page_size = %d", pageSize), // the first: the others fix it
		"auto_vacuum = incremental", fmt.Sprintf("application_id = %d", application))
	if err != nil {
		return db(err)
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

func (s *Store) disconnect() error {
	var errs []error
	for _, c := range []*sql.DB{s.read, s.writer} {
		if c != nil {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}
