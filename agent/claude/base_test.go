package claude

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"orchestrator/agent/agenttest"
	"orchestrator/agent/launch"
	"orchestrator/thread"
)

// bench is an adapter with a program of a version, a home and a repository.
type bench struct {
	*testing.T
	agent     *Agent
	home, dir string
	spec      thread.WorldSpec
	version   string // with which levers were chosen, "" for the one that is there
}

func newSlim(t *testing.T, version string) *bench {
	t.Helper()
	root := t.TempDir()
	s := &bench{T: t, home: filepath.Join(root, "home"), dir: filepath.Join(root, "work")}
	agenttest.Put(t, filepath.Join(s.dir, ".git", "HEAD"), "")
	bin := filepath.Join(s.home, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	agenttest.Fake(t, filepath.Join(bin, "claude"), version)
	s.spec = thread.WorldSpec{Dir: s.dir, Env: []string{"HOME=" + s.home, "PATH=" + bin,
		"CLAUDE_CODE_MANAGED_SETTINGS_PATH=" + filepath.Join(root, "managed")}}
	s.agent = New(launch.Config{Env: s.spec.Env, Hook: []string{"/opt/orchestrator", "hook"}})
	return s
}

// kept returns why levers are kept.
func (s *bench) kept() map[string]string {
	s.Helper()
	l, err := s.agent.Levers(s.Context(), s.spec)
	if err != nil {
		s.Fatal(err)
	}
	kept := map[string]string{}
	for _, lever := range l.Levers {
		if lever.Kept != "" {
			kept[lever.Name] = lever.Kept
		}
	}
	return kept
}

// start returns our settings file of a start with levers.
func (s *bench) start(base ...string) (raw []byte, settings map[string]any, l thread.Launch) {
	s.Helper()
	state := filepath.Join(filepath.Dir(s.home), "state")
	l, err := s.agent.Launch(s.Context(), thread.LaunchSpec{
		Thread: "0123456789abcdef", Dir: s.dir, StateDir: state, Env: s.spec.Env, Flags: s.spec.Flags, Base: base, BaseVersion: s.version,
		BaseURL: "http://127.0.0.1:1/t/x", HookURL: "http://127.0.0.1:1/h/x",
	})
	if err != nil {
		s.Fatal(err)
	}
	raw, err = os.ReadFile(filepath.Join(state, settingsFile))
	if err == nil {
		err = json.Unmarshal(raw, &settings)
	}
	if err != nil {
		s.Fatal(err)
	}
	return raw, settings, l
}

func TestLeversAreKeptForWhatThePersonHas(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]string // below the root of home and work
		args  []string
		want  map[string]string // part of why
	}{
		{"nothing", nil, nil, nil},
		{"the person's key", map[string]string{"home/.claude/settings.json": `{"disableWorkflows":false}`}, nil,
			map[string]string{"workflows": "settings.json sets disableWorkflows"}},
		{"the same value", map[string]string{"home/.claude/settings.json": `{"disableWorkflows":true,"autoMemoryEnabled":false}`}, nil, nil},
		{"the project's", map[string]string{"work/.claude/settings.json": `{"autoMemoryEnabled":true}`}, nil,
			map[string]string{"auto-memory": "sets autoMemoryEnabled"}},
		{"the person's for the project", map[string]string{"work/.claude/settings.local.json": `{"includeGitInstructions":true}`}, nil,
			map[string]string{"git": "settings.local.json sets"}},
		{"the organisation's", map[string]string{"managed/managed-settings.json": `{"disableBundledSkills":false}`}, nil,
			map[string]string{"bundled-skills": "managed-settings.json sets"}},
		{"arguments", nil, []string{"--settings", `{"disableBundledSkills":false}`},
			map[string]string{"bundled-skills": "--settings sets"}},
		{"only some sources", map[string]string{"home/.claude/settings.json": `{"disableWorkflows":false}`},
			[]string{"--setting-sources", "project"}, nil},
		{"rules", map[string]string{"home/.claude/settings.json": `{"permissions":{"allow":["Bash(git log:*)","CronList"],"ask":["NotebookEdit"]}}`}, nil,
			map[string]string{"shell": "Bash: a rule in", "loops": "CronList: a rule in", "editing": "NotebookEdit", "notebooks": "NotebookEdit"}},
		{"a rule that denies", map[string]string{"home/.claude/settings.json": `{"permissions":{"deny":["Bash"]}}`}, nil, nil},
		{"allowed by arguments", nil, []string{"--allowedTools", "Bash(a, b) Edit,ReportFindings", "--model", "Workflow"},
			map[string]string{"shell": "--allowedTools", "editing": "--allowedTools", "findings": "--allowedTools"}},
		{"a skill", map[string]string{"work/.claude/skills/deploy/SKILL.md": "x"}, nil, map[string]string{"skills": "the repository has the skill deploy"}},
		{"a command", map[string]string{"home/.claude/commands/a/ship.md": "x"}, nil, map[string]string{"skills": "you have the command /ship"}},
		{"an agent", map[string]string{"work/.claude/agents/critic.md": "x"}, nil, map[string]string{"agents": "the repository has the agent critic"}},
		{"a plugin", map[string]string{"home/.claude/settings.json": `{"enabledPlugins":{"p@m":true,"q@m":false}}`}, nil,
			map[string]string{"skills": "plugin p@m", "agents": "plugin p@m"}},
		{"the repository's rules", map[string]string{
			"work/.claude/settings.json": `{"permissions":{"allow":["Bash(ls)","CronList"]}}`, "work/my.json": `{"permissions":{"allow":["Bash"]}}`,
			"work/.claude/settings.local.json": `{"permissions":{"allow":["Edit","Write"],"ask":["Bash"]}}`,
		}, []string{"--settings", "my.json"}, map[string]string{"loops": "CronList: a rule in"}},
		{"a broken file", map[string]string{"home/.claude/settings.json": `{"disableWorkflows":`}, nil, nil},
		{"odd shapes", map[string]string{"home/.claude/settings.json": `{"permissions":[1],"enabledPlugins":7,"agent":{}}`}, nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSlim(t, measured()[0])
			for name, text := range tt.files {
				agenttest.Put(t, filepath.Join(filepath.Dir(s.home), name), text)
			}
			s.spec.Flags.Args = tt.args
			kept := s.kept()
			for name, want := range tt.want {
				if !strings.Contains(kept[name], want) {
					t.Errorf("%s: %q, want %q", name, kept[name], want)
				}
			}
			if len(kept) != len(tt.want) {
				t.Errorf("%v are kept", kept)
			}
		})
	}
}

