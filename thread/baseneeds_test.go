package thread_test

import (
	"slices"
	"strings"
	"testing"

	"orchestrator/thread"
)

func TestBaseAskedFor(t *testing.T) {
	all := thread.Levers{Levers: []thread.Lever{
		{Name: "loops", Words: []string{"/loop", "every 5 minutes"}},
		{Name: "review", Words: []string{"code review", "review:"}},
		{Name: "agents", Words: []string{"subagent", "sub-agent"}},
		{Name: "kept", Words: []string{"hello"}},
	}}
	left := []string{"agents", "loops", "review"}
	for prompt, want := range map[string]string{
		"/loop 5m check the build":                     "loops: /loop",
		"please run /loop.":                            "loops: /loop",
		"(/loop 5m)":                                   "loops: /loop",
		"look at it every 30 minutes, please":          "loops: every 5 minutes",
		"Every\n10   Minutes":                          "loops: every 5 minutes",
		"Review the last commit":                       "review: review:",
		"do a “code review”":                           "review: code review",
		"write it—review it":                           "review: review:",
		"use sub-agents and review what they did":      "review: review:, agents: sub-agent",
		"start three Subagents!":                       "agents: subagent",
		"hello":                                        "",
		"":                                             "",
		"fix the preview":                              "",
		"the reviewer's notes":                         "",
		"re-review the code-review":                    "",
		"open docs/review.md and src/loop":             "",
		"cd ./loop && ls /loop/x ../loop /loop/":       "",
		"C:\\code\\review and ~/review":                "",
		"https://example.com/review?x=review":          "",
		"git log --review -review review=1 review()":   "",
		"call `review` and ``/loop``":                  "",
		"```\nreview\n```\ndone":                       "",
		"```go\n// review\n````\n~~~\nreview\n~~~\n":   "",
		"~~~\n```\nreview\n~~~\nreview":                "review: review:",
		"> review this\n\nno":                          "",
		"run:\n\n    review everything\n    /loop\n":   "",
		"- first\n    - then review it":                "review: review:",
		"an open ` and then review":                    "review: review:",
		"every 5. minutes":                             "",
		"every five minutes":                           "",
		"every 5 x minutes":                            "",
		"a/b review":                                   "review: review:",
		"مرحبا review 👩‍👩‍👧 z̸a̸l̸g̸o̸":                "review: review:",
		strings.Repeat("word ", 20_000) + "review":     "",
		"review" + strings.Repeat("\x00\xff`~>", 9999): "",
	} {
		levers, words := all.AskedFor(left, prompt)
		var got []string
		for i, l := range levers {
			got = append(got, l.Name+": "+words[i])
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%.60q: %q, want %q", prompt, got, want)
		}
	}
	if got, _ := all.AskedFor(nil, "review"); got != nil {
		t.Errorf("what is there is asked for: %v", got)
	}
}

func FuzzBaseAskedFor(f *testing.F) {
	all := thread.Levers{Levers: []thread.Lever{{Name: "loops", Words: []string{"/loop", "every 5 minutes"}}}}
	for _, s := range []string{"/loop", "`", "```\n", "~~~", "> x", "    x", "—", "\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, prompt string) {
		levers, words := all.AskedFor([]string{"loops"}, prompt)
		if len(levers) != len(words) {
			t.Fatal("not one word for each lever")
		}
		if with, _ := all.AskedFor([]string{"loops"}, "```\n"+strings.ReplaceAll(prompt, "`", "")+"\n```"); len(with) != 0 {
			t.Fatal("code asks for it")
		}
	})
}

func TestBaseLeavingOut(t *testing.T) {
	left := []string{"loops"}
	if l, ok := levers.LeavingOut(left, "CronCreate"); !ok || l.Name != "loops" {
		t.Errorf("CronCreate: %v %v", l, ok)
	}
	for _, tool := range []string{"Workflow", "Read", ""} {
		if l, ok := levers.LeavingOut(left, tool); ok {
			t.Errorf("%s: %v", tool, l)
		}
	}
	if !slices.Equal(left, []string{"loops"}) {
		t.Error(left)
	}
}
