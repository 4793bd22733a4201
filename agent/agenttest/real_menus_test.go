package agenttest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"orchestrator/agent/agenttest"
	"orchestrator/agent/agenttest/clis"
	"orchestrator/agent/agenttest/model"
	"orchestrator/agent/scripted"
	"orchestrator/agent/session"
	"orchestrator/agent/vterm"
	"orchestrator/thread"
)

// recordVar names the variable that has the screens recorded in the adapters' testdata.
const recordVar = "ORCHESTRATOR_RECORD"

// onlyVar names the variable that picks the runs with one name.
const onlyVar = "ORCHESTRATOR_ONLY"

// place is one screen of an agent: keys that lead there, and a way back.
type place struct {
	name  string
	ask   string   // prompt that is sent first; its request is awaited
	press []string // keys, each once the screen is still
	see   string   // shown there
	want  thread.State
	draft string // what the input holds
	open  bool   // a prompt of ours may be typed there: the next place asks for it
	menu  bool   // it may be a menu, or nothing: it waits for the person unless its empty input is shown
	// answer is the text of the choice with which its dialog is answered, and then what is shown after that.
	answer, then string
	back         []string // keys that lead back to the empty input
}

// visit is one start of an agent as a person has it set up, and the places that are looked at.
type visit struct {
	name   string
	mode   string            // permission mode
	online bool              // the provider's own hosts answer
	unset  []string          // variables
	set    []string          // variables
	files  map[string]string // below the home folder; "" is none
	places []place
}

// TestRealMenus opens every menu of every real CLI, and leaves half a draft in its input: no prompt of ours is typed
// into any of them, and what they show does not change. With ORCHESTRATOR_RECORD=1 the screens are written to the
// adapters' testdata, from which their rules are tested without the CLIs.
func TestRealMenus(t *testing.T) {
	for _, cli := range clis.All() {
		for _, v := range visits[cli.Name] {
			t.Run(cli.Name+"/"+v.name, func(t *testing.T) {
				if only := os.Getenv(onlyVar); only != "" && !strings.Contains(cli.Name+"/"+v.name, only) {
					t.Skip("SKIPPED: not asked for")
				}
				v.run(t, cli)
			})
		}
	}
}

