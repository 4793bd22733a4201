package session

import (
	"bytes"
	"strings"
	"testing"
)

// cut returns what a piecewise cut of a text gives: the lines, and ">" with the length for those that are too long.
func cut(text []byte, most, head int, sizes []byte) (all []string, kept int) {
	l := lines{most: most, head: head}
	l.line = func(b []byte) { all = append(all, string(b)) }
	l.long = func(head []byte, n int64) {
		all = append(all, ">"+string(head))
		if int64(len(head)) >= n {
			all = append(all, "not long")
		}
	}
	for i := 0; len(text) > 0; i++ {
		n := len(text)
		if len(sizes) > 0 {
			n = min(n, int(sizes[i%len(sizes)])+1)
		}
		piece := bytes.Clone(text[:n])
		l.write(piece)
		clear(piece) // it is the reader's again
		kept = max(kept, cap(l.buf))
		text = text[n:]
	}
	l.flush()
	return all, kept
}

// FuzzLines cuts any text in any pieces as a simple cut of the whole does.
func FuzzLines(f *testing.F) {
	for _, text := range []string{"", "a", "a\n", "a\r\nb", "\n\n\r\n", "\x00\n\xff\xfe\nhalf", strings.Repeat("x", 50) + "\nafter", "12345678\n123456789\n1234567\r\n"} {
		f.Add([]byte(text), 8, 5, []byte{0, 3})
		f.Add([]byte(text), 8, 0, []byte{})
	}
	f.Fuzz(func(t *testing.T, text []byte, most, head int, sizes []byte) {
		if most < 1 || most > 1<<20 || head < 0 || head > most {
			return
		}
		var want []string
		rest := text
		for len(rest) > 0 {
			line, after, _ := bytes.Cut(rest, []byte("\n"))
			if len(line) > most {
				want = append(want, ">"+string(line[:head]))
			} else {
				want = append(want, strings.TrimSuffix(string(line), "\r"))
			}
			rest = after
		}
		got, kept := cut(text, most, head, sizes)
		if strings.Join(got, "|") != strings.Join(want, "|") || len(got) != len(want) {
			t.Errorf("cut %q\nwant %q", got, want)
		}
		if kept > max(most, 4<<10) {
			t.Errorf("%d bytes are held for lines of %d", kept, most)
		}
	})
}
