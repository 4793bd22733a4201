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
	env := []string{"HOME=" + home}
	for _, from := range []string{"/w/p", "/old/p"} {
		moved(t, agent(launch.Config{Env: env}), file, session, home, from, env)
	}
}

// moved rebuilds a session of a project that is in /w/p and was in /old/p, for a fork.
func moved(
	t *testing.T, agent thread.Rebuilder, file func(id string) string, session func(id, dir string) string, home, from string, env []string,
) {
	t.Helper()
	parent, child, dir := launch.UUID(), launch.UUID(), filepath.Join(home, "it's a fork")
	id, err := agent.Rebuild(t.Context(), thread.RebuildSpec{
		Session: parent, NewSession: child, FromDirs: []string{"/w/p", "/old/p"}, Dir: dir, StateDir: t.TempDir(), Env: env,
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
