package help

import (
	"strings"

	"orchestrator/ui/dialog"
	"orchestrator/ui/field"
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"
)

// column is the least width of each of two columns of the text, and hang where what a key does begins in it.
const column, hang = 43, 15

// guide is a searchable text: it shows only the lines that contain all typed words, below their headings.
type guide struct {
	title string
	all   []dialog.Line
	query field.Field
	body  dialog.Scroll
}

// newGuide returns a guide; lines in the style of headings are headings.
func newGuide(title string, body []dialog.Line) *guide {
	return &guide{title: title, all: body, body: columns(body)}
}

// Title returns the title.
func (g *guide) Title() string { return g.title }

// Scope returns the scope of its keys.
func (g *guide) Scope() intent.Scope { return intent.Field }

// Size returns the size for the whole text, so that it does not change while typing.
func (g *guide) Size(w, h int) (int, int) {
	w = min(w, 130)
	all := columns(g.all)
	bw, _ := all.Size(w)
	bw = min(max(bw, plain.Width(g.title)+4, 40), w)
	_, bh := all.Size(bw)
	return bw, min(bh+2, h)
}

// Hints leaves out the scroll keys if the whole text is visible.
func (g *guide) Hints(inside layout.Box) []intent.Action {
	_, body := inside.Top(2)
	if g.body.Fits(body) {
		return []intent.Action{intent.Cancel}
	}
	return []intent.Action{intent.Down, intent.PageDown, intent.Cancel}
}

// Handle handles an intent.
func (g *guide) Handle(in intent.Intent) dialog.Result {
	switch in {
	case intent.Accept, intent.Cancel:
		return dialog.Cancelled{}
	case intent.Up, intent.Down, intent.PageUp, intent.PageDown:
		g.body.Handle(in.(intent.Action))
		return nil
	}
	was := g.query.Value()
	g.query.Handle(in)
	if now := g.query.Value(); now != was {
		g.body = columns(holding(g.all, strings.Fields(strings.ToLower(now))))
	}
	return nil
}

// columns returns a text in two columns where there is room.
func columns(body []dialog.Line) dialog.Scroll { return dialog.NewColumns(body, column, hang) }

// holding returns the lines that contain all words, with their headings.
func holding(lines []dialog.Line, words []string) []dialog.Line {
	if len(words) == 0 {
		return lines
	}
	var out []dialog.Line
	var head *dialog.Line
	whole := false // the heading itself matches
	for i, l := range lines {
		switch {
		case l.Tok == theme.Heading:
			head, whole = &lines[i], holds(l.Text, words)
		case l.Text == "" || !whole && !holds(l.Text, words):
		default:
			if head != nil {
				if len(out) > 0 {
					out = append(out, dialog.Line{})
				}
				out = append(out, *head)
				head = nil
			}
			out = append(out, l)
		}
	}
	if len(out) == 0 {
		return []dialog.Line{{Text: "No matches", Tok: theme.Muted}}
	}
	return out
}

func holds(text string, words []string) bool {
	text = strings.ToLower(text)
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

// Draw draws the guide.
func (g *guide) Draw(c *layout.Canvas, b layout.Box, th *theme.Theme) {
	top, body := b.Top(2)
	line := top.Row(0)
	c.Print(line, 0, 0, th.Style(theme.Accent), "/")
	_, line = line.Left(2)
	g.query.Draw(c, line, th, th.Style(theme.Text), "Type to search", true)
	g.body.Draw(c, body, th)
}
