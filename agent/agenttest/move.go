package agenttest

import (
	"os"
	"path/filepath"
	"testing"

	"orchestrator/agent/launch"
	"orchestrator/thread"
)

// Moved rebuilds a session for a fork that works in another folder and compares what was written, to the byte.
// session returns the content of a session, by its id, whose tools worked in a folder; file is the pattern of the path,
// below the home folder, that the agent keeps a session in.
func Moved(
	t *testing.T, agent func(launch.Config) thread.Rebuilder, file func(id string) string,
	session func(id, dir string) string,
) {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	const from = "/w/p"
	env := []string{"HOME=" + home}
	parent, child, dir := launch.UUID(), launch.UUID(), filepath.Join(home, "it's a fork")
	id, err := agent(launch.Config{Env: env}).Rebuild(t.Context(), thread.RebuildSpec{
		Session: parent, NewSession: child, FromDir: from, Dir: dir, StateDir: t.TempDir(), Env: env,
		Files: []thread.TranscriptFile{{File: "main", Data: []byte(session(parent, from))}},
	})
	if err != nil || id != child {
		t.Fatalf("rebuilt %q: %v", id, err)
	}
	found, err := filepath.Glob(filepath.Join(home, file(child)))
	if err != nil || len(found) != 1 {
		t.Fatalf("%q: %v", found, err)
	}
	got, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	if want := session(child, dir); string(got) != want {
		t.Errorf("the fork holds\n%s, want\n%s", got, want)
	}
}
