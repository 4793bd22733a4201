package opencode_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"orchestrator/agent/agenttest"
	"orchestrator/agent/launch"
	"orchestrator/agent/opencode"
	"orchestrator/thread"
)

func TestBaseKept(t *testing.T) {
	none := map[string]string{}
	many := `{"permission":{"bash":{"*":"ask"`
	for i := range 400 {
		many += fmt.Sprintf(`,"make %d":"allow"`, i)
	}
	many += `},"skill":{"*":"allow"}}}`
	const config = "home/.config/opencode/opencode.json"
	agenttest.Keeps(t, subject(), "1.18.33", []agenttest.Kept{
		{Name: "nothing of theirs", Model: "openai/gpt-5.5", Want: none, Unused: none},
		{
			Name: "their keys, with comments", Model: "openai/gpt-5.5",
			Files:  map[string]string{config + "c": "{ // mine\n\"permission\":{\"webfetch\":\"ask\",\"todowrite\":\"deny\",},\"tools\":{\"task\":true}}"},
			Want:   map[string]string{"web": "opencode.jsonc sets permission.webfetch", "agents": "sets tools.task"},
			Unused: map[string]string{"web": "permission.webfetch", "agents": "tools.task"},
		},
		{
			Name: "hundreds of rules", Model: "openai/gpt-5.5", Files: map[string]string{config: many},
			Want:   map[string]string{"shell": "sets permission.bash", "skills": "sets permission.skill"},
			Unused: map[string]string{"shell": "permission.bash", "skills": "permission.skill"},
		},
		{
			Name: "the repository's and the agent's", Model: "openai/gpt-5.5", Files: map[string]string{
				"work/opencode.json":          `{"agent":{"build":{"permission":{"webfetch":"allow"}},"plan":{"permission":{"*":"allow"}}}}`,
				"work/.opencode/agent/rev.md": "x", "home/.claude/skills/deploy/SKILL.md": "x",
			},
			Want: map[string]string{"web": "opencode.json sets agent.build.permission", "agents": "has the agent rev",
				"skills": "has the skill deploy"},
			Unused: none,
		},
		{
			Name: "the repository's rules", Model: "openai/gpt-5.5", Files: map[string]string{
				"work/opencode.json":           `{"permission":{"bash":"allow","edit":"allow","todowrite":"allow"}}`,
				"work/.opencode/opencode.json": `{"tools":{"write":true},"agent":{"build":{"tools":{"bash":true,"task":true}}}}`,
			},
			Want:   map[string]string{"todo-list": "sets permission.todowrite", "agents": "sets agent.build.tools"},
			Unused: none,
		},
		{
			Name: "variables", Model: "openai/gpt-5.5",
			Env:    []string{`OPENCODE_PERMISSION={"*":"allow","question":"ask"}`, `OPENCODE_CONFIG_CONTENT={"agent":{"mine":{"mode":"subagent"}}}`},
			Want:   map[string]string{"questions": "OPENCODE_PERMISSION sets permission.question", "agents": "has the agent mine"},
			Unused: map[string]string{"questions": "permission.question"},
		},
		{
			Name: "odd types", Model: "openai/gpt-5.5", Files: map[string]string{config: `{"permission":"allow","tools":7,"agent":[],"mode":{"build":1}}`},
			Want: none, Unused: none,
		},
		{
			Name: "broken", Model: "openai/gpt-5.5", Files: map[string]string{config: `{"permission":{`}, Want: none, Unused: none,
		},
		{
			Name: "the prompts of models: unknown", Unused: none,
			Want: map[string]string{"agents": "prompt for some models", "todo-list": "tells it to use todowrite", "web": "prompt"},
		},
		{
			Name: "claude", Model: "anthropic/claude-sonnet-4-5", Unused: none,
			Want: map[string]string{"agents": "claude-sonnet-4-5 tells it to use task", "todo-list": "prompt", "web": "prompt"},
		},
		{
			Name: "configured", Files: map[string]string{config: `{"model":"google/gemini-2.5-pro"}`}, Want: none, Unused: none,
		},
		{
			Name: "of the agent", Flags: thread.Flags{PermissionMode: "plan"}, Unused: none,
			Files: map[string]string{config: `{"model":"google/gemini-2.5-pro","agent":{"plan":{"model":"openai/o3"}}}`},
			Want:  map[string]string{"web": "openai/o3 tells it to use webfetch"},
		},
		{
			Name: "others", Model: "fm/deepseek-v3", Unused: none, Want: map[string]string{"agents": "prompt", "web": "prompt"},
		},
	})
	all := map[string]string{}
	for _, name := range []string{"agents", "todo-list", "skills", "web", "questions", "editing", "shell"} {
		all[name] = "OPENCODE_PERMISSION cannot be read"
	}
	agenttest.Keeps(t, subject(), "1.99.0", []agenttest.Kept{
		{Name: "another version", Model: "openai/gpt-5.5", Want: none, Unused: none},
		{Name: "a broken variable", Model: "openai/gpt-5.5", Env: []string{"OPENCODE_PERMISSION=\"allow\""}, Want: all, Unused: all},
	})
}