func (v visit) run(t *testing.T, cli clis.CLI) {
	root, err := os.MkdirTemp("", "o")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(root) }) // the agents still write for a moment
	cli.Mode = v.mode
	dir := filepath.Join(root, "shop")
	s := newStage(t, cli, []string{dir})
	for name, text := range v.files {
		path := filepath.Join(s.home, name)
		if text == "" {
			err = os.Remove(path)
		} else {
			err = os.WriteFile(path, []byte(strings.NewReplacer("URL", s.server.URL(), "DIR", dir).Replace(text)), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var env []string
	for _, kv := range s.env {
		name, _, _ := strings.Cut(kv, "=")
		if !contains(v.unset, name) {
			env = append(env, kv)
		}
	}
	s.env = append(env, v.set...)
	if v.online {
		s.env = append(s.env, online(t, root)...)
	}
	r := s.start("000000000000000a", dir, "", false)
	m := r.mirror(root)
	for i, p := range v.places {
		m.visit(p)
		if i == 0 && p.want != "" && p.ask == "" {
			m.began(p.want)
		}
	}
}

// began checks the states that were reported until the agent came to its first place: that it starts, and nothing else.
func (m *mirror) began(want thread.State) {
	m.t.Helper()
	m.t.Logf("reported: %s", m.history())
	for _, s := range m.states() {
		switch s.State {
		case want:
			return
		case thread.StateStarting:
		default:
			m.t.Errorf("it was reported %s (%s) before it was %s", s.State, s.Why(), want)
		}
	}
}

// history is the states that were reported so far.
func (r *running) history() string {
	var told []string
	for _, s := range r.states() {
		told = append(told, fmt.Sprintf("%s %s (%s)", s.Since.Format("05.000"), s.State, s.Why()))
	}
	return strings.Join(told, "; ")
}

func contains(all []string, one string) bool {
	for _, a := range all {
		if a == one {
			return true
		}
	}
	return false
}

// questions is a model that asks the person where a prompt says so.
func questions(t model.Turn) scripted.Reply {
	switch {
	case t.Side:
		return model.Markers(t)
	case strings.Contains(t.Prompt, "#plan") && t.Round < 2:
		return plans(t)
	case strings.Contains(t.Prompt, "#exit") && t.Round == 0:
		return exitPlan
	case t.Round > 0, !strings.Contains(t.Prompt, "#ask"):
		return model.Markers(t)
	}
	one := map[string]any{
		"id": "colour", "question": "Which colour?", "header": "Colour", "multiSelect": false, "multiple": false, "type": "choice",
		"options": []any{
			map[string]any{"label": "Red", "description": "a warm one"},
			map[string]any{"label": "Blue", "description": "a cold one"},
		},
	}
	for _, tool := range t.Tools {
		switch tool.Name {
		case "AskUserQuestion", "ask_user", "question", "request_user_input":
			return scripted.Reply{Calls: []scripted.Call{{Name: tool.Name, Args: map[string]any{"questions": []any{one}}}}}
		}
	}
	return scripted.Reply{Text: "there is no tool to ask with"}
}

var (
	exitPlan = scripted.Reply{Calls: []scripted.Call{{Name: "ExitPlanMode", Args: map[string]any{}}}}
	planFile = regexp.MustCompile(`/[^\s"'` + "`" + `]*/\.claude/plans/[\w-]+\.md`)
)

// plans writes a plan into the file that Claude Code names, and then asks whether it is right.
func plans(t model.Turn) scripted.Reply {
	if t.Round > 0 {
		return exitPlan
	}
	for _, m := range t.History {
		if file := planFile.FindString(m.Text); file != "" {
			return scripted.Reply{Calls: []scripted.Call{t.Write(file,
				"# Greet in two languages\n\n1. Read `hello.go`.\n2. Print the second greeting below the first.\n")}}
		}
	}
	return scripted.Reply{Text: "no file is named for the plan"}
}

// mirror is the terminal of a running agent as somebody sees it.
type mirror struct {
	*running
	root   string
	viewer *session.Viewer
	mu     sync.Mutex // guards the rest
	term   *vterm.Terminal
	at     time.Time // newest output
}

func (r *running) mirror(root string) *mirror {
	one, ok := r.session.(*session.Session)
	if !ok {
		r.t.Fatal("no session")
	}
	m := &mirror{
		running: r, root: root, viewer: one.Attach(agenttest.Cols, agenttest.Rows, false),
		term: vterm.New(agenttest.Cols, agenttest.Rows, vterm.Options{}), at: time.Now(),
	}
	go func() {
		for {
			b, err := m.viewer.Next(context.Background())
			if err != nil {
				return
			}
			m.mu.Lock()
			_, _ = m.term.Write(b)
			m.at = time.Now()
			m.mu.Unlock()
		}
	}()
	r.t.Cleanup(m.viewer.Close)
	return m
}

func (m *mirror) text() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.term.Text()
}

// still waits until the screen has not changed for a while.
func (m *mirror) still(d time.Duration) {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		m.mu.Lock()
		quiet := time.Since(m.at)
		m.mu.Unlock()
		if quiet >= d {
			return
		}
	}
}

func (m *mirror) see(what string) {
	m.t.Helper()
	for end := time.Now().Add(90 * time.Second); !strings.Contains(m.text(), what); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			m.t.Fatalf("never saw %q; reported %s:\n%s", what, m.history(), m.text())
		}
	}
}

func (m *mirror) press(keys string) {
	m.t.Helper()
	m.still(500 * time.Millisecond)
	m.mu.Lock()
	before := m.at
	if m.term.Modes().Kitty&1 != 0 { // then a terminal sends them so
		keys = kitty.Replace(keys)
	}
	m.mu.Unlock()
	if err := m.viewer.Input([]byte(keys)); err != nil {
		m.t.Fatal(err)
	}
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		m.mu.Lock()
		heard := m.at.After(before)
		m.mu.Unlock()
		if heard {
			break
		}
	}
	m.still(500 * time.Millisecond)
}

