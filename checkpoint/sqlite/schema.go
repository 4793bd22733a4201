package sqlite

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/pressly/goose/v3"

	"orchestrator/checkpoint/mark"
	"orchestrator/checkpoint/sqlfile"
	"orchestrator/thread"
	"orchestrator/thread/failpoint"
)

//go:embed migrations/*.sql
var migrations embed.FS

const (
	// schema is the number of the newest migration that this program knows.
	schema = 4
	// schemaSum is the hash of the tables that the migrations make; an error names the new one after a migration is added.
	schemaSum = "64aa2792ced6a2f3"
	// pageSize is small because a record fills whole pages: with 4 KB, half of the file would be empty.
	pageSize = 1024
	// application marks our files ("orch"), so that nobody else's database is migrated or repaired.
	application = 0x6f726368
)

// check checks that the file is ours, not of a newer version and, if it is to read the whole of it, valid.
func check(ctx context.Context, w *sql.DB, whole bool) error {
	var mode string
	if err := w.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode); err != nil {
		return db(err)
	}
	if mode != "wal" {
		return thread.Hint(fmt.Errorf("store: journal mode is %q, not wal: %w", mode, thread.ErrUnsupported),
			"keep the state folder on a local disk, not on a network share")
	}
	if whole {
		if err := valid(ctx, w); err != nil {
			return err
		}
	}
	var app, version, tables int
	for query, to := range map[string]*int{"PRAGMA application_id": &app, "PRAGMA user_version": &version,
		"SELECT count(*) FROM sqlite_master": &tables} {
		if err := w.QueryRowContext(ctx, query).Scan(to); err != nil {
			return db(err)
		}
	}
	if app != application && tables > 0 {
		return errForeign(uint32(app))
	}
	if version > schema {
		return errNewer(uint32(version))
	}
	return nil
}

// valid checks all of the file.
func valid(ctx context.Context, c *sql.DB) error {
	// quick_check would not compare the indexes with their tables: a row missing from an index would be lost silently, and
	// a damaged entry would fail every put that meets it.
	var found string
	if err := c.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&found); err != nil {
		return db(err)
	}
	if found != "ok" {
		return db(fmt.Errorf("%w: %s", sqlfile.ErrCheck, found))
	}
	return nil
}

// checkSchema compares the text of the tables with what the migrations make: the database's own check does not notice a
// wrong letter in a column's name.
func checkSchema(ctx context.Context, w *sql.DB) error {
	rows, err := w.QueryContext(ctx, "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_master ORDER BY name")
	if err != nil {
		return db(err)
	}
	h := sha256.New()
	err = each(rows, func(scan func(...any) error) error {
		var kind, name, table, text string
		if err := scan(&kind, &name, &table, &text); err != nil {
			return err
		}
		if !strings.HasPrefix(table, "goose_") && !strings.HasPrefix(table, "sqlite_") {
			fmt.Fprintf(h, "%q %q %q %q\n", kind, name, table, text)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if got := hex.EncodeToString(h.Sum(nil)[:8]); got != schemaSum {
		return db(fmt.Errorf("%w: unexpected schema (%s)", sqlfile.ErrCheck, got))
	}
	return nil
}

func migrate(ctx context.Context, w *sql.DB) error {
	var version int
	if err := w.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return db(err)
	}
	if version == schema {
		return nil
	}
	dir, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, w, dir, goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return db(fmt.Errorf("migrate: %w", err))
	}
	for {
		failpoint.Hit("sqlite.migrate.step")
		if _, err := p.UpByOne(ctx); errors.Is(err, goose.ErrNoNextVersion) {
			break
		} else if err != nil {
			return db(fmt.Errorf("migrate: %w", err))
		}
	}
	failpoint.Hit("sqlite.migrate.version")
	if _, err := w.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", schema)); err != nil {
		return db(err)
	}
	failpoint.Hit("sqlite.migrate.done")
	return nil
}

// newest returns the record of the newest commit. A database without one gets its first.
func newest(ctx context.Context, w *sql.DB) (mark.Mark, error) {
	var row []byte
	err := w.QueryRowContext(ctx, "SELECT row FROM mark WHERE n = 1").Scan(&row)
	if err == nil {
		if m, ok := mark.Parse(row); ok {
			return m, nil
		}
		return mark.Mark{}, db(fmt.Errorf("%w: the record of the newest commit is unreadable", sqlfile.ErrCheck))
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return mark.Mark{}, db(err)
	}
	var m mark.Mark
	rand.Read(m.DB[:])
	_, err = w.ExecContext(ctx, "INSERT INTO mark (n, row) VALUES (1, ?)", m.Bytes())
	return m, db(err)
}

func errForeign(app uint32) error {
	return thread.Hint(
		thread.Kindf(thread.ErrInvalid, "store: the database belongs to another program (application %#x)", app),
		"move the file away")
}

func errNewer(version uint32) error {
	return thread.Hint(fmt.Errorf("store: the database has schema version %d, this program supports %d: %w",
		version, schema, thread.ErrUnsupported),
		"upgrade orchestrator, or move the file and those beside it with the same prefix away "+
			"to start without its threads; nothing was changed")
}
