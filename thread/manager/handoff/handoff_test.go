package handoff_test

import (
	"fmt"
	"strings"
	"testing"

	"orchestrator/thread"
	"orchestrator/thread/manager/handoff"
)

// read reads items as they are: a prompt where they begin with one.
func read(items []thread.Item) (out []thread.Entry) {
	for _, it := range items {
		kind := thread.EntryAnswer
		if strings.HasPrefix(string(it.Raw), "prompt") {
			kind = thread.EntryPrompt
		}
		out = append(out, thread.Entry{Kind: kind, Text: string(it.Raw)})
	}
	return out
}

func items(said ...string) (out []thread.Item) {
	for _, s := range said {
		out = append(out, thread.Item{Raw: []byte(s)})
	}
	return out
}

// TestTurns divides conversations at their checkpoints.
func TestTurns(t *testing.T) {
	turn := func(n, items int) thread.Checkpoint {
		return thread.Checkpoint{Kind: thread.KindTurn, Turn: n, Items: items, Prompt: fmt.Sprint("prompt ", n)}
	}
	for name, tc := range map[string]struct {
		at   thread.Checkpoint
		list []thread.Checkpoint
		said []string
		want string
	}{
		"whole turns": {
			turn(2, 4), []thread.Checkpoint{turn(2, 4), turn(1, 2)}, []string{"prompt 1", "a", "prompt 2", "b"},
			"1: prompt 1 a; 2: prompt 2 b",
		},
		"a turn that is under way": {
			thread.Checkpoint{Kind: thread.KindResponse, Turn: 2, Items: 3}, []thread.Checkpoint{turn(1, 1)},
			[]string{"prompt 1", "prompt 2", "b"}, "1: prompt 1; 2: prompt 2 b",
		},
		"a compacted conversation": {
			turn(2, 2), []thread.Checkpoint{turn(2, 2), turn(1, 9)}, []string{"prompt", "b"}, "1:; 2 loose: prompt b",
		},
		"a rewind to a turn": {
			turn(1, 2), []thread.Checkpoint{{Kind: thread.KindRewind, Turn: 1, Items: 2}, turn(1, 2)},
			[]string{"prompt 1", "a"}, "1: prompt 1 a",
		},
	} {
		var got []string
		for _, n := range handoff.Turns(tc.at, tc.list, items(tc.said...), read, func(s string) string { return s }) {
			s := fmt.Sprint(n.Number)
			if n.Loose {
				s += " loose"
			}
			s += ":"
			for _, e := range n.Rest {
				s += " " + e.Text
			}
			got = append(got, s)
		}
		if all := strings.Join(got, "; "); all != tc.want {
			t.Errorf("%s: %s, want %s", name, all, tc.want)
		}
	}
}

// TestPrimerKeepsToItsBudget holds that a primer costs no more than it may, and has the newest turn as long as it can.
func TestPrimerKeepsToItsBudget(t *testing.T) {
	in := handoff.Input{
		Thread: "one", Agent: "claude", Dir: "/work", Turn: 30, Whole: true, Tokens: func(s string) int { return len(s) },
		Own:  func(s string) string { return s },
		Save: func(name, _ string) (handoff.Saved, error) { return handoff.Saved{Path: "/kept/" + name}, nil },
	}
	for n := range 30 {
		in.Turns = append(in.Turns, handoff.Turn{Number: n + 1, Prompt: fmt.Sprintf("prompt %d.", n+1), Rest: []thread.Entry{
			{Kind: thread.EntryPrompt, Text: fmt.Sprintf("prompt %d.", n+1)},
			{Kind: thread.EntryResult, Text: strings.Repeat("line\n", 1000)},
			{Kind: thread.EntryAnswer, Text: fmt.Sprintf("answer %d. ", n+1) + strings.Repeat("because ", 20)},
		}})
	}
	for _, budget := range []int{100, 1000, 3000, 100_000} {
		in.Budget = budget
		text, err := handoff.Primer(in)
		if err != nil {
			t.Fatal(err)
		}
		if len(text) > budget {
			t.Errorf("%d tokens of %d", len(text), budget)
		}
		if budget >= 3000 && (!strings.Contains(text, "answer 30.") || !strings.Contains(text, "read /kept/turn-30-2.txt")) {
			t.Errorf("of %d tokens, the newest turn is not in\n%s", budget, text)
		}
		if all := strings.Contains(text, "prompt 1."); all != (budget == 100_000) {
			t.Errorf("of %d tokens, the first turn is in it: %v", budget, all)
		}
	}
}

// TestPrimerNamesStagedData says how to get what is staged, as a file and by its token.
func TestPrimerNamesStagedData(t *testing.T) {
	got, err := handoff.Primer(handoff.Input{
		Whole: true, Budget: 10_000, Tokens: func(s string) int { return len(s) }, Own: func(s string) string { return s },
		Turns: []handoff.Turn{{Number: 1, Prompt: "p", Rest: []thread.Entry{
			{Kind: thread.EntryResult, Text: strings.Repeat("line\n", 1000)},
		}}},
		Save: func(name, _ string) (handoff.Saved, error) {
			return handoff.Saved{Path: "/kept/" + name, Token: "max:a1b2c3d4"}, nil
		},
	})
	want := "[result, 1001 lines: read /kept/turn-1-1.txt, or `orchestrator retrieve max:a1b2c3d4`, with --range"
	if err != nil || !strings.Contains(got, want) {
		t.Errorf("primer %q, %v", got, err)
	}
}

// TestPrimerHasNoSecrets names a prompt that was not answered, and why: not with the secrets in it.
func TestPrimerHasNoSecrets(t *testing.T) {
	key := "sk-ant-api03-" + strings.Repeat("x1", 40)
	got, err := handoff.Primer(handoff.Input{
		Whole: true, Budget: 10_000, Tokens: func(s string) int { return len(s) }, Own: func(s string) string { return s },
		Open: []thread.Prompt{{Text: "log in with " + key, Reason: "refused " + key}},
	})
	if err != nil || strings.Contains(got, "x1x1") || !strings.Contains(got, "unanswered: log in with [redacted") {
		t.Errorf("primer %q, %v", got, err)
	}
}

func TestMergeNote(t *testing.T) {
	report := thread.MergeReport{Into: "main", Commit: strings.Repeat("ab", 20)}
	for n := range 31 {
		report.Files = append(report.Files, thread.FileDiff{Path: fmt.Sprint("f", n), Status: "modified"})
	}
	got := handoff.MergeNote(thread.Thread{Name: "fix-0001", Label: "a fix"}, report, "It is done.\nNow test it.")
	for _, want := range []string{
		`thread "fix-0001" (a fix) was merged into your branch main as commit abababababab.`, "- … and 1 more",
		"> It is done.\n> Now test it.", "do nothing else now.",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the note lacks %q:\n%s", want, got)
		}
	}
}
