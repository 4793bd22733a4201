package terminal

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"orchestrator/agent/vterm"
	"orchestrator/thread/ground/await"
	"orchestrator/ui/intent"
	"orchestrator/ui/paint"
	"orchestrator/ui/scrolling"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
)

var _ scrolling.Pane = (*Model)(nil)

var update = flag.Bool("update", false, "update the golden files")

// outer is the person's terminal.
type outer struct {
	mu   sync.Mutex
	term *vterm.Terminal
}

func (o *outer) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.term.Write(b)
}
func (o *outer) Read([]byte) (int, error) { return 0, nil }
func (o *outer) Close() error             { return nil }
func (o *outer) Fd() uintptr              { return ^uintptr(0) }

// frame returns what is on the screen, with a second line below each that has anything but plain text: # is selected,
// = a match, % both, and @ the cursor.
func (o *outer) frame() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, rows := o.term.Size()
	var b strings.Builder
	for y := range rows {
		var marks []byte
		for x, c := range o.term.Row(nil, y) {
			_, _, _, match := c.Style.Bg.RGB()
			match = match || c.Style.Underline() != vterm.UnderlineNone
			mark := byte(' ')
			switch selected := c.Style.Attr&vterm.Reverse != 0; {
			case selected && match:
				mark = '%'
			case selected:
				mark = '#'
			case match:
				mark = '='
			}
			if at := o.term.Cursor(); at.Visible && at.X == x && at.Y == y {
				mark = '@'
			}
			marks = append(marks, mark)
		}
		fmt.Fprintf(&b, "│%s\n", o.term.RowText(y))
		if m := strings.TrimRight(string(marks), " "); m != "" {
			fmt.Fprintf(&b, " %s\n", m)
		}
	}
	return b.String()
}

// story is what an agent has printed.
func story() string {
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, "● Read(file%02d.go)\r\n  └ %d lines of 日本語 and \x1b[32mgreen\x1b[m text that wraps here\r\n\r\n", i, i*7)
	}
	return b.String() + "› "
}

