package state_test

import (
	"strings"
	"testing"

	"orchestrator/agent/state"
	"orchestrator/thread"
)

// TestDialogsOfAnyProgram reads menus and questions as programs draw them, and takes nothing else for one.
func TestDialogsOfAnyProgram(t *testing.T) {
	for name, c := range map[string]struct {
		screen string
		want   thread.State
	}{
		"copilot": {"│ Do you want to run this command?\n│ touch a\n│ ❯ 1. Yes\n" +
			"│   2. Yes, and approve touch for the rest of the session\n│   3. No\n" +
			"│ Confirm with number keys or ↑↓ keys and Enter, Cancel with Esc", approval},
		"qwen": {"╭──\n│ ?  Shell touch a\n│ Allow execution of: 'touch'?\n│ ● 1. Yes, allow once\n" +
			"│   2. Always allow\n│   3. No, suggest changes (esc)\n╰──", approval},
		"a menu": {"Which theme?\n❯ 1. Dark\n  2. Light\nPress enter to select", question},
		"apt":    {"After this operation, 12 MB will be used.\nDo you want to continue? [Y/n]", question},
		"git": {"Username for 'https://example.com': x\nPassword for 'https://x@example.com':",
			question},
		"sudo":                      {"[sudo] password for tess:", question},
		"a pager":                   {"line 1\nline 2\nPress RETURN to continue", question},
		"a shell":                   {"$ ls\na b c\n$", ""},
		"a list":                    {"Three things:\n1. one\n2. two\n3. three\n>", ""},
		"a quote":                   {"> 1. one\n> 2. two\nas it says", ""},
		"a log":                     {"password changed for tess\ndone", ""},
		"nothing":                   {"", ""},
		"an old question, answered": {"Continue? [Y/n] y\nUnpacking …", ""},
	} {
		var s state.Signs
		e, ok := s.Evidence(strings.Split(c.screen, "\n"), true, begin)
		if e.State != c.want || ok != (c.want != "") || ok && e.Detail == "" {
			t.Errorf("%s: %q %q, want %q", name, e.State, e.Detail, c.want)
		}
	}
}

// TestSignsOfAnyProgram follows a program by its title, the progress it reports, its bell and notifications.
func TestSignsOfAnyProgram(t *testing.T) {
	var s state.Signs
	for i, c := range []struct {
		do    func()
		quiet bool
		want  thread.State
	}{
		{func() { s.Title("GitHub Copilot") }, true, ""},
		{func() { s.Bell() }, true, ""}, // it did nothing yet
		{func() { s.Progress(3) }, false, working},
		{func() { s.Progress(3) }, true, working},
		{func() { s.Bell() }, true, working}, // it says itself that it goes on
		{func() { s.Progress(0) }, false, ""},
		{func() {}, true, question},
		{func() { s.Answered() }, true, idle},
		{func() { s.Progress(4) }, true, question},
		{func() { s.Progress(2) }, true, failed},
		{func() { s.Progress(0) }, true, idle},
		{func() { s.Title("⠋ thinking") }, false, working},
		{func() { s.Title("✋ Action Required") }, true, approval},
		{func() { s.Title("◐ working") }, true, working},
		{func() { s.Title("✳ at rest") }, true, idle},
		{func() { s.Notified("needs your permission") }, true, question},
		{func() { s.Answered() }, true, idle},
		{func() { s.Title("") }, true, idle}, // progress was reported, and is none
	} {
		c.do()
		if e, _ := s.Evidence([]string{"$ "}, c.quiet, begin); e.State != c.want {
			t.Fatalf("step %d: %q (%s), want %q", i, e.State, e.Detail, c.want)
		}
	}
}
