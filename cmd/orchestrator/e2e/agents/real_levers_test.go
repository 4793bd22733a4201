package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"orchestrator/agent"
	"orchestrator/agent/agenttest/clis"
	"orchestrator/agent/agenttest/model"
	"orchestrator/agent/codex"
	"orchestrator/agent/gemini"
	"orchestrator/agent/launch"
	"orchestrator/agent/opencode"
	"orchestrator/agent/scripted"
	"orchestrator/agent/session"
	"orchestrator/agent/vterm"
	"orchestrator/contextmgr/tokens"
	"orchestrator/thread"
)

// slimAgent is an adapter whose levers are tried.
type slimAgent interface {
	thread.Agent
	thread.Slimmer
	agent.RuleSource
	agent.InputReader
}

// leverRuns are the CLIs and models whose levers are measured, and how much of the whole base slim may have. opencode has
// a prompt for each family of models: what the one for others names stays.
func leverRuns() []leverRun {
	return []leverRun{
		{"codex", "gpt-5.5", 0.78, true}, {"codex", "gpt-6-sol", 0.78, false}, {"codex", "gpt-4.1", 0.78, false},
		{"gemini", "gemini-2.5-pro", 0.78, false}, {"gemini", "gemini-3-pro-preview", 0.78, false},
		{"opencode", "fm/gpt-5.5", 0.78, false}, {"opencode", "fm/gemini-2.5-pro", 0.78, false},
		{"opencode", "fm/claude-sonnet-4-5", 1, false}, {"opencode", "fm/fake-1", 1, false},
	}
}

type leverRun struct {
	cli, model string
	most       float64
	searches   bool // its MCP tools are behind a search, which no script makes
}

// lab is a real CLI with a person's home and a repository with a file of instructions.
type lab struct {
	*testing.T
	run    leverRun
	cli    clis.CLI
	server *model.Server
	home   string
	dir    string
	env    []string
	agent  slimAgent
	all    *session.Sessions
	starts int

	mu    sync.Mutex // guards shown
	shown []thread.StateReport
}

func newLab(t *testing.T, run leverRun, script model.Script) *lab {
	t.Helper()
	bin := clis.Bin(t)
	root, err := os.MkdirTemp("", "o")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(root) }) // the agents still write for a moment
	l := &lab{T: t, run: run, server: model.New(script), home: filepath.Join(root, "home"), dir: filepath.Join(root, "shop")}
	t.Cleanup(l.server.Close)
	l.cli = clis.All()[slices.IndexFunc(clis.All(), func(c clis.CLI) bool { return c.Name == run.cli })]
	for _, dir := range []string{l.home, l.dir} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	l.env = append([]string{"HOME=" + l.home, "PATH=" + bin + ":" + os.Getenv("PATH"), "NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1"},
		l.cli.SetUp(t, l.home, l.server.URL(), l.dir)...)
	name := map[string]string{"gemini": "GEMINI.md"}[run.cli]
	l.put(filepath.Join(l.dir, "AGENTS.md"), "")
	if name == "" {
		name = "AGENTS.md"
	}
	l.put(filepath.Join(l.dir, name), "# Rules\n"+strings.Repeat("Always run the linter before you commit; it is in tools/lint.\n", 48))
	if run.cli == "opencode" {
		models := map[string]any{}
		for _, r := range leverRuns() {
			if id, ok := strings.CutPrefix(r.model, "fm/"); ok {
				models[id] = map[string]any{"name": id, "limit": map[string]int{"context": 200000, "output": 8000}}
			}
		}
		raw, err := json.Marshal(map[string]any{"provider": map[string]any{"fm": map[string]any{"models": models}}})
		if err != nil {
			t.Fatal(err)
		}
		l.put(filepath.Join(l.home, ".config", "opencode", "opencode.jsonc"), string(raw))
	}
	for _, args := range [][]string{
		{"init", "-q"}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "first"},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = l.dir, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git: %v: %s", err, out)
		}
	}
	config := launch.Config{Env: l.env}
	l.agent = map[string]slimAgent{"codex": codex.New(config), "gemini": gemini.New(config), "opencode": opencode.New(config)}[run.cli]
	l.all = session.New(session.Config{
		Rules: func(string) []agent.Rule { return l.agent.Rules() },
		Input: func(string) func(*vterm.Terminal) (agent.Input, bool) { return l.agent.Input },
	})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), leverWait)
		defer cancel()
		if err := l.all.Close(ctx, 5*time.Second); err != nil {
			t.Errorf("stop the agents: %v", err)
		}
	})
	return l
}

