package postgres

import (
	"context"
	"io/fs"

	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
)

// EndOthers ends the connections of all other servers of the database.
func (s *Store) EndOthers(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
		WHERE application_name = 'orchestrator' AND pid <> pg_backend_pid()`)
	return err
}

// MigrateTo makes the tables of an older version.
func MigrateTo(ctx context.Context, url string, version int64) error {
	p, end, err := provider(ctx, url)
	if err != nil {
		return err
	}
	defer end()
	_, err = p.UpTo(ctx, version)
	return err
}

// Undo goes back to an older version.
func Undo(ctx context.Context, url string, version int64) error {
	p, end, err := provider(ctx, url)
	if err != nil {
		return err
	}
	defer end()
	_, err = p.DownTo(ctx, version)
	return err
}

func provider(ctx context.Context, url string) (*goose.Provider, func(), error) {
	cfg, err := parse(url)
	if err != nil {
		return nil, nil, err
	}
	cfg.ConnConfig.RuntimeParams["search_path"] = space
	db := stdlib.OpenDB(*cfg.ConnConfig)
	end := func() { _ = db.Close() }
	if _, err := db.ExecContext(ctx, "CREATE SCHEMA IF NOT EXISTS "+space); err != nil {
		end()
		return nil, nil, err
	}
	dir, err := fs.Sub(migrations, "migrations")
	if err != nil {
		end()
		return nil, nil, err
	}
	p, err := goose.NewProvider(goose.DialectPostgres, db, dir, goose.WithLogger(goose.NopLogger()))
	if err != nil {
		end()
		return nil, nil, err
	}
	return p, end, nil
}
