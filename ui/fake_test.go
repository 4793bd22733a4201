package ui

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/agent/vterm"
	"orchestrator/thread"
	"orchestrator/ui/layout"
	"orchestrator/ui/theme"

	tea "charm.land/bubbletea/v2"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) {
	time.Local = time.UTC // the goldens show times
	os.Exit(m.Run())
}

// server is a fake of the server: what it was asked is noted, what it answers is set by the test.
type server struct {
	threads []thread.Status
	lists   chan struct{} // holds List up until it is closed, where it is set
	events  chan thread.Event
	seq     int64
	calls   []string
	err     error // of whatever changes something

	checkpoints []thread.Checkpoint
	entries     []thread.Entry
	files       []thread.FileDiff
	report      thread.StateReport
	merge       thread.MergeReport
	hits        []thread.Hit
	agents      []thread.AgentInfo
	servers     []thread.MCPServer
}

func (s *server) note(format string, args ...any) {
	s.calls = append(s.calls, fmt.Sprintf(format, args...))
}

func (s *server) asked(call string) bool {
	for _, c := range s.calls {
		if strings.HasPrefix(c, call) {
			return true
		}
	}
	return false
}

func (s *server) find(ref string) thread.Status {
	for _, t := range s.threads {
		if string(t.ID) == ref {
			return t
		}
	}
	return thread.Status{}
}