// leverWait bounds every wait.
const leverWait = 10 * time.Minute

func (l *lab) put(path, text string) {
	l.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		l.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		l.Fatal(err)
	}
}

// ownSchema matches what opencode adds to configurations that do not name their schema.
var ownSchema = regexp.MustCompile(`\s*"\$schema": "https://opencode.ai/config.json",`)

// config has the files that the person wrote.
func (l *lab) config() string {
	l.Helper()
	var all strings.Builder
	for _, name := range []string{
		".codex/config.toml", ".codex/auth.json", ".gemini/settings.json", ".config/opencode/opencode.json",
		".config/opencode/opencode.jsonc",
	} {
		raw, err := os.ReadFile(filepath.Join(l.home, name))
		if err == nil {
			// What they note themselves, with and without levers.
			text, _, _ := strings.Cut(string(raw), "\n[tui")
			text = ownSchema.ReplaceAllString(text, "")
			fmt.Fprintf(&all, "%s\n%s\n", name, strings.TrimSpace(text))
		}
	}
	return all.String()
}

// start starts the agent without levers, and returns its session.
func (l *lab) start(mode string, base []string, mcp *thread.MCPLaunch, args ...string) *session.Session {
	l.Helper()
	l.starts++
	id := thread.ID(fmt.Sprintf("thread%010d", l.starts))
	launched, err := l.agent.Launch(l.Context(), thread.LaunchSpec{
		Thread: id, Dir: l.dir, StateDir: filepath.Join(filepath.Dir(l.home), "state", string(id)), Env: l.env, Base: base, MCP: mcp,
		Flags: thread.Flags{PermissionMode: mode, Args: args}, Model: l.run.model,
		BaseURL: l.server.URL() + "/t/secret", HookURL: l.server.URL() + "/h/secret",
	})
	if err != nil {
		l.Fatal(err)
	}
	for name, why := range launched.Unused {
		l.Errorf("%s is not used: %s", name, why)
	}
	_, err = l.all.Start(l.Context(), thread.SessionSpec{
		Thread: id, Agent: l.run.cli, Launch: launched, Cols: 120, Rows: 40, OnState: func(s thread.StateReport) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.shown = append(l.shown, s)
		},
	})
	if err != nil {
		l.Fatal(err)
	}
	return l.all.Get(id)
}

// ask sends a prompt and returns the requests of its turn, to the last.
func (l *lab) ask(s *session.Session, prompt string) []model.Request {
	l.Helper()
	ctx, cancel := context.WithTimeout(l.Context(), leverWait)
	defer cancel()
	for {
		err := s.Send(ctx, prompt)
		var not *thread.NotReadyError
		if err == nil {
			break
		}
		if !errors.As(err, &not) || ctx.Err() != nil {
			l.Fatalf("send %q: %v\n%s", prompt, err, strings.Join(s.Screen(), "\n"))
		}
		select {
		case <-ctx.Done():
		case <-time.After(300 * time.Millisecond):
		}
	}
	main := func(q model.Request) bool { return q.Turn.Prompt == prompt && len(q.Turn.Tools) > 0 && !q.Turn.Schema }
	_, err := l.server.Wait(ctx, func(q model.Request) bool { return main(q) && len(q.Reply.Calls) == 0 })
	if err != nil {
		l.Fatalf("%q: %v\n%s", prompt, err, strings.Join(s.Screen(), "\n"))
	}
	return slices.DeleteFunc(l.server.Requests(), func(q model.Request) bool { return !main(q) })
}

