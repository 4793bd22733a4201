package agenttest_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"orchestrator/agent"
	"orchestrator/agent/agenttest/clis"
	"orchestrator/agent/agenttest/model"
	"orchestrator/agent/claude"
	"orchestrator/agent/codex"
	"orchestrator/agent/gemini"
	"orchestrator/agent/launch"
	"orchestrator/agent/opencode"
	"orchestrator/agent/session"
	"orchestrator/thread"
)

// adapter is what all four adapters are.
type adapter interface {
	thread.Agent
	thread.Transcriber
	thread.Verifier
	thread.Rebuilder
	thread.UsageReader
	Rules() []agent.Rule
	Detect(context.Context) thread.AgentInfo
}

// real is one real CLI: how a person has it set up, with dummy keys and without first-run dialogs.
type real struct {
	name  string
	make  func(launch.Config) adapter
	model string
	flags thread.Flags
	env   []string
	setup func(t *testing.T, home string, dirs []string)
	// lose destroys a session's native files.
	lose func(t *testing.T, home, session string)
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// removeAll removes the files below a folder whose names hold a text.
func removeAll(t *testing.T, root, text string) {
	t.Helper()
	n := 0
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.Contains(d.Name(), text) {
			return err
		}
		n++
		return os.Remove(path)
	})
	if err != nil || n == 0 {
		t.Fatalf("removed %d files of %s: %v", n, text, err)
	}
}

var reals = []real{
	{
		name: "claude", make: func(c launch.Config) adapter { return claude.New(c) }, model: "claude-sonnet-4-6",
		flags: thread.Flags{PermissionMode: "bypassPermissions"},
		env:   []string{"ANTHROPIC_AUTH_TOKEN=dummy", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "IS_SANDBOX=1"},
		setup: func(t *testing.T, home string, dirs []string) {
			var trust []string
			for _, d := range dirs {
				trust = append(trust, fmt.Sprintf(`%q:{"hasTrustDialogAccepted":true}`, d))
			}
			put(t, filepath.Join(home, ".claude.json"), `{"hasCompletedOnboarding":true,"projects":{`+strings.Join(trust, ",")+`}}`)
			put(t, filepath.Join(home, ".claude", "settings.json"), `{"skipDangerousModePermissionPrompt":true}`)
		},
		lose: func(t *testing.T, home, session string) {
			removeAll(t, filepath.Join(home, ".claude", "projects"), session)
		},
	},
	{
		name: "codex", make: func(c launch.Config) adapter { return codex.New(c) }, model: "gpt-5.5",
		flags: thread.Flags{PermissionMode: "never/danger-full-access"},
		setup: func(t *testing.T, home string, dirs []string) {
			config := "check_for_update_on_startup = false\n[features]\nplugins = false\n[analytics]\nenabled = false\n" +
				"[notice.model_migrations]\n\"gpt-5.5\" = \"gpt-6-sol\"\n"
			for _, d := range dirs {
				config += fmt.Sprintf("[projects.%q]\ntrust_level = \"trusted\"\n", d)
			}
			put(t, filepath.Join(home, ".codex", "config.toml"), config)
			put(t, filepath.Join(home, ".codex", "auth.json"), `{"OPENAI_API_KEY":"sk-dummy"}`)
		},
		lose: func(t *testing.T, home, session string) {
			removeAll(t, filepath.Join(home, ".codex", "sessions"), session)
		},
	},
	{
		name: "gemini", make: func(c launch.Config) adapter { return gemini.New(c) }, model: "gemini-2.5-pro",
		flags: thread.Flags{PermissionMode: "yolo"},
		env:   []string{"GEMINI_API_KEY=dummy", "GEMINI_CLI_TRUST_WORKSPACE=true"},
		setup: func(t *testing.T, home string, _ []string) {
			put(t, filepath.Join(home, ".gemini", "settings.json"), `{"security":{"auth":{"selectedType":"gemini-api-key"}},`+
				`"privacy":{"usageStatisticsEnabled":false},"general":{"enableAutoUpdate":false,"enableAutoUpdateNotification":false}}`)
		},
		lose: func(t *testing.T, home, session string) {
			removeAll(t, filepath.Join(home, ".gemini", "tmp"), session[:8])
		},
	},
	{
		name: "opencode", make: func(c launch.Config) adapter { return opencode.New(c) }, model: "fm/fake-1",
		env: []string{"OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_SHARE=1"},
		setup: func(t *testing.T, home string, _ []string) {
			put(t, filepath.Join(home, ".config", "opencode", "opencode.json"), `{"model":"fm/fake-1","provider":{"fm":{"npm":"@ai-sdk/openai-compatible","name":"fm",`+
				`"options":{"baseURL":"http://127.0.0.1:1/v1","apiKey":"x"},"models":{"fake-1":{"name":"Fake 1","limit":{"context":100000,"output":8000}}}}}}`)
		},
		lose: func(t *testing.T, home, _ string) {
			removeAll(t, filepath.Join(home, ".local", "share", "opencode"), "opencode.db")
		},
	},
}

