package plaintext_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"orchestrator/thread/plaintext"
)

func TestText(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"ASCII", "plain text\n\twith a tab\n", "plain text\n\twith a tab\n"},
		{"colour", "\x1b[31mred\x1b[0m", "␛[31mred␛[0m"},
		{"clipboard", "\x1b]52;c;aGk=\x07", "␛]52;c;aGk=␇"},
		{"clipboard by C1", "\u009d52;c;aGk=\u009c", "<U+009D>52;c;aGk=<U+009C>"},
		{"C1 bytes", "\x9d52;c;aGk=\x9c", "\ufffd52;c;aGk=\ufffd"},
		{"DCS", "\x1bP$qm\x1b\\", "␛P$qm␛\\"},
		{"delete and backspace", "a\bb\x7f\x00", "a␈b␡␀"},
		{"overwritten line", "rm -rf /\recho hello", "rm -rf /␍echo hello"},
		{"DOS lines", "a\r\nb\r\n", "a\nb\n"},
		{"return at the end", "a\r", "a␍"},
		{"reordered", "abc\u202etxt\u2066x\u200e\u061c", "abc<U+202E>txt<U+2066>x<U+200E><U+061C>"},
		{"zero width", "zero\u200bwidth\ufeff\u2060\u00ad", "zero<U+200B>width<U+FEFF><U+2060><U+00AD>"},
		{"tags", "a\U000e0041\U000e007f", "a<U+E0041><U+E007F>"},
		{"other lines", "a\u2028b\u2029c\u0085d", "a<U+2028>b<U+2029>c<U+0085>d"},
		{"joiner between letters", "a\u200db\u200cc", "a<U+200D>b<U+200C>c"},
		{"joiner at the end", "👩\u200d", "👩<U+200D>"},
		{"joiners in a row", "👩\u200d\u200d👧", "👩<U+200D><U+200D>👧"},
		{"selectors in a row", "👩\ufe0f\ufe0f\ufe01", "👩\ufe0f<U+FE0F><U+FE01>"},
		{"selector on a letter", "a\ufe0f\U000e0101", "a<U+FE0F><U+E0101>"},
		{"family", "👨\u200d👩\u200d👧 👍🏽 👩🏽\u200d💻 ❤\ufe0f\u200d🔥", "👨\u200d👩\u200d👧 👍🏽 👩🏽\u200d💻 ❤\ufe0f\u200d🔥"},
		{"key", "1\ufe0f\u20e3 1\ufe0f2", "1\ufe0f\u20e3 1<U+FE0F>2"},
		{"Persian", "می\u200cخواهم", "می\u200cخواهم"},
		{"Hindi", "क्\u200dष", "क्\u200dष"},
		{"ideograph's form", "葛\U000e0100城", "葛\U000e0100城"},
		{"Arabic sign", "\u0600", "\u0600"},
		{"accents", "e\u0301 ünïcödé 日本語 ✓ → −", "e\u0301 ünïcödé 日本語 ✓ → −"},
		{"no UTF-8", "bad\xff\xe2\x80", "bad\ufffd\ufffd\ufffd"},
		{"private", "\ue0a0\U0010ffff", "<U+E0A0><U+10FFFF>"},
	} {
		if got := plaintext.Text(c.in); got != c.want {
			t.Errorf("%s: Text(%q) = %q, want %q", c.name, c.in, got, c.want)
		}
	}
	if got := plaintext.Line("a\r\nb\tc\x1b"); got != "a b c␛" {
		t.Errorf("Line gives %q", got)
	}
}

// TestWriterStreams gives every character as soon as it is whole.
func TestWriterStreams(t *testing.T) {
	var out bytes.Buffer
	w := plaintext.NewWriter(&out)
	for i, step := range []struct{ write, want string }{
		{"with", "with"}, {"out a newline", "without a newline"}, {"\xe2", "without a newline"}, {"\x80", "without a newline"},
		{"\xae", "without a newline<U+202E>"}, {"\x1b", "without a newline<U+202E>␛"}, {"]", "without a newline<U+202E>␛]"},
		{"\r", "without a newline<U+202E>␛]"}, {"x", "without a newline<U+202E>␛]␍x"},
	} {
		if n, err := w.Write([]byte(step.write)); n != len(step.write) || err != nil || out.String() != step.want {
			t.Fatalf("step %d: %q, %d, %v; want %q", i, out.String(), n, err, step.want)
		}
	}
	if _, err := w.Write([]byte("\xf0\x9f")); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil || !strings.HasSuffix(out.String(), "␍x\ufffd\ufffd") {
		t.Errorf("flushed: %q, %v", out.String(), err)
	}
	if err := w.Flush(); err != nil || strings.Count(out.String(), "\ufffd") != 2 {
		t.Errorf("flushed twice: %q, %v", out.String(), err)
	}
}

type broken struct{ err error }

func (b broken) Write([]byte) (int, error) { return 0, b.err }

func TestWriterError(t *testing.T) {
	boom := errors.New("boom")
	w := plaintext.NewWriter(broken{boom})
	if _, err := w.Write([]byte("x")); !errors.Is(err, boom) {
		t.Errorf("got %v", err)
	}
}