func (l *lab) stop(s *session.Session) {
	l.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), leverWait)
	defer cancel()
	if err := s.Stop(ctx, 5*time.Second); err != nil {
		l.Errorf("stop: %v", err)
	}
}

// sent is what a request sends: its texts, and its tools by name.
type sent struct {
	texts []string
	tools map[string]string
}

func sentIn(body []byte) sent {
	out := sent{tools: map[string]string{}}
	var b struct {
		Instructions string
		System       any `json:"systemInstruction"`
		Messages     []map[string]any
		Contents     []map[string]any
		Input        []map[string]any
		Tools        []any
	}
	if json.Unmarshal(body, &b) != nil {
		return out
	}
	out.text(b.Instructions)
	out.text(b.System)
	for _, m := range slices.Concat(b.Messages, b.Contents, b.Input) {
		out.text(m["content"])
		out.text(m["parts"])
		out.tool(m["tools"]) // of an item that adds tools
	}
	out.tool(b.Tools)
	return out
}

func (s *sent) text(v any) {
	switch v := v.(type) {
	case string:
		s.texts = append(s.texts, v)
	case []any:
		for _, one := range v {
			s.text(one)
		}
	case map[string]any:
		s.text(v["text"])
		s.text(v["parts"])
	}
}

func (s *sent) tool(v any) {
	list, _ := v.([]any)
	for _, one := range list {
		m, _ := one.(map[string]any)
		if inner := m["functionDeclarations"]; inner != nil {
			s.tool(inner)
			continue
		}
		name, _ := m["name"].(string)
		if f, ok := m["function"].(map[string]any); ok {
			name, _ = f["name"].(string)
		}
		if kind, _ := m["type"].(string); name == "" {
			name = kind
		}
		if m["type"] == "namespace" { // it and what is in it
			s.tool(m["tools"])
			m = maps.Clone(m)
			delete(m, "tools")
		}
		if raw, err := json.Marshal(m); err == nil {
			s.tools[name] = string(raw)
		}
	}
}

// leverCounter counts as the program does.
var leverCounter = sync.OnceValue(tokens.New)

func (s sent) tokens() int {
	n := 0
	for _, text := range s.texts {
		n += leverCounter().Count(text)
	}
	for _, raw := range s.tools {
		n += leverCounter().Count(raw)
	}
	return n
}

// gone checks that a lever's tools are neither offered nor named in a text.
func (s sent) gone(t *testing.T, l thread.Lever) {
	t.Helper()
	for _, tool := range l.Tools {
		if _, ok := s.tools[tool]; ok {
			t.Errorf("%s: %s is offered", l.Name, tool)
		}
		if slices.Contains(l.Named, tool) {
			continue
		}
		named := regexp.MustCompile(`\b` + regexp.QuoteMeta(tool) + `\b`)
		for _, text := range s.texts {
			if at := named.FindStringIndex(text); at != nil {
				t.Errorf("%s: a text names %s: %q", l.Name, tool, text[max(0, at[0]-80):min(len(text), at[1]+80)])
			}
		}
	}
}