// TestLeversOfAnotherVersion leaves those that only deny tools by their names.
func TestLeversOfAnotherVersion(t *testing.T) {
	s := newSlim(t, "2.9.1")
	l, err := s.agent.Levers(t.Context(), s.spec)
	if err != nil || l.Known || l.Version != "2.9.1" {
		t.Fatalf("%+v %v", l, err)
	}
	left, kept, err := thread.ChooseBase(l, thread.BaseMinimal, nil, nil)
	if want := []string{"agents", "findings", "loops", "messages", "questions", "workflows", "worktrees"}; err != nil || !slices.Equal(left, want) {
		t.Errorf("%v, want %v: %v %v", left, want, kept, err)
	}
	for _, name := range []string{"bundled-skills", "auto-memory", "git", "skills"} {
		if kept[name] == "" {
			t.Errorf("%s is not kept", name)
		}
	}
}

// TestLeversTable checks what must hold of any table.
func TestLeversTable(t *testing.T) {
	seen := map[string]bool{}
	all := levers()
	for _, l := range all {
		if seen[l.Name] || l.Name != strings.ToLower(l.Name) || l.Lost == "" || len(l.Tools)+len(l.keys) == 0 || l.Saves <= 0 {
			t.Errorf("%+v", l)
		}
		seen[l.Name] = true
		for _, w := range l.Words {
			if w != strings.ToLower(w) || strings.TrimSpace(w) == "" {
				t.Errorf("%s: word %q", l.Name, w)
			}
		}
		for _, tool := range l.Tools {
			if strings.Contains(tool, "ToolSearch") || strings.HasPrefix(tool, "mcp__") || tool == "Read" {
				t.Errorf("%s leaves out %s", l.Name, tool)
			}
		}
	}
	for _, l := range all {
		if _, ok := l.keys["disableBundledSkills"]; ok && !slices.Contains(l.Needs, "workflows") {
			t.Errorf("%s makes the base larger without workflows", l.Name)
		}
		if slices.Contains(l.Tools, "Skill") && !slices.Contains(l.Needs, "workflows") {
			t.Errorf("%s makes the base larger without workflows", l.Name)
		}
		for _, n := range l.Needs {
			if !seen[n] {
				t.Errorf("%s needs %s", l.Name, n)
			}
		}
	}
}

