package manager_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/thread"
	"orchestrator/thread/secret/secrettest"
)

// TestSecretsStayInTheConversation types secrets wherever a person types: the conversation keeps them, names,
// labels, lists, notices and what is handed to another agent do not.
func TestSecretsStayInTheConversation(t *testing.T) {
	inWorld(t, func(w *world) {
		for i, c := range secrettest.All() {
			var s thread.Status
			switch i % 3 {
			case 0:
				s = w.create(thread.NewRequest{Prompt: c.Text})
			case 1:
				s = w.create(thread.NewRequest{Label: c.Text, Prompt: c.Text})
			default:
				s = w.create(thread.NewRequest{Name: c.Text, Prompt: c.Text})
			}
			if sent := w.sess.of(s.ID).prompts(); !strings.Contains(sent+w.args(s.ID), strings.TrimSpace(c.Text)) {
				t.Errorf("%s: the agent got %q", c.Name, sent)
			}
			w.turn(s.ID, c.Text)
			f := w.fork(thread.ForkRequest{Thread: s.Name, Agent: "codex", Label: "with " + c.Text, Prompt: "go on"})
			if sent := w.sess.of(f.ID).prompts(); c.In(sent) || !strings.Contains(sent, "[redacted ") {
				t.Errorf("%s: handed over: %s", c.Name, sent)
			}
			if r, err := w.m.Lifecycle.Rename(ctx, f.Name, "x "+c.Text); err != nil || c.In(r.Name) {
				t.Errorf("%s: renamed to %q, %v", c.Name, r.Name, err)
			}
			if err := w.m.Lifecycle.Abandon(ctx, string(f.ID), "because of "+c.Text); err != nil {
				t.Error(err)
			}
			list, err := w.m.History.Timeline(ctx, string(s.ID), thread.Page{})
			if err != nil || len(list) == 0 {
				t.Fatal(list, err)
			}
			shown, err := json.Marshal([]any{w.status(s.ID), w.status(f.ID), list, w.events.notices()})
			if err != nil || c.In(string(shown)) {
				t.Errorf("%s is shown: %s, %v", c.Name, shown, err)
			}
			items, err := w.store.Conversation(ctx, list[0].ID)
			if err != nil || !strings.Contains(texts(items), c.Text) {
				t.Errorf("%s: the conversation has %q, %v", c.Name, texts(items), err)
			}
			none(t, c, filepath.Join(w.dir, ".state"))
		}
	})
}

// none fails where a file below a folder holds a secret.
func none(t *testing.T, c secrettest.Canary, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if c.In(path) || c.In(string(b)) {
			t.Errorf("%s is in %s", c.Name, path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
