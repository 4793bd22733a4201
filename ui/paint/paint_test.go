package paint

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"orchestrator/agent/vterm"

	"github.com/charmbracelet/colorprofile"
)

// outer is the person's terminal: it keeps what was written and shows it with our own core.
type outer struct {
	mu   sync.Mutex
	all  []byte
	term *vterm.Terminal
}

func newOuter(cols, rows int) *outer { return &outer{term: vterm.New(cols, rows, vterm.Options{})} }

func (o *outer) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all = append(o.all, b...)
	return o.term.Write(b)
}
func (o *outer) Read([]byte) (int, error) { return 0, nil }
func (o *outer) Close() error             { return nil }
func (o *outer) Fd() uintptr              { return ^uintptr(0) }

func (o *outer) written() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	return bytes.Clone(o.all)
}

func (o *outer) text() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.term.Text()
}

// inner is a source.
type inner struct {
	mu   sync.Mutex
	term *vterm.Terminal
}

func newInner(cols, rows int) *inner {
	return &inner{term: vterm.New(cols, rows, vterm.Options{Scrollback: 100})}
}

func (s *inner) View(f func(*vterm.Terminal)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s.term)
}

func (s *inner) feed(format string, args ...any) {
	s.View(func(t *vterm.Terminal) { fmt.Fprintf(t, format, args...) })
}

// fixture is a writer with a clock of its own, so that no frame waits unless the test says so.
type fixture struct {
	*Writer
	spot *Spot
	out  *outer
	in   *inner
	at   time.Time
	late []func() // what timers would do; tests do it when they want
}

func newFixture(profile colorprofile.Profile, cols, rows int, box Box) *fixture {
	f := &fixture{out: newOuter(cols, rows), in: newInner(box.W, box.H), at: time.Unix(100, 0)}
	f.Writer = New(f.out, profile, cols, rows)
	f.spot = f.Spot()
	f.now = func() time.Time { f.at = f.at.Add(time.Second); return f.at }
	f.later = func(_ time.Duration, do func()) *time.Timer {
		f.late = append(f.late, do)
		return time.NewTimer(time.Hour)
	}
	_, _ = f.Write([]byte("\x1b[?1049h\x1b[?25l\x1b[2J"))
	f.SetPane(Pane{Box: box, Source: f.in, Cursor: true})
	return f
}

// SetPane and Suspend wait until they have been followed.
func (f *fixture) SetPane(p Pane) {
	f.spot.SetPane(p)
	f.spot.adoptNow()
}

func (f *fixture) Suspend() {
	f.spot.Suspend()
	f.spot.adoptNow()
}

func (f *fixture) feed(format string, args ...any) {
	f.in.feed(format, args...)
	f.spot.Changed()
}

// check compares the whole screen with chrome and pane put together by hand.
func (f *fixture) check(t *testing.T, chrome *vterm.Terminal, box Box) {
	t.Helper()
	cols, rows := f.out.term.Size()
	for y := range rows {
		got := f.out.term.Row(nil, y)
		want := chrome.Row(nil, y)
		if i := y - box.Y; i >= 0 && i < box.H {
			cells := f.in.term.Row(nil, i)
			copy(want[box.X:box.X+box.W], cells[:box.W])
		}
		for x := range cols {
			if g, w := got[x], want[x]; string(g.AppendText(nil)) != string(w.AppendText(nil)) ||
				g.Style != w.Style || g.Width != w.Width {
				t.Fatalf("cell %d,%d: got %q %+v, want %q %+v\n%s", x, y, g.AppendText(nil), g.Style,
					w.AppendText(nil), w.Style, f.out.term.Text())
			}
		}
	}
}

