package opencode

import (
	"slices"
	"strings"

	"orchestrator/thread"
)

// lever is something that opencode leaves out by rules that deny it altogether, which take its tools out of the request.
type lever struct {
	thread.Lever
	rules []string // the permissions that are denied
}

// measured are the versions with which the table was measured: what each lever saves, and which prompts name a tool that
// has gone. Newest last.
func measured() []string { return []string{"1.18.33"} }

// task are the profiles that leave out what a task rarely needs.
func task() []string { return []string{thread.BaseSlim, thread.BaseReadOnly, thread.BaseMinimal} }

// levers are what can be left out, in the order in which people are told of them. What each saves was measured with
// gpt-5.5; for models that have edit and write in place of apply_patch, editing saves 656.
func levers() []lever {
	readOnly := []string{thread.BaseReadOnly}
	return []lever{
		{Lever: thread.Lever{
			Name: "agents", Profiles: task(), Tools: []string{"task"},
			Named: []string{"task"}, Saves: 825,
			Lost: "subagents, to which it hands a search or a part of the work (@general, @explore). It does it all itself, one " +
				"after the other; threads and forks of this program work side by side",
			Words: []string{"subagent", "sub-agent", "sub agent", "with agents", "use agents", "in parallel", "@general", "@explore"},
		}, rules: []string{"task"}},
		{Lever: thread.Lever{
			Name: "todo-list", Profiles: task(), Tools: []string{"todowrite", "todoread"}, Saves: 646,
			Lost:  "its list of what is still to be done, shown while it works",
			Words: []string{"todo list", "to-do list", "list of todos", "todowrite"},
		}, rules: []string{"todowrite", "todoread"}},
		{Lever: thread.Lever{
			Name: "skills", Profiles: task(), Parts: []string{"skills"}, Tools: []string{"skill"},
			Named: []string{"skill"}, Saves: 300,
			Lost:  "skills: instructions for special tasks that it loads when they are needed. One comes with opencode: how to configure it",
			Words: []string{"skill", "opencode.json", "configure opencode"},
		}, rules: []string{"skill"}},
		{Lever: thread.Lever{
			Name: "web", Profiles: task(), Tools: []string{"webfetch", "websearch"}, Saves: 294,
			Lost:  "reading web pages, and searching the web where that is switched on",
			Words: []string{"search the web", "web search", "on the internet", "fetch the page", "fetch the url", "webfetch"},
		}, rules: []string{"webfetch", "websearch"}},
		{Lever: thread.Lever{
			Name: "questions", Profiles: []string{thread.BaseMinimal}, Tools: []string{"question"},
			Named: []string{"question"}, Saves: 331,
			Lost:  "questions with answers to choose from. It asks in its text instead",
			Words: []string{"ask me", "interview me"},
		}, rules: []string{"question"}},
		{Lever: thread.Lever{
			Name: "editing", Profiles: readOnly, Tools: []string{"edit", "write", "apply_patch"},
			Named: []string{"edit", "write", "apply_patch"}, Saves: 375,
			Lost:  "changing files. It says what it would change",
			Words: []string{"fix", "implement", "refactor", "rewrite", "rename", "edit the", "write the"},
		}, rules: []string{"edit"}},
		{Lever: thread.Lever{
			Name: "shell", Profiles: readOnly, Tools: []string{"bash"},
			Named: []string{"bash"}, Saves: 1332,
			Lost:  "commands: tests, builds, git. It searches and reads files with tools for that",
			Words: []string{"run the", "run tests", "go test", "npm ", "pytest", "cargo ", "build it", "commit"},
		}, rules: []string{"bash"}},
	}
}

// prompted returns the levers whose tools opencode's own prompt for a model orders or advises to use: it has one prompt
// for each family of models. Of a model that is not known, any may be named.
func prompted(model string) []string {
	if model == "" {
		return []string{"agents", "todo-list", "web"}
	}
	provider, id, _ := strings.Cut(model, "/")
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(id, word) })
	}
	switch lower := strings.ToLower(id); {
	case has("gpt-4", "o1", "o3"):
		return []string{"web"}
	case has("gpt", "gemini-"):
		return nil
	case has("claude"):
		return []string{"agents", "todo-list", "web"}
	case strings.Contains(lower, "trinity"):
		return []string{"agents"}
	case strings.Contains(lower, "kimi"), slices.Contains([]string{"kimi-for-coding", "moonshotai", "moonshotai-cn"}, provider):
		return nil
	}
	return []string{"agents", "web"}
}
