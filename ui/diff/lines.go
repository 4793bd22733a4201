package diff

import (
	"fmt"
	"strings"

	"orchestrator/thread"
	"orchestrator/ui/plain"
	"orchestrator/ui/styled"
	"orchestrator/ui/theme"
)

// maxLines limits how much of a file is laid out.
const maxLines = 20000

// maker lays out a file's patch.
type maker struct {
	width    int
	numbers  bool
	old, new int // the next line's numbers
	del, add []string
	out      []styled.Line
}

// Lines lays out a file's changes in lines of at most width cells.
func Lines(f thread.FileDiff, width int) []styled.Line {
	switch {
	case f.Binary:
		return []styled.Line{styled.Of(theme.Muted, "Binary file")}
	case f.Patch == "":
		return []styled.Line{styled.Of(theme.Muted, noPatch(f))}
	}
	mk := &maker{width: width, numbers: width >= 70}
	for line := range strings.SplitSeq(strings.TrimSuffix(f.Patch, "\n"), "\n") {
		if len(mk.out) > maxLines {
			mk.flush()
			mk.out = append(mk.out, styled.Of(theme.Muted, "… truncated: open the file to see the rest"))
			return mk.out
		}
		mk.take(line)
	}
	mk.flush()
	return mk.out
}

func noPatch(f thread.FileDiff) string {
	switch f.Status {
	case "renamed":
		return "Renamed, content unchanged"
	case "added":
		return "Empty file"
	case "type":
		return "Type or mode changed"
	default:
		return "No lines to show"
	}
}

func (m *maker) take(line string) {
	switch {
	case strings.HasPrefix(line, "@@"):
		m.flush()
		m.hunk(line)
	case strings.HasPrefix(line, "-"):
		if len(m.add) > 0 {
			m.flush()
		}
		m.del = append(m.del, line[1:])
	case strings.HasPrefix(line, "+"):
		m.add = append(m.add, line[1:])
	case strings.HasPrefix(line, `\`):
		m.flush()
		m.out = append(m.out, styled.Of(theme.Muted, plain.Cut(plain.Line(line), m.width)))
	default:
		m.flush()
		m.emit(" ", theme.Text, m.old, m.new, []cut{{text: strings.TrimPrefix(line, " ")}}, theme.Text)
		m.old++
		m.new++
	}
}

func (m *maker) hunk(line string) {
	var n int
	if k, _ := fmt.Sscanf(line, "@@ -%d,%d +%d", &m.old, &n, &m.new); k < 3 {
		if k, _ = fmt.Sscanf(line, "@@ -%d +%d", &m.old, &m.new); k < 2 {
			m.old, m.new = 0, 0
		}
	}
	if len(m.out) > 0 {
		m.out = append(m.out, styled.Line{})
	}
	m.out = append(m.out, styled.Of(theme.DiffHunk, plain.Cut(plain.Line(line), m.width)))
}

// flush lays out the removed and added lines, comparing those that replace each other word by word.
func (m *maker) flush() {
	dels, adds := make([][]cut, len(m.del)), make([][]cut, len(m.add))
	for i, l := range m.del {
		dels[i] = []cut{{text: l}}
	}
	for i, l := range m.add {
		adds[i] = []cut{{text: l}}
	}
	if len(m.del) == len(m.add) || min(len(m.del), len(m.add)) == 1 {
		for i := range min(len(m.del), len(m.add)) {
			dels[i], adds[i] = words(m.del[i], m.add[i])
		}
	}
	for _, d := range dels {
		m.emit("-", theme.DiffDel, m.old, 0, d, theme.DiffDelWord)
		m.old++
	}
	for _, a := range adds {
		m.emit("+", theme.DiffAdd, 0, m.new, a, theme.DiffAddWord)
		m.new++
	}
	m.del, m.add = m.del[:0], m.add[:0]
}

// emit writes a line, wrapped, with its changed pieces highlighted.
func (m *maker) emit(sign string, tok theme.Token, old, now int, cuts []cut, changed theme.Token) {
	gutter := ""
	if m.numbers {
		gutter = number(old) + number(now)
	}
	spans := make([]styled.Span, len(cuts))
	col := 0
	for i, ct := range cuts {
		spans[i] = styled.Span{Text: expand(ct.text, col), Tok: tok}
		if ct.changed {
			spans[i].Tok = changed
		}
		col += plain.Width(spans[i].Text)
	}
	for i, line := range styled.Break(max(m.width-len(gutter)-2, 8), spans...) {
		lead := []styled.Span{{Text: gutter, Tok: theme.Muted}, {Text: sign + " ", Tok: tok}}
		if i > 0 {
			lead = []styled.Span{{Text: strings.Repeat(" ", len(gutter)) + "└ ", Tok: theme.Muted}}
		}
		m.out = append(m.out, styled.Line{Spans: append(lead, line.Spans...)})
	}
}

// expand makes text safe and expands tabs to every fourth column.
func expand(s string, col int) string {
	if !strings.Contains(s, "\t") {
		return plain.Line(s)
	}
	var b strings.Builder
	for i, part := range strings.Split(s, "\t") {
		if i > 0 {
			n := 4 - col%4
			b.WriteString("    "[:n])
			col += n
		}
		part = plain.Line(part)
		b.WriteString(part)
		col += plain.Width(part)
	}
	return b.String()
}

func number(n int) string {
	if n <= 0 {
		return "     "
	}
	return fmt.Sprintf("%4d ", n)
}
