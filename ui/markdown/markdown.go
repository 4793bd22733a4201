// Package markdown lays out an agent's Markdown as lines for the pager.
//
// It parses with goldmark and renders by itself, so that nothing in the text can become an escape
// sequence: entities are resolved first and sanitised after. HTML is shown as written. Links show
// their address. It loads nothing and runs nothing.
package markdown

import (
	"fmt"
	"slices"
	"strings"

	"orchestrator/ui/plain"
	"orchestrator/ui/styled"
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
func (r *Renderer) Render(src string, width int) []styled.Line {
	if width < 10 {
		width = 10
	}
	if len(src) > maxBytes {
		return styled.WrapAll(width, theme.Text, plain.Lines(src))
	}
	b := []byte(src)
	w := &writer{src: b, width: width}
	w.blocks(r.md.Parser().Parse(text.NewReader(b)), 0)
	for len(w.out) > 0 && strings.TrimSpace(w.out[len(w.out)-1].Text()) == "" {
		w.out = w.out[:len(w.out)-1]
	}
	return w.out
}

// writer is one layout under way.
type writer struct {
	src   []byte
	width int
	out   []styled.Line
	// lead stands before every line, first before the next one only.
	lead  []styled.Span
	first []styled.Span
}

// room is how many cells a line has beside its lead.
func (w *writer) room() int { return max(w.width-styled.Width(w.lead...), 8) }

// line writes one line.
func (w *writer) line(spans ...styled.Span) {
	lead := w.lead
	if w.first != nil {
		lead, w.first = w.first, nil
	}
	all := make([]styled.Span, 0, len(lead)+len(spans))
	w.out = append(w.out, styled.Line{Spans: append(append(all, lead...), spans...)})
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
		w.line(styled.Span{Text: "…", Tok: theme.Muted})
		return
	}
	switch n := n.(type) {
	case *ast.Heading:
		w.gap()
		mark := strings.Repeat("#", n.Level) + " "
		w.flow(append([]styled.Span{{Text: mark, Tok: theme.Muted}}, w.inlines(n, styled.Span{Tok: theme.Heading}, depth)...))
		w.gap()
	case *ast.Paragraph:
		w.flow(w.inlines(n, styled.Span{}, depth))
		w.gap()
	case *ast.TextBlock:
		w.flow(w.inlines(n, styled.Span{}, depth))
	case *ast.FencedCodeBlock, *ast.CodeBlock, *ast.HTMLBlock:
		w.code(n)
	case *ast.List:
		w.list(n, depth)
		w.gap()
	case *ast.Blockquote:
		w.within(styled.Span{Text: "│ ", Tok: theme.Quote}, func() { w.blocks(n, depth+1) })
		w.gap()
	case *ast.ThematicBreak:
		w.line(styled.Span{Text: strings.Repeat("─", min(w.room(), 40)), Tok: theme.Border})
		w.gap()
	case *extast.Table:
		w.table(n, depth)
		w.gap()
	default:
		w.blocks(n, depth+1)
	}
}

// within lays out with one more lead.
func (w *writer) within(lead styled.Span, do func()) {
	was := w.lead
	w.lead = append(append([]styled.Span{}, was...), lead)
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
		w.first = append(append([]styled.Span{}, lead...), styled.Span{Text: mark, Tok: theme.Accent})
		w.lead = append(append([]styled.Span{}, was...), styled.Span{Text: strings.Repeat(" ", len([]rune(mark)))})
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
	w.within(styled.Span{Text: "  "}, func() {
		for _, l := range plain.Lines(strings.TrimRight(b.String(), "\n")) {
			for _, part := range styled.Break(w.room(), styled.Span{Text: l, Tok: theme.Code}) {
				w.line(part.Spans...)
			}
		}
	})
	w.gap()
}

// inlines returns the spans of a block's text, in a style.
func (w *writer) inlines(n ast.Node, st styled.Span, depth int) []styled.Span {
	var out []styled.Span
	if depth > maxDepth {
		return out
	}
	add := func(text string) {
		if text != "" {
			out = append(out, styled.Span{Text: text, Tok: st.Tok, Attr: st.Attr})
		}
	}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			add(resolve(c.Segment.Value(w.src), c.IsRaw()))
			if c.HardLineBreak() {
				out = append(out, styled.Span{Text: "\n"})
			} else if c.SoftLineBreak() {
				add(" ")
			}
		case *ast.String:
			add(resolve(c.Value, c.IsRaw()))
		case *ast.CodeSpan:
			out = append(out, styled.Span{Text: w.raw(c), Tok: theme.Code, Attr: st.Attr})
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
			out = append(out, styled.Span{Text: plain.Line(string(c.URL(w.src))), Tok: theme.Link})
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
func (w *writer) link(n ast.Node, dest string, depth int) []styled.Span {
	out := w.inlines(n, styled.Span{Tok: theme.Link}, depth+1)
	shown := ""
	for _, s := range out {
		shown += s.Text
	}
	if dest = plain.Line(dest); dest != "" && dest != shown {
		out = append(out, styled.Span{Text: " (" + dest + ")", Tok: theme.Muted})
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

// flow writes spans as lines broken at spaces; a span that is a newline ends a line.
func (w *writer) flow(spans []styled.Span) {
	for {
		end := slices.IndexFunc(spans, func(s styled.Span) bool { return s.Text == "\n" })
		part := spans
		if end >= 0 {
			part = spans[:end]
		}
		for _, l := range styled.Wrap(w.room(), part...) {
			w.line(l.Spans...)
		}
		if end < 0 || end == len(spans)-1 {
			return
		}
		spans = spans[end+1:]
	}
}