// TestBaseOfAgents starts with a lever for an agent that only the repository has rules for.
func TestBaseOfAgents(t *testing.T) {
	root := t.TempDir()
	agenttest.Put(t, filepath.Join(root, "bin", "none"), "")
	agenttest.Fake(t, filepath.Join(root, "bin", "opencode"), "1.18.33")
	agenttest.Put(t, filepath.Join(root, "opencode.json"), `{"agent":{"plan":{"permission":{"bash":"allow","*":"allow"}}}}`)
	env := []string{"HOME=" + root, "PATH=" + filepath.Join(root, "bin") + ":/usr/bin:/bin"}
	l, err := opencode.New(launch.Config{Env: env}).Launch(t.Context(), thread.LaunchSpec{
		Thread: "t", Dir: root, StateDir: filepath.Join(root, "state"), Env: env, Base: []string{"shell"},
		Flags: thread.Flags{PermissionMode: "plan"},
	})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"agent":{"plan":{"permission":{"bas?":"deny"}}}}`
	if got := launch.Env(l.Env).Value("OPENCODE_CONFIG_CONTENT"); got != want || l.Unused != nil {
		t.Errorf("configuration %s, want %s; unused %q", got, want, l.Unused)
	}
}

// TestBasePermission starts with levers: the person's rules keep their order, ours are the last.
func TestBasePermission(t *testing.T) {
	root := t.TempDir()
	agenttest.Put(t, filepath.Join(root, "bin", "none"), "")
	agenttest.Fake(t, filepath.Join(root, "bin", "opencode"), "1.18.33")
	agenttest.Put(t, filepath.Join(root, "opencode.json"), `{"mode":{"build":{"permission":{"edit":"allow","*":"allow"}}}}`)
	env := []string{
		"HOME=" + root, "PATH=" + filepath.Join(root, "bin") + ":/usr/bin:/bin",
		`OPENCODE_PERMISSION={"webfetch":"deny","bash":{"rm *":"deny","*":"ask"},"*":"allow", // mine` + "\n}",
		`OPENCODE_CONFIG_CONTENT={"theme":"mine","agent":{"build":{"permission":{"edit":"deny"}}}}`,
	}
	l, err := opencode.New(launch.Config{Env: env}).Launch(t.Context(), thread.LaunchSpec{
		Thread: "t", Dir: root, StateDir: filepath.Join(root, "state"), Env: env, ReadDirs: []string{"/ours/read"},
		Base: []string{"editing", "todo-list", "web"},
	})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"bash":{"rm *":"deny","*":"ask"},"*":"allow","external_directory":{"/ours/read/*":"allow"},` +
		`"todowrite":"deny","todowrit?":"deny","todoread":"deny","todorea?":"deny","webfetch":"deny","webfetc?":"deny",` +
		`"websearch":"deny","websearc?":"deny","edit":"deny","edi?":"deny"}`
	const behind = `"todowrit?":"deny","todorea?":"deny","webfetc?":"deny","websearc?":"deny","edi?":"deny"}}}`
	const content = `{"theme":"mine","agent":{"build":{"permission":{"edit":"deny"}}},"mode":{"build":{"permission":{` + behind + `}`
	if got := launch.Env(l.Env).Value("OPENCODE_CONFIG_CONTENT"); got != content {
		t.Errorf("configuration %s, want %s", got, content)
	}
	if got := launch.Env(l.Env).Value("OPENCODE_PERMISSION"); got != want || l.Unused != nil {
		t.Errorf("rules %s, want %s; unused %q", got, want, l.Unused)
	}
}

func TestBaseParts(t *testing.T) {
	agenttest.Parts(t, opencode.New(launch.Config{}), []thread.BaseText{
		{Kind: thread.BaseSystem, Text: "You are opencode.\n# Tone\nx\nYou are powered by the model named m. The exact model ID is p/m\n<env>\n</env>\n" +
			"Instructions from: /w/AGENTS.md\n# Rules\nx\nInstructions from: /home/me/.claude/CLAUDE.md\ny\n\n" +
			"Skills provide specialized instructions and workflows for specific tasks.\n<available_skills>\n</available_skills>"},
		{Kind: thread.BasePrompt, Text: "Instructions from: /x"},
		{Kind: thread.BaseTool, Name: "bash", Text: "{}"},
	}, []string{
		"system", "environment", "instructions /w/AGENTS.md", "instructions /home/me/.claude/CLAUDE.md", "skills", "prompt", "tool bash",
	})
}

func TestBaseMissing(t *testing.T) {
	agenttest.Missing(t, opencode.New(launch.Config{}), map[string]string{
		"The arguments provided to the tool are invalid: Model tried to call unavailable tool 'task'. Available tools: bash, edit.": "task",
		"The arguments provided to the tool are invalid: x":                                                                         "",
		"Model tried to call unavailable tool 'a b'. Available tools:":                                                              "",
	})
}

func TestBaseSurroundings(t *testing.T) {
	agenttest.Around8K(t, opencode.New(launch.Config{}), map[string]string{
		"home/.config/opencode/AGENTS.md": "opencode/AGENTS.md", "work/AGENTS.md": "work/AGENTS.md", "work/sub/docs/rules.md": "docs/rules.md",
	}, map[string]string{
		"home/.config/opencode/opencode.json": `{"mcp":{"a":{},"b":{"enabled":false}},"instructions":["docs/*.md"]}`,
	}, "MCP servers, 1 in all")
}
