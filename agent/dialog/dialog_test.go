package dialog

import (
	"regexp"
	"strings"
	"testing"

	"orchestrator/agent/vterm"
	"orchestrator/thread"
)

var forms = []Form{
	{
		Kind: thread.QuestionPermission, Asks: regexp.MustCompile(`^May I\?`),
		About: func(lines []string, asks int) string { return strings.Join(lines[:asks], " ") },
		Means: []Means{
			{regexp.MustCompile(`^Yes$`), thread.Approve}, {regexp.MustCompile(`^Yes, always`), thread.ApproveAlways},
			{regexp.MustCompile(`^No`), thread.Deny},
		},
	},
	{Kind: thread.QuestionPermission, Asks: regexp.MustCompile(`^Side`), Across: regexp.MustCompile(`(Once)  (Ever)  (Never)`)},
	{Kind: thread.QuestionChoice, Asks: regexp.MustCompile(`\S`), Shows: regexp.MustCompile(`^enter picks`)},
	{Kind: thread.QuestionTrust, Asks: regexp.MustCompile(`^Trusted`), Ruled: true},
	{
		Kind: thread.QuestionPermission, Asks: regexp.MustCompile(`^Titled`), Titled: true,
		About: func(lines []string, asks int) string { return strings.Join(lines[asks+1:], " ") },
	},
}

func read(t *testing.T, screen string) (Dialog, bool) {
	t.Helper()
	term := vterm.New(60, 20, vterm.Options{})
	var lines []string
	for line := range strings.SplitSeq(screen, "\n") { // edges go across the screen
		switch {
		case line != "" && strings.Trim(line, "─") == "":
			line = strings.Repeat("─", 60)
		case strings.HasPrefix(line, "╭"), strings.HasPrefix(line, "╰"):
			first, last := []rune(line)[0], []rune(line)[len([]rune(line))-1]
			line = string(first) + strings.Repeat("─", 58) + string(last)
		}
		lines = append(lines, line)
	}
	screen = strings.Join(lines, "\n")
	if _, err := term.Write([]byte(strings.ReplaceAll(screen, "\n", "\r\n"))); err != nil {
		t.Fatal(err)
	}
	return Read(term, forms)
}

func TestRead(t *testing.T) {
	const list = "\n ❯ 1. Yes\n   2. Yes, always\n   3. No\n esc cancels"
	for _, c := range []struct {
		name, screen string
		about        string
		choices, at  int
		none         bool
	}{
		{name: "numbers", screen: "text\n──────\nrm x\nMay I?" + list, about: "rm x", choices: 3},
		{name: "the mark moved", screen: "──\nrm x\nMay I?\n   1. Yes\n   2. Yes, always\n ❯ 3. No", about: "rm x", choices: 3, at: 2},
		{name: "no mark", screen: "──\nrm x\nMay I?\n   1. Yes\n   2. No", about: "rm x", choices: 2, at: -1},
		{name: "a mark by colour", screen: "──\nrm x\nMay I?\n   1. Yes\n \x1b[44m  2. Yes, always\x1b[m\n   3. No", about: "rm x", choices: 3, at: 1},
		{name: "two of them, by colour", screen: "──\nrm x\nMay I?\n   1. Yes\n \x1b[44m  2. No\x1b[m", about: "rm x", choices: 2, at: -1},
		{name: "inside a frame", screen: "╭────╮\n│ rm x │\n│ ╭──╮ │\n│ │ y│ │\n│ ╰──╯ │\n│ May I? │\n│ ● 1. Yes │\n│   2. No │\n╰────╯", about: "rm x ╭──╮ y ╰──╯", choices: 2},
		{name: "with descriptions", screen: "──\nrm x\nMay I?\n❯ 1. Yes\n     just once\n  2. No\n     tell me why\n enter", about: "rm x", choices: 2},
		{name: "marks without numbers", screen: "──\nWhich?\n   Red\n ❯ Blue\n   Green\nenter picks", choices: 3, at: 1},
		{name: "side by side", screen: "Side\n \x1b[7m Once \x1b[m Ever  Never   enter", choices: 3, none: false},
		{name: "the last of two lists", screen: "May I?" + list + "\n──\nrm y\nMay I?" + list, about: "rm y", choices: 3},
		{name: "a list in the command", screen: "──\nrm x\n ❯ 1. Yes\n   2. No\nMay I?" + list, about: "rm x ❯ 1. Yes 2. No", choices: 3},
		{name: "what looks like an edge in the command", screen: "──\nrm x\n  ────────\nls\nMay I?" + list, about: "rm x ──────── ls", choices: 3},
		{name: "an edge in the command, all across", screen: "──\nrm x\n " + strings.Repeat("─", 59) + "\nls\nMay I?" + list,
			about: "rm x " + strings.Repeat("─", 59) + " ls", choices: 3},
		{name: "what asks in the command", screen: "──\nrm x #\nMay I?\nls\nMay I?" + list, about: "rm x # May I? ls", choices: 0, at: -1},
		{name: "a part is not shown", screen: "──\nrm x\n[… 12 lines] ctrl + a view all\nMay I?" + list, about: "rm x [… 12 lines] ctrl + a view all", choices: 0, at: -1},
		{name: "a part is hidden", screen: "──\nrm x\n... 3 lines hidden (Ctrl+O to show) ...\nMay I?" + list, about: "rm x ... 3 lines hidden (Ctrl+O to show) ...", choices: 0, at: -1},
		{name: "an input below it", screen: "──\nrm x\nMay I?" + list + "\n────────\n❯ \n────────\n ? for help", none: true},
		{name: "text below it", screen: "──\nrm x\nMay I?" + list + "\na\nb\nc\nd\ne\nf\ng", none: true},
		{name: "nothing asked", screen: "──\nrm x\nWell?" + list, none: true},
		{name: "one choice", screen: "──\nrm x\nMay I?\n❯ 1. Yes", none: true},
		{name: "numbers that leave one out", screen: "──\nrm x\nMay I?\n❯ 1. Yes\n  3. No", none: true},
		{name: "two marks", screen: "──\nrm x\nMay I?\n❯ 1. Yes\n❯ 2. No", none: true},
		{name: "half drawn", screen: "──\nrm x\nMay I?\n", none: true},
		{name: "empty", screen: "", none: true},
		{name: "its upper edge is out of sight", screen: "Trusted\n❯ 1. Yes\n  2. No", choices: 0, at: -1},
		{name: "below a conversation that hides a part of itself", screen: "ran\n… +12 lines (ctrl+o to expand)\nTitled\nrm x\n❯ 1. Yes\n  2. No", about: "rm x", choices: 2},
		{name: "its title in the command", screen: "Titled\nrm x\nTitled\nls\n❯ 1. Yes\n  2. No", about: "ls", choices: 0, at: -1},
		{name: "its upper edge is in sight", screen: "──\nTrusted\n❯ 1. Yes\n  2. No", choices: 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, ok := read(t, c.screen)
			if ok == c.none || ok && (d.About != c.about || len(d.Choices) != c.choices || d.At != c.at) {
				t.Errorf("%v %+v", ok, d)
			}
		})
	}
}

