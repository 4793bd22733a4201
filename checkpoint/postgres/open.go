package postgres

import (
	"cmp"
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
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
	schema = 6
	// oldest is the lowest server_version_num that supports all queries.
	oldest = 120000
	// callLimit is how long one call may take; loginLimit is for the first connection.
	callLimit  = time.Minute
	loginLimit = 15 * time.Second
)

// watch has connections notice silence.
func watch(cfg *pgx.ConnConfig, limit time.Duration, silent func()) {
	cfg.DialFunc, cfg.ConnectTimeout = dialer(limit, silent), limit
}

// Open connects to the database of a postgres:// URL and migrates its tables.
func Open(ctx context.Context, url string, o Options) (*Store, error) {
	if o.Project == "" || o.Host == "" {
		return nil, thread.Kindf(thread.ErrInvalid, "open store: no project or host")
	}
	cfg, err := parse(url)
	if err != nil {
		return nil, fmt.Errorf("open %w", err)
	}
	cfg.MaxConns = connections
	cfg.ConnConfig.RuntimeParams["search_path"] = space
	cfg.ConnConfig.RuntimeParams["synchronous_commit"] = "on"
	cfg.ConnConfig.RuntimeParams["application_name"] = "orchestrator"
	s := &Store{
		packer: pack.New(), host: strings.ToValidUTF8(o.Host, "?"), about: about(cfg.ConnConfig),
		limit: cmp.Or(o.Limit, callLimit),
	}
	s.Reader = s.packer.Reader(table{s})
	patient := cfg.ConnConfig.Copy() // for migrations, which may wait for those of another server
	asked := cfg.ConnConfig.Copy()
	limit := cmp.Or(o.Silence, silence)
	watch(asked, limit, func() {})
	s.presence = newPresence(func(ctx context.Context) error {
		if err := ask(ctx, asked); err != nil || s.holder == nil {
			return err
		}
		return s.holder.again(ctx)
	})
	if o.Alone {
		s.holder = newHolder(patient, o.Project, s.host, s.presence.silent)
	}
	watch(cfg.ConnConfig, limit, s.presence.silent)
	if s.pool, err = pgxpool.NewWithConfig(ctx, cfg); err != nil {
		return nil, fmt.Errorf("open %w", s.translate(err))
	}
	err = s.prepare(ctx, asked, patient, o.Project)
	if err == nil && o.Alone {
		err = s.holder.begin(ctx, s.host)
	}
	if err != nil {
		err = fmt.Errorf("open %w", s.translate(err))
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

// parse parses a URL; what it omits comes from the environment and ~/.pgpass, as with PostgreSQL's own programs.
func parse(url string) (*pgxpool.Config, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil { // which may quote the URL, and with it the password
		return nil, thread.Hint(thread.Kindf(thread.ErrInvalid, "store: the postgres:// URL is not valid"),
			"postgres://ROLE:PASSWORD@HOST:5432/DATABASE; write @ / : ? # % in a password as %40 %2F %3A %3F %23 %25")
	}
	return cfg, nil
}

// about names a database for people.
func about(cfg *pgx.ConnConfig) string {
	return fmt.Sprintf("PostgreSQL %s at %s:%d", cfg.Database, cfg.Host, cfg.Port)
}

// About names the database of a URL for people, without connecting to it.
func About(url string) (string, error) {
	cfg, err := parse(url)
	if err != nil {
		return "", err
	}
	return about(cfg.ConnConfig), nil
}

// Check connects to a database, names it, and returns an error if it cannot hold a store. It changes nothing.
func Check(ctx context.Context, url string) (string, error) {
	cfg, err := parse(url)
	if err != nil {
		return "", err
	}
	s := &Store{about: about(cfg.ConnConfig)}
	watch(cfg.ConnConfig, silence, func() {})
	return s.about, s.translate(s.check(ctx, cfg.ConnConfig))
}

// check checks whether the server can hold a store.
func (s *Store) check(ctx context.Context, cfg *pgx.ConnConfig) error {
	ctx, cancel := context.WithTimeout(ctx, loginLimit)
	defer cancel()
	c, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close(ctx) }() // nothing was written
	var version int
	var encoding string
	var readOnly bool
	err = c.QueryRow(ctx, `SELECT current_setting('server_version_num')::int, current_setting('server_encoding'),
		pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on'`).Scan(&version, &encoding, &readOnly)
	if err != nil {
		return err
	}
	return s.checkServer(version, encoding, readOnly)
}

// checkServer refuses a server that lacks what the store needs.
func (s *Store) checkServer(version int, encoding string, readOnly bool) error {
	switch {
	case version < oldest:
		return thread.Hint(fmt.Errorf("store: %s is version %d: %w", s.about, version/10000, thread.ErrUnsupported),
			fmt.Sprintf("PostgreSQL %d or newer is required", oldest/10000))
	case encoding != "UTF8":
		return thread.Hint(fmt.Errorf("store: %s has encoding %s: %w", s.about, encoding, thread.ErrUnsupported),
			"create the database with createdb -T template0 -E UTF8")
	case readOnly:
		return thread.Hint(fmt.Errorf("store: %s: %w", s.about, thread.ErrReadOnly), "connect to the primary server")
	default:
		return nil
	}
}

// prepare migrates and finds the project's number.
func (s *Store) prepare(ctx context.Context, watched, patient *pgx.ConnConfig, project string) error {
	if err := s.check(ctx, watched); err != nil {
		return err
	}
	if err := migrate(ctx, patient); err != nil {
		return err
	}
	_, err := s.pool.Exec(ctx, "INSERT INTO project (name) VALUES ($1) ON CONFLICT DO NOTHING", project)
	if err != nil {
		return err
	}
	if err := s.pool.QueryRow(ctx, "SELECT n FROM project WHERE name = $1", project).Scan(&s.project); err != nil {
		return err
	}
	if err := s.Work(nil).Fill(ctx); err != nil {
		return err
	}
	return s.rest(ctx)
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
	var there bool
	if err := lock.QueryRowContext(ctx, "SELECT to_regnamespace($1) IS NOT NULL", space).Scan(&there); err != nil {
		return err
	}
	if !there { // creating it takes a privilege that a second person's role may lack
		if _, err := lock.ExecContext(ctx, "CREATE SCHEMA "+space); err != nil {
			return err
		}
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
		return thread.Hint(fmt.Errorf("store: the database has schema version %d, this program supports %d: %w",
			version, schema, thread.ErrUnsupported),
			"upgrade orchestrator")
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

// unlock lets the next server migrate; closing the connection would do so too.
func unlock(c *sql.Conn) {
	_, _ = c.ExecContext(context.Background(), "SELECT pg_advisory_unlock($1)", migrating)
}

// About names the database for people.
func (s *Store) About() string { return s.about }

// Away returns since when the database does not answer, zero if it does.
func (s *Store) Away() time.Time { return s.presence.away() }

// ask returns nil if a database answers.
func ask(ctx context.Context, cfg *pgx.ConnConfig) error {
	c, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close(ctx) }()
	return c.Ping(ctx)
}

// Close closes the connections.
func (s *Store) Close() error {
	if s.holder != nil {
		s.holder.end()
	}
	s.presence.end()
	s.pool.Close()
	return nil
}
