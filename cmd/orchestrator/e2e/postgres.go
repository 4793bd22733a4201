package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"orchestrator/checkpoint/postgres/pgtest"
)

// Database is the PostgreSQL server of the test run, started by the first test that wants it; testMain ends it.
var Database pgtest.Server

// KeepIn has the program keep its threads in a database from now on.
func (r *Rig) KeepIn(url string) {
	r.T.Helper()
	Put(r.T, filepath.Join(r.Home, ".config", "orchestrator", "config.toml"), fmt.Sprintf("store = %q\n", url))
}

// NoSecret looks for a database's password in everything that the program wrote or handed on.
func (r *Rig) NoSecret() {
	r.T.Helper()
	log, err := os.ReadFile(filepath.Join(r.StateDir(), "log", "server.log"))
	if err != nil {
		r.T.Error(err)
	}
	for what, text := range map[string]string{"the log": string(log), "the doctor": r.Run("doctor").Stdout} {
		if strings.Contains(text, "hunter2") {
			r.T.Errorf("%s shows the password:\n%s", what, text)
		}
	}
}
