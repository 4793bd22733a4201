package dialog

import (
	"strings"

	"orchestrator/ui/field"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"
)

// Option is a choice of an input.
type Option struct {
	Value string
	// Note is shown while it is selected: a version, or why it is not available.
	Note string
	// Off is set if it is not available.
	Off bool
}

// label returns its label, with a mark if it is not available.
func (o Option) label() string {
	if o.Off {
		return " ×" + plain.Line(o.Value) + " "
	}
	return " " + plain.Line(o.Value) + " "
}

// Input is a field of a form: a text, or a choice if it has options.
type Input struct {
	Label   string
	Hint    string // shown in an empty text
	Text    field.Field
	Rows    int // of a text; 0 means 1
	Options []Option
	// Notes is how many rows the note of an option may take; 0 means 1.
	Notes int
	Pick  int
	// Picked, if set, is told that another option was chosen.
	Picked func()
	// Hidden reports whether to hide the input.
	Hidden func() bool

	spots []spot // where options were drawn
}

// spot is where an option was drawn.
type spot struct {
	box    layout.Box
	option int
}

// click chooses the option at a cell.
func (i *Input) click(x, y int) {
	for _, s := range i.spots {
		if s.box.Contains(x, y) && s.option < len(i.Options) {
			i.step(s.option - i.Pick)
		}
	}
}

// Choice returns the selected value.
func (i *Input) Choice() string {
	if i.Pick < len(i.Options) {
		return i.Options[i.Pick].Value
	}
	return ""
}

// step chooses an option n places on.
func (i *Input) step(n int) {
	i.Pick = (i.Pick + n + len(i.Options)) % len(i.Options)
	if i.Picked != nil {
		i.Picked()
	}
}

// YesNo returns an input that is on or off.
func YesNo(label string, on bool, note string) *Input {
	i := &Input{Label: label, Options: []Option{{Value: "no", Note: note}, {Value: "yes", Note: note}}}
	if on {
		i.Pick = 1
	}
	return i
}

// On reports whether a YesNo input is on.
func (i *Input) On() bool { return i.Pick == 1 }

// rows returns how many rows it takes in a form of a width.
func (i *Input) rows(w int) int {
	if len(i.Options) > 0 {
		return 1 + len(i.noteLines(w-labelWidth))
	}
	return max(i.Rows, 1)
}

// noteLines returns the note in lines of a width, the last one cut where there are too many.
func (i *Input) noteLines(w int) []string {
	note, most := plain.Line(i.note()), max(i.Notes, 1)
	if note == "" {
		return nil
	}
	lines := plain.Wrap(note, max(w-1, 1))
	if len(lines) > most {
		rest := note
		for _, l := range lines[:most-1] {
			_, rest, _ = strings.Cut(rest, l)
		}
		lines = append(lines[:most-1], plain.Cut(strings.TrimSpace(rest), w-1))
	}
	return lines
}

func (i *Input) note() string {
	if i.Pick < len(i.Options) {
		return i.Options[i.Pick].Note
	}
	return ""
}

// labelWidth is the width of the label column.
const labelWidth = 12

// draw draws the input with its label.
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

// drawOptions draws choices side by side, scrolled to the selected one, and its note below.
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
	var before []spot
	if from > 0 {
		x = c.Print(b, 0, 0, th.Style(theme.Muted), "‹ ")
		before = []spot{{layout.Box{X: b.X, Y: b.Y, W: 1, H: 1}, from - 1}}
	}
	i.spots = append(i.spots[:0], before...)
	for n, o := range i.Options[from:] {
		if x+width(o) > b.W {
			i.spots = append(i.spots, spot{layout.Box{X: b.X + b.W - 1, Y: b.Y, W: 1, H: 1}, from + n})
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
		i.spots = append(i.spots, spot{layout.Box{X: b.X + x, Y: b.Y, W: width(o) - 1, H: 1}, from + n})
		x = c.Print(b, x, 0, st, text) + 1
	}
	tok := theme.Muted
	if i.Options[i.Pick].Off {
		tok = theme.Warn
	}
	for n, line := range i.noteLines(b.W) {
		if n+1 < b.H {
			c.Print(b, 1, n+1, th.Style(tok), line)
		}
	}
}
