package gemini_test

import (
	"os"
	"path/filepath"
	"testing"

	"orchestrator/agent/agenttest"
	"orchestrator/agent/gemini"
	"orchestrator/agent/launch"
	"orchestrator/thread"
)

// TestLoaded resumes a session: it is loaded once Gemini CLI has noted so, since this start.
func TestLoaded(t *testing.T) {
	const session = "0a1b2c3d-0000-4000-8000-000000000001"
	const note = `{"$set":{"sessionId":"` + session + `"}}` + "\n"
	dir, home := t.TempDir(), t.TempDir()
	agenttest.Put(t, filepath.Join(home, "bin", "x"), "")
	agenttest.Fake(t, filepath.Join(home, "bin", "gemini"), "0.61.0")
	env := []string{"HOME=" + home, "PATH=" + filepath.Join(home, "bin")}
	chat := write(t, env, dir, session, 2).Main
	add := func(text string) {
		t.Helper()
		f, err := os.OpenFile(chat, os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	add(note) // of an earlier start
	a := gemini.New(launch.Config{Env: env})
	fresh, err := a.Launch(t.Context(), thread.LaunchSpec{Dir: dir, Env: env})
	if err != nil || fresh.Loaded != nil {
		t.Errorf("a new session is waited for: %v", err)
	}
	l, err := a.Launch(t.Context(), thread.LaunchSpec{Dir: dir, Env: env, Session: session, Resume: true})
	if err != nil || l.Loaded == nil {
		t.Fatalf("nothing tells when it is loaded: %v", err)
	}
	for _, step := range []struct {
		add    string
		loaded bool
	}{
		{"", false},
		{`{"sessionId":"` + session + `","kind":"main"}` + "\n" + `{"$set":{"messages":[]}}` + "\n", false}, // at its start
		{`{"$set":{"lastUpdated":"2026-11-29T16:02:57.194Z"}}` + "\n" + note[:20], false},
		{note[20:], true},
		{`{"$set":{"messages":[]}}` + "\n", true},
	} {
		add(step.add)
		if got := l.Loaded(); got != step.loaded {
			t.Errorf("loaded after %q: %v", step.add, got)
		}
	}
}