func (s *server) List(ctx context.Context) ([]thread.Status, error) {
	if s.lists != nil {
		select {
		case <-s.lists:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return s.threads, nil
}
func (s *server) Events(ctx context.Context) (<-chan thread.Event, error) {
	out := make(chan thread.Event)
	in := s.events
	go func() {
		defer close(out)
		for {
			select {
			case e := <-in:
				select {
				case out <- e:
				case <-ctx.Done():
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	return out, nil
}
func (s *server) Why(context.Context, string) (thread.StateReport, error) { return s.report, nil }
func (s *server) Seen(_ context.Context, ref string) error                { s.note("seen %s", ref); return s.err }
func (s *server) New(_ context.Context, r thread.NewRequest) (thread.Status, error) {
	s.note("new %s %q %q worktree=%v %dx%d", r.Agent, r.Name, r.Prompt, r.Worktree, r.Cols, r.Rows)
	return status("made", "", thread.StateStarting, 99), s.err
}
func (s *server) Fork(_ context.Context, r thread.ForkRequest) (thread.Status, error) {
	s.note("fork %s at %q label %q agent %q", r.Thread, r.At, r.Label, r.Agent)
	return status("forked", r.Thread, thread.StateStarting, 99), s.err
}
func (s *server) Resume(_ context.Context, ref string, cols, rows int) (thread.Status, error) {
	s.note("resume %s %dx%d", ref, cols, rows)
	t := s.find(ref)
	t.State.State = thread.StateStarting
	t.Execution = &thread.Execution{ID: "new"}
	return t, s.err
}
func (s *server) ResumeAll(context.Context, int, int) ([]thread.Status, error) {
	s.note("resume all")
	return nil, s.err
}
func (s *server) StopAgent(_ context.Context, ref string) error { s.note("stop %s", ref); return s.err }
func (s *server) Send(_ context.Context, ref, text string) error {
	s.note("send %s %q", ref, text)
	return s.err
}
func (s *server) AnswerOffer(_ context.Context, id, answer string) (thread.Status, error) {
	s.note("offer %s %s", id, answer)
	return thread.Status{}, s.err
}
func (s *server) Rename(_ context.Context, ref, name string) (thread.Status, error) {
	s.note("rename %s %s", ref, name)
	return thread.Status{}, s.err
}
func (s *server) Pin(_ context.Context, ref string, on bool) error {
	s.note("pin %s %v", ref, on)
	return s.err
}
func (s *server) Archive(_ context.Context, ref string) error {
	s.note("archive %s", ref)
	return s.err
}
func (s *server) Unarchive(_ context.Context, ref string) error {
	s.note("unarchive %s", ref)
	return s.err
}
func (s *server) Abandon(_ context.Context, ref, why string) error {
	s.note("abandon %s %q", ref, why)
	return s.err
}
func (s *server) Delete(_ context.Context, ref string) error { s.note("delete %s", ref); return s.err }
func (s *server) Undelete(_ context.Context, ref string) error {
	s.note("undelete %s", ref)
	return s.err
}
func (s *server) Timeline(_ context.Context, ref string, p thread.Page) ([]thread.Checkpoint, error) {
	var out []thread.Checkpoint
	for _, c := range s.checkpoints {
		if p.Before == 0 || int64(c.Turn) < p.Before {
			out = append(out, c)
		}
	}
	return out, nil
}
func (s *server) Turn(context.Context, string, string) ([]thread.Entry, error) { return s.entries, nil }
func (s *server) Diff(_ context.Context, r thread.DiffRequest) ([]thread.FileDiff, error) {
	s.note("diff %s %s..%s", r.Thread, r.From, r.To)
	return s.files, nil
}
func (s *server) Rewind(_ context.Context, r thread.RewindRequest) (thread.RewindReport, error) {
	s.note("rewind %s to %s files=%v conversation=%v", r.Thread, r.At, r.Files, r.Conversation)
	return thread.RewindReport{Safety: "safe", Turn: 2}, s.err
}
func (s *server) Find(_ context.Context, q string, _ int) ([]thread.Hit, error) {
	s.note("find %q", q)
	return s.hits, nil
}
func (s *server) Merge(_ context.Context, r thread.MergeRequest) (thread.MergeReport, error) {
	s.note("merge %s dry=%v finish=%v into=%q", r.Thread, r.DryRun, r.Finish, r.Into)
	return s.merge, s.err
}
func (s *server) MergeContinue(_ context.Context, ref string) (thread.MergeReport, error) {
	s.note("continue %s", ref)
	return s.merge, s.err
}
func (s *server) MergeAbort(_ context.Context, ref string) error {
	s.note("abort %s", ref)
	return s.err
}
func (s *server) SetOffers(_ context.Context, mode thread.OfferMode) error {
	s.note("offers %s", mode)
	return s.err
}
func (s *server) Push(_ context.Context, r thread.PushRequest) (thread.PushReport, error) {
	s.note("push %s pr=%v", r.Thread, r.PR)
	report := thread.PushReport{Branch: "orchestrator/" + r.Thread, Remote: "origin"}
	if r.PR {
		report.PR = "https://example.org/pr/1"
	}
	return report, s.err
}
func (s *server) Export(_ context.Context, r thread.PortRequest) (thread.Status, error) {
	s.note("export %s to %s files=%v", r.Thread, r.File, !r.NoFiles)
	return thread.Status{}, s.err
}
func (s *server) Import(_ context.Context, r thread.PortRequest) (thread.Status, error) {
	s.note("import %s", r.File)
	return status("brought", "", thread.StateExited, 99), s.err
}
func (s *server) Collect(_ context.Context, r thread.CollectRequest) (thread.Collected, error) {
	s.note("collect dry=%v", r.DryRun)
	return thread.Collected{Threads: []thread.Dropped{{Name: "old-one-77aa", Bytes: 2048, Why: "archived 40 days ago"}}, Freed: 2048}, s.err
}
func (s *server) Agents(context.Context) ([]thread.AgentInfo, error) { return s.agents, nil }
func (s *server) MCP(context.Context) ([]thread.MCPServer, error)    { return s.servers, nil }

// pane is a fake of the live pane.
type pane struct {
	shown     thread.ID
	box       layout.Box
	focus     bool
	suspended bool
	keys      []string
}

func (p *pane) Show(id thread.ID) tea.Cmd { p.shown = id; return nil }
func (p *pane) Place(b layout.Box)        { p.box = b }
func (p *pane) Suspend(on bool)           { p.suspended = on }
func (p *pane) Focus(on bool)             { p.focus = on }
func (p *pane) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		p.keys = append(p.keys, msg.String())
	case tea.PasteMsg:
		p.keys = append(p.keys, "paste "+msg.Content)
	}
	return nil
}

var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // where a bubble's clock begins

func status(id, parent string, st thread.State, n int) thread.Status {
	s := thread.Status{
		Thread: thread.Thread{
			ID: thread.ID(id), Name: id, Parent: thread.ID(parent), Agent: "demo", Model: "demo-1", Dir: "/work/project", Seen: true,
			Created: epoch.Add(time.Duration(n-1000) * time.Minute), Turn: 4,
		},
		State: thread.StateReport{State: st, Since: epoch.Add(-42 * time.Second)},
	}
	if st.Live() {
		s.Execution = &thread.Execution{ID: thread.ExecutionID("run-" + id)}
	}
	return s
}

// world is the server that the goldens show.
func world() *server {
	auth := status("auth-feature-a3f2", "", thread.StateWorking, 1)
	auth.Gauge = thread.Gauge{Tokens: 84_000, Window: 200_000, Model: "claude-opus-4-8", CostUSD: 1.42, Source: "gateway"}
	auth.Usage = thread.Usage{Input: 1200, CacheRead: 410_000, CacheWrite: 90_000, Output: 21_000, CostUSD: 1.42, Priced: true}
	jwt := status("try-jwt-b7c1", "auth-feature-a3f2", thread.StateApproval, 2)
	jwt.Gauge = thread.Gauge{Tokens: 130_000, Window: 200_000, Model: "claude-opus-4-8", Estimated: true, CostUSD: 0.80}
	merged := status("refresh-d4e5", "try-jwt-b7c1", thread.StateExited, 3)
	merged.Outcome = thread.Outcome{Kind: thread.OutcomeMerged, Commit: "0123456789abcdef"}
	left := status("session-c8d3", "auth-feature-a3f2", thread.StateInterrupted, 4)
	left.Resume = &thread.ResumeProof{How: thread.ResumeNative, Bytes: 27_497, Turn: 4, Worktree: "3 files changed"}
	docs := status("docs-f9a0", "", thread.StateIdle, 5)
	docs.Pinned = true
	gone := status("spike-0b1c", "", thread.StateExited, 6)
	gone.Outcome = thread.Outcome{Kind: thread.OutcomeAbandoned, Reason: "too slow"}
	old := status("old-one-77aa", "", thread.StateExited, 7)
	old.Archived = epoch
	return &server{
		threads: []thread.Status{auth, jwt, merged, left, docs, gone, old},
		agents: []thread.AgentInfo{
			{Name: "claude", Found: true, Version: "2.1.240", Path: "/usr/bin/claude"}, {Name: "codex", Problem: "not found", Hint: "npm install -g @openai/codex", Looked: []string{"PATH", "~/.local/bin"}},
			{Name: "demo", Found: true, Version: "built in"}, {Name: "command", Found: true},
		},
		servers: []thread.MCPServer{
			{Name: "github", Source: ".mcp.json", Transport: "stdio", Target: "npx github-mcp", Trusted: true, Enabled: true},
			{Name: "sentry", Source: "~/.claude.json", Agent: "claude", Transport: "http", Target: "https://mcp.sentry.dev", Trusted: true},
			{Name: "evil", Source: ".mcp.json", Transport: "stdio", Target: "curl x", Trusted: false},
		},
		checkpoints: []thread.Checkpoint{
			point(6, 4, thread.KindResponse, "now add \x1b[31mtests\u202e", "", 0), point(5, 3, thread.KindTurn, "use the new parser", "The parser is in place.\nMore.", 2),
			point(4, 3, thread.KindResponse, "use the new parser", "", 0), {ID: "c-safe", Thread: "auth-feature-a3f2", Seq: 3, Turn: 2, Kind: thread.KindSafety, Note: "before rewind to turn 2", Created: epoch},
			point(2, 2, thread.KindTurn, "what does main do? 日本語", "It starts the program.", 0), point(1, 1, thread.KindTurn, "hello", "Hello! How can I help?", 1),
		},
		entries: []thread.Entry{
			{Kind: thread.EntryPrompt, Text: "use the new parser"},
			{Kind: thread.EntryThinking, Text: "The parser lives in parse.go."},
			{Kind: thread.EntryCall, Tool: "Bash", Call: "1", Text: "go test ./..."},
			{Kind: thread.EntryResult, Tool: "Bash", Call: "1", Text: "ok  \tproject\t0.01s\nok  \tproject/parse\t0.02s\n"},
			{Kind: thread.EntryCall, Tool: "Edit", Call: "2", Text: "parse.go"},
			{Kind: thread.EntryResult, Tool: "Edit", Call: "2", Text: "no such file: &#27;[31m", Error: true},
			{Kind: thread.EntryAnswer, Text: "# Done\n\nThe parser is **in place**, see `parse.go`:\n\n- it keeps comments\n- it is *faster*\n\n```go\nfunc Parse(s string) (*Tree, error) {\n\treturn parse(s)\n}\n```\n\n| case | ns |\n|---|---|\n| old | 120 |\n| new | 45 |\n\n&#27;[31mnot red&#x1b;[0m"},
		},
		files: []thread.FileDiff{
			{Path: "parse.go", Status: "modified", Insertions: 2, Deletions: 1, Patch: "@@ -1,4 +1,5 @@ package project\n package project\n \n-func Parse(s string) *Tree {\n+func Parse(s string) (*Tree, error) {\n+\t// keeps comments\n \treturn parse(s)\n"},
			{Path: "docs/new.md", Status: "added", Insertions: 1, Patch: "@@ -0,0 +1 @@\n+hello \x1b[31m\n"},
		},
		report: thread.StateReport{State: thread.StateApproval, Since: epoch.Add(-42 * time.Second), Evidence: []thread.Evidence{
			{Source: thread.SourceHook, State: thread.StateApproval, Detail: "hook PermissionRequest: Bash", At: epoch.Add(-42 * time.Second)},
			{Source: thread.SourceGateway, State: thread.StateWorking, Detail: "stop reason tool_use", At: epoch.Add(-50 * time.Second)},
		}},
		merge: thread.MergeReport{Branch: "orchestrator/try-jwt-b7c1", Into: "main", Dir: "/work/project", Conflicts: []string{"parse.go"}, Files: []thread.FileDiff{{Path: "parse.go", Insertions: 2, Deletions: 1}}},
		hits:  []thread.Hit{{Thread: "docs-f9a0", Name: "docs-f9a0", Checkpoint: "c-2", Turn: 2, Where: "answer", Snippet: "It starts the program."}, {Thread: "try-jwt-b7c1", Name: "try-jwt-b7c1", Where: "name", Snippet: "try-jwt-b7c1"}},
	}
}

func point(n, turn int, kind thread.CheckpointKind, prompt, answer string, files int) thread.Checkpoint {
	c := thread.Checkpoint{
		ID: thread.CheckpointID(fmt.Sprint("c-", n)), Thread: "auth-feature-a3f2", Seq: int64(n), Turn: turn, Kind: kind, Prompt: prompt, Answer: answer, Created: epoch.Add(time.Duration(n) * time.Minute),
		Usage: thread.Usage{Input: 900, CacheRead: 20_000, Output: 700, CostUSD: 0.03, Priced: true}, Gauge: thread.Gauge{Tokens: int64(n) * 21_000, Window: 200_000},
	}
	if files > 0 {
		c.Snapshot = &thread.Snapshot{Files: files, Insertions: 12 * files, Deletions: 3}
	}
	return c
}

// rig drives a model: commands run beside it, messages come back in the order they end.
type rig struct {
	t    *testing.T
	m    *Model
	srv  *server
	pane *pane
	in   chan tea.Msg
	raw  []string // what was written to the terminal past the screen
	quit bool
}

// play runs a test in a bubble, where time stands still until the test lets it go on.
func play(t *testing.T, srv *server, w, h int, change func(*Config), test func(r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		srv.events = make(chan thread.Event) // of the bubble
		r := &rig{t: t, srv: srv, pane: &pane{}, in: make(chan tea.Msg, 10_000)}
		profile := theme.TrueColor
		cfg := Config{Server: srv, Pane: r.pane, Project: "/work/project", Git: true, Version: "test", Theme: "dark", Profile: &profile, Notify: []string{"bell", "osc9"}}
		if change != nil {
			change(&cfg)
		}
		r.m = New(cfg)
		r.run(r.m.Init())
		r.send(tea.WindowSizeMsg{Width: w, Height: h})
		test(r)
		r.m.Close()
		time.Sleep(time.Minute) // timers that are set end here
	})
}

// run runs a command and what it leads to.
func (r *rig) run(cmd tea.Cmd) {
	if cmd != nil {
		go func() { r.in <- cmd() }()
	}
}

// settle takes what commands brought until nothing comes any more.
func (r *rig) settle() {
	for {
		synctest.Wait()
		select {
		case msg := <-r.in:
			r.take(msg)
		default:
			return
		}
	}
}

func (r *rig) take(msg tea.Msg) {
	switch msg := msg.(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			r.run(c)
		}
	case tea.RawMsg:
		r.raw = append(r.raw, fmt.Sprint(msg.Msg))
	case tea.QuitMsg:
		r.quit = true
	default:
		_, cmd := r.m.Update(msg)
		r.run(cmd)
	}
}

func (r *rig) send(msg tea.Msg) {
	r.take(msg)
	r.settle()
}

// wait lets time go on.
func (r *rig) wait(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
		r.settle()
	}
}

// keys presses keys by their names.
func (r *rig) keys(names ...string) {
	for _, n := range names {
		r.send(press(n))
	}
}

// text types.
func (r *rig) text(s string) {
	for _, c := range s {
		r.send(tea.KeyPressMsg{Code: c, Text: string(c)})
	}
}

var named = map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight, "backspace": tea.KeyBackspace, "space": tea.KeySpace, "end": tea.KeyEnd, "home": tea.KeyHome}

