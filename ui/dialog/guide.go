package dialog

import (
	"strings"

	"orchestrator/ui/field"
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"
)

// Guide is a text to read and to search: what is typed leaves the lines that hold all of its words, below the
// headings that they stand under.
type Guide struct {
	title string
	all   []Line
	query field.Field
	body  scroll
}

// NewGuide makes it; lines drawn as headings are headings.
func NewGuide(title string, body []Line) *Guide {
	return &Guide{title: title, all: body, body: newScroll(body)}
}

// Title names it.
func (g *Guide) Title() string { return g.title }

// Scope says which keys it takes.
func (g *Guide) Scope() intent.Scope { return intent.Field }

// Size returns what it wants: room for all of it, so that it does not change while one types.
func (g *Guide) Size(w, h int) (int, int) {
	w = min(w, 100)
	all := scroll{lines: g.all}
	bw, _ := all.size(w)
	bw = min(max(bw, plain.Width(g.title)+4, 40), w)
	_, bh := all.size(bw)
	return bw, min(bh+2, h)
}

// Hints leaves out the keys that scroll where all of it shows.
func (g *Guide) Hints(inside layout.Box) []intent.Action {
	_, body := inside.Top(2)
	if g.body.fits(body) {
		return []intent.Action{intent.Cancel}
	}
	return []intent.Action{intent.Down, intent.PageDown, intent.Cancel}
}

// Handle takes an intent.
func (g *Guide) Handle(in intent.Intent) Result {
	switch in {
	case intent.Accept, intent.Cancel:
		return Cancelled{}
	case intent.Up, intent.Down, intent.PageUp, intent.PageDown:
		g.body.handle(in.(intent.Action))
		return nil
	}
	was := g.query.Value()
	g.query.Handle(in)
	if now := g.query.Value(); now != was {
		g.body = newScroll(holding(g.all, strings.Fields(strings.ToLower(now))))
	}
	return nil
}

// holding returns the lines that hold all words, with their headings.
func holding(lines []Line, words []string) []Line {
	if len(words) == 0 {
		return lines
	}
	var out []Line
	var head *Line
	whole := false // the heading itself matches
	for i, l := range lines {
		switch {
		case l.Tok == theme.Heading:
			head, whole = &lines[i], holds(l.Text, words)
		case l.Text == "" || !whole && !holds(l.Text, words):
		default:
			if head != nil {
				if len(out) > 0 {
					out = append(out, Line{})
				}
				out = append(out, *head)
				head = nil
			}
			out = append(out, l)
		}
	}
	if len(out) == 0 {
		return []Line{{Text: "No matches", Tok: theme.Muted}}
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

// Draw draws it.
func (g *Guide) Draw(c *layout.Canvas, b layout.Box, th *theme.Theme) {
	top, body := b.Top(2)
	line := top.Row(0)
	c.Print(line, 0, 0, th.Style(theme.Accent), "/")
	_, line = line.Left(2)
	g.query.Draw(c, line, th, th.Style(theme.Text), "Type to search", true)
	g.body.draw(c, body, th)
}