// TestComposite draws chrome and pane in turn, with everything Bubble Tea's renderer may use to erase and
// scroll: the screen must always be the two put together.
func TestComposite(t *testing.T) {
	box := Box{X: 10, Y: 2, W: 20, H: 5}
	chromeBits := []string{
		"\x1b[H\x1b[Ktitle%d", "\x1b[3;1Hside\x1b[K", "\x1b[4;1H\x1b[2Kx%d", "\x1b[8;1H\x1b[Jstatus", "\x1b[9;1H\n",
		"\x1b[H\x1bM", "\x1b[5;1H\x1b[L",
		"\x1b[2;1H\x1b[M", "\x1b[S", "\x1b[T", "\x1b[3;3H\x1b[20X", "\x1b[4;2H\x1b[@y", "\x1b[4;2H\x1b[P",
		"\x1b[2J\x1b[Hall%d", "\x1b[2;6r\x1b[6H\n\x1b[r",
		"\x1b[31m\x1b[2;2Hred", "\x1b[m", "\x1b[5;6Ha%d", "",
	}
	paneBits := []string{
		"hello %d ", "\r\n", "\x1b[31mred\x1b[m", "漢字", "😀", "\x1b[2J", "\x1b[H", "\x1b[44m\x1b[K", "\x1b[3;3H",
		"\n\n", "\x1b[?1049h", "\x1b[?1049l",
		"\x1b[5 q", "\x1b[?25l", "\x1b[?25h", "e\u0301❤\ufe0f", "\x1b[38;2;1;2;3;4:3mx", "─│",
	}
	for seed := range 15 {
		rng := rand.New(rand.NewPCG(5, uint64(seed)))
		f := newFixture(colorprofile.TrueColor, 40, 9, box)
		chrome := vterm.New(40, 9, vterm.Options{})
		fmt.Fprint(chrome, "\x1b[?1049h")
		for i := range 60 {
			if rng.IntN(2) == 0 {
				s := strings.ReplaceAll(chromeBits[rng.IntN(len(chromeBits))], "%d", fmt.Sprint(i))
				_, _ = f.Write([]byte(s))
				_, _ = chrome.Write([]byte(s))
				continue
			}
			f.feed("%s", strings.ReplaceAll(paneBits[rng.IntN(len(paneBits))], "%d", fmt.Sprint(i)))
			f.check(t, chrome, box)
		}
		_, _ = f.Write([]byte("x"))
		_, _ = chrome.Write([]byte("x"))
		f.check(t, chrome, box)
		cur, want := f.out.term.Cursor(), f.in.term.Cursor()
		if want.Visible != cur.Visible || cur.Visible &&
			(cur.X != box.X+want.X || cur.Y != box.Y+want.Y || cur.Style != want.Style) {
			t.Errorf("seed %d: cursor %+v, want %+v in the box", seed, cur, want)
		}
	}
}

// allowed is all that may be written for a pane.
var allowed = regexp.MustCompile("^(?:\x1b\\[[0-9;]*H|\x1b\\[[0-9;:]*m|\x1b\\[\\?(?:25|2026|1049)[hl]|" +
	"\x1b\\]8;id=o[0-9]+;https?://[!#-&(-;=?-_a-~]+\x1b\\\\|\x1b\\]8;;\x1b\\\\|\x1b\\[[0-6] q|\x1b[78]|\x1b\\[2J|[^\x00-\x1f\x7f-\u009f])*$")

