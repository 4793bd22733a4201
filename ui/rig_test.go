package ui

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orchestrator/agent/vterm"
	"orchestrator/thread"
	"orchestrator/ui/alert"
	"orchestrator/ui/burst"
	"orchestrator/ui/intent"
	"orchestrator/ui/typing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
)

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
		cfg := Config{Server: srv, Pane: r.pane, Project: "/work/project", Git: true, Version: "test", Theme: "dark", Profile: colorprofile.TrueColor, Alert: alert.Config{Ways: []string{"bell", "osc9"}, Kinds: []thread.HappeningKind{thread.HappenedAsks, thread.HappenedDone}}}
		if change != nil {
			change(&cfg)
		}
		r.m = New(cfg)
		r.run(r.m.Init())
		r.send(tea.WindowSizeMsg{Width: w, Height: h})
		test(r)
		r.m.Close()
		time.Sleep(25 * time.Hour) // timers that are set end here, that of midnight too
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

// keys presses keys by their names, and looks at a dialog that opens. ". d" is d in the menu, "a!" is a
// with nothing after it, so that it answers.
func (r *rig) keys(names ...string) {
	for _, n := range names {
		before := r.m.dialogs.Top()
		if entry, ok := strings.CutPrefix(n, ". "); ok {
			time.Sleep(typing.Pause)
			r.send(press("."))
			r.send(press(entry))
			r.wait(typing.AnswerDelay)
		} else if alone, ok := strings.CutSuffix(n, "!"); ok && alone != "" {
			r.send(press(alone))
			r.wait(typing.AnswerDelay)
		} else {
			r.send(press(n))
		}
		if top := r.m.dialogs.Top(); top != nil && top != before {
			time.Sleep(typing.Glance)
		}
	}
}

// text types.
func (r *rig) text(s string) {
	for _, c := range s {
		switch c {
		case '\r':
			r.send(press("enter"))
		case '\t':
			r.send(press("tab"))
		case '\b':
			r.send(press("backspace"))
		default:
			r.send(tea.KeyPressMsg{Code: c, Text: string(c)})
		}
	}
}

// burst types a text that comes in one read.
func (r *rig) burst(s string) {
	r.send(burst.Msg{On: true, Text: s})
	r.text(s)
	r.send(burst.Msg{})
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

// share has the server tell that threads work in the folder of the first one.
func (r *rig) share(ids ...string) {
	for _, id := range ids {
		s := r.srv.find(id)
		s.Dir, s.Outcome = r.srv.threads[0].Dir, thread.Outcome{}
		r.event(thread.Event{Kind: thread.EventThread, ThreadID: s.ID, Status: &s})
	}
}

// archived has the server tell that a thread was archived, or brought back.
func (r *rig) archived(id string, on bool) {
	s := r.srv.find(id)
	if on {
		s.Archived, s.State.State, s.Execution = time.Now(), thread.StateExited, nil
	}
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

// styles returns the screen's styles, a line a row: runs of cells with their sequence; and where the cursor is.
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
	if at := r.m.View().Cursor; at != nil {
		fmt.Fprintf(&b, "cursor %d:%d\n", at.Y, at.X)
	}
	return b.String()
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

// servers opens the panel of MCP servers if it is not open, goes to one and presses keys.
func (r *rig) servers(name string, keys ...string) {
	r.t.Helper()
	if r.m.scopes()[0] != intent.Servers {
		r.keys("m")
		r.wait(time.Second)
	}
	if name != "" {
		r.keys("home")
		for n := len(r.srv.mcp.Servers); r.m.servers.Selected() != name; n-- {
			if n == 0 {
				r.t.Fatalf("no server %s:\n%s", name, r.see())
			}
			r.keys("down")
		}
	}
	for _, k := range keys {
		r.keys(k)
		r.wait(time.Second)
	}
}
