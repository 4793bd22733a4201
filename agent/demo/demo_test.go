package demo_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"orchestrator/agent"
	"orchestrator/agent/agenttest"
	"orchestrator/agent/demo"
	"orchestrator/agent/demo/model"
	"orchestrator/agent/demo/record"
	"orchestrator/agent/launch"
	"orchestrator/agent/session"
	"orchestrator/agent/vterm"
	"orchestrator/thread"
)

// TestMain is also the demo agent: the tests start this program in a terminal.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == demo.Verb {
		os.Exit(demo.Main(os.Args[2:], os.Stdin, os.Stdout, os.Environ()))
	}
	goleak.VerifyTestMain(m)
}

// deadline is how long a test waits for anything.
const deadline = 90 * time.Second

func home(env []string) string { return filepath.Join(launch.Env(env).Home(), ".demo") }

func TestConformance(t *testing.T) {
	agenttest.Run(t, agenttest.Subject{
		New: func(c launch.Config) thread.Agent {
			return demo.New(demo.Config{
				Program: []string{"/opt/orch/orchestrator"}, Home: home(c.Env), Model: "http://127.0.0.1:1/secret",
			})
		},
		Gateway: true, Resumes: true, Chooses: true,
		NewSession: launch.UUID,
		Write:      write,
	})
}

// write makes a session as the demo agent writes it.
func write(t *testing.T, env []string, dir, id string, turns int) agenttest.Native {
	t.Helper()
	n := agenttest.Native{Main: record.Path(home(env), id)}
	f, err := record.Create(home(env), id, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}()
	add := func(l record.Line, m record.Message) {
		raw, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		l.Type, l.Message = record.TypeMessage, raw
		if err := f.Append(l); err != nil {
			t.Fatal(err)
		}
	}
	for i := 1; i <= turns; i++ {
		prompt := []record.Block{{Type: "text", Text: fmt.Sprintf("prompt-%d.", i)}}
		answer := []record.Block{{Type: "text", Text: fmt.Sprintf("answer-%d.", i)}}
		add(record.Line{}, record.Message{Role: "user", Content: prompt})
		add(record.Line{Model: model.Name, Stop: "end_turn", Usage: &record.Usage{Input: 10, Output: 5}},
			record.Message{Role: "assistant", Content: answer})
		info, err := os.Stat(n.Main)
		if err != nil {
			t.Fatal(err)
		}
		n.Ends = append(n.Ends, info.Size())
	}
	return n
}

// stage is a folder with the demo agent, its model and terminals.
type stage struct {
	t     testing.TB
	dir   string
	agent *demo.Agent
	all   *session.Sessions
	env   []string
}

