package gemini_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/agent/agenttest"
	"orchestrator/agent/gemini"
	"orchestrator/agent/launch"
	"orchestrator/thread"
)

func TestBaseKept(t *testing.T) {
	none := map[string]string{}
	many := `{"tools":{"allowed":["run_shell_command(git log)"`
	for i := range 400 {
		many += fmt.Sprintf(`,"run_shell_command(make %d)"`, i)
	}
	many += `,"write_todos"],"core":["ReadFileTool",7,"web_fetch"]}}`
	agenttest.Keeps(t, subject(), "0.61.0", []agenttest.Kept{
		{Name: "nothing of theirs", Files: map[string]string{"home/.gemini/tmp/x": "", "home/.gemini/history/x": ""}, Want: none, Unused: none},
		{
			Name: "their keys, with comments", Files: map[string]string{
				"home/.gemini/settings.json": "{ // mine\n\"general\":{\"topicUpdateNarration\":true,},\n\"skills\":{\"enabled\":true,\"disabled\":[\"foo\"]}}",
				"home/.gemini/tmp/x":         "", "home/.gemini/history/x": "",
			},
			Want:   map[string]string{"topics": "settings.json sets general.topicUpdateNarration", "skills": "sets skills.enabled"},
			Unused: map[string]string{"topics": "general.topicUpdateNarration", "skills": "sets skills.enabled"},
		},
		{
			Name: "what they left out themselves", Files: map[string]string{
				"home/.gemini/settings.json": `{"general":{"topicUpdateNarration":false},"skills":{"enabled":false},"tools":{"exclude":["write_todos"]}}`,
				"home/.gemini/tmp/x":         "", "home/.gemini/history/x": "",
			}, Want: none, Unused: none,
		},
		{
			Name: "the repository's keys", Files: map[string]string{
				"work/.gemini/settings.json": `{"general":{"topicUpdateNarration":true}}`,
				"home/.gemini/tmp/x":         "", "home/.gemini/history/x": "",
			},
			Want:   map[string]string{"topics": "work/.gemini/settings.json sets general.topicUpdateNarration"},
			Unused: map[string]string{"topics": "general.topicUpdateNarration, and only its tools are left out"},
		},
		{
			Name: "the repository's rules", Files: map[string]string{
				"work/.gemini/settings.json":   `{"tools":{"allowed":["run_shell_command","write_todos"]},"policyPaths":["ROOT/work/more.toml"]}`,
				"work/.gemini/policies/a.toml": "[[rule]]\ntoolName = [\"replace\", \"web_fetch\"]\ndecision = \"allow\"\npriority = 1\n",
				"work/more.toml":               "[[rule]]\ntoolName = \"write_file\"\ndecision = \"allow\"\npriority = 1\n",
				"home/.gemini/tmp/x":           "", "home/.gemini/history/x": "",
			},
			Want: map[string]string{"todo-list": "allows write_todos", "web": "allows web_fetch"}, Unused: none,
		},
		{
			Name: "hundreds of rules", Files: map[string]string{
				"home/.gemini/settings.json": many, "home/.gemini/tmp/x": "", "home/.gemini/history/x": "",
				"home/.gemini/policies/mine.toml": "[[rule]]\ntoolName = [\"invoke_agent\", \"ls\"]\ndecision = \"allow\"\npriority = 1\n" +
					"[[rule]]\ntoolName = \"enter_plan_mode\"\ndecision = \"deny\"\npriority = 1\n",
			},
			Want: map[string]string{"todo-list": "allows write_todos", "web": "allows web_fetch", "agents": "mine.toml allows invoke_agent",
				"shell": "allows run_shell_command"},
			Unused: none,
		},
		{
			Name: "arguments", Files: map[string]string{"home/.gemini/tmp/x": "", "home/.gemini/history/x": ""},
			Flags: thread.Flags{PermissionMode: "plan", Args: []string{"--allowed-tools", "web_fetch, list_background_processes"}},
			Want: map[string]string{"web": "--allowed-tools", "background": "--allowed-tools",
				"shell": "allows list_background_processes", "plan-mode": "started in its plan mode"},
			Unused: map[string]string{"plan-mode": "started in its plan mode"},
		},
		{
			Name: "yolo", Files: map[string]string{"home/.gemini/tmp/x": "", "home/.gemini/history/x": ""},
			Flags: thread.Flags{PermissionMode: "yolo"}, Want: map[string]string{"questions": "when to use ask_user"}, Unused: none,
		},
		{
			Name: "skills and agents", Files: map[string]string{
				"work/.agents/skills/deploy/SKILL.md": "x", "home/.gemini/extensions/ext/agents/reviewer.md": "x",
				"home/.gemini/tmp/x": "", "home/.gemini/history/x": "",
			},
			Want: map[string]string{"skills": "has the skill deploy", "agents": "has the agent reviewer"}, Unused: none,
		},
		{
			Name: "odd types", Files: map[string]string{
				"home/.gemini/settings.json": `{"general":"all","skills":{"disabled":"foo"},"tools":[1],"policyPaths":7}`,
				"home/.gemini/tmp/x":         "", "home/.gemini/history/x": "",
			},
			Want:   map[string]string{"topics": "sets general", "bundled-skills": "sets skills.disabled"},
			Unused: map[string]string{"topics": "sets general", "bundled-skills": "sets skills.disabled"},
		},
		{
			Name: "broken", Files: map[string]string{
				"home/.gemini/settings.json": `{"general":{`, "home/.gemini/tmp/x": "", "home/.gemini/history/x": "",
			},
			Want:   map[string]string{"topics": "cannot be read", "bundled-skills": "cannot be read", "skills": "cannot be read"},
			Unused: map[string]string{"topics": "cannot be read", "bundled-skills": "cannot be read", "skills": "cannot be read"},
		},
	})
	agenttest.Keeps(t, subject(), "0.99.0", []agenttest.Kept{{
		Name: "another version", Files: map[string]string{"home/.gemini/tmp/x": "", "home/.gemini/history/x": ""},
		Want:   map[string]string{"topics": "Gemini CLI 0.99.0 was not measured", "bundled-skills": "not measured", "skills": "not measured"},
		Unused: none,
	}})
}