func press(name string) tea.KeyPressMsg {
	k := tea.KeyPressMsg{}
	for {
		if rest, ok := strings.CutPrefix(name, "ctrl+"); ok {
			k.Mod |= tea.ModCtrl
			name = rest
			continue
		}
		if rest, ok := strings.CutPrefix(name, "shift+"); ok {
			k.Mod |= tea.ModShift
			name = rest
			continue
		}
		break
	}
	if c, ok := named[name]; ok {
		k.Code = c
		if name == "space" {
			k.Text = " "
		}
		return k
	}
	k.Code = []rune(name)[0]
	if k.Mod == 0 {
		k.Text = name
	}
	return k
}

// event has the server tell something.
func (r *rig) event(e thread.Event) {
	r.srv.seq++
	e.Seq = r.srv.seq
	r.srv.events <- e
	r.settle()
	r.wait(40 * time.Millisecond)
}

// offer has the server offer a fork.
func (r *rig) offer(o thread.Offer) {
	s := r.srv.find(string(o.Thread))
	s.Offer = &o
	r.event(thread.Event{Kind: thread.EventThread, ThreadID: s.ID, Status: &s})
}

// screen returns the emulator with what the model shows.
func (r *rig) screen() *vterm.Terminal {
	v := r.m.View()
	t := vterm.New(r.m.screen.w, r.m.screen.h, vterm.Options{})
	fmt.Fprint(t, strings.ReplaceAll(v.Content, "\n", "\r\n"))
	return t
}

