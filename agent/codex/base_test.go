package codex_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orchestrator/agent/agenttest"
	"orchestrator/agent/codex"
	"orchestrator/agent/launch"
	"orchestrator/thread"
)

func TestBaseKept(t *testing.T) {
	none := map[string]string{}
	many := "model = \"gpt-5.5\"\n[features]\ngoals = true\n"
	for i := range 400 {
		many += fmt.Sprintf("[projects.\"/p/%d\"]\ntrust_level = \"trusted\"\n", i)
	}
	agenttest.Keeps(t, subject(), "0.169.0", []agenttest.Kept{
		{Name: "nothing of theirs", Want: none, Unused: none},
		{
			Name: "their keys", Files: map[string]string{"home/.codex/config.toml": many},
			Want: map[string]string{"goals": "config.toml sets features.goals"}, Unused: map[string]string{"goals": "features.goals"},
		},
		{
			Name: "what they left out themselves", Files: map[string]string{
				"home/.codex/config.toml": "web_search = \"disabled\"\npersonality = \"none\"\n[features]\ngoals = false\nview_image = false\n" +
					"[skills.bundled]\nenabled = false\n[tools]\nweb_search = false\n",
			}, Want: none, Unused: none,
		},
		{
			Name: "the repository's keys", Files: map[string]string{
				"work/.codex/config.toml": "[tools]\nweb_search = true\n[features.multi_agent]\nenabled = true\n",
			},
			Want: map[string]string{"web": "sets tools.web_search", "agents": "sets features.multi_agent"}, Unused: none,
		},
		{
			Name: "arguments", Flags: thread.Flags{Args: []string{
				"-c", "personality=friendly", "--search", "--enable", "goals", "-cskills.bundled.enabled=true",
			}},
			Want: map[string]string{"personality": "an argument sets personality", "web": "an argument", "goals": "an argument",
				"bundled-skills": "an argument"},
			Unused: map[string]string{"personality": "argument", "web": "argument", "goals": "argument", "bundled-skills": "argument"},
		},
		{
			Name: "of a profile", Flags: thread.Flags{Args: []string{"-p", "work"}},
			Files: map[string]string{"home/.codex/config.toml": "[profiles.work]\npersonality = \"pragmatic\"\n[profiles.other.features]\ngoals=true\n"},
			Want:  map[string]string{"personality": "the profile work"}, Unused: map[string]string{"personality": "the profile work"},
		},
		{
			Name: "agents of the repository", Files: map[string]string{"work/.codex/agents/reviewer.toml": "name = \"reviewer\""},
			Want: map[string]string{"agents": "has the agent reviewer"}, Unused: none,
		},
		{
			Name: "agents of theirs", Files: map[string]string{"home/.codex/config.toml": "[agents.reviewer]\ndescription = \"x\"\n"},
			Want: map[string]string{"agents": "has the agent reviewer"}, Unused: none,
		},
		{
			Name: "odd types", Files: map[string]string{
				"home/.codex/config.toml": "features = \"all\"\nskills = 7\nweb_search = 3\nagents = [1]\n",
			},
			Want: map[string]string{"web": "sets web_search"}, Unused: map[string]string{"web": "sets web_search"},
		},
		{Name: "broken", Files: map[string]string{"home/.codex/config.toml": "features = [[["}, Want: none, Unused: none},
	})
	agenttest.Keeps(t, subject(), "0.999.0", []agenttest.Kept{
		{Name: "another version", Want: map[string]string{
			"personality": "Codex 0.999.0 was not measured", "threads": "not measured",
		}, Unused: none},
	})
}

