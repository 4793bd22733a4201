package bases

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrator/agent/agenttest/clis"
	"orchestrator/agent/agenttest/model"
	"orchestrator/agent/session"
	"orchestrator/thread"
)

// TestRealBaseWork works with what each profile leaves of each CLI: it reads, edits, runs a command, asks a question and
// calls a tool of an MCP server wherever that is offered; its hooks report its states; the person's files stay as they
// are.
func TestRealBaseWork(t *testing.T) {
	for _, cli := range clis.All() {
		for _, profile := range thread.BaseProfiles() {
			t.Run(cli.Name+"/"+profile, func(t *testing.T) {
				if cli.Name == "codex" {
					cli.Model = "gpt-4.1" // tools of newer models are behind a search
				}
				b := newBench(t, cli)
				b.levers()
				r := b.start(b.launch(b.left(profile), b.withServer))
				offered := baseOf(t, r.say("hello")).tools
				r.done("hello")
				r.reads()
				r.edits(offered)
				r.runs(offered)
				r.asks(offered)
				r.calls()
				r.reported()
				r.end()
				b.sameHome()
			})
		}
	}
}

// withServer gives the CLI one MCP server.
func (b *bench) withServer(spec *thread.LaunchSpec) {
	server := filepath.Join(clis.Bin(b.T), "mcp-server-everything")
	spec.MCP = &thread.MCPLaunch{Name: "orch", Registered: "orch", Command: []string{server}}
}

// turn says a prompt and returns the request at the end of its turn, with what its tools said.
func (r *running) turn(prompt string) (q model.Request, said string) {
	r.Helper()
	r.say(prompt)
	q = r.done(prompt)
	for _, o := range q.Turn.Outcomes {
		said += o.Output + "\n"
	}
	return q, said
}

func (r *running) path(name string) string { return filepath.Join(r.project, name) }

func (r *running) reads() {
	r.Helper()
	if _, said := r.turn("look #read:" + r.path("notes.md") + " #say:seen"); !strings.Contains(said, "xyzzy") {
		r.Errorf("read: %s", said)
	}
}

func (r *running) edits(offered map[string]string) {
	r.Helper()
	can := slices.ContainsFunc([]string{"Edit", "replace", "edit", "apply_patch"}, func(n string) bool { return offered[n] != "" })
	_, said := r.turn("change it #edit:" + r.path("notes.md") + "=The word is xyzzy.=The word is plugh.")
	raw, err := os.ReadFile(r.path("notes.md"))
	if changed := strings.Contains(string(raw), "plugh"); err != nil || changed != can {
		r.Errorf("edit: offered %v, changed %v: %v %s", can, changed, err, said)
	}
}

func (r *running) runs(offered map[string]string) {
	r.Helper()
	can := slices.ContainsFunc([]string{"Bash", "exec_command", "run_shell_command", "bash", "shell", "exec"}, func(n string) bool { return offered[n] != "" })
	q, said := r.turn("run #bash:printf out-%s 42 #say:run")
	if ran := strings.Contains(said, "out-42"); ran != can {
		r.Errorf("shell: offered %v, ran %v: %s", can, ran, said)
	}
	s, ok := r.agent.(thread.Slimmer)
	if can || !ok {
		return
	}
	missing := s.Missing(said)
	r.Logf("a call of a tool that has gone: %q", said)
	if len(missing) == 0 || len(q.Turn.Outcomes) == 0 || missing[0] != "Bash" { // which is called where there is no shell
		r.Errorf("the answer to a tool that has gone says that %v are missing: %s", missing, said)
	}
}

// asks has the model ask, and takes the first answer.
func (r *running) asks(offered map[string]string) {
	r.Helper()
	can := slices.ContainsFunc([]string{"AskUserQuestion", "ask_user", "question"}, func(n string) bool { return offered[n] != "" })
	const prompt = "ask me #ask"
	r.say(prompt)
	if can {
		r.await(thread.StateQuestion)
		r.sees("Blue")
		r.enter()
		if r.cli.Name == "gemini" {
			r.enter() // once more for all answers
		}
	}
	q := r.done(prompt)
	var said string
	for _, o := range q.Turn.Outcomes {
		said += o.Output
	}
	if answered := strings.Contains(said, "Red"); answered != can {
		r.Errorf("question: offered %v, answered %v: %s", can, answered, said)
	}
}

