package records

import (
	"os/exec"
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
)

// TestPaperInPostgres runs the document's shell and queries over a PostgreSQL store, with psql.
func TestPaperInPostgres(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	psql, err := exec.LookPath("psql")
	if err != nil {
		t.Skip("no psql: install it")
	}
	r := withFiles(t)
	url := e2e.Database.Database(t, "papers")
	r.KeepIn(url)
	text := paper(t)
	for _, block := range blocks(text, "sh") {
		r.Shell("set -e\n" + block)
	}
	for _, block := range blocks(text, "sql") {
		cmd := exec.Command(psql, "-v", "ON_ERROR_STOP=1", "-At", url)
		cmd.Stdin = strings.NewReader("SET search_path = orchestrator;\n" + block)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%v: %s", err, out)
		}
		for _, want := range []string{"lib/vector-search.ts", "task-implementor|1|1"} {
			if !strings.Contains(string(out), want) {
				t.Errorf("no %q in the answers:\n%s", want, out)
			}
		}
	}
}
