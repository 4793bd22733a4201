package said

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orchestrator/thread"
)

// TestMarkdown: a turn with everything in it is Markdown in which nothing breaks out of its block.
func TestMarkdown(t *testing.T) {
	got := Markdown(thread.Checkpoint{Turn: 3}, []thread.Entry{
		{Kind: thread.EntryPrompt, Text: "fix\nit"},
		{Kind: thread.EntryThinking, Text: "hm"},
		{Kind: thread.EntryCall, Tool: "Bash", Text: "ls"},
		{Kind: thread.EntryResult, Tool: "Bash", Text: "a\n```\nb\x1b]52;c;aGk=\x07", Error: true},
		{Kind: thread.EntryAnswer, Text: "done\n"},
	})
	want := "\n## Turn 3\n\n> fix\n> it\n\n*Thinking: hm*\n\n**Bash**\n\n```\nls\n```\n\nOutput of Bash, failed:\n\n" +
		"````\na\n```\nb␛]52;c;aGk=␇\n````\n\ndone\n"
	if got != want {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

// TestWrite: a copy is this user's alone, and the next one removes those of screens that did not end well.
func TestWrite(t *testing.T) {
	base := filepath.Join(t.TempDir(), "state")
	now := time.Now()
	first, err := write(base, "docs-1", now, "one")
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(first)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	second, err := write(base, "docs-1", now.Add(time.Hour), "two")
	if err != nil || first == second {
		t.Errorf("%s, %v", second, err)
	}
	if b, _ := os.ReadFile(first); string(b) != "one" {
		t.Error("a copy that may be open is gone")
	}
	if _, err := write(base, "docs-1", now.Add(2*staleAfter+time.Minute), "three"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(first); !os.IsNotExist(err) {
		t.Error("a copy that a screen left behind is still there")
	}
	if !strings.HasSuffix(first, ".md") {
		t.Errorf("%s: an editor cannot tell what it is", first)
	}
}