// TestSum changes with what is asked and offered, and not with the keyboard.
func TestSum(t *testing.T) {
	of := func(screen string) string {
		t.Helper()
		d, ok := read(t, screen)
		if !ok {
			t.Fatalf("no dialog in %q", screen)
		}
		return d.Sum()
	}
	base := of("──\nrm x\nMay I?\n❯ 1. Yes\n  2. No")
	if of("──\nrm x\nMay I?\n  1. Yes\n❯ 2. No") != base {
		t.Error("the keyboard changes it")
	}
	for what, screen := range map[string]string{
		"the command": "──\nrm y\nMay I?\n❯ 1. Yes\n  2. No", "a choice": "──\nrm x\nMay I?\n❯ 1. Yes\n  2. No!",
		"another choice": "──\nrm x\nMay I?\n❯ 1. Yes\n  2. No\n  3. Both", "another line": "──\nrm x\n1 -a\nMay I?\n❯ 1. Yes\n  2. No", "the question": "──\nrm x\nMay I? Now?\n❯ 1. Yes\n  2. No",
	} {
		if of(screen) == base {
			t.Errorf("%s does not change it", what)
		}
	}
}

// TestSumOfATitledDialog: the conversation above a dialog may go on.
func TestSumOfATitledDialog(t *testing.T) {
	var sums []string
	for _, above := range []string{"⠋ runs ls", "⠙ runs ls", "ran ls\nruns more"} {
		d, ok := read(t, above+"\nTitled\nrm x\n❯ 1. Yes\n  2. No")
		if !ok {
			t.Fatalf("no dialog below %q", above)
		}
		sums = append(sums, d.Sum())
	}
	if sums[0] != sums[1] || sums[0] != sums[2] {
		t.Errorf("%v", sums)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("──\nrm x\nMay I?\n❯ 1. Yes\n  2. No"))
	f.Add([]byte("Side\n\x1b[7m Once \x1b[m Ever  Never"))
	f.Fuzz(func(t *testing.T, b []byte) {
		term := vterm.New(40, 12, vterm.Options{})
		_, _ = term.Write(b)
		d, ok := Read(term, forms)
		if ok && (d.At >= len(d.Choices) || d.Text == "" || strings.ContainsAny(d.Text+d.About, "\x1b\n")) {
			t.Errorf("%+v", d)
		}
	})
}

// TestTitle is the line below a dialog's upper edge.
func TestTitle(t *testing.T) {
	for screen, want := range map[string]string{
		"text\n──\nMove file\nTrusted\n❯ 1. Yes\n  2. No":                  "Move file",
		"Move file\nTrusted\n❯ 1. Yes\n  2. No":                            "",
		"──\nTrusted\n❯ 1. Yes\n  2. No":                                   "",
		"──\nMove file\n  ────────\nCopy file\nTrusted\n❯ 1. Yes\n  2. No": "Move file",
	} {
		if d, ok := read(t, screen); !ok || d.Title != want {
			t.Errorf("%q: %t, %q", screen, ok, d.Title)
		}
	}
}