// stage is one real CLI at work.
type stage struct {
	t      *testing.T
	r      real
	agent  adapter
	server *model.Server
	all    *session.Sessions
	home   string
	env    []string
	hooks  string // file that the hook command writes events to
}

// limit bounds every wait: these programs take minutes to start on a busy machine.
const limit = 10 * time.Minute

func newStage(t *testing.T, r real, dirs []string) *stage {
	t.Helper()
	bin := clis.Bin(t)
	root := filepath.Dir(dirs[0])
	s := &stage{t: t, r: r, home: filepath.Join(root, "home"), hooks: filepath.Join(root, "hooks")}
	for _, dir := range append([]string{s.home}, dirs...) {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s.env = append([]string{
		"HOME=" + s.home, "PATH=" + bin + ":" + os.Getenv("PATH"), "TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8",
		// Nothing leaves this machine, whatever the programs try.
		"HTTPS_PROXY=http://127.0.0.1:9", "https_proxy=http://127.0.0.1:9", "NO_PROXY=127.0.0.1,localhost", "no_proxy=127.0.0.1,localhost",
	}, r.env...)
	r.setup(t, s.home, dirs)
	s.agent = r.make(launch.Config{Env: s.env, Hook: []string{"/bin/sh", "-c", `echo "$1" >> ` + s.hooks, "hook"}})
	s.server = model.New(nil)
	t.Cleanup(s.server.Close)
	s.all = session.New(session.Config{Rules: func(string) []agent.Rule { return s.agent.Rules() }})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		if err := s.all.Close(ctx, 5*time.Second); err != nil {
			t.Errorf("stop the agents: %v", err)
		}
	})
	for _, dir := range dirs {
		for _, args := range [][]string{{"init", "-q"}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "first"}} {
			cmd := exec.Command("git", args...)
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("git: %v: %s", err, out)
			}
		}
	}
	return s
}

// running is one process of the CLI.
type running struct {
	*stage
	id      thread.ID
	dir     string
	session thread.Session
	native  string // the agent's session id
	kept    map[string][]byte
}