// kitty are the keys as they are sent where the program asks for the Kitty protocol.
var kitty = strings.NewReplacer(up, up, altEnter, "\x1b[13;3u", esc, "\x1b[27u", ctrlC, "\x1b[99;5u",
	ctrlU, "\x1b[117;5u", ctrlR, "\x1b[114;5u", ctrlP, "\x1b[112;5u",
	ctrlO, "\x1b[111;5u", ctrlT, "\x1b[116;5u")

func (m *mirror) visit(p place) {
	m.t.Helper()
	if p.ask != "" {
		ctx, cancel := context.WithTimeout(m.t.Context(), limit)
		err := m.sendSoon(ctx, p.ask)
		cancel()
		if err != nil {
			m.t.Fatalf("%s: send: %v\n%s", p.name, err, m.text())
		}
	}
	for _, keys := range p.press {
		m.press(keys)
	}
	m.see(p.see)
	m.still(time.Second)
	if p.menu {
		m.still(3 * time.Second) // some come late
	}
	if p.menu {
		defer m.leave(p.name)
		if !m.covered(&p) {
			return
		}
	}
	if p.draft != "" {
		m.holds(p.draft)
	}
	m.record(p.name)
	m.check(p)
	m.answers(p)
	for _, keys := range p.back {
		m.press(keys)
	}
}

// answers answers a place's dialog.
func (m *mirror) answers(p place) {
	m.t.Helper()
	if p.answer == "" {
		return
	}
	m.await(p.want)
	q := m.session.State().Question
	if q == nil {
		m.t.Fatalf("%s: it asks nothing:\n%s", p.name, m.text())
	}
	choice := slices.IndexFunc(q.Choices, func(c thread.Choice) bool { return strings.HasPrefix(c.Text, p.answer) })
	text := "escape"
	if choice >= 0 {
		text = q.Choices[choice].Text
	} else if p.answer != esc {
		m.t.Fatalf("%s: %q is none of the choices: %+v", p.name, p.answer, q)
	}
	if err := m.session.Answer(m.t.Context(), q.ID, choice); err != nil {
		m.t.Errorf("%s: %v:\n%s", p.name, err, m.text())
	}
	m.see(p.then)
	m.t.Logf("%s: %s %q %q, answered with %q", p.name, q.Kind, q.Text, q.About, text)
}

// covered completes a place that may be a menu, and reports whether it is one: the agent's input is not shown.
func (m *mirror) covered(p *place) bool {
	p.want = thread.StateQuestion
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		m.mu.Lock()
		_, shown := m.agent.Input(m.term)
		m.mu.Unlock()
		if shown { // a command without a menu, or none of this version
			m.t.Logf("%s: no menu", p.name)
			return false
		}
		switch got := m.session.State().State; {
		case got == thread.StateUnauthorised, got == thread.StateApproval:
			p.want = got
			return true
		case got == p.want, time.Now().After(end):
			return true
		}
	}
}

// leave goes back to the empty input, out of whatever is open.
func (m *mirror) leave(name string) {
	m.t.Helper()
	for _, keys := range []string{"", esc, esc, "q", ctrlC, esc, ctrlU, esc} {
		if keys != "" {
			m.press(keys)
		}
		m.mu.Lock()
		in, shown := m.agent.Input(m.term)
		m.mu.Unlock()
		if shown && in.Empty() {
			return
		}
	}
	m.t.Fatalf("%s: no way back:\n%s", name, m.text())
}

// holds waits until the input holds a draft: what is recalled comes late on a busy machine.
func (m *mirror) holds(draft string) {
	m.t.Helper()
	for end := time.Now().Add(90 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		m.mu.Lock()
		in, _ := m.agent.Input(m.term)
		m.mu.Unlock()
		if in.Text == draft {
			return
		}
		if time.Now().After(end) {
			m.t.Fatalf("the input holds %q, want %q:\n%s", in.Text, draft, m.text())
		}
	}
}

// await waits for a state, up to a limit, and returns the state it got; done counts as idle.
func (m *mirror) await(want thread.State) thread.StateReport {
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		got := m.session.State()
		if got.State == thread.StateDone {
			got.State = thread.StateIdle
		}
		if got.State == want || time.Now().After(end) {
			return got
		}
	}
}

