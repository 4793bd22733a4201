package vterm

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestEvents(t *testing.T) {
	var got []Event
	term := New(20, 4, Options{Event: func(e Event) { got = append(got, e) }})
	_, _ = term.Write([]byte("\a\x1b]0;ti\x1b[mtle\x07\x1b]0;title\x07\x1b]9;hello\x07\x1b]777;notify;a;b;c\x07" +
		"\x1b]9;4;2;150\x07\x1b]9;4\x07\x1b]9;1;x\x07" +
		"\x1b]52;c;aGk=\x07\x1b]52;c;?\x07\x1b]52;c;***\x07\x1b]7;file:///tmp\x07\x1b]133;D;1\x07\x1b[?1002h" +
		"\x1b]7501;state=blocked:app=claude:kind=permission:msg=UnVuIGxzPw==\x1b\\\x1b]7501;nothing\x07"))
	want := []Event{
		Bell{}, TitleChanged{"title"}, Notification{Body: "hello"}, Notification{Title: "a", Body: "b;c"}, Progress{2, 100},
		Progress{},
		Clipboard{"hi"},
		Status{"blocked", "permission", "Run ls?"}, // the folder and marks of a shell are for nobody
	}
	// The first title is cut by the escape inside of it, and its end is then a bell.
	want = append([]Event{Bell{}, TitleChanged{"ti"}}, want...)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestBlank: spaces, coloured ones too, and what was cleared show nothing; one character anywhere does.
func TestBlank(t *testing.T) {
	for in, want := range map[string]bool{
		"": true, " \r\n\t ": true, "\x1b[41m   \x1b[0m": true, "a\x1b[2J": true, "a\b ": true, "\u00a0\u3000": true,
		"a": false, "\x1b[4;20Hx": false, "\u97d3": false, "e\u0301": false, "\x1b[8msecret": false,
	} {
		term := New(20, 4, Options{})
		_, _ = term.Write([]byte(in))
		if term.Blank() != want || want != (strings.TrimSpace(term.Text()) == "") {
			t.Errorf("%q: blank is %v, its text %q", in, term.Blank(), term.Text())
		}
	}
}

// TestQueryStorm: a million queries give a bounded number of answers, and more come with time.
func TestQueryStorm(t *testing.T) {
	now := time.Unix(100, 0)
	n := 0
	term := New(80, 24, Options{Reply: func([]byte) { n++ }, Now: func() time.Time { return now }})
	storm := bytes.Repeat([]byte("\x1b[c"), 100000)
	_, _ = term.Write(storm)
	if n != replyBurst {
		t.Errorf("%d answers, want %d", n, replyBurst)
	}
	now = now.Add(time.Second)
	n = 0
	_, _ = term.Write(storm)
	if n != replyRate {
		t.Errorf("%d answers a second later, want %d", n, replyRate)
	}
}

// TestBounded writes what could grow without bound: styles, clusters, links, titles, long strings.
func TestBounded(t *testing.T) {
	term := New(100, 20, Options{Scrollback: 200, ScrollbackBytes: 1 << 20})
	var b bytes.Buffer
	for i := range 60000 {
		fmt.Fprintf(&b, "\x1b[38;2;%d;%d;%dm\x1b]8;;http://h/%d\x07a%c%c", i>>16, i>>8&255, i&255, i, 0x300+i%100,
			0x300+i/100%100)
		if b.Len() > 1<<16 {
			_, _ = term.Write(b.Bytes())
			b.Reset()
			checkInvariants(t, term)
		}
	}
	if n := len(term.styles.vals); n > 3*sweepFloor {
		t.Errorf("%d styles are held", n)
	}
	if n := len(term.clusters.vals); n > 3*sweepFloor {
		t.Errorf("%d clusters are held", n)
	}
	if n := len(term.links.vals); n > maxLinks+1 {
		t.Errorf("%d links are held", n)
	}
	if term.history.bytes > 2<<20 {
		t.Errorf("history takes %d bytes", term.history.bytes)
	}
	_, _ = term.Write([]byte("\x1b]2;"))
	for range 300 {
		_, _ = term.Write(bytes.Repeat([]byte("x"), 1<<14))
	}
	if n := cap(term.parser.str); n > 2*maxString {
		t.Errorf("a title of %d bytes is held", n)
	}
	_, _ = term.Write([]byte("\x07"))
	if len(term.Title()) > maxTitle {
		t.Errorf("title of %d bytes", len(term.Title()))
	}
}

// TestLinksStay: a link in the history survives the sweeping of thousands of others.
func TestLinksStay(t *testing.T) {
	term := New(40, 4, Options{})
	_, _ = term.Write([]byte("\x1b]8;;http://first/\x07first\x1b]8;;\x07\r\n\r\n\r\n\r\n\r\n"))
	for i := range 3 * maxLinks {
		fmt.Fprintf(term, "\x1b[H\x1b]8;;http://h/%d\x07x\x1b]8;;\x07", i)
	}
	cells, _ := term.Line(nil, term.FirstLine())
	if got := term.Link(cells[0].Style.Link); got != "http://first/" {
		t.Errorf("link is %q", got)
	}
	last := term.Row(nil, 0)[0].Style.Link
	if got := term.Link(last); got != fmt.Sprintf("http://h/%d", 3*maxLinks-1) {
		t.Errorf("newest link is %q", got)
	}
}

func TestHistory(t *testing.T) {
	term := New(20, 3, Options{Scrollback: 50})
	for i := range 200 {
		fmt.Fprintf(term, "\x1b[%dmline %d 漢\r\n", 30+i%8, i)
	}
	if term.History() != 50 {
		t.Fatalf("%d lines kept", term.History())
	}
	first := term.FirstLine()
	if first != 198-50 {
		t.Errorf("first line is %d", first)
	}
	for n := first; n < first+51; n++ {
		if got, want := term.LineText(n), fmt.Sprintf("line %d 漢", n); got != want {
			t.Errorf("line %d is %q", n, got)
		}
	}
	cells, _ := term.Line(nil, first)
	if c, _ := cells[0].Style.Fg.Palette(); int(c) != int(first)%8 {
		t.Errorf("colour %d", c)
	}
	if got := term.LineText(first - 1); got != "" {
		t.Errorf("a dropped line reads %q", got)
	}
}

func TestSelectedText(t *testing.T) {
	term := New(10, 3, Options{})
	_, _ = term.Write([]byte("one two   \r\nabcdefghijklmno漢\r\nend here"))
	first := term.FirstLine()
	at := func(line uint64, x int) Point { return Point{Line: first + line, X: x} }
	for _, c := range []struct {
		s    Selection
		want string
	}{
		{Selection{From: at(0, 0), To: at(3, 99)}, "one two\nabcdefghijklmno漢\nend here"},
		{Selection{From: at(3, 2), To: at(0, 4)}, "two\nabcdefghijklmno漢\nend"},
		{Selection{From: at(0, 1), To: at(2, 2), Block: true}, "ne\nbc\nlm"},
		{Selection{From: at(2, 6), To: at(2, 6)}, "漢"},
		{Selection{From: at(0, 8), To: at(0, 9)}, ""},
	} {
		if got := term.SelectedText(c.s); got != c.want {
			t.Errorf("%+v: got %q, want %q", c.s, got, c.want)
		}
	}
	if got := term.SelectedText(term.Word(at(0, 5))); got != "two" {
		t.Errorf("word is %q", got)
	}
	if got := term.SelectedText(term.Paragraph(at(2, 3))); got != "abcdefghijklmno漢" {
		t.Errorf("paragraph is %q", got)
	}
}

// TestRowGeneration: what shows another content has another generation, what stays keeps it.
func TestRowGeneration(t *testing.T) {
	term := New(10, 4, Options{})
	_, _ = term.Write([]byte("a\r\nb\r\nc\r\nd"))
	gens := func() (g []uint64) {
		for y := range 4 {
			g = append(g, term.RowGeneration(y))
		}
		return g
	}
	before := gens()
	_, _ = term.Write([]byte("\x1b[2;3Hx"))
	after := gens()
	for y := range 4 {
		if changed := before[y] != after[y]; changed != (y == 1) {
			t.Errorf("row %d changed: %v", y, changed)
		}
	}
	_, _ = term.Write([]byte("\x1b[4H\n"))
	for y, g := range gens() {
		if g == after[y] {
			t.Errorf("row %d keeps its generation while scrolling", y)
		}
	}
}

// Benchmarks

func stream(name string) []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < 4<<20; i++ {
		switch name {
		case "seq":
			fmt.Fprintf(&b, "%d\r\n", i)
		case "text":
			b.WriteString(strings.Repeat("lorem ipsum ", 9) + "\r\n")
		case "sgr":
			fmt.Fprintf(&b, "\x1b[H\x1b[%dmab\x1b[1;%dmcd\x1b[0m", 30+i%8, 40+i%8)
		case "truecolor":
			fmt.Fprintf(&b, "\x1b[38;2;%d;%d;%dm%s\x1b[0m message %d\r\n", i%256, i/3%256, i/7%256, "LEVEL", i)
		case "unicode":
			b.WriteString("漢字 😀 e\u0301 👨\u200d👩\u200d👧 text\r\n")
		case "cjk":
			b.WriteString(strings.Repeat("漢字仮名交文", 8) + "\r\n")
		case "region":
			fmt.Fprintf(&b, "\x1b[5;40r\x1b[40;1Hline of text in a region %d\n", i)
		case "alt":
			fmt.Fprintf(&b, "\x1b[%d;%dHtext here and there", i*7%50+1, i*13%180+1)
		case "agent":
			b.WriteString("\x1b[?2026h\x1b[2K\x1b[1A\x1b[2K\x1b[1A\x1b[2K\x1b[G")
			fmt.Fprintf(&b, "\x1b[38;5;174m✻\x1b[39m \x1b[38;5;174mThinking… \x1b[2m(%ds · esc to interrupt)\x1b[22m"+
				"\r\n%s\r\n\x1b[?2026l", i, strings.Repeat("─", 100))
		}
	}
	return b.Bytes()
}

