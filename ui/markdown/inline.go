package markdown

import (
	"strings"

	"orchestrator/ui/plain"
	"orchestrator/ui/styled"
	"orchestrator/ui/theme"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"
)

// maxDepth limits the nesting that is laid out.
const maxDepth = 40

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

// link shows a link's text and, if it differs, its address.
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

// resolve turns Markdown text into safe text: it resolves backslashes and entities, and sanitises the result.
func resolve(b []byte, raw bool) string {
	if !raw {
		b = util.UnescapePunctuations(b)
		b = util.ResolveNumericReferences(b)
		b = util.ResolveEntityNames(b)
	}
	return plain.Line(string(b))
}
