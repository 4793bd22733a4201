// Package markdown lays out an agent's Markdown as lines for the pager.
//
// It parses with goldmark and renders by itself, so that nothing in the text can become an escape
// sequence: entities are resolved first and sanitised after. HTML is shown as written. Links show
// their address. It loads nothing and runs nothing.
package markdown

import (
	"fmt"
	"strings"

	"orchestrator/ui/pager"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// maxBytes bounds what is parsed; a longer text is shown as it is.
const maxBytes = 1 << 20

// maxDepth bounds nesting that is laid out.
const maxDepth = 40

// Renderer lays out texts. Make one and keep it; it is used by one goroutine.
type Renderer struct{ md goldmark.Markdown }

// New makes a renderer.
func New() *Renderer {
	return &Renderer{md: goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList))}
}

// Render lays out a text in lines of at most width cells.
func (r *Renderer) Render(src string, width int) []pager.Line {
	if width < 10 {
		width = 10
	}
	if len(src) > maxBytes {
		return verbatim(src, width, theme.Text)
	}
	b := []byte(src)
	w := &writer{src: b, width: width}
	w.blocks(r.md.Parser().Parse(text.NewReader(b)), 0)
	for len(w.out) > 0 && strings.TrimSpace(w.out[len(w.out)-1].Text()) == "" {
		w.out = w.out[:len(w.out)-1]
	}
	return w.out
}

func verbatim(src string, width int, tok theme.Token) []pager.Line {
	var out []pager.Line
	for _, l := range plain.Lines(src) {
		for _, part := range plain.Wrap(l, width) {
			out = append(out, pager.Of(tok, part))
		}
	}
	return out
}

// writer is one layout under way.
type writer struct {
	src   []byte
	width int
	out   []pager.Line
	// lead stands before every line, first before the next one only.
	lead  []pager.Span
	first []pager.Span
}

func spansWidth(spans []pager.Span) int {
	n := 0
	for _, s := range spans {
		n += plain.Width(s.Text)
	}
	return n
}

// room is how many cells a line has beside its lead.
func (w *writer) room() int { return max(w.width-spansWidth(w.lead), 8) }

// line writes one line.
func (w *writer) line(spans ...pager.Span) {
	lead := w.lead
	if w.first != nil {
		lead, w.first = w.first, nil
	}
	all := make([]pager.Span, 0, len(lead)+len(spans))
	w.out = append(w.out, pager.Line{Spans: append(append(all, lead...), spans...)})
}

// gap writes an empty line between blocks.
func (w *writer) gap() {
	if n := len(w.out); n > 0 && w.first == nil && strings.TrimSpace(w.out[n-1].Text()) != "" {
		w.line()
	}
}

func (w *writer) blocks(n ast.Node, depth int) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		w.block(c, depth)
	}
}

func (w *writer) block(n ast.Node, depth int) {
	if depth > maxDepth {
		w.line(pager.Span{Text: "…", Tok: theme.Muted})
		return
	}
	switch n := n.(type) {
	case *ast.Heading:
		w.gap()
		mark := strings.Repeat("#", n.Level) + " "
		w.flow(append([]pager.Span{{Text: mark, Tok: theme.Muted}}, w.inlines(n, pager.Span{Tok: theme.Heading}, depth)...))
		w.gap()
	case *ast.Paragraph:
		w.flow(w.inlines(n, pager.Span{}, depth))
		w.gap()
	case *ast.TextBlock:
		w.flow(w.inlines(n, pager.Span{}, depth))
	case *ast.FencedCodeBlock, *ast.CodeBlock, *ast.HTMLBlock:
		w.code(n)
	case *ast.List:
		w.list(n, depth)
		w.gap()
	case *ast.Blockquote:
		w.within(pager.Span{Text: "│ ", Tok: theme.Quote}, func() { w.blocks(n, depth+1) })
		w.gap()
	case *ast.ThematicBreak:
		w.line(pager.Span{Text: strings.Repeat("─", min(w.room(), 40)), Tok: theme.Border})
		w.gap()
	case *extast.Table:
		w.table(n, depth)
		w.gap()
	default:
		w.blocks(n, depth+1)
	}
}

// within lays out with one more lead.
func (w *writer) within(lead pager.Span, do func()) {
	was := w.lead
	w.lead = append(append([]pager.Span{}, was...), lead)
	if w.first != nil {
		w.first = append(w.first, lead)
	}
	do()
	for n := len(w.out); n > 0 && len(w.out[n-1].Spans) == len(w.lead) && w.out[n-1].Spans[len(w.lead)-1] == lead; n-- {
		w.out = w.out[:n-1] // no empty line at the end of a quote
	}
	w.lead = was
}

func (w *writer) list(n *ast.List, depth int) {
	number := n.Start
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		mark := "• "
		if n.IsOrdered() {
			mark = fmt.Sprintf("%d. ", number)
			number++
		}
		was := w.lead
		lead := w.first
		if lead == nil {
			lead = was
		}
		w.first = append(append([]pager.Span{}, lead...), pager.Span{Text: mark, Tok: theme.Accent})
		w.lead = append(append([]pager.Span{}, was...), pager.Span{Text: strings.Repeat(" ", len([]rune(mark)))})
		w.blocks(item, depth+1)
		if w.first != nil { // an item without content
			w.line()
		}
		w.lead = was
		if !n.IsTight {
			w.gap()
		}
	}
}