func (s *stage) start(id thread.ID, dir, native string, resume bool) *running {
	s.t.Helper()
	state := filepath.Join(filepath.Dir(s.home), "state-"+string(id))
	l, err := s.agent.Launch(s.t.Context(), thread.LaunchSpec{
		Thread: id, Dir: dir, StateDir: state, Env: s.env, Flags: s.r.flags, Model: s.r.model,
		BaseURL: s.server.URL() + "/t/secret", HookURL: s.server.URL() + "/h/secret", Session: native, Resume: resume,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	one, err := s.all.Start(s.t.Context(), thread.SessionSpec{Thread: id, Agent: s.r.name, Launch: l, Cols: 120, Rows: 40})
	if err != nil {
		s.t.Fatal(err)
	}
	return &running{stage: s, id: id, dir: dir, session: one, native: l.Session, kept: map[string][]byte{}}
}

// screen is what the terminal shows, for failures.
func (r *running) screen() string {
	one, ok := r.session.(*session.Session)
	if !ok {
		return ""
	}
	return strings.Join(one.Screen(), "\n")
}

// ask sends a prompt and returns the last main request of its turn.
func (r *running) ask(prompt string) model.Request {
	r.t.Helper()
	r.t.Logf("%s asks %.12q", r.id, prompt)
	ctx, cancel := context.WithTimeout(r.t.Context(), limit)
	defer cancel()
	if err := r.session.Send(ctx, prompt); err != nil {
		r.t.Fatalf("send %q: %v\n%s", prompt, err, r.screen())
	}
	first, err := r.server.Wait(ctx, func(q model.Request) bool { return q.Turn.Prompt == prompt && !q.Turn.Side })
	if err != nil {
		r.t.Fatalf("prompt %q: %v\n%s", prompt, err, r.screen())
	}
	last, err := r.server.Wait(ctx, func(q model.Request) bool {
		return q.N >= first.N && q.Turn.Prompt == prompt && !q.Turn.Side && (len(q.Reply.Calls) == 0 || q.Reply.Hold != "")
	})
	if err != nil {
		r.t.Fatalf("answer to %q: %v\n%s", prompt, err, r.screen())
	}
	if r.native == "" {
		for _, key := range []string{"X-Session-Id", "Session-Id"} {
			if id := last.Header.Get(key); id != "" {
				r.native = id
			}
		}
	}
	return last
}

func (r *running) marks() []thread.Mark {
	var marks []thread.Mark
	for name, data := range r.kept {
		sum := sha256.Sum256(data)
		marks = append(marks, thread.Mark{File: name, Size: int64(len(data)), SHA256: hex.EncodeToString(sum[:])})
	}
	return marks
}

func (r *running) spec() thread.TranscriptSpec {
	return thread.TranscriptSpec{Session: r.native, Dir: r.dir, Env: r.env, Marks: r.marks()}
}

// keep reads the transcript on until it holds the answer.
func (r *running) keep(answer string) {
	r.t.Helper()
	end := time.Now().Add(limit)
	for {
		spec := r.spec()
		spec.Answer = answer
		chunks, err := r.agent.ReadTranscript(r.t.Context(), spec)
		if err != nil {
			r.t.Fatalf("read transcript: %v", err)
		}
		found := answer == ""
		for _, c := range chunks {
			if c.Offset == 0 {
				r.kept[c.File] = nil
			}
			if int64(len(r.kept[c.File])) != c.Offset {
				r.t.Fatalf("%s: a chunk at %d with %d bytes kept", c.File, c.Offset, len(r.kept[c.File]))
			}
			r.kept[c.File] = append(r.kept[c.File], c.Data...)
			found = found || bytes.Contains(c.Data, []byte(answer))
		}
		if found {
			return
		}
		if time.Now().After(end) {
			r.t.Fatalf("the transcript never held %q\n%s", answer, r.screen())
		}
	}
}

func (r *running) files() []thread.TranscriptFile {
	var files []thread.TranscriptFile
	for name, data := range r.kept {
		files = append(files, thread.TranscriptFile{File: name, Data: bytes.Clone(data)})
	}
	return files
}

func (r *running) stop() {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := r.session.Stop(ctx, 10*time.Second); err != nil {
		r.t.Errorf("stop: %v", err)
	}
}

func prompt(i int) string {
	return fmt.Sprintf("prompt-%d. #write:f-%d.txt=v-%d #bash:echo out-%d #usage:%d,20,0,7 #say:answer-%d.", i, i, i, i, 1000+i, i)
}

// holds checks the turns of a request: exactly these prompts and more, with their answers and results;
// the running one is not answered yet.
func holds(t *testing.T, what string, q model.Request, turns []int, running int, more ...string) {
	t.Helper()
	var want []string
	for _, i := range turns {
		want = append(want, prompt(i))
	}
	want = append(want, more...)
	if got := q.Turn.Prompts(); !slices.Equal(got, want) {
		t.Errorf("%s: prompts\n%q, want\n%q", what, got, want)
	}
	answers, results := strings.Join(q.Turn.Answers(), "\n"), strings.Join(q.Turn.Results(), "\n")
	for i := 1; i <= 9; i++ {
		in := slices.Contains(turns, i)
		if got := strings.Contains(answers, fmt.Sprintf("answer-%d.", i)); got != (in && i != running) {
			t.Errorf("%s: answer %d is there: %v", what, i, got)
		}
		if got := strings.Contains(results, fmt.Sprintf("out-%d", i)); got != in {
			t.Errorf("%s: result %d is there: %v", what, i, got)
		}
	}
}

// TestReal drives every real CLI in a terminal against the scripted model: five turns with tools and
// edits, a fork at turn three beside the running parent, a kill -9 in the middle of an answer with a
// resume, and a resume after the native files were lost.
func TestReal(t *testing.T) {
	for _, r := range reals {
		t.Run(r.name, func(t *testing.T) {
			t.Log("REAL: running the suite with the real " + r.name)
			realScenario(t, r)
		})
	}
}

func realScenario(t *testing.T, r real) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir, forkDir := filepath.Join(root, "work"), filepath.Join(root, "fork")
	s := newStage(t, r, []string{dir, forkDir})
	if info := s.agent.Detect(t.Context()); info.Problem != "" {
		t.Fatalf("%+v", info)
	}

	parent := s.start("000000000000000a", dir, "", false)
	var atThree []thread.TranscriptFile
	for i := 1; i <= 5; i++ {
		holds(t, fmt.Sprintf("turn %d", i), parent.ask(prompt(i)), upTo(i), i)
		parent.responses(i) // the prompt names its answer, too: only the response's own record tells
		if i == 3 {
			atThree = parent.files()
		}
		raw, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("f-%d.txt", i)))
		if err != nil || string(raw) != fmt.Sprintf("v-%d", i) {
			t.Errorf("turn %d wrote %q (%v)", i, raw, err)
		}
	}
	parent.checkUsage()
	s.fork(parent, forkDir, atThree)
	holds(t, "parent after the fork", parent.ask(prompt(6)), upTo(6), 6)
	parent.keep("answer-6.")
	back := s.crash(parent)
	s.lost(back)
	s.checkHooks()
}

