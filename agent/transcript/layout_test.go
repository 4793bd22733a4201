package transcript_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"orchestrator/agent/launch"
	"orchestrator/agent/transcript"
	"orchestrator/thread"
)

// TestLayoutRebuild writes sessions in place and as others: of those that are there none, and nothing of what is stored
// of no file.
func TestLayoutRebuild(t *testing.T) {
	const old = "0a1b2c3d-0000-4000-8000-000000000001"
	root := t.TempDir()
	l := transcript.Layout{
		Agent: "x", Root: root, Valid: launch.IsUUID,
		Files: func(_, session string) []transcript.File {
			if _, err := os.Stat(filepath.Join(root, session)); err != nil {
				return nil
			}
			return []transcript.File{{Name: transcript.Main, Path: session}}
		},
		Place: func(_ thread.RebuildSpec, session string, f thread.TranscriptFile) (string, []byte, error) {
			if f.File != transcript.Main {
				return "", nil, thread.ErrInvalid
			}
			return session, f.Data, nil
		},
		Fork: func(spec thread.RebuildSpec, session string, f thread.TranscriptFile) []byte {
			return append([]byte(session+" was "), f.Data...)
		},
	}
	main := []thread.TranscriptFile{{File: transcript.Main, Data: []byte("text\n")}}
	for _, c := range []struct {
		name, session, fresh string
		files                []thread.TranscriptFile
		want                 string // what is written, for the session that it is written for
		err                  error
	}{
		{"in place", old, "", main, "text\n", nil},
		{"as the same", old, old, main, "text\n", nil},
		{"as one that is there", launch.UUID(), old, main, "", thread.ErrConflict},
		{"as an id of another agent", old, "ses_1", main, " was text\n", nil},
		{"of no session", "../x", "", main, "", thread.ErrInvalid},
		{"of nothing", old, "", nil, "", thread.ErrInvalid},
		{"with a file of another agent", old, "", append(main, thread.TranscriptFile{File: "other"}), "", thread.ErrInvalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			id, err := l.Rebuild(thread.RebuildSpec{Session: c.session, NewSession: c.fresh, StateDir: t.TempDir(), Files: c.files})
			if !errors.Is(err, c.err) || err == nil && !launch.IsUUID(id) {
				t.Fatalf("session %q: %v", id, err)
			}
			if err != nil {
				return
			}
			want := c.want
			if id != c.session {
				want = id + want
			}
			if got, err := os.ReadFile(filepath.Join(root, id)); err != nil || string(got) != want {
				t.Errorf("wrote %q, want %q: %v", got, want, err)
			}
		})
	}
}
