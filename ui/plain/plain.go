// Package plain makes text from agents, files and threads safe to draw, and measures it.
//
// Its results have no control bytes, no escape sequences and nothing that reorders or hides text: such characters are
// replaced by visible marks. Widths are in terminal cells; all terminals agree on the width of text that went through
// this package.
package plain

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"

	"orchestrator/thread/plaintext"
)

// tabWidth is the distance between tab stops.
const tabWidth = 4

// Line returns s as one safe line: newlines and tabs become spaces.
func Line(s string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i, r := range s {
		switch r {
		case '\n', '\t', '\r':
			b.WriteByte(' ')
		default:
			write(&b, s, i, r)
		}
	}
	return b.String()
}

// Lines returns s as safe lines, with tabs expanded.
func Lines(s string) []string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	parts := strings.Split(s, "\n")
	for i, p := range parts {
		parts[i] = expand(p)
	}
	return parts
}

// First returns the first non-empty line of s, made safe.
func First(s string) string {
	for line := range strings.Lines(s) {
		if t := strings.TrimSpace(line); t != "" {
			return Line(t)
		}
	}
	return ""
}

func expand(s string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	col := 0
	for i, r := range s {
		if r == '\t' {
			n := tabWidth - col%tabWidth
			b.WriteString("    "[:n])
			col += n
			continue
		}
		before := b.Len()
		write(&b, s, i, r)
		col += displaywidth.String(b.String()[before:])
	}
	return b.String()
}

// isPlain reports whether every byte is printable ASCII.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}

// write writes the rune at index i of s, or its mark.
func write(b *strings.Builder, s string, i int, r rune) {
	switch {
	case r == utf8.RuneError:
		b.WriteRune(utf8.RuneError)
	case r >= 0x20 && r < 0x7f:
		b.WriteRune(r)
	case r == 0xfe0f || r == 0xfe0e || (r >= 0x1f3fb && r <= 0x1f3ff):
		// Emoji presentation, which terminals measure differently; the emoji itself stays.
	case r == 0x200d:
		// Drop a joiner between emoji, so that all terminals draw them side by side.
		if before, _ := utf8.DecodeLastRuneInString(s[:i]); before < 0x2000 {
			mark(b, r)
		}
	case !plaintext.Visible(r), unicode.Is(unicode.Cf, r): // terminals differ in how they draw some characters of Cf
		mark(b, r)
	case unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Me, r):
		if stacked(s[:i]) {
			return
		}
		b.WriteRune(r)
	case unicode.IsSpace(r):
		b.WriteByte(' ')
	default:
		b.WriteRune(r)
	}
}

// stacked reports whether s ends in three or more combining marks: further ones are left out.
func stacked(s string) bool {
	n := 0
	for s != "" {
		r, size := utf8.DecodeLastRuneInString(s)
		if !unicode.Is(unicode.Mn, r) && !unicode.Is(unicode.Me, r) {
			return false
		}
		if n++; n >= 3 {
			return true
		}
		s = s[:len(s)-size]
	}
	return false
}

// mark writes the mark for a rune.
func mark(b *strings.Builder, r rune) {
	var buf [16]byte
	b.Write(plaintext.AppendMark(buf[:0], r))
}

// Width returns the width of a safe line in cells.
func Width(s string) int { return displaywidth.String(s) }

// Start returns the start of a text that is long, of which no more than n bytes are looked at.
func Start(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return plaintext.Cut(s, n) + "…"
}

// CutLeft returns at most w cells of a path: its end, which says more than its start.
func CutLeft(s string, w int) string {
	if Width(s) <= w {
		return s
	}
	from, room := len(s), w-1
	for from > 0 {
		r, size := utf8.DecodeLastRuneInString(s[:from])
		if room -= Width(string(r)); room < 0 {
			break
		}
		from -= size
	}
	if w < 1 {
		return ""
	}
	return "…" + s[from:]
}

// Cut returns at most w cells of a safe line, ending in … if it is truncated.
func Cut(s string, w int) string {
	if len(s) <= w || Width(s) <= w {
		return s
	}
	if w <= 0 {
		return ""
	}
	return displaywidth.TruncateString(s, w, "…")
}

// Wrap wraps a safe line to lines of at most w cells, at spaces if possible.
func Wrap(s string, w int) []string {
	var out []string
	for start, end := range Breaks(s, w, false) {
		out = append(out, s[start:end])
	}
	return out
}

// Breaks yields the start and end of each line when wrapping a safe line to at most w cells: at spaces if possible, and
// a space at a break belongs to neither line; or, where every space counts, behind one near the end of the line, else
// anywhere. There is at least one line.
func Breaks(s string, w int, whole bool) iter.Seq2[int, int] {
	return func(yield func(start, end int) bool) {
		start, col := 0, 0       // the start of the current line, and its width so far
		space, spaceCol := -1, 0 // its last space, and the width up to there
		g := displaywidth.StringGraphemes(s)
		for pos := 0; g.Next(); {
			v, n := g.Value(), g.Width()
			for col+n > max(w, 1) && pos > start {
				end, next := pos, pos
				switch {
				case v == " " && !whole:
					next, n = pos+1, 0
					col = 0
				case space > start && !whole:
					end, next = space, space+1
					col -= spaceCol + 1
				case space > start && (spaceCol+1)*3 >= w*2:
					end, next = space+1, space+1
					col -= spaceCol + 1
				default:
					col = 0
				}
				if !yield(start, end) {
					return
				}
				start, space = next, -1
			}
			if v == " " {
				space, spaceCol = pos, col
			}
			col += n
			pos += len(v)
		}
		if start < len(s) || s == "" {
			yield(start, len(s))
		}
	}
}