// upTo is 1 to n.
func upTo(n int) []int {
	var all []int
	for i := 1; i <= n; i++ {
		all = append(all, i)
	}
	return all
}

// responses reads the transcript on until it holds so many turns to their end.
func (r *running) responses(turns int) []thread.Exchange {
	r.t.Helper()
	for end := time.Now().Add(limit); ; {
		var chunks []thread.Chunk
		for name, data := range r.kept {
			chunks = append(chunks, thread.Chunk{File: name, Data: data})
		}
		all, err := r.agent.ReadUsage(chunks)
		if err != nil {
			r.t.Fatal(err)
		}
		ends := 0
		for _, e := range all {
			if e.Main && e.EndsTurn {
				ends++
			}
		}
		if ends == turns {
			return all
		}
		if ends > turns || time.Now().After(end) {
			r.t.Fatalf("%d turns end, want %d", ends, turns)
		}
		r.keep("")
	}
}

// checkUsage compares what the transcript tells with what the model sent.
func (r *running) checkUsage() {
	r.t.Helper()
	all := r.responses(5)
	last := all[len(all)-1]
	want := thread.Usage{Input: 1005, CacheRead: 20, Output: 7}
	if got := last.Usage; got.Input != want.Input || got.CacheRead != want.CacheRead || got.CacheWrite != want.CacheWrite || got.Output != want.Output {
		r.t.Errorf("usage %+v, want %+v", got, want)
	}
	if !last.EndsTurn || !strings.Contains(last.Text, "answer-5.") || !strings.Contains(last.Prompt, "prompt-5.") {
		r.t.Errorf("last response %+v", last)
	}
}

