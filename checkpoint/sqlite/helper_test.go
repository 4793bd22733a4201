package sqlite_test

import (
	"database/sql"
	"testing"
)

// outside runs one statement on a database from outside of the store.
func outside(t testing.TB, path, query string) {
	t.Helper()
	c, err := sql.Open("sqlite3", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Exec(query); err != nil {
		t.Fatal(err)
	}
}

// hold takes the write lock as another program would.
func hold(t testing.TB, path string) (release func()) {
	t.Helper()
	c, err := sql.Open("sqlite3", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	c.SetMaxOpenConns(1)
	if _, err := c.Exec("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	return func() {
		if _, err := c.Exec("ROLLBACK"); err != nil {
			t.Fatal(err)
		}
		c.Close()
	}
}
