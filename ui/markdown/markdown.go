// Package markdown lays out an agent's Markdown as lines for the pager.
//
// It parses with goldmark and has its own renderer, so that nothing in the text can become an escape sequence: it
// resolves entities first and sanitises afterwards. HTML is shown as source. Links show their address. Nothing is
// loaded or run.
package markdown

import (
	"fmt"
	"strings"

	"orchestrator/ui/plain"
	"orchestrator/ui/styled"
	"orchestrator/ui/theme"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// maxBytes limits what is parsed; a longer text is shown as it is.
const maxBytes = 1 << 20

// Renderer lays out texts. Create one and keep it; only one goroutine may use it.
type Renderer struct{ md goldmark.Markdown }

// New returns a renderer.
func New() *Renderer {
	return &Renderer{md: goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough,
		extension.TaskList))}
}

// Render lays out a text in lines of at most width cells.
func (r *Renderer) Render(src string, width int) []styled.Line {
	lines, _ := r.RenderCode(src, width)
	return lines
}

// RenderCode is Render, and returns the blocks of code, as they were written. The Ref of a line is the number of its
// block, from 1; 0 is none.
func (r *Renderer) RenderCode(src string, width int) (lines []styled.Line, code []string) {
	if width < 10 {
		width = 10
	}
	if len(src) > maxBytes {
		return styled.WrapAll(width, theme.Text, plain.Lines(src)), nil
	}
	b := []byte(src)
	w := &writer{src: b, width: width}
	w.blocks(r.md.Parser().Parse(text.NewReader(b)), 0)
	for len(w.out) > 0 && strings.TrimSpace(w.out[len(w.out)-1].Text()) == "" {
		w.out = w.out[:len(w.out)-1]
	}
	return w.out, w.blocksOfCode
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
		w.flow(append([]styled.Span{{Text: mark, Tok: theme.Muted}},
			w.inlines(n, styled.Span{Tok: theme.Heading}, depth)...))
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
		if w.first != nil { // an empty item
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
	w.blocksOfCode = append(w.blocksOfCode, b.String())
	from := len(w.out)
	w.within(styled.Span{Text: "  "}, func() {
		for _, l := range plain.Lines(strings.TrimRight(b.String(), "\n")) {
			for _, part := range styled.Break(w.room(), styled.Span{Text: l, Tok: theme.Code}) {
				w.line(part.Spans...)
			}
		}
	})
	for i := from; i < len(w.out); i++ {
		w.out[i].Ref = len(w.blocksOfCode)
	}
	w.gap()
}
