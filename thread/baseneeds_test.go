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
		{Name: "images", Words: []string{"$imagegen", ".png"}},
		{Name: "helper", Words: []string{"@general", "own.json", "write_todos", "https://"}},
		{Name: "kept", Words: []string{"hello"}},
	}}
	left := []string{"agents", "helper", "images", "loops", "review"}
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
		"http://example.com/review?x=review":           "",
		"git log --review -review review=1 review()":   "",
		"call `review` and ``/loop``":                  "",
		"```\nreview\n```\ndone":                       "",
		"```go\n// review\n````\n~~~\nreview\n~~~\n":   "",
		"~~~\n```\nreview\n~~~\nreview":                "review: review:",
		"> review this\n\nno":                          "",
		"run:\n\n    review everything\n    /loop\n":   "",
		"- first\n    - then review it":                "review: review:",
		"an open ` and then review":                    "review: review:",
		"$imagegen a cat":                              "images: $imagegen",
		"look at (docs/shot.png).":                     "images: .png",
		"the png, and .png":                            "",
		"ask @general, please":                         "helper: @general",
		"mail to me@general or @general/x":             "",
		"change ./a/own.json":                          "helper: own.json",
		"change myown.json and own.json5":              "",
		"keep write_todos up to date":                  "helper: write_todos",
		"rewrite_todos, `write_todos`":                 "",
		"read <HTTPS://example.org/x>":                 "helper: https://",
		"```\n@general shot.png https://x\n```":        "",
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

// TestBaseWanted: what a task needs is its tools by their names and what it says is to be used, in words of its own.
func TestBaseWanted(t *testing.T) {
	all := thread.Levers{Levers: []thread.Lever{
		{Name: "workflows", Profiles: []string{"slim", "read-only"}, Tools: []string{"Workflow"}, Words: []string{"workflow", "/review"}},
		{Name: "agents", Profiles: []string{"minimal"}, Words: []string{"sub-agent", "in parallel"}},
		{Name: "web", Profiles: []string{"slim"}, Tools: []string{"WebFetch", "web_search", "Cron*"}}, {Name: "monitor", Tools: []string{"Monitor"}},
		{Name: "editing", Profiles: []string{"read-only"}, Tools: []string{"Edit", "write_file"}, Words: []string{"fix", "write the"}},
		{Name: "shell", Profiles: []string{"read-only"}, Tools: []string{"Bash"}, Words: []string{"commit", "run the", "npm "}},
	}}
	for task, want := range map[string]string{
		"explain the fix in the commit hook":        "",
		"fix it, write the test, run the npm build": "",
		"edit the text and bash it":                 "",
		"use the Edit tool":                         "editing",
		"with `Bash`":                               "shell",
		"call write_file.":                          "editing",
		"fix src/write_file.go, write_file.go":      "",
		"see https://x.org/write_file":              "",
		"```\nuse the Edit tool, write_file\n```":   "",
		"> with `Bash`":                             "",
		"fix the release workflow":                  "",
		"write it with two workflows":               "workflows",
		"use a small workflow":                      "workflows",
		"use it. The workflow fails":                "",
		"/review the last change":                   "workflows",
		"fix src/review.go and a/review":            "",
		"start sub-agents in parallel":              "agents",
		"Loop over the tasks and Monitor them.":     "",
		"use WebFetch":                              "web",
		"web_search: x":                             "web",
		"use MyWebFetcher, mcp__web_search":         "",
		"with the Monitor tool":                     "monitor",
		"the tool Monitor":                          "monitor",
		"call Monitor() and “Bash”":                 "monitor shell",
		"CronCreate":                                "", // a pattern names nothing
		"":                                          "",
	} {
		if got := strings.Join(all.Wanted(task), " "); got != want {
			t.Errorf("%q needs %q, want %q", task, got, want)
		}
	}
}