// calls has the model call a tool of the MCP server.
func (r *running) calls() {
	r.Helper()
	if _, said := r.turn("call it #mcp:echo"); !strings.Contains(said, "Echo: from the model") {
		r.Errorf("MCP: %s\n%s", said, r.screen())
	}
}

// reported checks what the hooks and the screen said of the agent's states.
func (r *running) reported() {
	r.Helper()
	r.await(thread.StateIdle)
	states := r.states()
	if !slices.Contains(states, thread.StateWorking) {
		r.Errorf("never reported working: %v", states)
	}
	raw, err := os.ReadFile(r.hooks)
	for _, event := range map[string][]string{"claude": {"SessionStart", "UserPromptSubmit", "Stop"}}[r.cli.Name] {
		if !strings.Contains(string(raw), event) {
			r.Errorf("the hook %s never reported: %q %v", event, raw, err)
		}
	}
}

// await waits for a state; done is idle too.
func (r *running) await(want thread.State) {
	r.Helper()
	for end := time.Now().Add(limit); ; time.Sleep(50 * time.Millisecond) {
		got := r.State().State
		if got == want || got == thread.StateDone && want == thread.StateIdle {
			return
		}
		if time.Now().After(end) {
			r.Fatalf("%s (%s), never %s:\n%s", got, r.State().Why(), want, r.screen())
		}
	}
}

// sees waits until the screen shows a text.
func (r *running) sees(text string) {
	r.Helper()
	for end := time.Now().Add(limit); !strings.Contains(r.screen(), text); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			r.Fatalf("never saw %q:\n%s", text, r.screen())
		}
	}
}

// enter presses return once the screen has been still for a moment.
func (r *running) enter() {
	r.Helper()
	one, ok := r.Session.(*session.Session)
	if !ok {
		r.Fatal("no session")
	}
	v := one.Attach(120, 40, false)
	defer v.Close()
	for was := ""; was != r.screen(); time.Sleep(400 * time.Millisecond) {
		was = r.screen()
	}
	if err := v.Input([]byte("\r")); err != nil {
		r.Fatal(err)
	}
}

// TestRealBaseResumed stops each CLI and goes on with its conversation: the tools of the request are the same bytes, and
// so is the file of ours that it was started with.
func TestRealBaseResumed(t *testing.T) {
	for _, cli := range clis.All() {
		for _, profile := range []string{thread.BaseSlim, thread.BaseMinimal} {
			t.Run(cli.Name+"/"+profile, func(t *testing.T) {
				b := newBench(t, cli)
				b.levers()
				left := b.left(profile)
				state := filepath.Join(b.root, "state")
				place := func(spec *thread.LaunchSpec) { spec.Thread, spec.StateDir = "00000000000000aa", state }
				l := b.launch(left, place)
				r := b.start(l)
				before := baseOf(t, r.say("one"))
				q := r.done("one")
				native := l.Session
				for _, key := range []string{"X-Session-Id", "Session-Id"} {
					if id := q.Header.Get(key); native == "" && id != "" {
						native = id
					}
				}
				r.await(thread.StateIdle)
				r.end()
				files := b.files(state)
				for i := range 2 {
					l = b.launch(left, place, func(spec *thread.LaunchSpec) { spec.Session, spec.Resume = native, true })
					if now := b.files(state); now != files {
						t.Errorf("our files have changed:\n%s\nwere\n%s", now, files)
					}
					r = b.start(l)
					prompt := fmt.Sprintf("again %d", i)
					after := baseOf(t, r.say(prompt))
					if after.raw != before.raw {
						t.Errorf("the tools have changed: %d bytes of %v, were %d of %v", len(after.raw), after.names(), len(before.raw), before.names())
					}
					r.done(prompt)
					r.await(thread.StateIdle)
					r.end()
				}
				b.sameHome()
			})
		}
	}
}

// files returns the files of a folder with their content.
func (b *bench) files(dir string) string {
	b.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(path)
		fmt.Fprintf(&all, "%s\n%s\n", path, raw)
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		b.Fatal(err)
	}
	return all.String()
}