// hostile are the strings of the threat table: each must stay inside of the emulator.
var hostile = []string{
	"\x1b]0;title\x07", "\x1b]1;icon\x07", "\x1b]2;title\x1b\\", "\x1b]4;1;rgb:0/0/0\x07", "\x1b]7;file:///x\x07",
	"\x1b]8;;file:///bin/sh\x07https://good\x1b]8;;\x07", "\x1b]9;note\x07", "\x1b]10;#fff\x07", "\x1b]11;?\x07",
	"\x1b]50;font\x07", "\x1b]8;;https://a.b/\x07page", "\x1b]8;id=a;https://a.b/';\"<>`\x1b\\page", "\x1b]8;;javascript:x\x07", "\x1b]8;;\x07",
	"\x1b]8;;https://a\u009cb/\x07c", "\x1b]8;;http://good@evil/\x07d", "\x1b]8;;https://evil.test/\x07https://good.example\x1b]8;;\x07",
	"\x1b]52;c;cm0gLXJm\x07", "\x1b]52;c;?\x07", "\x1b]133;A\x07", "\x1b]777;notify;a;b\x07",
	"\x1b]1337;File=:AAAA\x07",
	"\x1bP$qm\x1b\\", "\x1bPtmux;\x1b\x1b]0;x\x07\x1b\\", "\x1b_Gf=100;AAAA\x1b\\", "\x1b^pm\x1b\\", "\x1bXsos\x1b\\",
	"\x1bktitle\x1b\\",
	"\x1b[21t", "\x1b[c", "\x1b[>c", "\x1b[6n", "\x1b[5n", "\x1b[?1049h", "\x1b[?1000h", "\x1b[?2004h", "\x1b[>1u",
	"\x1b[>4;2m", "\x1b[?47h",
	"\x1bc", "\x1b#8", "\x1b(0qqq\x1b(B", "\x0e", "\x07", "\x05", "\u009b31m", "\u009d0;x\u009c", "\u0090x",
	"\x9b21t", "\x80\x85\x9f",
	"\u202eevil\u202c", "\u2066x\u2069", "\u200b", "\ufeff", "\U000e0041", "\x7f", "\x00", "a\u0300\u0301\u0302",
	"\x1b[8mhidden",
	"\x1b[=7501;6;1;27;93w", "\x1b[=7501;6;2;65;7w", "\x1b[=7501;6;1;155w",
}

// TestHostile: of whatever a program writes, only the allowed sequences reach the person's terminal.
func TestHostile(t *testing.T) {
	for _, profile := range []colorprofile.Profile{colorprofile.TrueColor, colorprofile.ANSI256, colorprofile.ANSI,
		colorprofile.ASCII, colorprofile.NoTTY} {
		f := newFixture(profile, 60, 12, Box{X: 5, Y: 2, W: 40, H: 8})
		for _, s := range hostile {
			f.feed("%s-%s-%s\r\n", s, s[:len(s)-1], s)
			f.feed("\x18")
		}
		rng := rand.New(rand.NewPCG(1, 2))
		for range 200 {
			f.feed("%s%s%d", hostile[rng.IntN(len(hostile))], "\x1b[", rng.IntN(100))
			if rng.IntN(4) == 0 {
				f.feed("\x18\x1b[?1049l\r\n")
			}
		}
		for _, part := range bytes.SplitAfter(f.out.written(), []byte("\x1b[?2026l")) {
			if !allowed.Match(part) {
				t.Fatalf("%s: %q", profile, part)
			}
			if !bytes.ContainsRune(part, 0xfffd) && bytes.Contains(part, []byte("\xc2\x9b")) {
				t.Fatalf("%s: C1 in %q", profile, part)
			}
		}
		if got := f.out.term.Title(); got != "" {
			t.Errorf("%s: title %q", profile, got)
		}
	}
}

// TestLinks: a link to a page is written anew, ends with its text or its row, and is left out if its text names another
// host, however the text is cut into links.
func TestLinks(t *testing.T) {
	for _, tt := range []struct {
		feed  string
		links string // the target of each cell of the first row that has one
	}{
		{"\x1b]8;;https://a.b/x\x07docs\x1b]8;;\x07 end", "docs>https://a.b/x"},
		{"\x1b]8;id=evil;https://a.b/日\x07docs\x1b]8;;\x07", "docs>https://a.b/%E6%97%A5"},
		{"\x1b]8;;file:///etc/passwd\x07docs\x1b]8;;\x07", ""},
		{"\x1b]8;;https://evil.test/\x07https://good.example/\x1b]8;;\x07", ""},
		{"https://good.\x1b]8;;https://evil.test/\x07example\x1b]8;;\x07/", ""},
		{"\x1b]8;;https://evil.test/1\x07good\x1b]8;;https://evil.test/2\x07.example\x1b]8;;\x07", ""},
		{"\x1b]8;;https://a.b/1\x07one\x1b]8;;https://a.b/2\x07two", "one>https://a.b/1 two>https://a.b/2"},
		{"\x1b]8;;https://a.b/\x07" + strings.Repeat("w", 20), strings.Repeat("w", 20) + ">https://a.b/"},
		{"\x1b]8;;https://a.b/\x07\x1b[31mred\x1b[m日\x1b]8;;\x07", "red日>https://a.b/"},
		{"\x1b]8;;https://a.b/\x07x\x1b]8;;https://evil.test/\x07good.example\x1b]8;;\x07", ""},
		{"\x1b]8;;https://a.b/\x07x\x1b]8;;https://evil.test/\x07 good.example\x1b]8;;\x07", "x>https://a.b/"},
	} {
		f := newFixture(colorprofile.TrueColor, 30, 6, Box{X: 3, Y: 1, W: 20, H: 3})
		f.feed("%s", tt.feed)
		var got []string
		last := ""
		for _, c := range f.out.term.Row(nil, 1) {
			to := f.out.term.Link(c.Style.Link)
			switch {
			case c.Width == 0 || to == "" && last == "":
			case to != last:
				if to != "" {
					got = append(got, string(c.AppendText(nil))+">"+to)
				}
				last = to
			default:
				text, _, _ := strings.Cut(got[len(got)-1], ">")
				got[len(got)-1] = text + string(c.AppendText(nil)) + ">" + to
			}
		}
		if s := strings.Join(got, " "); s != tt.links {
			t.Errorf("%q: %s, want %s", tt.feed, s, tt.links)
		}
		if opens, ends := bytes.Count(f.out.written(), []byte("]8;id=")), bytes.Count(f.out.written(), []byte("]8;;\x1b")); opens != ends {
			t.Errorf("%q: %d links begin, %d end", tt.feed, opens, ends)
		}
	}
}

