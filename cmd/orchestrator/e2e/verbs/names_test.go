package verbs

import (
	"slices"
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
	"orchestrator/ui/plain"
)

// TestNamesOfEveryScript: what a thread is called stands in the list, in completions and notices, and names it to
// verbs; its handle does too.
func TestNamesOfEveryScript(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	r := e2e.NewRig(t)
	zh := e2e.Get[thread.Status](r, "new", "-a", "demo", "修复 缓存 🚀")
	he := e2e.Get[thread.Status](r, "new", "-a", "demo", "-n", "\u202eתיקון\x1b[31m", "-w")
	ascii := r.Demo("plain one")
	long := e2e.Get[thread.Status](r, "fork", strings.Repeat("缓存", 250), "-t", "修复 缓存 🚀", "--no-start")
	if zh.Title != "修复 缓存 🚀" || he.Title != "תיקון[31m" || len([]rune(long.Title)) != 80 || len(long.Name) > 40 {
		t.Errorf("%q, %q, %q", zh.Title, he.Title, long.Title)
	}
	table := r.Ok("threads")
	lines := strings.Split(strings.TrimSpace(table), "\n")
	at := plain.Width(lines[0][:strings.Index(lines[0], "AGENT")])
	for _, line := range lines[1:] {
		i := strings.Index(line, "demo ")
		if i < 0 || plain.Width(line[:i]) != at {
			t.Errorf("columns that are not straight:\n%s", table)
		}
	}
	if !strings.Contains(table, "TITLE") || !strings.Contains(table, zh.Name) || !strings.Contains(table, "修复 缓存 🚀") {
		t.Errorf("the list:\n%s", table)
	}
	if got := r.Ok("why", "תיקון"); !strings.Contains(got, "idle") && got == "" {
		t.Errorf("why: %q", got)
	}
	for prefix, want := range map[string]string{"": zh.Name + "\t修复 缓存 🚀, demo", "修": "修复 缓存 🚀\tdemo", zh.Name[:5]: zh.Name, ascii: ascii + "\tdemo"} {
		out := strings.Split(r.Ok("__complete", "why", prefix), "\n")
		if !slices.ContainsFunc(out, func(s string) bool { return strings.HasPrefix(s, want) }) {
			t.Errorf("%q is completed to %q", prefix, out)
		}
	}
	r.Says(exitcode.NotFound, []string{zh.Name}, "why", "修复 缓冲 🚀")
	renamed := e2e.Get[thread.Status](r, "rename", ascii, "Größe ändern")
	if renamed.Title != "Größe ändern" || !strings.HasSuffix(renamed.Name, ascii[len(ascii)-4:]) {
		t.Errorf("renamed %q, %q", renamed.Name, renamed.Title)
	}
	r.Says(exitcode.Usage, []string{"a letter or digit"}, "rename", renamed.Name, "\u202e--")
	if hits := e2e.Get[[]thread.Hit](r, "find", "größe"); len(hits) != 1 || hits[0].Thread != renamed.ID {
		t.Errorf("found %+v", hits)
	}
}