func (w *writer) code(n ast.Node) {
	var b strings.Builder
	for i := range n.Lines().Len() {
		s := n.Lines().At(i)
		b.Write(s.Value(w.src))
	}
	if h, ok := n.(*ast.HTMLBlock); ok && h.HasClosure() {
		b.Write(h.ClosureLine.Value(w.src))
	}
	w.within(pager.Span{Text: "  "}, func() {
		for _, l := range plain.Lines(strings.TrimRight(b.String(), "\n")) {
			for _, part := range hard(l, w.room()) {
				w.line(pager.Span{Text: part, Tok: theme.Code})
			}
		}
	})
	w.gap()
}

// hard breaks a line wherever it is full: code is not broken at words.
func hard(s string, width int) []string {
	var out []string
	for plain.Width(s) > width {
		cut, col := 0, 0
		for i, r := range s {
			if n := plain.Width(string(r)); col+n > width {
				cut = i
				break
			} else {
				col += n
			}
		}
		if cut == 0 {
			break
		}
		out = append(out, s[:cut])
		s = s[cut:]
	}
	return append(out, s)
}

// inlines returns the spans of a block's text, in a style.
func (w *writer) inlines(n ast.Node, st pager.Span, depth int) []pager.Span {
	var out []pager.Span
	if depth > maxDepth {
		return out
	}
	add := func(text string) {
		if text != "" {
			out = append(out, pager.Span{Text: text, Tok: st.Tok, Attr: st.Attr})
		}
	}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			add(resolve(c.Segment.Value(w.src), c.IsRaw()))
			if c.HardLineBreak() {
				out = append(out, pager.Span{Text: "\n"})
			} else if c.SoftLineBreak() {
				add(" ")
			}
		case *ast.String:
			add(resolve(c.Value, c.IsRaw()))
		case *ast.CodeSpan:
			out = append(out, pager.Span{Text: w.raw(c), Tok: theme.Code, Attr: st.Attr})
		case *ast.Emphasis:
			in := st
			if in.Attr |= theme.Italic; c.Level > 1 {
				in.Attr = st.Attr | theme.Bold
			}
			out = append(out, w.inlines(c, in, depth+1)...)
		case *extast.Strikethrough:
			in := st
			in.Attr |= theme.Strike
			out = append(out, w.inlines(c, in, depth+1)...)
		case *ast.Link:
			out = append(out, w.link(c, string(c.Destination), depth)...)
		case *ast.Image:
			out = append(out, w.link(c, string(c.Destination), depth)...)
		case *ast.AutoLink:
			out = append(out, pager.Span{Text: plain.Line(string(c.URL(w.src))), Tok: theme.Link})
		case *ast.RawHTML:
			for i := range c.Segments.Len() {
				s := c.Segments.At(i)
				add(plain.Line(string(s.Value(w.src))))
			}
		case *extast.TaskCheckBox:
			if c.IsChecked {
				add("[x] ")
			} else {
				add("[ ] ")
			}
		default:
			out = append(out, w.inlines(c, st, depth+1)...)
		}
	}
	return out
}

// link shows a link's text and, where it says something else, its address.
func (w *writer) link(n ast.Node, dest string, depth int) []pager.Span {
	out := w.inlines(n, pager.Span{Tok: theme.Link}, depth+1)
	shown := ""
	for _, s := range out {
		shown += s.Text
	}
	if dest = plain.Line(dest); dest != "" && dest != shown {
		out = append(out, pager.Span{Text: " (" + dest + ")", Tok: theme.Muted})
	}
	return out
}

// raw returns the text of a code span.
func (w *writer) raw(n ast.Node) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(t.Segment.Value(w.src))
			if t.SoftLineBreak() {
				b.WriteByte(' ')
			}
		}
	}
	return plain.Line(b.String())
}

// resolve turns Markdown text into safe text: backslashes and entities first, then what they became
// is sanitised.
func resolve(b []byte, raw bool) string {
	if !raw {
		b = util.UnescapePunctuations(b)
		b = util.ResolveNumericReferences(b)
		b = util.ResolveEntityNames(b)
	}
	return plain.Line(string(b))
}

// flow breaks spans into lines at spaces.
func (w *writer) flow(spans []pager.Span) {
	var line []pager.Span
	col, wrote := 0, false
	flush := func() {
		w.line(line...)
		line, col, wrote = nil, 0, true
	}
	for _, s := range spans {
		if s.Text == "\n" {
			flush()
			continue
		}
		for word := range words(s.Text) {
			n := plain.Width(word)
			if col > 0 && col+plain.Width(strings.TrimRight(word, " ")) > w.room() {
				flush()
				word = strings.TrimLeft(word, " ")
				n = plain.Width(word)
			}
			for n > w.room() {
				parts := hard(word, w.room())
				if len(parts) < 2 {
					break
				}
				line = append(line, pager.Span{Text: parts[0], Tok: s.Tok, Attr: s.Attr})
				flush()
				word = word[len(parts[0]):]
				n = plain.Width(word)
			}
			if word == "" {
				continue
			}
			if k := len(line); k > 0 && line[k-1].Tok == s.Tok && line[k-1].Attr == s.Attr {
				line[k-1].Text += word
			} else {
				line = append(line, pager.Span{Text: word, Tok: s.Tok, Attr: s.Attr})
			}
			col += n
		}
	}
	if len(line) > 0 || !wrote {
		flush()
	}
}

// words yields a text's words, each with the spaces that follow it.
func words(s string) func(func(string) bool) {
	return func(yield func(string) bool) {
		start := 0
		for i := 1; i < len(s); i++ {
			if s[i] != ' ' && s[i-1] == ' ' {
				if !yield(s[start:i]) {
					return
				}
				start = i
			}
		}
		if start < len(s) {
			yield(s[start:])
		}
	}
}
