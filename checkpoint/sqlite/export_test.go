package sqlite

import (
	"fmt"
	"testing"

	"github.com/mattn/go-sqlite3"

	"orchestrator/checkpoint/sqlfile"
)

// Fold moves the log into the file now.
func Fold(t testing.TB, s *Store) {
	t.Helper()
	if err := s.do(t.Context(), 0, func(*tx) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if err := sqlfile.Fold(t.Context(), s.writer); err != nil {
		t.Fatal(err)
	}
}

// FoldIdle is after how long without a commit the log is folded.
const FoldIdle = foldIdle

// FailCommits has SQLite refuse every commit of the writer from now on.
func FailCommits(t testing.TB, s *Store) {
	t.Helper()
	c, err := s.writer.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }() // it goes back to the pool
	err = c.Raw(func(raw any) error {
		conn, ok := raw.(*sqlite3.SQLiteConn)
		if !ok {
			return fmt.Errorf("the connection is a %T", raw)
		}
		conn.RegisterCommitHook(func() int { return 1 })
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
