package filter

import (
	"slices"
	"strings"
	"testing"

	"orchestrator/thread"
)

func sample() []*thread.Status {
	list := []*thread.Status{
		{Thread: thread.Thread{Name: "docs-f9a0", Label: "Docs of the API", Agent: "claude", Turn: 3,
			Gauge: thread.Gauge{Tokens: 44_000, Window: 200_000, Model: "claude-opus-4-5"}, Usage: thread.Usage{CostUSD: 0.41, Priced: true}},
			State: thread.StateReport{State: thread.StateApproval}},
		{Thread: thread.Thread{Name: "auth-a3f2", Agent: "codex", Turn: 12, Worktree: thread.Worktree{Branch: "orchestrator/auth-a3f2"},
			Gauge: thread.Gauge{Tokens: 121_900, Window: 200_000, Model: "gpt-5.5"}, Usage: thread.Usage{CostUSD: 3.10, Priced: true}},
			State: thread.StateReport{State: thread.StateWorking}},
		{Thread: thread.Thread{Name: "idle-timeout-0001", Agent: "claude", Model: "sonnet"},
			State: thread.StateReport{State: thread.StateIdle}},
		{Thread: thread.Thread{Name: "索引-0002", Title: "日本語の索引", Agent: "demo", Outcome: thread.Outcome{Kind: thread.OutcomeMerged}},
			State: thread.StateReport{State: thread.StateExited}},
	}
	return list
}

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		text string
		want string // the first letters of the names
	}{
		{"", "d a i 索"},
		{"  \t ", "d a i 索"},
		{"docs", "d"},
		{"DOCS api", "d"},
		{"docs auth", ""},
		{`"of the api"`, "d"},
		{`"the of"`, ""},
		{"索引", "索"},
		{"日本語", "索"},
		{"claude", "d i"},
		{"!claude", "a 索"},
		{"!!claude", "d i"},
		{"working", "a"},
		{"needs you", "d"},
		{"!needs you", "a i 索"},
		{"state=needs you", "d"},
		{"needs approval", "d"},
		{"quiet", "i 索"},
		{"idle", "i"},
		{"!idle", "d a 索"},
		{"!state=idle", "d a 索"},
		{"state!=idle", "d a 索"},
		{"!state!=idle", "i"},
		{"merged", "索"},
		{"agent=codex", "a"},
		{"agent=cod", "a"},
		{"agent!=codex", "d i 索"},
		{"model=opus", "d"},
		{"model=sonnet", "i"},
		{"name=docs", "d"},
		{"name=opus", ""},
		{"branch=orchestrator/", "a"},
		{"ctx>60", ""}, // 60.95 % is shown as 60 %
		{"ctx>=60", "a"},
		{"ctx=60%", "a"},
		{"ctx<60", "d"},
		{"!ctx<60", "a i 索"},
		{"cost>1", "a"},
		{"cost>$0.40", "d a"},
		{"cost<=0.41", "d"},
		{"turns>=3", "d a"},
		{"turns=0 !claude", "索"},
		{"claude ctx<30 !idle", "d"},
		{`"ctx>60"`, ""},
	} {
		f, err := Parse(c.text)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
		}
		var got []string
		for _, s := range sample() {
			if f.Match(s) {
				got = append(got, string([]rune(s.Name)[:1]))
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q selects %q, want %q", c.text, got, c.want)
		}
	}
}

// What is wrong is said, and the rest still holds.
func TestWrong(t *testing.T) {
	for text, says := range map[string]string{
		"!":             "a word is missing",
		"ctx>":          "a number is missing. Write one, as in ctx>60",
		"cost>much":     "a number is missing",
		"ctx>nan":       "a number is missing",
		"agent=":        "a text is missing",
		"agent>codex":   "Compare it with = or !=",
		"colour=red":    `no field "colour". Use agent, model, state`,
		">5":            `no field ""`,
		"a=b=c":         `no field "a"`,
		`na"me=x`:       "no field",
		"!foo!=x":       `no field "foo"`,
		"docs ctx> foo": "a number is missing",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", text, err, says)
		}
	}
	f, err := Parse("codex ctx>")
	if err == nil || f.Empty() || !f.Match(sample()[1]) || f.Match(sample()[0]) {
		t.Errorf("the words of a filter that is being typed do not hold: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"docs !idle", `ctx>60 "a b`, "!!!=", `"`, "needs", "\x00=\xff", "!needs you"} {
		f.Add(s)
	}
	list := sample()
	f.Fuzz(func(t *testing.T, text string) {
		one, err := Parse(text)
		if err != nil || strings.Count(text, "!") > 0 || strings.ContainsAny(text, `"=<>`) {
			return
		}
		words := strings.Fields(strings.ToLower(text))
		for _, s := range list { // plain words need each of them
			all := strings.ToLower(strings.Join(facts(s, ""), "\n"))
			if one.Match(s) && slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(all, w) }) {
				t.Errorf("%q selects %s", text, s.Name)
			}
		}
	})
}