func TestBaseInOurSettings(t *testing.T) {
	s := newSlim(t, measured()[0])
	s.spec.Flags.Args = []string{"--settings",
		`{"permissions":{"deny":["WebFetch"],"allow":["Bash(ls)"],"defaultMode":"plan"},"autoMemoryEnabled":true,"model":"opus"}`}
	base := []string{"auto-memory", "bundled-skills", "findings", "no-such", "workflows"}
	first, got, l := s.start(base...)
	again, _, _ := s.start(base...)
	if string(first) != string(again) {
		t.Errorf("the second start wrote\n%s\nafter\n%s", again, first)
	}
	want := map[string]any{"deny": []any{"WebFetch", "Workflow", "ReportFindings"}, "allow": []any{"Bash(ls)"}, "defaultMode": "plan"}
	if !reflect.DeepEqual(got["permissions"], want) {
		t.Errorf("permissions %v, want %v", got["permissions"], want)
	}
	for key, value := range map[string]any{"disableWorkflows": true, "disableBundledSkills": true, "autoMemoryEnabled": true, "model": "opus"} {
		if got[key] != value {
			t.Errorf("%s is %v", key, got[key])
		}
	}
	if len(l.Unused) != 2 || l.Unused["no-such"] == "" || !strings.Contains(l.Unused["auto-memory"], "--settings sets") {
		t.Errorf("unused: %v", l.Unused)
	}
	if slices.ContainsFunc(l.Args, func(a string) bool { return strings.Contains(a, "ools") }) {
		t.Errorf("arguments %q", l.Args)
	}
}

// TestBaseWithoutWhatItNeeds does not use a lever whose other one the person's settings decide.
func TestBaseWithoutWhatItNeeds(t *testing.T) {
	s := newSlim(t, measured()[0])
	agenttest.Put(t, filepath.Join(s.home, ".claude", "settings.json"), `{"disableWorkflows":false}`)
	_, got, l := s.start("bundled-skills", "loops", "skills", "workflows")
	if got["disableWorkflows"] != nil || got["disableBundledSkills"] != nil || !strings.Contains(l.Unused["skills"], "larger") ||
		!strings.Contains(l.Unused["bundled-skills"], "larger") || l.Unused["loops"] != "" {
		t.Errorf("%v, unused %v", got, l.Unused)
	}
}

// TestBaseStaysWithNewRules has the person allow a tool once the conversation has begun: its tools stay the same.
func TestBaseStaysWithNewRules(t *testing.T) {
	s := newSlim(t, measured()[0])
	before, _, _ := s.start("loops", "shell")
	agenttest.Put(t, filepath.Join(s.dir, ".claude", "settings.local.json"), `{"permissions":{"allow":["Bash(ls)"]}}`)
	agenttest.Put(t, filepath.Join(s.dir, ".claude", "skills", "a", "SKILL.md"), `x`)
	if after, _, l := s.start("loops", "shell"); string(before) != string(after) || len(l.Unused) > 0 {
		t.Errorf("%s, was %s; unused %v", after, before, l.Unused)
	}
}

// TestBaseStaysWithTheRepositorysKeys has the agent write settings of its repository: they give nothing back.
func TestBaseStaysWithTheRepositorysKeys(t *testing.T) {
	s := newSlim(t, measured()[0])
	s.spec.Flags.Args = []string{"--settings", "ours.json"}
	agenttest.Put(t, filepath.Join(s.dir, "ours.json"), `{"disableWorkflows":false}`)
	names := []string{"auto-memory", "bundled-skills", "editing", "git", "shell", "workflows"}
	before, _, _ := s.start(names...)
	for _, name := range []string{".claude/settings.json", ".claude/settings.local.json"} {
		agenttest.Put(t, filepath.Join(s.dir, name), `{"disableWorkflows":false,"includeGitInstructions":true,"autoMemoryEnabled":true,`+
			`"disableBundledSkills":false,"permissions":{"allow":["Bash","Edit"]}}`)
	}
	after, got, l := s.start(names...)
	if string(before) != string(after) || got["disableWorkflows"] != true || len(l.Unused) > 0 {
		t.Errorf("%s, was %s; unused %v", after, before, l.Unused)
	}
}

// TestBaseAfterUpdate starts with levers that were chosen with another version than the one that is there.
func TestBaseAfterUpdate(t *testing.T) {
	s := newSlim(t, "2.9.1")
	s.version = measured()[0]
	if _, got, l := s.start("bundled-skills", "workflows"); got["disableWorkflows"] != true || got["disableBundledSkills"] != true ||
		len(l.Unused) > 0 {
		t.Errorf("chosen with a version that was measured: %v, unused %v", got, l.Unused)
	}
	s.version = "2.8.0"
	_, got, _ := s.start("workflows")
	if deny := got["permissions"]; got["disableWorkflows"] != nil || !reflect.DeepEqual(deny, map[string]any{"deny": []any{"Workflow"}}) {
		t.Errorf("chosen with one that was not: %v", got)
	}
}

func TestNoBaseChangesNothing(t *testing.T) {
	s := newSlim(t, measured()[0])
	_, got, l := s.start()
	if got["permissions"] != nil || got["disableWorkflows"] != nil || len(l.Unused) > 0 {
		t.Errorf("%v %v", got, l.Unused)
	}
}