// TestTags: characters that no terminal shows and every model reads reach the screen in flags alone.
func TestTags(t *testing.T) {
	const england = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
	f := newFixture(colorprofile.TrueColor, 60, 12, Box{X: 5, Y: 2, W: 40, H: 8})
	f.feed("h\U000e0041\U000e007f \U000e0042 %s", england)
	out := string(f.out.written())
	if !strings.Contains(out, england) || strings.ContainsAny(strings.ReplaceAll(out, england, ""),
		"\U000e0041\U000e0042\U000e007f") {
		t.Errorf("%q", out)
	}
}

// TestChromeStays: full-screen programs, cursor tricks and resizes of the program's screen leave every cell
// outside of the box as it was.
func TestChromeStays(t *testing.T) {
	box := Box{X: 4, Y: 1, W: 10, H: 4}
	f := newFixture(colorprofile.TrueColor, 20, 7, box)
	var chrome strings.Builder
	for y := range 7 {
		fmt.Fprintf(&chrome, "\x1b[%dH\x1b[7m%s\x1b[m", y+1, strings.Repeat("#", 20))
	}
	_, _ = f.Write([]byte(chrome.String()))
	for i, s := range []string{"\x1b#8", "\x1b[999;999H漢漢漢",
		"\x1b[?1049h\x1b[2J\x1b[H" + strings.Repeat("Allow? y ", 40),
		"\x1b[?6h\x1b[1;1H\x1b[41m\x1b[J", "\x1b[?7l" + strings.Repeat("漢", 30)} {
		if i == 3 {
			f.in.View(func(t *vterm.Terminal) { t.Resize(30, 9) }) // the program is ahead of the box
		}
		f.feed("%s", s)
		for y := range 7 {
			for x, c := range f.out.term.Row(nil, y) {
				inside := x >= box.X && x < box.X+box.W && y >= box.Y && y < box.Y+box.H
				if !inside && (c.Rune != '#' || c.Style.Attr != vterm.Reverse) {
					t.Fatalf("after %q cell %d,%d is %q %+v", s, x, y, c.Rune, c.Style)
				}
			}
		}
	}
}

func TestNothingToDraw(t *testing.T) {
	f := newFixture(colorprofile.TrueColor, 40, 9, Box{X: 10, Y: 2, W: 20, H: 5})
	f.feed("hello")
	n := len(f.out.written())
	f.spot.Changed()
	f.feed("\x1b[m\x1b]2;title\x07")
	if got := len(f.out.written()); got != n {
		t.Errorf("%d bytes for nothing: %q", got-n, f.out.written()[n:])
	}
	f.feed("x")
	frame := f.out.written()[n:]
	if c := bytes.Count(frame, []byte("H")); c != 2 { // the row and the cursor
		t.Errorf("one row of change moves the cursor %d times: %q", c, frame)
	}
}

