package backup_test

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrator/checkpoint/backup"
	"orchestrator/checkpoint/sqlite"
	"orchestrator/thread"
)

// TestSecretsOfTheStart: a backup without secrets has none of what a thread was called and started with.
func TestSecretsOfTheStart(t *testing.T) {
	key := "ghp_" + strings.Repeat("a1B2", 9)
	from := project(t, 0)
	id := thread.NewID[thread.ID]()
	err := from.CreateThread(t.Context(), thread.Thread{ID: id, Name: "one-0001", Label: "with " + key, Agent: "demo", Dir: "/",
		Created: time.Now(), Updated: time.Now(),
		Launch: thread.Flags{Args: []string{"--api-key=" + key, "plain"}, Env: []string{"KEY=" + key, "A=b"}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, redacted := range []bool{true, false} {
		var file bytes.Buffer
		b := backup.Backup{About: backup.About{Redacted: redacted}, Dir: t.TempDir()}
		if _, err := b.Write(t.Context(), from, &file); err != nil {
			t.Fatal(err)
		}
		to, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "state.db"), sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = to.Close() })
		r := backup.Restore{Dir: t.TempDir(), Place: func(_ context.Context, _ backup.About, t thread.Thread) (thread.Thread, error) { return t, nil }}
		if _, _, err := r.Read(t.Context(), to, &file); err != nil {
			t.Fatal(err)
		}
		got, err := to.Thread(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		words := strings.Join(slices.Concat(got.Launch.Args, got.Launch.Env, []string{got.Label}), " ")
		if strings.Contains(words, key) == redacted || !strings.Contains(words, "plain A=b") && redacted {
			t.Errorf("redacted %v: %s", redacted, words)
		}
	}
}