func TestMissing(t *testing.T) {
	for text, want := range map[string][]string{
		"<tool_use_error>Error: No such tool available: Workflow. Workflow is disabled for this session</tool_use_error>": {"Workflow"},
		"No such tool available: mcp__a__b-c":                                             {"mcp__a__b-c"},
		"No such tool available: A\nNo such tool available: B\nNo such tool available: A": {"A", "B"},
		"all is well": nil, "No such tool available: ": nil, "": nil,
	} {
		if got := New(launch.Config{}).Missing(text); !slices.Equal(got, want) {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestBaseParts(t *testing.T) {
	texts := []thread.BaseText{
		{Kind: thread.BaseSystem, Text: "x-anthropic-billing-header: cc_version=2;"},
		{Kind: thread.BaseSystem, Text: "You are Claude Code.\n\n# Harness\n - a\n\n# Memory\n\nNotes.\n\n# Environment\n - b\n# Something new\nc\n"},
		{Kind: thread.BaseOther, Text: "<system-reminder>\n" + instructions + "\n\nContents of /h/.claude/CLAUDE.md (user's private global " +
			"instructions for all projects):\n\n# Environment\nThe following skills are available\n\n" +
			"Contents of /w/CLAUDE.md (project instructions, checked into the codebase):\n\nBe kind.\n</system-reminder>"},
		{Kind: thread.BaseOther, Text: "<system-reminder>\nAs you answer the user's questions, you can use the following context:\n# gitStatus\nx\n</system-reminder>"},
		{Kind: thread.BaseOther, Text: "# Environment\nlinux\n\nThe following deferred tools are now available via ToolSearch.\nA\n\n" +
			"Available agent types for the Agent tool:\n- b\n\nThe following skills are available for use with the Skill tool:\n\n- c\n\n" +
			"While bypass permissions mode is active:\n\nd\n\nToday's date is 2026-11-30."},
		{Kind: thread.BasePrompt, Text: "hello\nThe following skills are available"},
		{Kind: thread.BaseOther, Text: ""},
	}
	got := New(launch.Config{}).BaseParts(texts)
	var before, after strings.Builder
	for _, p := range texts {
		before.WriteString(p.Text)
	}
	var kinds []string
	for _, p := range got {
		after.WriteString(p.Text)
		kinds = append(kinds, string(p.Kind)+" "+p.Name)
	}
	if before.String() != after.String() {
		t.Errorf("%q, want %q", after.String(), before.String())
	}
	want := []string{
		"other billing header", "system ", "system ", "system its own notes", "environment ", "system ",
		"other ", "instructions /h/.claude/CLAUDE.md", "instructions /w/CLAUDE.md",
		"environment git", "environment ", "deferred ", "agents ", "skills ", "environment permission mode", "environment ", "prompt ",
	}
	if !slices.Equal(kinds, want) {
		t.Errorf("%q\nwant\n%q", kinds, want)
	}
}

func TestSurroundingsOfTheBase(t *testing.T) {
	s := newSlim(t, measured()[0])
	say := func(env ...string) string {
		t.Helper()
		spec := s.spec
		spec.Env = slices.Concat(spec.Env, env)
		var all []string
		for _, w := range s.agent.Surroundings(spec) {
			if w.Do == "" {
				t.Errorf("%q says not what to do", w.What)
			}
			all = append(all, w.What)
		}
		return strings.Join(all, "\n")
	}
	if got := say(); got != "" {
		t.Errorf("in an empty home: %s", got)
	}
	for env, want := range map[string]string{
		"ENABLE_TOOL_SEARCH=false":                 "ENABLE_TOOL_SEARCH=false puts the definitions of all tools",
		"ENABLE_TOOL_SEARCH=auto:10":               "ENABLE_TOOL_SEARCH=auto:10 puts",
		"CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS=1": "EXPERIMENTAL_BETAS=1 puts",
		"ENABLE_TOOL_SEARCH=true":                  "",
	} {
		if got := say(env); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q", env, got)
		}
	}
	agenttest.Put(t, filepath.Join(s.home, ".claude", "settings.json"), `{"env":{"ENABLE_TOOL_SEARCH":"false"}}`)
	agenttest.Put(t, filepath.Join(s.dir, "CLAUDE.md"), "see @docs/rules.md\n")
	agenttest.Put(t, filepath.Join(s.dir, "docs", "rules.md"), strings.Repeat("x", 200<<10))
	for i := range 60 {
		agenttest.Put(t, filepath.Join(s.dir, ".claude", "skills", string(rune('A'+i)), "SKILL.md"), "x")
	}
	if got := say(); !strings.Contains(got, "ENABLE_TOOL_SEARCH=false") || !strings.Contains(got, "rules.md has 200") || !strings.Contains(got, "60 skills") {
		t.Errorf("%s", got)
	}
}