// see returns the screen as text.
func (r *rig) see() string {
	t := r.screen()
	_, rows := t.Size()
	var b strings.Builder
	for y := range rows {
		b.WriteString(strings.TrimRight(t.RowText(y), " ") + "\n")
	}
	return b.String()
}

// styles returns the screen's styles, a line a row: runs of cells with their sequence.
func (r *rig) styles() string {
	t := r.screen()
	_, rows := t.Size()
	var b strings.Builder
	var cells []vterm.Cell
	for y := range rows {
		cells = t.Row(cells[:0], y)
		from := 0
		for x := 1; x <= len(cells); x++ {
			if x < len(cells) && cells[x].Style == cells[from].Style {
				continue
			}
			if seq := strings.Trim(string(cells[from].Style.AppendSGR(nil)), "\x1b[m"); seq != "" && seq != "0" {
				fmt.Fprintf(&b, "%d:%d-%d %s\n", y, from, x-1, seq)
			}
			from = x
		}
	}
	return b.String()
}

// golden compares with a file, or writes it with -update.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; `go test ./ui -update` writes it", err)
	}
	if string(want) != got {
		t.Errorf("%s differs; look at it, and if it is right: go test ./ui -update\ngot\n%s\nwant\n%s", path, got, want)
	}
}

// must fails where the screen does not show a text.
func (r *rig) must(texts ...string) {
	r.t.Helper()
	see := r.see()
	for _, x := range texts {
		if !strings.Contains(see, x) {
			r.t.Errorf("%q is not on the screen:\n%s", x, see)
		}
	}
}

// mustAsk fails where the server was not asked.
func (r *rig) mustAsk(call string) {
	r.t.Helper()
	if !r.srv.asked(call) {
		r.t.Errorf("the server was not asked %q but %q", call, r.srv.calls)
	}
}
