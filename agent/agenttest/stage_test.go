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
	"sync"
	"testing"
	"time"

	"orchestrator/agent"
	"orchestrator/agent/agenttest/clis"
	"orchestrator/agent/agenttest/model"
	"orchestrator/agent/claude"
	"orchestrator/agent/codex"
	"orchestrator/agent/dialog"
	"orchestrator/agent/gemini"
	"orchestrator/agent/launch"
	"orchestrator/agent/opencode"
	"orchestrator/agent/session"
	"orchestrator/agent/vterm"
	"orchestrator/thread"
)

// adapter is what all four adapters are.
type adapter interface {
	thread.Agent
	thread.Transcriber
	thread.Verifier
	thread.Rebuilder
	thread.UsageReader
	agent.RuleSource
	agent.InputReader
	dialog.Source
	Detect(context.Context) thread.AgentInfo
}

// adapters are the four, by the names of their CLIs.
var adapters = map[string]func(launch.Config) adapter{
	"claude":   func(c launch.Config) adapter { return claude.New(c) },
	"codex":    func(c launch.Config) adapter { return codex.New(c) },
	"gemini":   func(c launch.Config) adapter { return gemini.New(c) },
	"opencode": func(c launch.Config) adapter { return opencode.New(c) },
}

// stage is one real CLI at work.
type stage struct {
	t      *testing.T
	cli    clis.CLI
	agent  adapter
	server *model.Server
	all    *session.Sessions
	home   string
	env    []string
	hooks  string // file that the hook command writes events to
}

// limit bounds every wait: these programs take minutes to start on a busy machine.
const limit = 10 * time.Minute

func newStage(t *testing.T, cli clis.CLI, dirs []string) *stage {
	t.Helper()
	return newStageWith(t, cli, dirs, questions)
}

// newStageWith has a script of its own, and more variables of the person's.
func newStageWith(t *testing.T, cli clis.CLI, dirs []string, script model.Script, more ...string) *stage {
	t.Helper()
	bin := clis.Bin(t)
	root := filepath.Dir(dirs[0])
	s := &stage{
		t: t, cli: cli, server: model.New(script), home: filepath.Join(root, "home"), hooks: filepath.Join(root, "hooks"),
	}
	for _, dir := range append([]string{s.home}, dirs...) {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s.env = append([]string{"HOME=" + s.home, "PATH=" + bin + ":" + os.Getenv("PATH")},
		slices.Concat(cli.SetUp(t, s.home, s.server.URL(), dirs...), more)...)
	hook := []string{"/bin/sh", "-c", `echo "$1" >> ` + s.hooks, "hook"}
	s.agent = adapters[cli.Name](launch.Config{Env: s.env, Hook: hook})
	t.Cleanup(s.server.Close)
	s.all = session.New(session.Config{
		Rules:   func(string) []agent.Rule { return s.agent.Rules() },
		Input:   func(string) func(*vterm.Terminal) (agent.Input, bool) { return s.agent.Input },
		Dialogs: func(string) []dialog.Form { return s.agent.Dialogs() },
	})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		if err := s.all.Close(ctx, 5*time.Second); err != nil {
			t.Errorf("stop the agents: %v", err)
		}
	})
	for _, dir := range dirs {
		for _, args := range [][]string{
			{"init", "-q"},
			{"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "first"},
		} {
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

	mu    sync.Mutex           // guards what follows
	shown []thread.StateReport // every state that was reported
}

// heard notes a state that was reported.
func (r *running) heard(s thread.StateReport) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.shown = append(r.shown, s)
}

// states returns the states that were reported so far.
func (r *running) states() []thread.StateReport {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.shown)
}

func (s *stage) start(id thread.ID, dir, native string, resume bool) *running {
	s.t.Helper()
	return s.startAs(s.cli.Mode, id, dir, native, resume)
}

// startAs starts in a permission mode, "" for the person's own.
func (s *stage) startAs(mode string, id thread.ID, dir, native string, resume bool) *running {
	s.t.Helper()
	state := filepath.Join(filepath.Dir(s.home), "state-"+string(id))
	l, err := s.agent.Launch(s.t.Context(), thread.LaunchSpec{
		Thread: id, Dir: dir, StateDir: state, Env: s.env,
		Flags: thread.Flags{PermissionMode: mode}, Model: s.cli.Model,
		BaseURL: s.server.URL() + "/t/secret", HookURL: s.server.URL() + "/h/secret", Session: native, Resume: resume,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	r := &running{stage: s, id: id, dir: dir, native: l.Session, kept: map[string][]byte{}}
	r.session, err = s.all.Start(s.t.Context(), thread.SessionSpec{
		Thread: id, Agent: s.cli.Name, Launch: l, Cols: 120, Rows: 40, OnState: r.heard,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

// screen is what the terminal shows, for failures.
func (r *running) screen() string {
	one, ok := r.session.(*session.Session)
	if !ok {
		return ""
	}
	return strings.Join(one.Screen(), "\n")
}

// sendSoon sends once the agent waits for a prompt.
func (r *running) sendSoon(ctx context.Context, text string) error {
	for {
		err := r.session.Send(ctx, text)
		var not *thread.NotReadyError
		if !errors.As(err, &not) || ctx.Err() != nil {
			return err
		}
		r.t.Logf("not sent yet: %v", err)
		select {
		case <-ctx.Done():
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// ask sends a prompt and returns the last main request of its turn.
func (r *running) ask(prompt string) model.Request {
	r.t.Helper()
	r.t.Logf("%s asks %.12q", r.id, prompt)
	ctx, cancel := context.WithTimeout(r.t.Context(), limit)
	defer cancel()
	if err := r.sendSoon(ctx, prompt); err != nil {
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

// keep reads the transcript until it holds the answer, or once if that is empty. Only the record of a response counts:
// prompts name their answers, too.
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
		for _, c := range chunks {
			if c.Offset == 0 {
				r.kept[c.File] = nil
			}
			if int64(len(r.kept[c.File])) != c.Offset {
				r.t.Fatalf("%s: a chunk at %d with %d bytes kept", c.File, c.Offset, len(r.kept[c.File]))
			}
			r.kept[c.File] = append(r.kept[c.File], c.Data...)
		}
		has := func(e thread.Exchange) bool { return strings.Contains(e.Text, answer) }
		if answer == "" || slices.ContainsFunc(r.exchanges(), has) {
			return
		}
		if time.Now().After(end) {
			r.t.Fatalf("the transcript never held %q\n%s", answer, r.screen())
		}
	}
}

// exchanges returns the responses in what is kept.
func (r *running) exchanges() []thread.Exchange {
	r.t.Helper()
	var chunks []thread.Chunk
	for name, data := range r.kept {
		chunks = append(chunks, thread.Chunk{File: name, Data: data})
	}
	all, err := r.agent.ReadUsage(chunks)
	if err != nil {
		r.t.Fatal(err)
	}
	return all
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
	return fmt.Sprintf("prompt-%d. #write:f-%d.txt=v-%d #bash:echo out-%d #usage:%d,20,0,7 #say:answer-%d.",
		i, i, i, i, 1000+i, i)
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

// responses reads the transcript until that many turns have ended.
func (r *running) responses(turns int) []thread.Exchange {
	r.t.Helper()
	for end := time.Now().Add(limit); ; {
		all := r.exchanges()
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

func (r *running) repair() thread.RebuildSpec {
	return thread.RebuildSpec{
		Session: r.native, FromDirs: []string{r.dir}, Dir: r.dir, Env: r.env, Files: r.files(),
		StateDir: filepath.Join(filepath.Dir(r.home), "state-"+string(r.id)),
	}
}