func TestJSONKeepsValues(t *testing.T) {
	in := []string{"\x1b]52;c;x\a\u009b \u202e \u200b \U000e0041 \x7f \\u202e \\", "👨\u200d👩 می\u200cخواهم"}
	var out bytes.Buffer
	w := plaintext.NewJSONWriter(&out)
	if err := json.NewEncoder(w).Encode(in); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	var back []string
	if err := json.Unmarshal(out.Bytes(), &back); err != nil || strings.Join(back, "|") != strings.Join(in, "|") {
		t.Errorf("%q came back as %q, %v", in, back, err)
	}
	for _, bad := range "\u009b\u202e\u200b\U000e0041\x7f" {
		if strings.ContainsRune(out.String(), bad) {
			t.Errorf("JSON holds %U: %q", bad, out.String())
		}
	}
}

// FuzzWriter holds what the package promises of any bytes, cut anywhere.
func FuzzWriter(f *testing.F) {
	for _, s := range []string{
		"", "plain\ttext\n", "\x1b]0;x\a", "\u009b31m\x9b", "a\r\nb\r", "\u202e\u2066\u200b\ufeff\U000e0041", "👨\u200d👩\u200d\u200d❤\ufe0f\ufe0f",
		"می\u200cخواهم\u200c", "1\ufe0f\u20e3", "葛\U000e0100\U000e0100", "\xf0\x9f\x91", "\ue000\uffff", "e\u0301\u200d",
	} {
		f.Add([]byte(s), uint8(1))
		f.Add([]byte(s), uint8(3))
	}
	f.Fuzz(func(t *testing.T, b []byte, size uint8) {
		var whole, cut bytes.Buffer
		write(t, plaintext.NewWriter(&whole), b, len(b))
		write(t, plaintext.NewWriter(&cut), b, int(size)+1)
		if !bytes.Equal(whole.Bytes(), cut.Bytes()) {
			t.Fatalf("%q is %q whole and %q in pieces of %d", b, whole.Bytes(), cut.Bytes(), size+1)
		}
		got := whole.String()
		check(t, b, got)
		if again := plaintext.Text(got); again != got {
			t.Fatalf("%q cleaned twice is %q, once %q", b, again, got)
		}
		if harmless(b) && got != string(b) {
			t.Fatalf("harmless %q became %q", b, got)
		}
	})
}

func write(t *testing.T, w *plaintext.Writer, b []byte, size int) {
	for len(b) > 0 {
		n := min(size, len(b))
		if _, err := w.Write(b[:n]); err != nil {
			t.Fatal(err)
		}
		b = b[n:]
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
}

// check looks for what must not leave, by rules of its own.
func check(t *testing.T, in []byte, out string) {
	if !utf8.ValidString(out) {
		t.Fatalf("%q gives %q, which is no UTF-8", in, out)
	}
	var prev rune
	for _, r := range out {
		switch {
		case r < 0x20 && r != '\n' && r != '\t', r >= 0x7f && r < 0xa0, // controls
			r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x200e, r == 0x200f, r == 0x61c, // order
			r == 0x200b, r == 0xfeff, r >= 0x2060 && r <= 0x2064, r >= 0xe0000 && r <= 0xe007f, r == 0xad, r == 0x2028, r == 0x2029: // unseen
			t.Fatalf("%q gives %q, which holds %U", in, out, r)
		case (unseen(r)) && (prev < 0xa0 && r != 0xfe0f || unseen(prev) && prev != 0xfe0f || prev == 0xfe0f && r != 0x200d):
			t.Fatalf("%q gives %q, which holds %U behind %U", in, out, r, prev)
		}
		prev = r
	}
}

// unseen are the characters that are drawn only by what they do to others.
func unseen(r rune) bool {
	return r == 0x200c || r == 0x200d || r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0100 && r <= 0xe01ef
}

// harmless reports text that is surely so.
func harmless(b []byte) bool {
	for _, r := range string(b) {
		if r != '\n' && r != '\t' && (r < 0x20 || r > 0x7e) && (r < 0xc0 || r > 0x2ff) && (r < 0x4e00 || r > 0x9fff) && (r < 0x1f600 || r > 0x1f64f) {
			return false
		}
	}
	return utf8.Valid(b)
}

// TestShort cuts at characters, whatever the bytes are and however many.
func TestShort(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""}, {"abcd", "abcd"}, {"abcde", "abc…"}, {"äöüß", "äöüß"}, {"äöüßz", "äöü…"}, {"😀😀😀😀", "😀😀😀😀"},
		{"😀😀😀😀😀", "😀😀😀…"}, {strings.Repeat("x", 1<<20), "xxx…"}, {"😀\xff\xff", "😀\xff\xff"},
	} {
		if got := plaintext.Short(c.text, 4); got != c.want {
			t.Errorf("%.20q: %q, want %q", c.text, got, c.want)
		}
	}
}

// TestCut cuts at characters; what is no text is cut near the limit all the same.
func TestCut(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""}, {"abcdef", "abcdef"}, {"abcdefg", "abcdef"}, {"abcdeü", "abcde"}, {"界界界", "界界"}, {"ab😀😀", "ab😀"},
		{"abc😀😀", "abc"}, {strings.Repeat("\x80", 9), "\x80\x80"},
	} {
		if got := plaintext.Cut(c.text, 6); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}