// TestGoldenReading draws scroll mode with the real painter.
func TestGoldenReading(t *testing.T) {
	for _, tt := range []struct {
		name, search string
		keys         []intent.Intent
		profile      colorprofile.Profile
	}{
		{"read", "", []intent.Intent{intent.Digit{N: 4}, intent.Up}, colorprofile.TrueColor},
		{"read-search", "lines OF", nil, colorprofile.TrueColor},
		{"read-found", "lines of", []intent.Intent{intent.NextHit}, colorprofile.TrueColor},
		{"read-selected", "GREEN", nil, colorprofile.TrueColor},
		{"read-text", "file41", []intent.Intent{intent.SelectText, intent.WordEnd, intent.Down}, colorprofile.TrueColor},
		{"read-lines", "file41", []intent.Intent{intent.SelectLines, intent.Down}, colorprofile.ASCII},
		{"read-block", "file41", []intent.Intent{intent.SelectBlock, intent.Digit{N: 6}, intent.Right, intent.Digit{N: 3}, intent.Down}, colorprofile.TrueColor},
		{"read-output", "file41", []intent.Intent{intent.SelectOutput}, colorprofile.TrueColor},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := &outer{term: vterm.New(50, 14, vterm.Options{})}
			w := paint.New(out, tt.profile, 50, 14)
			defer func() { _ = w.Close() }()
			_, _ = w.Write([]byte("\x1b[?1049h"))
			srv := &server{}
			spot := w.Spot()
			m := New(srv, spot)
			defer m.Close()
			m.Place(paint.Box{X: 2, Y: 1, W: 44, H: 11})
			next := m.Show("one")
			srv.last(t, 1).out <- []byte(story())
			m.Update(next())
			if !m.Read() {
				t.Fatal("there is nothing to read")
			}
			if tt.search != "" {
				m.BeginSearch(true)
				m.Search(tt.search)
			}
			for _, k := range tt.keys {
				m.Act(k)
			}
			time.Sleep(20 * time.Millisecond) // the gap between two frames
			spot.Changed()
			got := out.frame() + m.Where() + "\n"
			path := filepath.Join("testdata", tt.name+".txt")
			if *update {
				_ = os.MkdirAll("testdata", 0o755)
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatalf("%v; `go test ./ui/terminal -update` writes it", err)
			}
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// TestStandsStill: what arrives while the pane is read moves nothing, is counted, and is there afterwards.
func TestStandsStill(t *testing.T) {
	p := newPane(t)
	st := p.live(story())
	p.Act(intent.Up) // without scroll mode, nothing
	if !p.Read() {
		t.Fatal("there is nothing to read")
	}
	was := p.p.pane
	for i := range 10 {
		st.out <- []byte(fmt.Sprintf("news %d\r\n", i))
	}
	st.out <- []byte("\x1b[H\x1b[2Jcleared")
	await.Until(t, "the news", func() bool { return strings.Contains(p.Where(), "10 new") })
	was.Source.View(func(term *vterm.Terminal) {
		if got := term.Text(); strings.Contains(got, "news") || !strings.Contains(got, "›") {
			t.Errorf("it shows\n%s", got)
		}
	})
	p.Place(paint.Box{X: 5, Y: 2, W: 11, H: 3})
	if got := p.Where(); !strings.Contains(got, "10 new") {
		t.Errorf("after another size: %s", got)
	}
	p.Act(intent.Leave)
	if p.Reading() || p.p.pane.Caret != nil || p.p.pane.Source == was.Source || p.p.pane.Scrolled {
		t.Error("the pane does not show what its program shows")
	}
}

// TestReadsWhereScrolled: scroll mode begins where the wheel has scrolled to; esc drops the selection first.
func TestReadsWhereScrolled(t *testing.T) {
	p := newPane(t)
	p.live(story())
	p.ScrollBy(-20)
	top := p.p.pane.Top
	p.Read()
	if got := p.p.pane.Top; got != top {
		t.Errorf("it begins with line %d, scrolled to was %d", got, top)
	}
	p.Act(intent.SelectLines)
	if p.Act(intent.Cancel); !p.Reading() || p.p.pane.Selection != nil {
		t.Error("esc does not drop the selection")
	}
	if p.Act(intent.Cancel); p.Reading() {
		t.Error("esc does not leave")
	}
}

// TestReadingMouse: press, drag and double click select in scroll mode, and copy; nothing goes to the program.
func TestReadingMouse(t *testing.T) {
	p := newPane(t)
	st := p.live("\x1b[?1000;1006hone two three\r\nfour five")
	p.Read()
	at := func(x, y int) tea.Mouse { return tea.Mouse{X: 5 + x, Y: 2 + y, Button: tea.MouseLeft} }
	p.Update(tea.MouseClickMsg(at(4, 0)))
	p.Update(tea.MouseMotionMsg(at(3, 1)))
	if cmd := p.Update(tea.MouseReleaseMsg(at(3, 1))); cmd == nil || p.Selected() != "two three\nfour" {
		t.Errorf("%q is selected", p.Selected())
	}
	for _, want := range []string{"", "five", "four five"} {
		p.Update(tea.MouseClickMsg(at(6, 1)))
		p.Update(tea.MouseReleaseMsg(at(6, 1)))
		if got := p.Selected(); got != want {
			t.Errorf("clicked to %q, want %q", got, want)
		}
	}
	p.Act(intent.Leave)
	if got := st.got(); got != "" {
		t.Errorf("the program got %q", got)
	}
}

// copied runs what a key returned, and returns what it put on the clipboard.
func copied(t *testing.T, cmd tea.Cmd) string {
	t.Helper()
	if cmd == nil {
		return ""
	}
	if batch, ok := cmd().(tea.BatchMsg); ok {
		for _, c := range batch {
			if s := fmt.Sprintf("%s", c()); !strings.HasPrefix(s, "{") {
				return s
			}
		}
	}
	t.Fatal("nothing is put on the clipboard")
	return ""
}

func (p *pane) act(in intent.Intent) tea.Cmd {
	cmd, _ := p.Act(in)
	return cmd
}

func TestCopyInReading(t *testing.T) {
	p := newPane(t)
	p.live("first\r\n\r\nls -l\r\ntotal 0\r\n\r\nlast")
	p.Read()
	p.Act(intent.Digit{N: 3})
	p.Act(intent.First)
	if got := copied(t, p.act(intent.Copy)); got != "ls -l\ntotal 0" {
		t.Errorf("the block: %q", got)
	}
	p.Act(intent.First)
	p.Act(intent.SelectText)
	p.Act(intent.Right)
	if got := copied(t, p.act(intent.Copy)); got != "fi" {
		t.Errorf("the selection: %q", got)
	}
	if !p.Reading() || p.p.pane.Selection != nil {
		t.Error("after copying, the pane is not read on without a selection")
	}
}

// TestReports: a text for the clipboard is asked about once, and progress and title are told.
func TestReports(t *testing.T) {
	p := newPane(t)
	st := p.live("x")
	st.out <- []byte("\x1b]52;c;aGk=\x07\x1b]9;4;1;47\x07\x1b]2;the title\x07\x1b]52;c;?\x07")
	got := make(chan tea.Msg, 1)
	go func() { got <- p.next() }()
	cmd := p.Update(<-got)
	batch, ok := cmd().(tea.BatchMsg)
	if !ok || len(batch) != 2 {
		t.Fatal("nothing is asked")
	}
	w, ok := batch[0]().(WantsMsg)
	if id, text := w.Wants(); !ok || id != "one" || text != "hi" {
		t.Errorf("%s wants %q", id, text)
	}
	if n, ok := p.Progress(); !ok || n != 47 || p.Title() != "the title" {
		t.Errorf("%d %%, %v, title %q", n, ok, p.Title())
	}
	p.next = batch[1]
	st.out <- []byte("\x1b]9;4;0\x07")
	p.news()
	if _, ok := p.Progress(); ok {
		t.Error("progress that has ended is told")
	}
}
