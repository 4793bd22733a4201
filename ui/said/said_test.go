package said

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"orchestrator/thread"
	"orchestrator/ui/host"
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
		t.Error("an old copy is still there")
	}
	if !strings.HasSuffix(first, ".md") {
		t.Errorf("%s: an editor cannot tell what it is", first)
	}
}

// TestSweep: what a screen left behind that was killed is gone when the next one starts; what another screen reads stays.
func TestSweep(t *testing.T) {
	base := filepath.Join(t.TempDir(), "state")
	now := time.Now()
	mine, err := write(base, "docs-1", now, "open")
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Dir(mine)
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	files := map[string]bool{ // whether it stays
		filepath.Base(mine): true,
		"docs-1-120000.000000-" + screenOf(os.Getppid()) + ".md":          true,
		fmt.Sprintf("docs-1-120000.000000-p%d.123.md", ended.Process.Pid): false,
		fmt.Sprintf("docs-1-120000.000000-%s9.md", screenOf(os.Getpid())): runtime.GOOS != "linux",
		"docs-1-120000.000000.md":                                         true, "-.md": true, "notes": true, "a-p0.0.md": true, "a-px.0.md": true,
	}
	for name := range files {
		if name != filepath.Base(mine) {
			if err := os.WriteFile(filepath.Join(folder, name), []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	f := &Feature{&host.Host{Clock: time.Now}, Config{Folder: base}}
	if msg := f.Sweep()(); msg != nil {
		t.Errorf("%v", msg)
	}
	for name, stays := range files {
		if _, err := os.Stat(filepath.Join(folder, name)); (err == nil) != stays {
			t.Errorf("%s: %v", name, err)
		}
	}
	f.cfg.Folder = filepath.Join(base, "nowhere")
	f.Sweep()()
}

// TestFenced: the fence is longer than any in the text, also where that is one long row of them.
func TestFenced(t *testing.T) {
	for _, text := range []string{"", "a", "`", "``", "```", "a ```` b ``", strings.Repeat("`", 1<<20)} {
		got := fenced(text)
		fence := got[:strings.IndexByte(got, '\n')]
		if len(fence) < 3 || strings.Trim(fence, "`") != "" || text != "" && strings.Contains(text, fence) || got != fence+"\n"+text+"\n"+fence {
			t.Errorf("%.20q is fenced by %d", text, len(fence))
		}
	}
}