// TestBaseSettings starts with levers: the person's settings stay as they are in our copy, their policies are loaded, MCP
// servers stay theirs unless they are given, and no list says which tools alone there are.
func TestBaseSettings(t *testing.T) {
	for _, given := range []bool{false, true} {
		root := t.TempDir()
		agenttest.Put(t, filepath.Join(root, "bin", "none"), "")
		agenttest.Fake(t, filepath.Join(root, "bin", "gemini"), "0.61.0")
		agenttest.Put(t, filepath.Join(root, ".gemini", "settings.json"),
			`{"ui":{"theme":"Mine"},"skills":{"disabled":["foo"]},"mcpServers":{"own":{"command":"x"}}}`)
		env := []string{"HOME=" + root, "PATH=" + filepath.Join(root, "bin") + ":/usr/bin:/bin"}
		spec := thread.LaunchSpec{
			Thread: "t", Dir: filepath.Join(root, "work"), StateDir: filepath.Join(root, "state"), Env: env,
			Base: []string{"bundled-skills", "skills", "todo-list", "topics"},
		}
		if given {
			spec.MCP = &thread.MCPLaunch{Name: "ours", Registered: "ours", Command: []string{"/bin/ours"}}
		}
		l, err := gemini.New(launch.Config{Env: env}).Launch(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		var s struct {
			General, Skills, UI, Tools map[string]any
			MCP                        map[string]any `json:"mcpServers"`
		}
		raw, err := os.ReadFile(filepath.Join(launch.Env(l.Env).Value("GEMINI_CLI_HOME"), ".gemini", "settings.json"))
		if err != nil || json.Unmarshal(raw, &s) != nil {
			t.Fatalf("%v: %s", err, raw)
		}
		if s.General["topicUpdateNarration"] != false || s.Skills["enabled"] != false || s.UI["theme"] != "Mine" || s.Tools != nil ||
			fmt.Sprint(s.Skills["disabled"]) != "[foo antigravity-support skill-creator]" {
			t.Errorf("settings %s", raw)
		}
		name := map[bool]string{false: "own", true: "ours"}[given]
		if len(s.MCP) != 1 || s.MCP[name] == nil || strings.Contains(strings.Join(l.Args, " "), "allowed-mcp") != given {
			t.Errorf("MCP servers %v, arguments %q", s.MCP, l.Args)
		}
		policies := strings.Join(l.Args, " ")
		file := filepath.Join(spec.StateDir, "gemini-policy.toml")
		if !strings.Contains(policies, "--policy "+filepath.Join(root, ".gemini", "policies")+" --policy "+file) {
			t.Errorf("policies %q", policies)
		}
		rules, err := os.ReadFile(file)
		for _, tool := range []string{"write_todos", "update_topic", "activate_skill"} {
			if err != nil || !strings.Contains(string(rules), "toolName = \""+tool+"\"\ndecision = \"deny\"") {
				t.Errorf("%v: rules\n%s", err, rules)
			}
		}
		if strings.Contains(string(rules), "web_fetch") {
			t.Errorf("rules\n%s", rules)
		}
	}
}

func TestBaseParts(t *testing.T) {
	agenttest.Parts(t, gemini.New(launch.Config{}), []thread.BaseText{
		{Kind: thread.BaseSystem, Text: "You are an agent.\n# Core Mandates\nx\n# Available Sub-Agents\n- one\n## more\n\n# Available Agent Skills\n" +
			"<skill>\n# Hook Context\ny\n--- Context from: /home/me/.gemini/GEMINI.md ---\n# mine\n--- End of Context from: /home/me/.gemini/GEMINI.md ---\nend"},
		{Kind: thread.BaseOther, Text: "<session_context>\nToday\n--- Context from: /w/GEMINI.md ---\n# Available Agent Skills\n" +
			"--- End of Context from: /w/other ---\n# Rules\n--- End of Context from: /w/GEMINI.md ---\n</session_context>"},
		{Kind: thread.BasePrompt, Text: "fix\n# Available Sub-Agents"},
		{Kind: thread.BaseTool, Name: "glob", Text: "{}"},
	}, []string{
		"system", "agents", "skills", "system", "instructions /home/me/.gemini/GEMINI.md", "system",
		"environment", "instructions /w/GEMINI.md", "environment", "prompt", "tool glob",
	})
}

func TestBaseMissing(t *testing.T) {
	agenttest.Missing(t, gemini.New(launch.Config{}), map[string]string{
		`{"error":"Tool \"write_todos\" not found. Did you mean one of: \"write_file\", \"read_file\"?"}`: "write_todos",
		`Tool "web_fetch" not found. Did you mean "x"?`:                                                   "web_fetch",
		`Tool "a b" not found`:   "",
		`the file was not found`: "",
	})
}

func TestBaseSurroundings(t *testing.T) {
	agenttest.Around8K(t, gemini.New(launch.Config{}), map[string]string{
		"home/.gemini/GEMINI.md": "home/.gemini/GEMINI.md", "work/GEMINI.md": "work/GEMINI.md",
	}, map[string]string{"home/.gemini/settings.json": `{"mcpServers":{"a":{},"b":{}}}`}, "MCP servers, 2 in all")
}