// TestBaseAfterUpdate starts with levers that were chosen with a version that was measured, or with one that was not: what was
// passed then is passed by another, what that may refuse to start with is named, and nothing comes in addition.
func TestBaseAfterUpdate(t *testing.T) {
	for _, tt := range []struct{ chosen, now, args, unused string }{
		{"0.169.0", "0.169.0", "features.multi_agent agents.enabled personality", ""},
		{"0.169.0", "0.200.0", "features.multi_agent", "agents personality"},
		{"0.168.0", "0.169.0", "features.multi_agent", ""},
	} {
		root := t.TempDir()
		agenttest.Put(t, filepath.Join(root, "bin", "none"), "")
		agenttest.Fake(t, filepath.Join(root, "bin", "codex"), tt.now)
		env := []string{"HOME=" + root, "PATH=" + filepath.Join(root, "bin") + ":/usr/bin:/bin"}
		l, err := codex.New(launch.Config{Env: env}).Launch(t.Context(), thread.LaunchSpec{
			Thread: "t", Dir: root, StateDir: filepath.Join(root, "state"), Env: env,
			Base: []string{"agents", "personality"}, BaseVersion: tt.chosen,
		})
		if err != nil {
			t.Fatal(err)
		}
		var args []string
		for _, a := range l.Args {
			if key, _, _ := strings.Cut(a, "="); slices.Contains([]string{"features.multi_agent", "agents.enabled", "personality"}, key) {
				args = append(args, key)
			}
		}
		unused := slices.Sorted(maps.Keys(l.Unused))
		if strings.Join(args, " ") != tt.args || strings.Join(unused, " ") != tt.unused {
			t.Errorf("chosen with %s, started by %s: %q, unused %q", tt.chosen, tt.now, args, l.Unused)
		}
	}
}

// TestBaseAgainstTheRepository starts with levers that its files speak against, also by names that keys had: all are passed.
func TestBaseAgainstTheRepository(t *testing.T) {
	root := t.TempDir()
	dir, home := filepath.Join(root, "work"), filepath.Join(root, "home")
	agenttest.Put(t, filepath.Join(dir, ".git", "HEAD"), "")
	agenttest.Put(t, filepath.Join(home, "bin", "none"), "")
	agenttest.Fake(t, filepath.Join(home, "bin", "codex"), "0.169.0")
	agenttest.Put(t, filepath.Join(dir, ".codex", "config.toml"),
		"web_search = \"live\"\n[features]\ncollab = true\nview_image = true\n[tools]\nweb_search = true\n")
	env := []string{"HOME=" + home, "PATH=" + filepath.Join(home, "bin") + ":/usr/bin:/bin"}
	l, err := codex.New(launch.Config{Env: env}).Launch(t.Context(), thread.LaunchSpec{
		Thread: "t", Dir: dir, StateDir: filepath.Join(root, "state"), Env: env, Base: []string{"agents", "images", "web"},
	})
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(l.Args, " ")
	for _, want := range []string{"features.multi_agent=false -c features.collab=false", "-c web_search=\"disabled\" -c tools.web_search=false",
		"-c features.view_image=false"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q, want %q", all, want)
		}
	}
	if l.Unused != nil {
		t.Errorf("the repository decides: %q", l.Unused)
	}
}

