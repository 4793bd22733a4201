package markdown

import (
	"strings"

	"orchestrator/ui/plain"
	"orchestrator/ui/styled"
	"orchestrator/ui/theme"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
)

// table lays out a table in columns, or cell by cell if it is too wide.
func (w *writer) table(n *extast.Table, depth int) {
	var rows [][][]styled.Span
	var widths []int
	for r := n.FirstChild(); r != nil; r = r.NextSibling() {
		st := styled.Span{}
		if r.Kind() == extast.KindTableHeader {
			st.Attr = theme.Bold
		}
		rows = append(rows, w.cells(r, st, depth, &widths))
	}
	total := 3 * (len(widths) - 1)
	for _, n := range widths {
		total += n
	}
	if total > w.room() {
		for _, row := range rows {
			for i, cell := range row {
				if i > 0 {
					cell = append([]styled.Span{{Text: "  "}}, cell...)
				}
				w.flow(cell)
			}
		}
		return
	}
	for i, row := range rows {
		var line []styled.Span
		for k, cell := range row {
			if k > 0 {
				line = append(line, styled.Span{Text: " │ ", Tok: theme.Border})
			}
			line = append(line, cell...)
			if pad := widths[k] - styled.Width(cell...); pad > 0 && k < len(row)-1 {
				line = append(line, styled.Span{Text: strings.Repeat(" ", pad)})
			}
		}
		w.line(line...)
		if i == 0 {
			w.line(styled.Span{Text: strings.Repeat("─", total), Tok: theme.Border})
		}
	}
}

func (w *writer) cells(r ast.Node, st styled.Span, depth int, widths *[]int) [][]styled.Span {
	var out [][]styled.Span
	for c := r.FirstChild(); c != nil; c = c.NextSibling() {
		spans := w.inlines(c, st, depth+1)
		for i := range spans {
			spans[i].Text = plain.Line(spans[i].Text)
		}
		if len(out) == len(*widths) {
			*widths = append(*widths, 0)
		}
		(*widths)[len(out)] = max((*widths)[len(out)], styled.Width(spans...))
		out = append(out, spans)
	}
	return out
}
