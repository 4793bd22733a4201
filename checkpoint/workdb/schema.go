package workdb

import (
	"context"
	"database/sql"
	_ "embed" // the tables
	"errors"
	"fmt"

	"orchestrator/checkpoint/sqlfile"
	"orchestrator/checkpoint/workrow"
	"orchestrator/thread"
	"orchestrator/thread/failpoint"
)

// application marks our files ("orcw"), so that nobody else's database is used.
const application = 0x6f726377

// first makes the tables.
const first = `
CREATE TABLE number (              -- the last that was given
  one  INTEGER PRIMARY KEY CHECK (one = 1),
  last INTEGER NOT NULL
) STRICT;
INSERT INTO number VALUES (1, 0);
CREATE TABLE execution (
  n      INTEGER PRIMARY KEY AUTOINCREMENT, -- the order of creation
  id     TEXT NOT NULL UNIQUE,
  name   TEXT NOT NULL UNIQUE,
  thread TEXT NOT NULL,
  state  TEXT NOT NULL,
  sum    BLOB NOT NULL,            -- of the document
  doc    BLOB NOT NULL
) STRICT;
CREATE INDEX execution_thread ON execution (thread, n);
CREATE INDEX execution_state ON execution (state, n);
CREATE TABLE event (
  execution INTEGER NOT NULL,
  seq       INTEGER NOT NULL,      -- from 1, without gaps
  sum       BLOB NOT NULL,         -- of the document
  doc       BLOB NOT NULL,
  PRIMARY KEY (execution, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE purging (             -- the executions whose events are being removed
  execution INTEGER PRIMARY KEY
) STRICT;
CREATE TRIGGER event_stays BEFORE UPDATE ON event
  BEGIN SELECT RAISE(ABORT, 'events are not changed'); END;
CREATE TRIGGER event_is_kept BEFORE DELETE ON event
  WHEN NOT EXISTS (SELECT 1 FROM purging WHERE execution = OLD.execution)
  BEGIN SELECT RAISE(ABORT, 'events are not removed'); END;
`

// record makes the tables of the record of work, and the views.
//
//go:embed record.sql
var record string

// plans makes the tables of the tasks of plans, and the views.
//
//go:embed plans.sql
var plans string

// steps are the changes of the tables from version to version. That to version filled changes none: what executions are
// searched by is derived from those of earlier versions. A step is never changed once it was released.
func steps() []string { return []string{first, record, "", plans} }

const (
	filled    = 3
	withPlans = 4
	// newest is the version of the tables that this program makes.
	newest = 4
)

// check checks that the file is ours, in the right mode, and not of a newer version, and returns its version.
func check(ctx context.Context, w *sql.DB) (version int, err error) {
	var mode string
	var app, tables int
	for query, to := range map[string]any{"PRAGMA journal_mode": &mode, "PRAGMA application_id": &app,
		"PRAGMA user_version": &version, "SELECT count(*) FROM sqlite_master": &tables} {
		if err := w.QueryRowContext(ctx, query).Scan(to); err != nil {
			return 0, err
		}
	}
	switch {
	case mode != "wal":
		return 0, thread.Hint(fmt.Errorf("journal mode is %q, not wal: %w", mode, thread.ErrUnsupported),
			"keep the state folder on a local disk, not on a network share")
	case app != application && tables > 0:
		return 0, thread.Hint(thread.Kindf(thread.ErrInvalid, "the database belongs to another program (application %#x)",
			uint32(app)), "move the file away")
	case version > newest:
		return 0, thread.Hint(fmt.Errorf("the database has schema version %d, this program supports %d: %w", version,
			newest, thread.ErrUnsupported), "upgrade orchestrator, or move the file and those beside it with the same "+
			"prefix away to start without its runs; nothing was changed")
	case version == 0 && tables > 0:
		return 0, fmt.Errorf("%w: tables without a version", sqlfile.ErrCheck)
	}
	return version, nil
}

// migrate brings the tables to the newest version, each step in a transaction of its own.
func (f *file) migrate(ctx context.Context) error {
	version, err := check(ctx, f.writer)
	if err != nil {
		return err
	}
	for _, step := range steps()[version:] {
		version++
		if version == filled {
			if err := workrow.New(f, nil).Fill(ctx); err != nil {
				return err
			}
		}
		if err := f.step(ctx, step, version); err != nil {
			return err
		}
	}
	return nil
}

// step changes the tables to a version.
func (f *file) step(ctx context.Context, change string, version int) error {
	tx, err := f.writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, change+fmt.Sprintf(";PRAGMA user_version = %d", version)); err != nil {
		_ = tx.Rollback() // the first error says more
		return err
	}
	failpoint.Hit("workdb.migrate.step")
	return tx.Commit()
}

// sound looks at a few pages of each table.
func sound(ctx context.Context, w *sql.DB) error {
	for _, query := range []string{"SELECT coalesce(max(last), 0) FROM work_number",
		"SELECT coalesce(max(n), 0) FROM work", "SELECT coalesce(max(work), 0) FROM work_fact", "SELECT count(*) FROM work_purging",
		"SELECT coalesce(max(n), 0) FROM work_session", "SELECT coalesce(max(n), 0) FROM work_output",
		"SELECT coalesce(max(n), 0) FROM work_bundle", "SELECT coalesce(max(n), 0) FROM work_allocation",
		"SELECT coalesce(max(seq), 0) FROM work_event WHERE work = (SELECT max(work) FROM work_event)",
		"SELECT coalesce(max(n), 0) FROM plan_task", "SELECT coalesce(max(n), 0) FROM plan_node",
		"SELECT coalesce(max(n), 0) FROM plan_handover", "SELECT count(*) FROM plan_armed"} {
		var n int64
		if err := w.QueryRowContext(ctx, query).Scan(&n); errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("%w: %q has no row", sqlfile.ErrCheck, query)
		} else if err != nil {
			return err
		}
	}
	return nil
}