// fork makes a session of the first three turns in another folder while the parent runs.
func (s *stage) fork(parent *running, dir string, files []thread.TranscriptFile) {
	s.t.Helper()
	id, err := s.agent.Rebuild(s.t.Context(), thread.RebuildSpec{
		Session: parent.native, NewSession: launch.UUID(), FromDir: parent.dir, Dir: dir,
		StateDir: filepath.Join(filepath.Dir(s.home), "state-fork"), Env: s.env, Files: files,
	})
	if err != nil {
		s.t.Fatalf("rebuild as a fork: %v", err)
	}
	child := s.start("000000000000000b", dir, id, true)
	const there = "prompt-fork. #write:f-fork.txt=here #say:fork-done"
	q := child.ask(there)
	holds(s.t, "fork", q, upTo(3), 0, there)
	child.keep("fork-done")
	if _, err := os.Stat(filepath.Join(dir, "f-fork.txt")); err != nil {
		s.t.Errorf("the fork does not work in its own folder: %v", err)
	}
	child.stop()
}

// crash kills the agent in the middle of an answer and resumes it.
func (s *stage) crash(r *running) *running {
	s.t.Helper()
	r.ask("prompt-7. #hold:seven #say:never-seen")
	if err := syscall.Kill(-r.session.PID(), syscall.SIGKILL); err != nil {
		s.t.Fatal(err)
	}
	<-r.session.Done()
	s.server.Release("seven")
	if _, whole, err := r.agent.Verify(s.t.Context(), r.spec()); err != nil || !whole {
		s.t.Logf("after kill -9 the transcript does not verify (%v): rebuilding", err)
		if _, err := r.agent.Rebuild(s.t.Context(), r.repair()); err != nil {
			s.t.Fatalf("rebuild after kill -9: %v", err)
		}
	}
	back := s.start("000000000000000c", r.dir, r.native, true)
	back.kept = r.kept
	q := back.ask(prompt(8))
	prompts := strings.Join(q.Turn.Prompts(), "\n")
	for _, i := range upTo(6) {
		if !strings.Contains(prompts, fmt.Sprintf("prompt-%d.", i)) {
			s.t.Errorf("after kill -9: prompt %d is missing", i)
		}
		if !strings.Contains(strings.Join(q.Turn.Answers(), "\n"), fmt.Sprintf("answer-%d.", i)) {
			s.t.Errorf("after kill -9: answer %d is missing", i)
		}
	}
	back.keep("answer-8.")
	return back
}

func (r *running) repair() thread.RebuildSpec {
	return thread.RebuildSpec{
		Session: r.native, FromDir: r.dir, Dir: r.dir, Env: r.env, Files: r.files(),
		StateDir: filepath.Join(filepath.Dir(r.home), "state-"+string(r.id)),
	}
}

// lost removes the native files and resumes from what was kept.
func (s *stage) lost(r *running) {
	s.t.Helper()
	r.keep("")
	r.stop()
	s.r.lose(s.t, s.home, r.native)
	if _, whole, err := s.agent.Verify(s.t.Context(), r.spec()); err != nil || whole {
		s.t.Errorf("a lost transcript verifies: %v, %v", whole, err)
	}
	id, err := s.agent.Rebuild(s.t.Context(), r.repair())
	if err != nil {
		s.t.Fatalf("rebuild of the lost session: %v", err)
	}
	if id != r.native {
		s.t.Logf("rebuilt as %s instead of %s", id, r.native)
	}
	back := s.start("000000000000000d", r.dir, id, true)
	q := back.ask(prompt(9))
	for _, i := range []int{1, 2, 3, 4, 5, 6, 8} {
		if !strings.Contains(strings.Join(q.Turn.Answers(), "\n"), fmt.Sprintf("answer-%d.", i)) {
			s.t.Errorf("after the loss: answer %d is missing", i)
		}
	}
	back.keep("answer-9.")
	back.stop()
}

// checkHooks makes sure that the agent reported by itself, where it can.
func (s *stage) checkHooks() {
	s.t.Helper()
	raw, err := os.ReadFile(s.hooks)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		s.t.Fatal(err)
	}
	events := string(raw)
	for _, want := range map[string][]string{
		"claude": {"SessionStart", "UserPromptSubmit", "Stop"},
		"codex":  {"agent-turn-complete"},
	}[s.r.name] {
		if !strings.Contains(events, want) {
			s.t.Errorf("no report of %s among %q", want, events)
		}
	}
}
