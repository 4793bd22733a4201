package codex_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"orchestrator/agent/codex"
	"orchestrator/agent/launch"
	"orchestrator/thread"
)

// TestRebuildWhereItWas makes a lost rollout anew. Codex remembers where it was: the name tells when the
// session was made, which is some time before its first line was written.
func TestRebuildWhereItWas(t *testing.T) {
	home := t.TempDir()
	env := []string{"HOME=" + home}
	session := launch.UUID()
	made := time.Date(2026, 11, 21, 10, 28, 50, 440e6, time.UTC)
	meta := fmt.Sprintf(`{"timestamp":%q,"ordinal":0,"type":"session_meta","payload":{"id":%q,"timestamp":%q}}`+"\n",
		made.Add(90*time.Second).Format(time.RFC3339Nano), session, made.Format(time.RFC3339Nano))
	if _, err := codex.New(launch.Config{Env: env}).Rebuild(t.Context(), thread.RebuildSpec{
		Session: session, Dir: home, FromDir: home, StateDir: t.TempDir(), Env: env,
		Files: []thread.TranscriptFile{{File: "main", Data: []byte(meta)}},
	}); err != nil {
		t.Fatal(err)
	}
	local := made.Local()
	want := filepath.Join(home, ".codex", "sessions", local.Format("2006"), local.Format("01"), local.Format("02"),
		"rollout-"+local.Format("2006-01-02T15-04-05")+"-"+session+".jsonl")
	if got, err := os.ReadFile(want); err != nil || string(got) != meta {
		t.Errorf("%s holds %q: %v", want, got, err)
	}
}
