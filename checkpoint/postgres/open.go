package postgres

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"orchestrator/checkpoint/pack"
	"orchestrator/thread"
	"orchestrator/thread/failpoint"
)

//go:embed migrations/*.sql
var migrations embed.FS

const (
	// schema is the number of the newest migration that this program knows.
	schema = 1
	// space is the schema, in PostgreSQL's sense, that all tables lie in.
	space = "orchestrator"
	// migrating is the advisory lock under which one server at a time migrates.
	migrating = 0x6f726368
	// connections is how many one server takes at most.
	connections = 8
)

// Options say whose store it is.
type Options struct {
	// Project names the project; servers with the same name share it.
	Project string
	// Host names this server among the project's, and stays the same over restarts.
	Host string
}

// Store implements thread.Store.
type Store struct {
	pool    *pgxpool.Pool
	packer  *pack.Packer
	about   string // for people, without the password
	project int64
	host    string
}

var _ thread.Store = (*Store)(nil)

// Open connects to the database that a postgres:// URL names and brings its tables up to date.
func Open(ctx context.Context, url string, o Options) (*Store, error) {
	if o.Project == "" || o.Host == "" {
		return nil, fmt.Errorf("open store: no project or host: %w", thread.ErrInvalid)
	}
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		// The driver's error may quote the URL, and with it the password.
		return nil, fmt.Errorf("open store: the postgres:// URL cannot be read: %w", thread.ErrInvalid)
	}
	cfg.MaxConns = connections
	cfg.ConnConfig.RuntimeParams["search_path"] = space
	cfg.ConnConfig.RuntimeParams["synchronous_commit"] = "on"
	cfg.ConnConfig.RuntimeParams["application_name"] = "orchestrator"
	s := &Store{packer: pack.New(), host: o.Host,
		about: fmt.Sprintf("PostgreSQL %s at %s:%d", cfg.ConnConfig.Database, cfg.ConnConfig.Host, cfg.ConnConfig.Port)}
	if s.pool, err = pgxpool.NewWithConfig(ctx, cfg); err != nil {
		return nil, fmt.Errorf("open %w", s.translate(err))
	}
	if err := s.prepare(ctx, cfg.ConnConfig, o.Project); err != nil {
		s.pool.Close()
		return nil, fmt.Errorf("open %w", s.translate(err))
	}
	return s, nil
}

// prepare migrates and finds the project's number.
func (s *Store) prepare(ctx context.Context, cfg *pgx.ConnConfig, project string) error {
	if err := migrate(ctx, cfg); err != nil {
		return err
	}
	_, err := s.pool.Exec(ctx, "INSERT INTO project (name) VALUES ($1) ON CONFLICT DO NOTHING", project)
	if err != nil {
		return err
	}
	return s.pool.QueryRow(ctx, "SELECT n FROM project WHERE name = $1", project).Scan(&s.project)
}

func migrate(ctx context.Context, cfg *pgx.ConnConfig) error {
	db := stdlib.OpenDB(*cfg)
	defer db.Close()
	lock, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }() // unlocks too
	if _, err := lock.ExecContext(ctx, "SELECT pg_advisory_lock($1)", migrating); err != nil {
		return err
	}
	defer unlock(lock)
	if _, err := lock.ExecContext(ctx, "CREATE SCHEMA IF NOT EXISTS "+space); err != nil {
		return err
	}
	dir, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(goose.DialectPostgres, db, dir, goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	version, err := p.GetDBVersion(ctx)
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	if version > schema {
		return thread.Hint(fmt.Errorf("store: the database has schema %d, this program knows %d: %w", version, schema, thread.ErrUnsupported),
			"use the newer orchestrator that made it")
	}
	for {
		failpoint.Hit("postgres.migrate.step")
		if _, err := p.UpByOne(ctx); errors.Is(err, goose.ErrNoNextVersion) {
			return nil
		} else if err != nil {
			return fmt.Errorf("migrate: %w", err)
		}
	}
}

// unlock lets the next server migrate; closing the connection would do it too.
func unlock(c *sql.Conn) {
	_, _ = c.ExecContext(context.Background(), "SELECT pg_advisory_unlock($1)", migrating)
}

// About says which database it is, for people.
func (s *Store) About() string { return s.about }

// Close gives the connections back.
func (s *Store) Close() error {
	s.pool.Close()
	return nil
}

// translate turns the driver's errors into the domain's.
func (s *Store) translate(err error) error {
	if err == nil || refused(err) {
		return err
	}
	var e *pgconn.PgError
	var c *pgconn.ConnectError
	switch {
	case errors.As(err, &e) && (e.Code == "53100" || e.Code == "53200"):
		return thread.Hint(fmt.Errorf("store: %s: %w: %s", s.about, thread.ErrDiskFull, e.Message), "free space on the database's machine; the store goes on by itself")
	case errors.As(err, &e) && e.Code == "25006":
		return thread.Hint(fmt.Errorf("store: %s: %w: %s", s.about, thread.ErrReadOnly, e.Message), "connect to the primary server")
	case errors.As(err, &e) && (e.Code == "XX001" || e.Code == "XX002"):
		return fmt.Errorf("store: %s: %w: %s", s.about, thread.ErrDamaged, e.Message)
	case errors.As(err, &c):
		return thread.Hint(fmt.Errorf("store: %s cannot be reached: %w", s.about, err), "is the database running, and may you log in?")
	default:
		return fmt.Errorf("store: %s: %w", s.about, err)
	}
}

// refused reports whether an error is the domain's already.
func refused(err error) bool {
	for _, known := range []error{thread.ErrInvalid, thread.ErrNotFound, thread.ErrNameTaken, thread.ErrDamaged, thread.ErrUnsupported} {
		if errors.Is(err, known) {
			return true
		}
	}
	var e *changeError
	return errors.As(err, &e)
}

// changeError carries an error of a change function through a transaction.
type changeError struct{ err error }

func (e *changeError) Error() string { return e.err.Error() }
func (e *changeError) Unwrap() error { return e.err }

// lockKind is how a transaction takes the project's lock.
type lockKind string

const (
	lockNone   lockKind = ""
	lockShared lockKind = "SELECT pg_advisory_xact_lock_shared($1, $2)"
	lockAlone  lockKind = "SELECT pg_advisory_xact_lock($1, $2)"
)

// tx runs a change in one transaction.
func (s *Store) tx(ctx context.Context, lock lockKind, change func(pgx.Tx) error) error {
	err := pgx.BeginFunc(ctx, s.pool, func(t pgx.Tx) error {
		if lock != lockNone {
			if _, err := t.Exec(ctx, string(lock), int32(migrating), int32(s.project)); err != nil { // few projects
				return err
			}
		}
		if err := change(t); err != nil {
			return err
		}
		failpoint.Hit("postgres.commit.before")
		return nil
	})
	failpoint.Hit("postgres.commit.after")
	var e *changeError
	if errors.As(err, &e) {
		return e.err
	}
	return s.translate(err)
}

func isTaken(err error, constraint string) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == "23505" && e.ConstraintName == constraint
}
