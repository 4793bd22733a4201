package burst

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
)

// TestMark: what one read brings is marked where it is typed text, and never inside of anything.
func TestMark(t *testing.T) {
	b, e := begin, end
	for _, c := range []struct {
		name  string
		reads []string
		want  string
	}{
		{"one key", []string{"d"}, "d"},
		{"a key and return", []string{"n\r"}, "n\r"},
		{"keys one by one", []string{"f", "i", "x"}, "fix"},
		{"a line", []string{"please fix it\r"}, b + "please fix it\r" + e},
		{"two of a key", []string{"jj"}, b + "jj" + e},
		{"an arrow", []string{"\x1b[C"}, "\x1b[C"},
		{"an arrow in two reads", []string{"\x1b[", "C"}, "\x1b[C"},
		{"arrows", []string{"\x1b[B\x1b[B\x1bOA\r"}, "\x1b[B\x1b[B\x1bOA\r"},
		{"alt and a letter", []string{"\x1bx"}, "\x1bx"},
		{"text behind an arrow's end", []string{"\x1b[", "Cab"}, "\x1b[C" + b + "ab" + e},
		{"text before a cut arrow", []string{"ab\x1b[", "C"}, b + "ab" + e + "\x1b[C"},
		{"one character of three bytes", []string{"語"}, "語"},
		{"a cut character", []string{"\xe8\xaa", "\x9e"}, "語"},
		{"characters of an input method", []string{"日本"}, b + "日本" + e},
		{"a bracketed paste", []string{"\x1b[200~please fix it\r\x1b[201~"}, "\x1b[200~please fix it\r\x1b[201~"},
		{"a paste of several reads", []string{"\x1b[200~please", " fix it", "\x1b[201~"},
			"\x1b[200~please fix it\x1b[201~"},
		{"text behind a paste", []string{"\x1b[200~x\x1b[201~ab"}, "\x1b[200~x\x1b[201~" + b + "ab" + e},
		{"an answer of the terminal", []string{"\x1b]11;rgb:0000/0000/0000\x1b\\"}, "\x1b]11;rgb:0000/0000/0000\x1b\\"},
		{"a device's attributes", []string{"\x1bP>|xterm(390)\x1b\\\x1b[?64;1c"}, "\x1bP>|xterm(390)\x1b\\\x1b[?64;1c"},
		{"the mouse", []string{"\x1b[<0;12;7M\x1b[<0;12;7m"}, "\x1b[<0;12;7M\x1b[<0;12;7m"},
		{"broken bytes", []string{"\xff\xfe\x80"}, "\xff\xfe\x80"},
	} {
		var s scanner
		var got strings.Builder
		for _, r := range c.reads {
			got.Write(s.mark([]byte(r)))
		}
		if got.String() != c.want {
			t.Errorf("%s: %q, want %q", c.name, got.String(), c.want)
		}
	}
}

// TestEvents reads through the terminal library: the marks come out in their place, the keys as they were.
func TestEvents(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"ab\r", "( a b enter )"},
		{"語x\x1b[A", "( 語 x up )"},
		{"\x1b[200~two\rlines\x1b[201~", "pasted"},
		{"d", "d"},
	} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, c.in); err != nil {
			t.Fatal(err)
		}
		w.Close()
		events := make(chan uv.Event, 100)
		reader := NewReader(r)
		if err := uv.NewTerminalReader(reader, "xterm").StreamEvents(t.Context(), events); !errors.Is(err, ErrHungUp) {
			t.Fatalf("the end of the terminal is reported as %v", err)
		}
		r.Close()
		close(events)
		var got []string
		for e := range events {
			switch e := reader.Filter(e).(type) {
			case Msg:
				if e.On != (e.Text != "") || !strings.Contains(c.in, e.Text) {
					t.Errorf("%q: the text of a burst is %q", c.in, e.Text)
				}
				got = append(got, map[bool]string{true: "(", false: ")"}[e.On])
			case uv.KeyPressEvent:
				got = append(got, e.String())
			case uv.PasteEvent:
				got = append(got, "pasted")
			}
		}
		if g := strings.Join(got, " "); g != c.want {
			t.Errorf("%q: %s, want %s", c.in, g, c.want)
		}
	}
}