// TestFrameGap: the first change is drawn at once, the next ones together after the gap, and a change that
// draws nothing holds no frame back.
func TestFrameGap(t *testing.T) {
	f := newFixture(colorprofile.TrueColor, 40, 9, Box{X: 10, Y: 2, W: 20, H: 5})
	now := f.at.Add(time.Hour)
	f.now = func() time.Time { return now }
	f.feed("\x1b[m")
	f.feed("one")
	if !strings.Contains(f.out.text(), "one") {
		t.Fatal("the first change waits")
	}
	f.feed("two")
	if strings.Contains(f.out.text(), "two") {
		t.Fatal("the second change does not wait")
	}
	f.feed("three")
	if len(f.late) != 1 {
		t.Fatalf("%d timers run", len(f.late))
	}
	f.late[0]()
	if !strings.Contains(f.out.text(), "onetwothree") {
		t.Fatal("the gap's end draws nothing")
	}
}

// TestSync: nothing is drawn in the middle of a synchronized frame, all of it at its end, and what Bubble Tea
// writes meanwhile goes through.
func TestSync(t *testing.T) {
	f := newFixture(colorprofile.TrueColor, 40, 9, Box{X: 10, Y: 2, W: 20, H: 5})
	now := f.at.Add(time.Hour)
	f.now = func() time.Time { now = now.Add(frameGap); return now }
	f.feed("\x1b[?2026hhalf")
	if strings.Contains(f.out.text(), "half") {
		t.Error("half a frame is drawn")
	}
	_, _ = f.Write([]byte("\x1b[1;1Hchrome"))
	if s := f.out.text(); strings.Contains(s, "half") || !strings.Contains(s, "chrome") {
		t.Errorf("got %q", s)
	}
	f.feed(" whole\x1b[?2026l")
	if !strings.Contains(f.out.text(), "half whole") {
		t.Error("the frame is not drawn at its end")
	}
	f.feed("\x1b[?2026hstuck")
	now = now.Add(syncLimit)
	f.late[len(f.late)-1]()
	if !strings.Contains(f.out.text(), "stuck") {
		t.Error("a frame without end is never drawn")
	}
}

