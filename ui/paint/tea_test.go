package paint

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"orchestrator/agent/vterm"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/creack/pty"
)

// chromeModel is a small program as the real one is: a side bar that changes, a blank box for the pane, a
// dialog that comes and goes.
type chromeModel struct {
	w      *Spot
	box    Box
	pane   Pane
	n      int
	dialog bool
}

type tickMsg struct{}

type dialogMsg bool

func (m *chromeModel) Init() tea.Cmd { return nil }

func (m *chromeModel) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.w.SetPane(m.pane)
	case tickMsg:
		m.n++
	case dialogMsg:
		m.dialog = bool(msg)
		if m.dialog {
			m.w.Suspend()
		} else {
			m.w.SetPane(m.pane)
		}
	}
	return m, nil
}

func (m *chromeModel) View() tea.View {
	var lines []string
	for y := range 12 {
		// A list that scrolls makes the renderer use scrolling and erasing.
		line := fmt.Sprintf("item %-5d", m.n+y)
		if y%3 == 0 {
			line = fmt.Sprintf("\x1b[3%dm%-10s\x1b[m", y%8, strings.Repeat("#", (m.n+y)%10))
		}
		if m.dialog && y > 3 && y < 7 {
			line += "   dialog here "
		}
		lines = append(lines, line)
	}
	return tea.View{Content: strings.Join(lines, "\n"), AltScreen: true}
}

// TestUnderBubbleTea runs the real renderer over a pseudo-terminal and compares the screen with chrome and pane
// put together.
func TestUnderBubbleTea(t *testing.T) {
	master, slave, err := pty.Open()
	if err != nil {
		t.Skipf("SKIPPED: no pseudo-terminal here (%v); run go test ./ui/paint on a machine with /dev/ptmx", err)
	}
	defer master.Close()
	if err := pty.Setsize(slave, &pty.Winsize{Cols: 50, Rows: 12}); err != nil {
		t.Fatal(err)
	}
	out := newOuter(50, 12)
	var reader sync.WaitGroup
	reader.Go(func() {
		b := make([]byte, 1<<16)
		for {
			n, err := master.Read(b)
			_, _ = out.Write(b[:n])
			if err != nil {
				return
			}
		}
	})

	box := Box{X: 14, Y: 2, W: 30, H: 8}
	in := newInner(box.W, box.H)
	w := New(slave, colorprofile.TrueColor, 50, 12)
	spot := w.Spot()
	m := &chromeModel{w: spot, box: box, pane: Pane{Box: box, Source: in, Cursor: true}}
	p := tea.NewProgram(m, tea.WithOutput(w), tea.WithFilter(w.Filter), tea.WithInput(slave), tea.WithoutSignals(),
		tea.WithEnvironment([]string{"TERM=xterm-256color", "COLORTERM=truecolor"}), tea.WithWindowSize(50, 12))
	done := make(chan error, 1)
	go func() { _, err := p.Run(); done <- err }()

	feed := func(format string, args ...any) {
		in.feed(format, args...)
		spot.Changed()
	}
	expect := func(n int, dialog bool) {
		t.Helper()
		want := &chromeModel{n: n, dialog: dialog}
		chrome := vterm.New(50, 12, vterm.Options{})
		fmt.Fprint(chrome, strings.ReplaceAll(want.View().Content, "\n", "\r\n"))
		whole := func() string {
			var b strings.Builder
			for y := range 12 {
				cells := chrome.Row(nil, y)
				if i := y - box.Y; i >= 0 && i < box.H && !dialog {
					in.View(func(t *vterm.Terminal) { copy(cells[box.X:], t.Row(nil, i)[:box.W]) })
				}
				var line []byte
				for _, c := range cells {
					if c.Width > 0 {
						line = c.AppendText(line)
					}
				}
				b.WriteString(strings.TrimRight(string(line), " ") + "\n")
			}
			return strings.TrimSuffix(b.String(), "\n")
		}
		deadline := time.Now().Add(time.Minute)
		for out.text() != whole() {
			if time.Now().After(deadline) {
				t.Fatalf("after %d:\n%s\nwant\n%s", n, out.text(), whole())
			}
			time.Sleep(time.Millisecond)
		}
	}

	feed("hello 漢字 😀\r\n")
	expect(0, false)
	n := 0
	for i := range 15 {
		feed("\x1b[3%dmline %d e\u0301 ❤\ufe0f\x1b[m %s\r\n", i%8, i, strings.Repeat("x", i*3))
		p.Send(tickMsg{})
		n++
		if i%5 == 4 {
			expect(n, false)
		}
	}
	p.Send(dialogMsg(true))
	feed("behind the dialog\r\n")
	expect(n, true)
	p.Send(dialogMsg(false))
	expect(n, false)
	p.Quit()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the program does not end")
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	feed("after the end")
	if strings.Contains(out.text(), "after the end") {
		t.Error("painted after the end")
	}
	_ = slave.Close()
	_ = master.Close()
	reader.Wait()
}
