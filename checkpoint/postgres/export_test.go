package postgres

import "context"

// EndOthers ends the connections of all other servers of the database.
func (s *Store) EndOthers(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
		WHERE application_name = 'orchestrator' AND pid <> pg_backend_pid()`)
	return err
}