func TestSuspend(t *testing.T) {
	box := Box{X: 10, Y: 2, W: 20, H: 5}
	f := newFixture(colorprofile.TrueColor, 40, 9, box)
	f.feed("below")
	f.Suspend()
	_, _ = f.Write([]byte("\x1b[3;11Hdialog"))
	f.feed(" hidden")
	if s := f.out.text(); strings.Contains(s, "hidden") || !strings.Contains(s, "dialog") {
		t.Errorf("got %q", s)
	}
	if f.out.term.Cursor().Visible {
		t.Error("the cursor shows while suspended")
	}
	_, _ = f.Write([]byte("\x1b[3;11H      "))
	f.SetPane(Pane{Box: box, Source: f.in})
	if s := f.out.text(); !strings.Contains(s, "below hidden") {
		t.Errorf("got %q", s)
	}
	if f.out.term.Cursor().Visible {
		t.Error("the cursor shows without focus")
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	f.feed(" late")
	if strings.Contains(f.out.text(), "late") {
		t.Error("painted after Close")
	}
}

// TestHiddenCursor: the cursor stands where the program's is, also while the program hides it and draws elsewhere, and
// is Bubble Tea's again without focus.
func TestHiddenCursor(t *testing.T) {
	box := Box{X: 10, Y: 2, W: 20, H: 5}
	for _, hide := range []string{"", "\x1b[?25l"} {
		for _, c := range []struct {
			typed string
			x     int
		}{{"abc", 3}, {"한글", 4}, {"日本a", 5}, {"👩‍👧b", 3}, {"é", 1}, {"", 0}} {
			f := newFixture(colorprofile.TrueColor, 40, 9, box)
			f.SetPane(Pane{Box: box, Source: f.in, Cursor: true})
			f.feed("%s\x1b[4;1H%s", hide, c.typed)
			for i := range 10 { // a spinner
				f.feed("\x1b7\x1b[1;1H%c\x1b8", "|/-\\"[i%4])
				if _, err := f.Write([]byte("\x1b[1;1Hchrome")); err != nil {
					t.Fatal(err)
				}
				f.feed("\x1b[?2026h\x1b[1;3H%c\x1b[4;%dH\x1b[?2026l", "|/-\\"[i%4], c.x+1)
				if got := f.out.term.Cursor(); got.X != box.X+c.x || got.Y != box.Y+3 || got.Visible != (hide == "") {
					t.Errorf("hidden %q, typed %q: cursor %d,%d visible %v, want %d,%d", hide, c.typed, got.X, got.Y, got.Visible,
						box.X+c.x, box.Y+3)
					break
				}
			}
			f.SetPane(Pane{Box: box, Source: f.in})
			if got := f.out.term.Cursor(); got.Visible || got.X != 6 || got.Y != 0 {
				t.Errorf("without focus the cursor is %+v", got)
			}
		}
	}
}

// TestCursorParks: a hidden cursor that a program moves about in the middle of a frame stays where it was until it rests; one
// that never rests is followed after a while.
func TestCursorParks(t *testing.T) {
	box := Box{X: 10, Y: 2, W: 20, H: 5}
	f := newFixture(colorprofile.TrueColor, 40, 9, box)
	now := f.at.Add(time.Hour)
	f.now = func() time.Time { return now }
	at := func(step string, x, y int) {
		t.Helper()
		if got := f.out.term.Cursor(); got.X != box.X+x || got.Y != box.Y+y || got.Visible {
			t.Errorf("%s: cursor %d,%d visible %v, want %d,%d", step, got.X-box.X, got.Y-box.Y, got.Visible, x, y)
		}
	}
	feed := func(s string) {
		now = now.Add(frameGap)
		f.feed("%s", s)
	}
	rest := func() {
		now = now.Add(parkDelay)
		late := f.late
		f.late = nil
		for _, do := range late {
			do()
		}
	}
	feed("\x1b[3;1Habc") // still shown
	feed("\x1b[?25l\x1b[1;1H|")
	at("hidden, and half a frame", 3, 2)
	feed("\x1b[3;4H")
	at("its end", 3, 2)
	rest()
	at("at rest", 3, 2)
	feed("\x1b[1;1H/")
	if !strings.Contains(f.out.text(), "/") {
		t.Error("what is drawn waits too")
	}
	_, _ = f.Write([]byte("\x1b[1;1Hchrome"))
	at("half a frame, and Bubble Tea draws", 3, 2)
	feed("\x1b[3;4Hd")
	at("a letter", 3, 2)
	rest()
	at("a letter at rest", 4, 2)
	for i := range int(parkLimit/frameGap) + 2 {
		feed("\x1b[1;" + strconv.Itoa(1+i%15) + "Hx")
	}
	if got := f.out.term.Cursor(); got.Y != box.Y {
		t.Errorf("a cursor that never rests is at row %d", got.Y-box.Y)
	}
	feed("\x1b[4;2H")
	f.SetPane(Pane{Box: Box{X: 10, Y: 1, W: 20, H: 5}, Source: f.in, Cursor: true})
	if got := f.out.term.Cursor(); got.X != 11 || got.Y != 4 {
		t.Errorf("the pane moved, and the cursor is at %d,%d", got.X, got.Y)
	}
	feed("\x1b[?25h\x1b[1;1H")
	if got := f.out.term.Cursor(); got.X != 10 || got.Y != 1 || !got.Visible {
		t.Errorf("a cursor that is shown is at %d,%d, visible %v", got.X, got.Y, got.Visible)
	}
}

// TestMovesAhead: a pane that grows over a border of Bubble Tea's and shrinks again, or goes, before Bubble Tea draws
// leaves the border as it was.
func TestMovesAhead(t *testing.T) {
	small, large := Box{X: 2, Y: 1, W: 10, H: 3}, Box{X: 2, Y: 1, W: 10, H: 5}
	for name, back := range map[string]func(f *fixture){
		"shrinks": func(f *fixture) { f.SetPane(Pane{Box: small, Source: f.in}) },
		"goes":    func(f *fixture) { f.Suspend() },
		"moves":   func(f *fixture) { f.SetPane(Pane{Box: Box{X: 2, Y: 1, W: 4, H: 2}, Source: f.in}) },
		"twice": func(f *fixture) {
			f.SetPane(Pane{Box: Box{X: 2, Y: 1, W: 10, H: 4}, Source: f.in})
			f.SetPane(Pane{Box: small, Source: f.in})
		},
	} {
		f := newFixture(colorprofile.TrueColor, 14, 7, small)
		if _, err := f.Write([]byte("\x1b[5;1H--- views ---\x1b[6;1Hoffer")); err != nil {
			t.Fatal(err)
		}
		f.feed("1\r\n2\r\n3\r\n4\r\n5")
		f.SetPane(Pane{Box: large, Source: f.in})
		back(f)
		if got := f.out.term.Text(); !strings.Contains(got, "--- views ---\noffer") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestScrollAndSelection(t *testing.T) {
	box := Box{X: 2, Y: 1, W: 10, H: 3}
	f := newFixture(colorprofile.TrueColor, 14, 5, box)
	for i := range 20 {
		f.feed("line %d\r\n", i)
	}
	sel := vterm.Selection{From: vterm.Point{Line: 5, X: 5}, To: vterm.Point{Line: 6, X: 3}}
	f.SetPane(Pane{Box: box, Source: f.in, Scrolled: true, Top: 5, Selection: &sel, Cursor: true})
	want := "\n  line 5\n  line 6\n  line 7\n"
	if got := f.out.term.Text(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	f.feed("more\r\n")
	if got := f.out.term.Text(); got != want {
		t.Errorf("output moves the history: %q", got)
	}
	reversed := func(x, y int) bool { return f.out.term.Row(nil, y)[x].Style.Attr&vterm.Reverse != 0 }
	if reversed(6, 1) || !reversed(7, 1) || !reversed(11, 1) || !reversed(2, 2) || !reversed(5, 2) || reversed(6, 2) {
		t.Error("the selection is not where it should be")
	}
	if f.out.term.Cursor().Visible {
		t.Error("the cursor shows in the history")
	}
}

func TestProfiles(t *testing.T) {
	for _, c := range []struct {
		profile colorprofile.Profile
		want    string
	}{
		{colorprofile.TrueColor, "\x1b[0;1;4:3;38;2;250;10;10;48;5;200;58:2::1:2:3m"},
		{colorprofile.ANSI256, "\x1b[0;1;4;38;5;196;48;5;200m"},
		{colorprofile.ANSI, "\x1b[0;1;4;31;45m"},
		{colorprofile.ASCII, "\x1b[0;1;4m"},
		{colorprofile.NoTTY, ""},
	} {
		s := vterm.Style{Fg: vterm.RGBColor(250, 10, 10), Bg: vterm.PaletteColor(200), Ul: vterm.RGBColor(1, 2, 3),
			Attr: vterm.Bold | 3<<12}
		if got := string(appendStyle(nil, s, c.profile)); got != c.want {
			t.Errorf("%s: got %q, want %q", c.profile, got, c.want)
		}
	}
}

func BenchmarkFrame(b *testing.B) {
	f := newFixture(colorprofile.TrueColor, 200, 50, Box{X: 30, Y: 1, W: 170, H: 48})
	f.in.View(func(t *vterm.Terminal) { t.Resize(170, 48) })
	for i := 0; b.Loop(); i++ {
		f.out.all = f.out.all[:0]
		for j := range 48 {
			f.in.feed("\x1b[%dm%d %s\r\n", 31+j%7, i, strings.Repeat("text ", 25))
		}
		f.spot.Changed()
	}
}

func BenchmarkKey(b *testing.B) {
	f := newFixture(colorprofile.TrueColor, 200, 50, Box{X: 30, Y: 1, W: 170, H: 48})
	for i := 0; b.Loop(); i++ {
		f.out.all = f.out.all[:0]
		f.feed("%c", 'a'+i%26)
	}
}
