package dialog

import (
	"orchestrator/ui/field"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"
)

// Option is one choice of an input.
type Option struct {
	Value string
	// Note is told while it is chosen: a version, or why it cannot be taken.
	Note string
	// Off is set for what cannot be taken.
	Off bool
}

// label is how it is drawn: what cannot be taken wears a mark, colours or not.
func (o Option) label() string {
	if o.Off {
		return " ✗" + plain.Line(o.Value) + " "
	}
	return " " + plain.Line(o.Value) + " "
}

// Input is one field of a form: a text, or a choice where it has options.
type Input struct {
	Label   string
	Hint    string // stands in an empty text
	Text    field.Field
	Rows    int // of a text, 1 when zero
	Options []Option
	Pick    int
	// Hidden takes it off the form.
	Hidden func() bool
}

// Choice returns the value chosen.
func (i *Input) Choice() string {
	if i.Pick < len(i.Options) {
		return i.Options[i.Pick].Value
	}
	return ""
}

// YesNo makes an input that is on or off.
func YesNo(label string, on bool, note string) *Input {
	i := &Input{Label: label, Options: []Option{{Value: "no", Note: note}, {Value: "yes", Note: note}}}
	if on {
		i.Pick = 1
	}
	return i
}

// On reports whether such an input is on.
func (i *Input) On() bool { return i.Pick == 1 }

func (i *Input) rows() int {
	if len(i.Options) > 0 {
		if i.note() != "" {
			return 2
		}
		return 1
	}
	return max(i.Rows, 1)
}

func (i *Input) note() string {
	if i.Pick < len(i.Options) {
		return i.Options[i.Pick].Note
	}
	return ""
}

// labelWidth is the column of labels.
const labelWidth = 12

// draw draws it with its label.
func (i *Input) draw(c *layout.Canvas, b layout.Box, th *theme.Theme, focus bool) {
	label := th.Style(theme.Muted)
	if focus {
		label = th.Style(theme.Accent)
	}
	c.Print(b, 0, 0, label, plain.Cut(i.Label, labelWidth-1))
	_, value := b.Left(labelWidth)
	if len(i.Options) == 0 {
		st := th.Style(theme.Text)
		if focus {
			st = th.Style(theme.Selected)
		}
		i.Text.Draw(c, value, th, st, i.Hint, focus)
		return
	}
	i.drawOptions(c, value, th, focus)
}

// drawOptions draws choices side by side, beginning where the chosen one shows, and the note of
// the chosen one below.
func (i *Input) drawOptions(c *layout.Canvas, b layout.Box, th *theme.Theme, focus bool) {
	width := func(o Option) int { return plain.Width(o.label()) + 1 }
	from, sum := 0, 0
	for _, o := range i.Options[:min(i.Pick+1, len(i.Options))] {
		sum += width(o)
	}
	for sum > b.W-2 && from < i.Pick {
		sum -= width(i.Options[from])
		from++
	}
	x := 0
	if from > 0 {
		x = c.Print(b, 0, 0, th.Style(theme.Muted), "‹ ")
	}
	for n, o := range i.Options[from:] {
		if x+width(o) > b.W {
			c.Print(b, b.W-1, 0, th.Style(theme.Muted), "›")
			break
		}
		st := th.Style(theme.Text)
		text := o.label()
		switch {
		case from+n == i.Pick && focus:
			st = th.Style(theme.SelectedFocus)
		case from+n == i.Pick:
			st = th.Style(theme.Selected).Bold(true)
		case o.Off:
			st = th.Style(theme.Muted)
		}
		x = c.Print(b, x, 0, st, text) + 1
	}
	if note := i.note(); note != "" && b.H > 1 {
		tok := theme.Muted
		if i.Options[i.Pick].Off {
			tok = theme.Warn
		}
		c.Print(b, 1, 1, th.Style(tok), plain.Cut(plain.Line(note), b.W-1))
	}
}
