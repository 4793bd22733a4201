//go:build !unsynced

package sqlite

import (
	"path/filepath"
	"testing"
)

// TestPragmas asks every connection what a promise of the store hangs on: synchronous=FULL, without which a power cut
// takes what was acknowledged, and the log, which the fold and the mark are made for. The twin that does not sync is
// built to lose that, so that this file is not part of it.
func TestPragmas(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "state.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	const full = "2"
	for name, c := range map[string]interface {
		get(string) string
	}{"the writer": pragma{t, s, true}, "a reader": pragma{t, s, false}} {
		for what, want := range map[string]string{"synchronous": full, "journal_mode": "wal", "cell_size_check": "1",
			"page_size": "1024", "auto_vacuum": "2"} {
			if got := c.get(what); got != want {
				t.Errorf("%s has %s = %s, want %s", name, what, got, want)
			}
		}
	}
	if got := (pragma{t, s, true}).get("wal_autocheckpoint"); got != "4000" {
		t.Errorf("the log may grow to %s pages", got)
	}
	if got := (pragma{t, s, false}).get("query_only"); got != "1" {
		t.Error("a reader may write")
	}
}

type pragma struct {
	t     *testing.T
	s     *Store
	write bool
}

func (p pragma) get(name string) (v string) {
	c := p.s.read
	if p.write {
		c = p.s.writer
	}
	if err := c.QueryRowContext(p.t.Context(), "PRAGMA "+name).Scan(&v); err != nil {
		p.t.Fatal(err)
	}
	return v
}
