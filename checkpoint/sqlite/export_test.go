package sqlite

import "testing"

// Fold moves the log into the file now.
func Fold(t testing.TB, s *Store) {
	t.Helper()
	if err := s.do(t.Context(), 0, func(*tx) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if err := fold(t.Context(), s.write); err != nil {
		t.Fatal(err)
	}
}

// FoldIdle is after how long without a commit the log is folded.
const FoldIdle = foldIdle
