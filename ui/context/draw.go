package context

import (
	"strings"

	"orchestrator/thread"
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/styled"
	"orchestrator/ui/theme"
)

// What fits where, in rows.
const (
	roomy   = 28 // from here on sections are apart
	leastOf = 3  // rows of the list
)

// Draw draws the context of a thread, and returns the box that is left for facts about it: empty if the context takes
// it all.
func (m *Model) Draw(
	c *layout.Canvas, b layout.Box, th *theme.Theme, keys *intent.Table, focus bool, s *thread.Status,
) layout.Box {
	switch {
	case s == nil || b.Empty():
		return layout.Box{}
	case m.id != s.ID: // it is about to be shown
		return layout.Box{}
	case m.about:
		return b
	case !m.Ready():
		return m.drawEmpty(c, b, th, s)
	}
	d := drawing{Canvas: c, th: th, left: b}
	p := planOf(b, m)
	head, _ := flow(headline(m.report, keys.KeyOf(intent.MaskMode), b.W), dot(), b.W, p.head)
	d.lines(head)
	d.skip(p.gap)
	d.lines(m.forecast(b.W, p.forecast))
	d.skip(p.gap)
	m.drawFills(&d, p)
	if p.curve > 0 {
		d.skip(p.gap)
		v := m.curve()
		heading := v.heading()
		if text := grows(m.report); text != "" {
			heading = append(heading, styled.Span{Text: "· ", Tok: theme.Border}, styled.Span{Text: text + " "})
		}
		d.rule(heading)
		v.draw(c, d.take(p.curve), th)
	}
	d.skip(p.gap)
	d.rule(m.list.heading())
	if p.gap > 0 {
		m.list.head(c, d.take(1), th)
	}
	m.listed = d.left
	m.list.draw(c, d.left, th, focus)
	return layout.Box{}
}

func (m *Model) curve() curve { return curve{points: m.report.Curve, window: m.report.Window} }

func dot() styled.Span { return styled.Span{Text: " · ", Tok: theme.Border} }

// plan is how many rows the parts of the view get at most; the list gets the rest.
type plan struct {
	gap                                int // between parts
	head, forecast, bar, legend, tools int
	curve                              int // without its heading; 0 if it is not drawn
}

// planOf divides a box. The less room there is, the less is said, and the curve goes first.
func planOf(b layout.Box, m *Model) plan {
	p := plan{head: 2, forecast: 2, bar: 1, legend: 2, tools: 1, curve: 4}
	switch {
	case b.H >= roomy+12:
		p = plan{gap: 1, head: 3, forecast: 3, bar: 2, legend: 3, tools: len(tools), curve: 6}
	case b.H >= roomy:
		p = plan{gap: 1, head: 2, forecast: 3, bar: 1, legend: 3, tools: len(tools), curve: 5}
	case b.H >= 20:
		p.tools, p.legend = len(tools), 3
	}
	if len(m.report.Curve) < 2 {
		p.curve = 0
	}
	if rest := b.H - p.head - p.forecast - p.bar - p.legend - p.curve - 2; rest < leastOf {
		p.curve = 0
	}
	if b.H < 12 {
		p.head, p.forecast, p.legend = 1, 1, 1
	}
	return p
}

// forecast returns what masking now would mean, and why it does not happen by itself.
func (m *Model) forecast(w, most int) [][]styled.Span {
	var items [][]styled.Span
	if text := sentence(m.report.Forecast); text != "" {
		items = append(items, []styled.Span{{Text: text}})
	}
	if text := sentence(m.report.Reason); text != "" {
		items = append(items, []styled.Span{{Text: text, Tok: theme.Muted}})
	}
	if m.err != "" {
		items = [][]styled.Span{{{Text: "not up to date: " + plain.Line(start(m.err)), Tok: theme.Bad}}}
	}
	var out [][]styled.Span
	for i, it := range items {
		lines := styled.Wrap(w, it...)
		room := most - len(out) - (len(items) - 1 - i) // each one gets at least a line
		if len(lines) > room {
			lines = []styled.Line{{Spans: cut(it, w)}}
		}
		for _, l := range lines {
			if len(out) < most {
				out = append(out, l.Spans)
			}
		}
	}
	return out
}

// drawFills draws the bar and its legend.
func (m *Model) drawFills(d *drawing, p plan) {
	r := m.report
	s := scale{window: max(r.Window, 0), tokens: max(r.Tokens, 0), masked: max(r.Masked, 0)}
	fills := atMost(m.fills, p.tools)
	bar := d.take(p.bar)
	for y := range bar.H {
		drawBar(d.Canvas, bar.Row(y), d.th, fills, s)
	}
	d.lines(legend(entries(fills, s, d.th), s, d.left.W, p.legend))
}

// drawEmpty returns why there is no context to show, and returns the rest of the box.
func (m *Model) drawEmpty(c *layout.Canvas, b layout.Box, th *theme.Theme, s *thread.Status) layout.Box {
	text, tok := m.empty(s)
	d := drawing{Canvas: c, th: th, left: b}
	for _, l := range styled.Wrap(b.W, styled.Span{Text: text, Tok: tok}) {
		d.lines([][]styled.Span{l.Spans})
	}
	d.skip(1)
	if m.known && len(m.report.Curve) > 1 && d.left.H >= roomy {
		v := m.curve()
		d.rule(v.heading())
		v.draw(c, d.take(5), th)
		d.skip(1)
	}
	return d.left
}

// empty returns why there is no context to show.
func (m *Model) empty(s *thread.Status) (string, theme.Token) {
	switch {
	case s.Launch.NoGateway:
		return "This thread was started without the gateway: its context cannot be shown, and nothing is masked.",
			theme.Muted
	case s.Aside != "":
		return "Not through the gateway: nothing can be masked. " + plain.Line(s.Aside), theme.Muted
	case m.err != "":
		return "context: " + plain.Line(start(m.err)), theme.Bad
	case !m.known:
		return "…", theme.Muted
	case s.Around, s.Gauge.Source == "transcript":
		return "Its requests go directly to the provider: its context cannot be shown, and nothing is masked.",
			theme.Muted
	default:
		return "Filled by the next prompt.", theme.Muted
	}
}

// drawing draws from the top of a box downwards.
type drawing struct {
	*layout.Canvas
	th   *theme.Theme
	left layout.Box
}

// take takes rows off what is left.
func (d *drawing) take(rows int) (top layout.Box) {
	top, d.left = d.left.Top(rows)
	return top
}

func (d *drawing) skip(rows int) { d.take(rows) }

func (d *drawing) lines(lines [][]styled.Span) {
	for _, l := range lines {
		d.PrintSpans(d.take(1), 0, 0, d.th, l)
	}
}

// rule draws a heading with a line after it.
func (d *drawing) rule(heading []styled.Span) {
	b := d.take(1)
	heading = cut(heading, b.W)
	x := d.PrintSpans(b, 0, 0, d.th, heading)
	if x < b.W {
		d.Print(b, x, 0, d.th.Style(theme.Border), strings.Repeat("─", b.W-x))
	}
}