// TestPasteEnds: a paste ends by its marker however that is cut, by ctrl+c, ctrl+q and by a key after a silence; what is
// in it stays in it.
func TestPasteEnds(t *testing.T) {
	const silence = "…" // before the next read
	for _, c := range []struct {
		name  string
		reads []string
		want  []string
	}{
		{"cut after ESC", []string{"\x1b[200~hello", "\x1b", "[201~", "q"}, []string{"\x1b[200~hello", "", "\x1b[201~", "q"}},
		{"cut after ESC [", []string{"\x1b[200~hello\x1b[", "201~q"}, []string{"\x1b[200~hello", "\x1b[201~q"}},
		{"cut after each byte", []string{"\x1b[200~a", "\x1b", "[", "2", "0", "1", "~", "q"},
			[]string{"\x1b[200~a", "", "", "", "", "", "\x1b[201~", "q"}},
		{"cut after a silence", []string{"\x1b[200~a\x1b[20", silence, "1~", "q"}, []string{"\x1b[200~a", "\x1b[201~", "q"}},
		{"each byte after a silence", []string{"\x1b[200~a", silence, "\x1b", silence, "[", silence, "201~", "q"},
			[]string{"\x1b[200~a", "", "", "\x1b[201~", "q"}},
		{"no marker but its beginning", []string{"\x1b[200~a\x1b[20", "x\x1b[201~"}, []string{"\x1b[200~a", "\x1b[20x\x1b[201~"}},
		{"never, then ctrl+c", []string{"\x1b[200~hello", "\x03", "q"}, []string{"\x1b[200~hello", "\x1b[201~\x03", "q"}},
		{"never, then ctrl+q", []string{"\x1b[200~hello\x1b", "\x11", "q"}, []string{"\x1b[200~hello", "\x1b[201~\x11", "q"}},
		{"never, then ctrl+q of kitty", []string{"\x1b[200~hello", "\x1b[113;5u", "q"},
			[]string{"\x1b[200~hello", "\x1b[201~\x1b[113;5u", "q"}},
		{"ctrl+c within", []string{"\x1b[200~he", "l\x03lo", "\x1b[201~"}, []string{"\x1b[200~he", "l\x03lo", "\x1b[201~"}},
		{"a key", []string{"\x1b[200~hello", "q"}, []string{"\x1b[200~hello", "q"}},
		{"a key after a silence", []string{"\x1b[200~hello", silence, "q"}, []string{"\x1b[200~hello", "\x1b[201~q"}},
		{"an arrow after a silence", []string{"\x1b[200~hello", silence, "\x1b[A"}, []string{"\x1b[200~hello", "\x1b[201~\x1b[A"}},
		{"more of it after a silence", []string{"\x1b[200~hello", silence, "world", "\x1b[201~"},
			[]string{"\x1b[200~hello", "world", "\x1b[201~"}},
		{"the mouse after a silence", []string{"\x1b[200~hello", silence, "\x1b[<0;1;1M"}, []string{"\x1b[200~hello", "\x1b[<0;1;1M"}},
	} {
		var r Reader
		var got []string
		silent := false
		for _, read := range c.reads {
			if read == silence {
				silent = true
				continue
			}
			got = append(got, string(r.pass([]byte(read), silent)))
			silent = false
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestFilterPassesOtherMessages(t *testing.T) {
	for _, msg := range []tea.Msg{nil, tea.FocusMsg{}, uv.UnknownCsiEvent("\x1b[?1z"), tea.PasteMsg{Content: begin}} {
		if got := NewReader(nil).Filter(msg); got != msg {
			t.Errorf("%#v became %#v", msg, got)
		}
	}
}

// FuzzMark: nothing is changed or lost, and every burst that begins ends in the same read.
func FuzzMark(f *testing.F) {
	f.Add([]byte("please\x1b[200~fix\x1b[201~ it\r"), uint64(1))
	f.Add([]byte("\x1b[Aab\xe8\xaa\x9e\x1b]0;x\x07cd"), uint64(7))
	f.Fuzz(func(t *testing.T, in []byte, seed uint64) {
		if bytes.Contains(in, []byte(begin)) || bytes.Contains(in, []byte(end)) {
			t.Skip("a mark is typed")
		}
		var s scanner
		var out []byte
		chance := rand.New(rand.NewPCG(seed, 0))
		for rest := in; len(rest) > 0; {
			n := 1 + chance.IntN(len(rest))
			got := s.mark(rest[:n])
			on, off := bytes.Count(got, []byte(begin)), bytes.Count(got, []byte(end))
			if on != off || on > 1 || on == 1 && bytes.Index(got, []byte(begin)) > bytes.Index(got, []byte(end)) {
				t.Fatalf("%q became %q", rest[:n], got)
			}
			out, rest = append(out, got...), rest[n:]
		}
		out = bytes.ReplaceAll(bytes.ReplaceAll(out, []byte(begin), nil), []byte(end), nil)
		if !bytes.Equal(out, in) {
			t.Fatalf("%q became %q", in, out)
		}
	})
}