// TestBaseArguments starts with levers: the arguments stand before the person's own, and another version gets none that it
// may refuse.
func TestBaseArguments(t *testing.T) {
	for version, want := range map[string]string{
		"0.169.0": "-c features.multi_agent=false -c agents.enabled=false -c web_search=\"disabled\" -c personality=\"none\"",
		"0.200.0": "-c features.multi_agent=false -c web_search=\"disabled\" -m",
	} {
		root := t.TempDir()
		agenttest.Put(t, filepath.Join(root, "bin", "none"), "")
		agenttest.Fake(t, filepath.Join(root, "bin", "codex"), version)
		env := []string{"HOME=" + root, "PATH=" + filepath.Join(root, "bin") + ":/usr/bin:/bin"}
		l, err := codex.New(launch.Config{Env: env}).Launch(t.Context(), thread.LaunchSpec{
			Thread: "t", Dir: root, StateDir: filepath.Join(root, "state"), Env: env, Model: "m",
			Base:  []string{"agents", "personality", "web"},
			Flags: thread.Flags{Args: []string{"-c", "web_search=\"live\""}},
		})
		if err != nil {
			t.Fatal(err)
		}
		all := strings.Join(l.Args, " ")
		if l.Unused["web"] == "" || strings.Contains(all, "disabled") {
			t.Errorf("their own argument does not decide: %q, unused %q", all, l.Unused)
		}
		l, err = codex.New(launch.Config{Env: env}).Launch(t.Context(), thread.LaunchSpec{
			Thread: "t", Dir: root, StateDir: filepath.Join(root, "state"), Env: env, Model: "m",
			Base: []string{"agents", "personality", "web"}, Flags: thread.Flags{Args: []string{"-c", "model_verbosity=\"low\""}},
		})
		if err != nil {
			t.Fatal(err)
		}
		all = strings.Join(l.Args, " ")
		if !strings.Contains(strings.Replace(all, "-c sandbox_workspace_write", "-m", 1), want) {
			t.Errorf("%s: %q, want %q", version, all, want)
		}
		if slices.Index(l.Args, "model_verbosity=\"low\"") < slices.Index(l.Args, "features.multi_agent=false") {
			t.Errorf("ours win: %q", l.Args)
		}
		if strings.Contains(all, "include_permissions") || strings.Contains(all, "include_instructions") {
			t.Errorf("permissions or own skills go: %q", all)
		}
	}
}

func TestBaseParts(t *testing.T) {
	a := codex.New(launch.Config{Env: []string{"HOME=/home/me"}})
	system := func(text string) thread.BaseText { return thread.BaseText{Kind: thread.BaseSystem, Text: text} }
	other := func(text string) thread.BaseText { return thread.BaseText{Kind: thread.BaseOther, Text: text} }
	agenttest.Parts(t, a, []thread.BaseText{
		system("You are Codex.\n<tools>\nin the maker's text\n</tools>"),
		system("<skills_instructions>\n## Skills\n- foo: does foo\n</skills_instructions>"),
		system("<permissions instructions>\nAsk first.\n</permissions instructions>"),
		system("<tools>\nDeferred tool namespaces:\n- multi_agent_v1: x\n</tools>"),
		system("<collaboration_mode># Default\n</collaboration_mode>"),
		system("<multi_agent_role>You are `/root`\n</multi_agent_role>"),
		other("# AGENTS.md instructions for /work/a\n\n<INSTRUCTIONS>\nmine\n\n--- project-doc ---\n\n# Rules\n<tools>\n</INSTRUCTIONS>"),
		other("<environment_context>\n  <cwd>/work/a</cwd>\n</environment_context>"),
		{Kind: thread.BasePrompt, Text: "fix it"},
		{Kind: thread.BaseTool, Name: "exec_command", Text: "{}"},
	}, []string{
		"system", "skills", "environment permissions", "deferred", "environment mode", "agents",
		"instructions /home/me/.codex/AGENTS.md", "instructions /work/a/AGENTS.md", "environment", "prompt", "tool exec_command",
	})
}

func TestBaseMissing(t *testing.T) {
	agenttest.Missing(t, codex.New(launch.Config{}), map[string]string{
		"unsupported call: create_goal":             "create_goal",
		"the log says: unsupported call: something": "",
		"unsupported call: ":                        "",
		"unsupported call: a b":                     "",
	})
}

func TestBaseSurroundings(t *testing.T) {
	agenttest.Around8K(t, codex.New(launch.Config{}), map[string]string{
		"home/.codex/AGENTS.md": "home/.codex/AGENTS.md", "work/AGENTS.md": "work/AGENTS.md", "work/sub/AGENTS.override.md": "AGENTS.override.md",
	}, map[string]string{"home/.codex/config.toml": "[features]\nmemories = true\n"}, "features.memories")
}