// TestRealLevers starts the real CLIs with each profile and with each lever alone: what goes is gone and nowhere named,
// each lowers the count, and slim has at most so much of the whole. WHOLE=1 has each lever alone for every model.
func TestRealLevers(t *testing.T) {
	for i, run := range leverRuns() {
		t.Run(run.cli+"/"+strings.TrimPrefix(run.model, "fm/"), func(t *testing.T) {
			l := newLab(t, run, nil)
			before := l.config()
			all, err := l.agent.Levers(t.Context(), thread.WorldSpec{
				Dir: l.dir, Env: l.env, Model: run.model, Flags: thread.Flags{PermissionMode: l.cli.Asking},
			})
			if err != nil || !all.Known {
				t.Fatalf("%+v %v", all, err)
			}
			count := func(what string, base []string) int {
				s := l.start(l.cli.Asking, base, nil)
				first := sentIn(l.ask(s, fmt.Sprintf("hello %d #say:fine", l.starts))[0].Body)
				l.stop(s)
				for _, lever := range all.Named(base) {
					first.gone(t, lever)
				}
				n := first.tokens()
				t.Logf("%-16s %6d tok, %d tools: %s", what, n, len(first.tools), strings.Join(slices.Sorted(maps.Keys(first.tools)), " "))
				return n
			}
			full := count(thread.BaseFull, nil)
			for _, profile := range thread.BaseProfiles()[1:] {
				base, kept, err := thread.ChooseBase(all, profile, nil, nil)
				if err != nil {
					t.Fatal(err)
				}
				n := count(profile, base)
				t.Logf("%s: %.3f of full; kept %v", profile, float64(n)/float64(full), kept)
				if float64(n) > run.most*float64(full) || n >= full {
					t.Errorf("%s has %d of %d tokens, want at most %.2f", profile, n, full, run.most)
				}
			}
			if i > 0 && leverRuns()[i-1].cli == run.cli && os.Getenv("WHOLE") != "1" {
				return
			}
			for _, lever := range all.Levers {
				if lever.Kept != "" {
					continue
				}
				base := append([]string{lever.Name}, lever.Needs...)
				slices.Sort(base)
				if n := count(lever.Name, base); n >= full {
					t.Errorf("%s saves nothing: %d of %d", lever.Name, n, full)
				} else {
					t.Logf("%s saves %d, in the table %d", lever.Name, full-n, lever.Saves)
				}
			}
			l.same(before)
		})
	}
}

// TestRealSlimWorks works with slim: reading, editing, the shell, a question and a tool of an MCP server; its state is
// told, and a tool that is gone is asked for in vain.
func TestRealSlimWorks(t *testing.T) {
	for _, run := range leverRuns() {
		t.Run(run.cli+"/"+strings.TrimPrefix(run.model, "fm/"), func(t *testing.T) {
			if run.most == 1 && os.Getenv("WHOLE") != "1" {
				t.Skip("SKIPPED, not run: a model for which little goes; run it with WHOLE=1")
			}
			slimWorks(t, run)
		})
	}
}