func BenchmarkWrite(b *testing.B) {
	for _, name := range []string{"seq", "text", "sgr", "truecolor", "unicode", "cjk", "region", "alt", "agent"} {
		data := stream(name)
		b.Run(name, func(b *testing.B) {
			term := New(200, 50, Options{})
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				for d := data; len(d) > 0; {
					n := min(len(d), 32<<10)
					_, _ = term.Write(d[:n])
					d = d[n:]
				}
			}
		})
	}
}

func BenchmarkSnapshot(b *testing.B) {
	term := New(200, 50, Options{})
	_, _ = term.Write(stream("truecolor"))
	for b.Loop() {
		b.SetBytes(int64(len(term.Snapshot(-1))))
	}
}

func BenchmarkReflow(b *testing.B) {
	term := New(200, 50, Options{})
	_, _ = term.Write(stream("text"))
	for i := 0; b.Loop(); i++ {
		term.Resize(100+i%2*100, 50)
	}
}

// BenchmarkMemory tells the heap of 100 terminals with 10,000 filled, coloured lines each.
func BenchmarkMemory(b *testing.B) {
	var line bytes.Buffer
	for i := range 8 {
		fmt.Fprintf(&line, "\x1b[%dmcoloured\x1b[0m ", 31+i%7)
	}
	line.WriteString("\r\n")
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		terms := make([]*Terminal, 100)
		for i := range terms {
			terms[i] = New(200, 50, Options{})
			for range 10100 {
				_, _ = terms[i].Write(line.Bytes())
			}
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "MB/100")
		runtime.KeepAlive(terms)
	}
}

// TestClipboard: a program's text for the clipboard is reported, clean and bounded; what asks for its content is not.
func TestClipboard(t *testing.T) {
	for _, tt := range []struct{ osc, want string }{
		{"52;c;aGk=", "hi"}, {"52;;aGk=", "hi"}, {"52;pc;YQliCmM=", "a\tb\nc"}, {"52;c;?", ""}, {"52;?;?", ""}, {"52;c;", ""}, {"52", ""},
		{"52;c;***", ""}, {"52;c;/////w==", ""}, {"52;c;G1szMW1hDWIHYw==", "[31mabc"}, {"52;c;aGk=;x", ""},
		{"52;c;" + strings.Repeat("YWFh", 30000), ""}, {"52;c;" + strings.Repeat("YWFh", 24000), strings.Repeat("aaa", 24000)},
	} {
		got := ""
		term := New(10, 2, Options{
			Event: func(e Event) { c, _ := e.(Clipboard); got += c.Text },
			Reply: func(b []byte) { t.Errorf("%.40q is answered: %q", tt.osc, b) },
		})
		_, _ = term.Write([]byte("\x1b]" + tt.osc + "\x07"))
		if got != tt.want {
			t.Errorf("%.40q: %.40q", tt.osc, got)
		}
	}
}
