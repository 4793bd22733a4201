package workdb_test

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/checkpoint/workdb"
	"orchestrator/thread/work"
)

// TestLongReader has somebody keep a transaction open while the store writes: nothing waits for it. The log grows, which
// Measure tells, and is short again once the reader has gone.
func TestLongReader(t *testing.T) {
	path := filepath.Join(t.TempDir(), "work.db")
	s := open(t, path, workdb.Options{})
	x := add(t, s, "t1")
	c, err := sql.Open("sqlite3", "file:"+path+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	reader, err := c.Begin()
	if err != nil {
		t.Fatal(err)
	}
	count := func() (n int) {
		t.Helper()
		if err := reader.QueryRow("SELECT count(*) FROM work_event").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := count()
	write := func(n int) {
		t.Helper()
		for range n {
			if err := s.Append(t.Context(), x.ID, x.Fence, work.Event{Kind: "text", Text: strings.Repeat("x", 15<<10)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	log := func() int64 {
		t.Helper()
		m, err := s.Measure(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return m.Log
	}
	write(600)
	grown := log()
	if grown < 8<<20 || count() != before {
		t.Errorf("the log has %d bytes, the reader sees %d events, %d before", grown, count(), before)
	}
	if err := reader.Rollback(); err != nil {
		t.Fatal(err)
	}
	write(300)
	if after := log(); after > 6<<20 {
		t.Errorf("the log has %d bytes, %d while somebody read", after, grown)
	}
}