// check sends a prompt where none is to be typed.
func (m *mirror) check(p place) {
	m.t.Helper()
	if got := m.await(p.want); p.want != "" && got.State != p.want {
		m.t.Errorf("%s: %s (%s), want %s:\n%s", p.name, got.State, got.Why(), p.want, m.text())
	}
	before := m.text()
	if p.open || p.want == thread.StateIdle && p.draft == "" {
		return
	}
	ctx, cancel := context.WithTimeout(m.t.Context(), time.Minute)
	defer cancel()
	err := m.session.Send(ctx, "a prompt of ours")
	if errors.Is(err, thread.ErrNotRunning) { // some end by themselves
		m.t.Logf("%s: %v", p.name, err)
		return
	}
	var not *thread.NotReadyError
	if !errors.As(err, &not) {
		m.t.Errorf("%s: a prompt was typed (%v):\n%s", p.name, err, m.text())
		return
	}
	m.t.Logf("%s: %s", p.name, not.Reason)
	m.still(300 * time.Millisecond)
	if after := m.text(); strings.Contains(after, "prompt of ours") || p.want != thread.StateWorking && before != after {
		m.t.Errorf("%s: the screen changed from\n%s\nto\n%s", p.name, before, after)
	}
}

// record writes the screen to the adapter's testdata, without the names of this machine's folders.
func (m *mirror) record(name string) {
	m.t.Helper()
	if os.Getenv(recordVar) == "" {
		return
	}
	m.mu.Lock()
	raw := agenttest.Recorded(m.term)
	m.mu.Unlock()
	neutral := "/h/" + strings.Repeat("m", len(m.root)-3)
	raw = bytes.ReplaceAll(raw, []byte(m.root), []byte(neutral))
	raw = bytes.ReplaceAll(raw, []byte(filepath.Base(m.root)), []byte(neutral[len(neutral)-len(filepath.Base(m.root)):]))
	path := filepath.Join("..", m.cli.Name, "testdata", "screens", name+".ansi")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(path, raw, 0o644); err != nil {
		m.t.Fatal(err)
	}
}

// TestRealLong sends prompts of many sizes and forms to every real CLI: each is seen in its input and sent, and the
// model gets a request.
func TestRealLong(t *testing.T) {
	lines := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "line %d of a prompt, with `code` and \"quotes\"\n", i)
			if i%7 == 3 {
				b.WriteString("\n  - indented, after an empty line\n")
			}
		}
		return b.String()
	}
	for _, cli := range clis.All() {
		t.Run(cli.Name, func(t *testing.T) {
			root, err := os.MkdirTemp("", "o")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(root) }) // the agents still write for a moment
			dir := filepath.Join(root, "shop")
			s := newStage(t, cli, []string{dir})
			m := s.start("000000000000000a", dir, "", false).mirror(root)
			for i, text := range []string{
				"short.", strings.Repeat("word ", 60) + "300.", strings.Repeat("word ", 180) + "900.",
				strings.Repeat("word ", 400) + "2000.",
				lines(4) + "end.", lines(30) + "end.", lines(200) + "end.", lines(2000) + "end.",
				"日本語のテキスト 👍🏽 e\u0301 ❤\ufe0f end.", "see @README and /this end.",
			} {
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
				heard := len(s.server.Requests())
				begin := time.Now()
				// The answer is short: one of 100 KB keeps OpenCode busy for minutes.
				err := m.sendSoon(ctx, fmt.Sprintf("case %d. %s #say:heard.", i, text))
				took := time.Since(begin)
				if err == nil {
					_, err = s.server.Wait(ctx, func(q model.Request) bool {
						return !q.Turn.Side && q.N > heard // some send a long paste as a file beside the prompt
					})
				}
				cancel()
				if err != nil {
					t.Errorf("case %d, %d bytes: %v\n%s", i, len(text), err, m.text())
					m.press(ctrlC)
					continue
				}
				t.Logf("case %d, %d bytes: %v", i, len(text), took.Round(time.Millisecond))
				m.await(thread.StateIdle)
			}
		})
	}
}
