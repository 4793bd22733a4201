package codex_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orchestrator/agent/codex"
	"orchestrator/agent/launch"
	"orchestrator/thread"
)

// TestRebuildWhereItWas rewrites a lost rollout. Codex remembers where it was: the name tells when the
// session was made, which is some time before its first line was written.
func TestRebuildWhereItWas(t *testing.T) {
	home := t.TempDir()
	env := []string{"HOME=" + home}
	session := launch.UUID()
	made := time.Date(2026, 11, 21, 10, 28, 50, 440e6, time.UTC)
	meta := fmt.Sprintf(`{"timestamp":%q,"ordinal":0,"type":"session_meta","payload":{"id":%q,"timestamp":%q}}`+"\n",
		made.Add(90*time.Second).Format(time.RFC3339Nano), session, made.Format(time.RFC3339Nano))
	if _, err := codex.New(launch.Config{Env: env}).Rebuild(t.Context(), thread.RebuildSpec{
		Session: session, Dir: home, FromDirs: []string{home}, StateDir: t.TempDir(), Env: env,
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

// TestRebuildEndsTheTurn forks rollouts that stop before the end of their last turn: one whose turn is
// whole by our record gets the end that Codex would have written, any other stays as it is.
func TestRebuildEndsTheTurn(t *testing.T) {
	home := t.TempDir()
	env := []string{"HOME=" + home}
	a := codex.New(launch.Config{Env: env})
	parent := launch.UUID()
	n := write(t, env, "/w", parent, 2)
	whole, err := os.ReadFile(n.Main)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(string(whole), "\n"), "\n")
	cut := strings.Join(lines[:len(lines)-1], "")
	for name, tt := range map[string]struct {
		data, answer string
		ends         int
	}{
		"cut":              {cut, "answer-2. done", 2},
		"cut, not whole":   {cut, "", 1},
		"whole":            {string(whole), "answer-2. done", 2},
		"of older version": {strings.ReplaceAll(cut, `"ordinal":`, `"old":`), "answer-2. done", 2},
	} {
		t.Run(name, func(t *testing.T) {
			id, err := a.Rebuild(t.Context(), thread.RebuildSpec{
				Session: parent, NewSession: launch.UUID(), FromDirs: []string{"/w"}, Dir: home, StateDir: t.TempDir(), Env: env,
				Files: []thread.TranscriptFile{{File: "main", Data: []byte(tt.data)}}, Answer: tt.answer,
			})
			if err != nil {
				t.Fatal(err)
			}
			chunks, err := a.ReadTranscript(t.Context(), thread.TranscriptSpec{Session: id, Env: env})
			if err != nil || len(chunks) != 1 {
				t.Fatalf("%d chunks: %v", len(chunks), err)
			}
			all, err := a.ReadUsage(chunks)
			if err != nil {
				t.Fatal(err)
			}
			ends := 0
			for _, e := range all {
				if e.EndsTurn {
					ends++
				}
			}
			if ends != tt.ends {
				t.Errorf("%d turns end, want %d", ends, tt.ends)
			}
			before := -1
			for line := range strings.Lines(string(chunks[0].Data)) {
				var l struct{ Ordinal *int }
				if err := json.Unmarshal([]byte(line), &l); err != nil {
					t.Fatal(err)
				}
				if l.Ordinal != nil && *l.Ordinal != before+1 {
					t.Errorf("line %d follows %d", *l.Ordinal, before)
				}
				if l.Ordinal != nil {
					before = *l.Ordinal
				}
			}
		})
	}
}