func newStage(t testing.TB) *stage {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	server, err := model.Start(model.Options{})
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	s := &stage{t: t, dir: filepath.Join(root, "work"), env: []string{"HOME=" + root, "PATH=" + os.Getenv("PATH")}}
	if err := os.Mkdir(s.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	s.agent = demo.New(demo.Config{Program: []string{exe}, Home: filepath.Join(root, "demo"), Model: server.URL()})
	s.all = session.New(session.Config{
		Rules:      func(string) []agent.Rule { return s.agent.Rules() },
		Input:      func(string) func(*vterm.Terminal) (agent.Input, bool) { return s.agent.Input },
		Scrollback: 1000,
	})
	t.Cleanup(func() {
		if err := errors.Join(s.all.Close(context.Background(), 0), server.Close()); err != nil {
			t.Error(err)
		}
		http.DefaultClient.CloseIdleConnections()
	})
	return s
}

// run is one agent.
type run struct {
	*session.Session
	t     testing.TB
	id    string
	ready chan struct{} // OnReady was called
}

func (s *stage) start(spec thread.LaunchSpec) *run {
	s.t.Helper()
	spec.Dir, spec.Env = s.dir, s.env
	l, err := s.agent.Launch(context.Background(), spec)
	if err != nil {
		s.t.Fatal(err)
	}
	ready := make(chan struct{}, 1)
	one, err := s.all.Start(context.Background(), thread.SessionSpec{
		Thread: "t", Agent: demo.Name, Launch: l, Cols: 80, Rows: 30,
		OnReady: func() {
			select {
			case ready <- struct{}{}:
			default:
			}
		},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	r := &run{Session: one.(*session.Session), t: s.t, id: l.Session, ready: ready}
	return r
}

func (r *run) text() string { return strings.Join(r.Screen(), "\n") }

func (r *run) await(what string, ok func() bool) {
	r.t.Helper()
	for end := time.Now().Add(deadline); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			r.t.Fatalf("waited %s for %s; state %+v, screen:\n%s", deadline, what, r.State(), r.text())
		}
	}
}

func (r *run) state(s thread.State) {
	r.t.Helper()
	r.await(string(s), func() bool { return r.State().State == s })
}

func (r *run) shows(text string) {
	r.t.Helper()
	r.await(text, func() bool { return strings.Contains(r.text(), text) })
}

// send sends once the agent waits for a prompt, and returns how often it did not.
func (r *run) send(text string) (refused int) {
	r.t.Helper()
	for ; ; refused++ {
		err := r.Send(context.Background(), text)
		var not *thread.NotReadyError
		if err == nil {
			return refused
		}
		if !errors.As(err, &not) {
			r.t.Fatalf("send %q: %v; screen:\n%s", text, err, r.text())
		}
		select {
		case <-r.ready:
		case <-time.After(deadline):
			r.t.Fatalf("send %q: %v, and nothing more; screen:\n%s", text, err, r.text())
		}
	}
}

func (r *run) key(keys string) {
	r.t.Helper()
	if err := r.Input([]byte(keys)); err != nil {
		r.t.Fatal(err)
	}
}

func TestWork(t *testing.T) {
	s := newStage(t)
	r := s.start(thread.LaunchSpec{})
	r.state(thread.StateIdle)
	r.send("write notes/today.txt: buy milk")
	r.shows("Wrote 9 bytes")
	r.state(thread.StateDone)
	if b, err := os.ReadFile(filepath.Join(s.dir, "notes", "today.txt")); err != nil || string(b) != "buy milk\n" {
		t.Errorf("file %q, %v", b, err)
	}
	r.send("replace milk with bread in notes/today.txt, then read notes/today.txt")
	r.shows("has 1 line")
	r.shows("buy bread")
	r.state(thread.StateDone)

	r.send("run echo $((6*7)) > answer.txt; cat answer.txt")
	r.state(thread.StateApproval)
	r.shows("Allow this command?")
	if err := r.Send(context.Background(), "list files"); !errors.Is(err, thread.ErrApproval) {
		t.Errorf("send into a dialog: %v", err)
	}
	if _, err := os.Stat(filepath.Join(s.dir, "answer.txt")); err == nil {
		t.Error("the command ran before it was allowed")
	}
	r.key("1")
	r.shows("printed:")
	r.state(thread.StateDone)
	if b, err := os.ReadFile(filepath.Join(s.dir, "answer.txt")); err != nil || string(b) != "42\n" {
		t.Errorf("file %q, %v", b, err)
	}

	r.send("run touch forbidden")
	r.state(thread.StateApproval)
	r.key("\x1b")
	r.shows("I did not do that")
	r.state(thread.StateDone)
	if _, err := os.Stat(filepath.Join(s.dir, "forbidden")); err == nil {
		t.Error("the command ran although it was denied")
	}

	r.send("ask: Which colour? [red | green | blue]")
	r.state(thread.StateQuestion)
	r.key("\x1b[B\r")
	r.shows("You chose: green")
	r.state(thread.StateDone)

	r.send("read /etc/passwd, then write ../out: x")
	r.await("both refusals", func() bool { return strings.Count(r.text(), "That did not work") == 2 })
}

func TestInterrupt(t *testing.T) {
	s := newStage(t)
	r := s.start(thread.LaunchSpec{Flags: thread.Flags{PermissionMode: "auto"}})
	r.state(thread.StateIdle)
	r.send("say something #slow:600s")
	r.shows("esc to interrupt")
	r.state(thread.StateWorking)
	r.key("\x1b")
	r.shows("interrupted")
	r.state(thread.StateIdle)
	r.send("run sleep 600")
	r.shows("run_command sleep 600")
	r.key("\x03")
	r.await("the second interruption", func() bool { return strings.Count(r.text(), "▲ interrupted") == 2 })
	r.send("What did I ask you?")
	r.shows("2 things")
	r.state(thread.StateDone)
	r.key("\x04") // nothing typed: ctrl-d leaves
	select {
	case <-r.Done():
	case <-time.After(deadline):
		t.Fatal("it did not leave")
	}
}

func TestRefusals(t *testing.T) {
	s := newStage(t)
	r := s.start(thread.LaunchSpec{})
	r.send("say no #401")
	r.shows("401 authentication_error: Unauthorized, as you asked")
	r.state(thread.StateFailed) // the gateway knows better, where there is one
	r.send("say twice #529x1")
	r.shows("trying again in 1s")
	r.shows("● twice")
	r.state(thread.StateDone)
	r.send("say it breaks off once #cutx1 " + strings.Repeat("and on ", 700) + "finished")
	r.shows("the answer was cut off")
	r.shows("trying again in 500ms")
	r.shows("finished")
	r.state(thread.StateDone)
	r.send("say it breaks off #cut " + strings.Repeat("and on ", 700))
	r.state(thread.StateFailed)
	r.shows("the answer was cut off")
	r.send("say \x1b[31mred\u009b1mbold")
	r.shows("● [31mred1mbold")
}

func TestResumeAndFork(t *testing.T) {
	s := newStage(t)
	r := s.start(thread.LaunchSpec{})
	r.state(thread.StateIdle)
	r.send("say the first thing")
	r.shows("● the first thing")
	r.state(thread.StateDone)
	spec := thread.TranscriptSpec{Session: r.id, Dir: s.dir, Env: s.env, Answer: "the first thing"}
	chunks, err := s.agent.ReadTranscript(context.Background(), spec)
	if err != nil || len(chunks) != 1 {
		t.Fatalf("transcript %v, %v", chunks, err)
	}
	at := chunks[0].Data
	used, err := s.agent.ReadUsage(chunks)
	if err != nil || len(used) != 1 || used[0].Prompt != "say the first thing" || used[0].Text != "the first thing" ||
		used[0].Usage.Context() == 0 || !used[0].EndsTurn {
		t.Errorf("usage %+v, %v", used, err)
	}

	r.send("run sleep 600")
	r.state(thread.StateApproval)
	r.key("1")
	r.await("the command", func() bool { return r.State().State == thread.StateWorking })
	kill(t, r)

	r = s.start(thread.LaunchSpec{Session: r.id, Resume: true})
	r.shows("resuming session")
	r.shows("● the first thing")
	r.state(thread.StateIdle)
	r.send("What did I ask you?")
	r.shows("2. run sleep 600")
	kill(t, r)

	id, err := s.agent.Rebuild(context.Background(), thread.RebuildSpec{
		Session: r.id, NewSession: launch.UUID(), FromDirs: []string{s.dir}, Dir: s.dir, StateDir: filepath.Join(s.dir, "state"),
		Files: []thread.TranscriptFile{{File: "main", Data: at}},
	})
	if err != nil {
		t.Fatal(err)
	}
	r = s.start(thread.LaunchSpec{Session: id, Resume: true})
	r.state(thread.StateIdle)
	r.send("What did I ask you?")
	r.shows("You asked me 1 thing before")
	kill(t, r)

	r = s.start(thread.LaunchSpec{Session: id})
	r.shows("already exists")
	<-r.Done()
	r = s.start(thread.LaunchSpec{Session: launch.UUID(), Resume: true})
	r.shows("there is no session")
	<-r.Done()
}

// kill ends an agent as a crash would.
func kill(t *testing.T, r *run) {
	t.Helper()
	p, err := os.FindProcess(r.PID())
	if err == nil {
		err = p.Kill()
	}
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-r.Done():
	case <-time.After(deadline):
		t.Fatal("it does not end")
	}
}