func slimWorks(t *testing.T, run leverRun) {
	l := newLab(t, run, slimScript)
	before := l.config()
	all, err := l.agent.Levers(t.Context(), thread.WorldSpec{
		Dir: l.dir, Env: l.env, Model: run.model, Flags: thread.Flags{PermissionMode: l.cli.Mode},
	})
	if err != nil {
		t.Fatal(err)
	}
	base, _, err := thread.ChooseBase(all, thread.BaseSlim, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	l.put(filepath.Join(l.dir, "note.txt"), "a fine note\n")
	s := l.start(l.cli.Mode, base, &thread.MCPLaunch{
		Name: "orch", Registered: "orch", Command: []string{filepath.Join(clis.Bin(t), "mcp-server-everything"), "stdio"},
	})
	results := func(prompt string) []string {
		all := l.ask(s, prompt)
		return append(all[len(all)-1].Turn.Results(), "")
	}
	if got := strings.Join(results("#read:note.txt #bash:echo out-42 #write:made.txt=by-hand #say:answer."), "\n"); !strings.Contains(got, "a fine note") ||
		!strings.Contains(got, "out-42") {
		t.Errorf("results %q", got)
	}
	if raw, err := os.ReadFile(filepath.Join(l.dir, "made.txt")); err != nil || strings.TrimSpace(string(raw)) != "by-hand" {
		t.Errorf("written: %q %v", raw, err)
	}
	if run.searches {
		first := sentIn(l.server.Main()[0].Body)
		if _, ok := first.tools["tool_search"]; !ok {
			t.Error("MCP tools cannot be searched for")
		}
	} else if got := strings.Join(results("use-mcp"), "\n"); !strings.Contains(got, "Echo: from afar") {
		t.Errorf("MCP: %q", got)
	}
	tool := all.Named(base)[0].Tools
	for _, lever := range all.Named(base) {
		if len(tool) == 0 {
			tool = lever.Tools
		}
	}
	answers := results("use-gone " + tool[0])
	if got := l.agent.Missing(answers[len(answers)-2]); !slices.Equal(got, []string{tool[0]}) {
		t.Errorf("asked for %s in vain: missing %q in %q", tool[0], got, answers)
	}
	l.mu.Lock()
	var states []string
	for _, one := range l.shown {
		states = append(states, string(one.State))
	}
	l.mu.Unlock()
	if !slices.Contains(states, string(thread.StateWorking)) || !slices.Contains(states, string(thread.StateIdle)) {
		t.Errorf("states %q", states)
	}
	l.asked(s)
	l.stop(s)
	l.same(before)
}

// same checks that the person's files are as they were.
func (l *lab) same(before string) {
	l.Helper()
	if now := l.config(); now != before {
		l.Errorf("the person's configuration has changed from\n%s\nto\n%s", before, now)
	}
}

// asked has the agent ask a question, where it has a tool for that, and sees it.
func (l *lab) asked(s *session.Session) {
	l.Helper()
	ctx, cancel := context.WithTimeout(l.Context(), leverWait)
	defer cancel()
	const prompt = "use-question"
	for {
		err := s.Send(ctx, prompt)
		var not *thread.NotReadyError
		if err == nil {
			break
		}
		if !errors.As(err, &not) || ctx.Err() != nil {
			l.Fatalf("send: %v\n%s", err, strings.Join(s.Screen(), "\n"))
		}
		time.Sleep(300 * time.Millisecond)
	}
	q, err := l.server.Wait(ctx, func(q model.Request) bool { return q.Turn.Prompt == prompt && len(q.Turn.Tools) > 0 && !q.Turn.Schema })
	if err != nil {
		l.Fatal(err)
	}
	if l.run.cli == "codex" { // which asks in its plan mode only
		return
	}
	if len(q.Reply.Calls) == 0 {
		l.Errorf("it has no tool to ask with among %d", len(q.Turn.Tools))
		return
	}
	for !strings.Contains(strings.Join(s.Screen(), "\n"), "Which colour?") {
		if ctx.Err() != nil {
			l.Fatalf("the question is not shown:\n%s", strings.Join(s.Screen(), "\n"))
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// slimScript calls what a prompt names, and otherwise follows its markers.
func slimScript(t model.Turn) scripted.Reply {
	if t.Side || t.Round > 0 || !strings.HasPrefix(t.Prompt, "use-") {
		if strings.HasPrefix(t.Prompt, "use-") && t.Round > 0 {
			return scripted.Reply{Text: "fine"}
		}
		return model.Markers(t)
	}
	what, name, _ := strings.Cut(t.Prompt, " ")
	switch what {
	case "use-mcp":
		for _, tool := range t.Tools {
			if strings.HasSuffix(tool.Name, "echo") {
				return scripted.Reply{Calls: []scripted.Call{{
					Name: tool.Name, Namespace: tool.Namespace, Args: map[string]any{"message": "from afar"},
				}}}
			}
			if tool.Free {
				js := `const t = ALL_TOOLS.find(x => x.name.endsWith("echo")); const r = await tools[t.name]({message: "from afar"}); text(JSON.stringify(r));`
				return scripted.Reply{Calls: []scripted.Call{{Name: tool.Name, Args: map[string]any{"": js}}}}
			}
		}
	case "use-gone":
		return scripted.Reply{Calls: []scripted.Call{{Name: name, Args: map[string]any{"prompt": "x"}}}}
	case "use-question":
		one := map[string]any{
			"question": "Which colour?", "header": "Colour", "multiSelect": false, "multiple": false, "type": "choice", "id": "colour",
			"options": []any{
				map[string]any{"label": "Red", "description": "a warm one"}, map[string]any{"label": "Blue", "description": "a cold one"},
			},
		}
		for _, tool := range t.Tools {
			switch tool.Name {
			case "ask_user", "question", "request_user_input":
				return scripted.Reply{Calls: []scripted.Call{{Name: tool.Name, Args: map[string]any{"questions": []any{one}}}}}
			}
		}
	}
	return scripted.Reply{Text: "there is no tool for that"}
}
