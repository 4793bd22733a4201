package dialog

import (
	"strings"

	"orchestrator/ui/field"
	"orchestrator/ui/intent"
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

// yesNo makes an input that is on or off.
func yesNo(label string, on bool, note string) *Input {
	i := &Input{Label: label, Options: []Option{{Value: "no", Note: note}, {Value: "yes", Note: note}}}
	if on {
		i.Pick = 1
	}
	return i
}

func (i *Input) on() bool { return i.Pick == 1 }

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

// Form is a dialog with fields. Enter ends it, but makes a new line in a text of several lines. A form that
// would send a prompt ends by a key of its own (intent.Submit), which nobody presses in passing.
type Form struct {
	title  string
	inputs []*Input
	at     int
	verb   string // what it does when it is done
	// prompt is what would be sent; nil where a form sends nothing.
	prompt *Input
	// submit makes the result, or says what is wrong.
	submit  func() (Result, string)
	problem string
}

// labelWidth is the column of labels.
const labelWidth = 12

// NewForm makes a form; submit returns its result, or what is wrong with it.
func NewForm(title string, submit func() (Result, string), inputs ...*Input) *Form {
	return &Form{title: title, submit: submit, inputs: inputs}
}

// Title names it.
func (f *Form) Title() string { return f.title }

// Scope says which keys it takes.
func (f *Form) Scope() intent.Scope { return intent.Form }

// Sending marks the input whose text is sent as a prompt when the form is done.
func (f *Form) Sending(prompt *Input) *Form {
	f.prompt = prompt
	return f
}

// Verb names what the form does when it is done: "start".
func (f *Form) Verb(word string) *Form {
	f.verb = word
	return f
}

// Word implements Worder.
func (f *Form) Word(a intent.Action) string {
	if a == intent.Accept || a == intent.Submit {
		return f.verb
	}
	return ""
}

// sends reports whether the form holds a prompt.
func (f *Form) sends() bool { return f.prompt != nil && strings.TrimSpace(f.prompt.Text.Value()) != "" }

// breaks reports whether enter makes a new line.
func (f *Form) breaks() bool {
	in := f.visible()[f.at]
	return in.Text.Multi && in.Text.Value() != ""
}

// Hints names the key that ends the form as it is.
func (f *Form) Hints(layout.Box) []intent.Action {
	f.at = min(f.at, len(f.visible())-1)
	end := intent.Accept
	if f.sends() || f.breaks() {
		end = intent.Submit
	}
	if len(f.visible()) == 1 {
		return []intent.Action{end, intent.Cancel}
	}
	return []intent.Action{end, intent.NextField, intent.Cancel}
}

// done makes the result, or says what is wrong.
func (f *Form) done() Result {
	r, problem := f.submit()
	if f.problem = problem; problem != "" {
		return nil
	}
	return r
}

// visible returns the inputs on show.
func (f *Form) visible() []*Input {
	var out []*Input
	for _, i := range f.inputs {
		if i.Hidden == nil || !i.Hidden() {
			out = append(out, i)
		}
	}
	return out
}

// Size returns what it wants.
func (f *Form) Size(w, h int) (int, int) {
	rows := 1
	for _, i := range f.visible() {
		rows += i.rows()
	}
	return min(w, 76), min(rows, h)
}

// Handle takes an intent.
func (f *Form) Handle(in intent.Intent) Result {
	inputs := f.visible()
	f.at = min(f.at, len(inputs)-1)
	cur := inputs[f.at]
	act, _ := in.(intent.Action)
	switch act {
	case intent.Accept:
		switch {
		case f.breaks():
			cur.Text.Handle(intent.NewLine)
			return nil
		case f.sends():
			f.problem = "There is a prompt to send: use the key named below."
			return nil
		}
		return f.done()
	case intent.Submit:
		return f.done()
	case intent.Cancel:
		return Cancelled{}
	case intent.NextField, intent.PrevField:
		f.turn(act == intent.NextField)
		return nil
	case intent.Up, intent.Down:
		if len(cur.Options) > 0 || !cur.Text.Move(act) {
			f.turn(act == intent.Down)
		}
		return nil
	default:
	}
	if len(cur.Options) > 0 {
		n := len(cur.Options)
		switch act {
		case intent.Right, intent.Toggle:
			cur.Pick = (cur.Pick + 1) % n
		case intent.Left:
			cur.Pick = (cur.Pick + n - 1) % n
		default:
		}
		return nil
	}
	if act == intent.Toggle {
		in = intent.Type{Text: " "}
	}
	cur.Text.Handle(in)
	return nil
}

// turn goes to the next field or the one before.
func (f *Form) turn(next bool) {
	n := len(f.visible())
	if next {
		f.at = (f.at + 1) % n
	} else {
		f.at = (f.at + n - 1) % n
	}
}

// Draw draws it, scrolled so that the current field shows.
func (f *Form) Draw(c *layout.Canvas, b layout.Box, th *theme.Theme) {
	body, foot := b.Bottom(1)
	if f.problem != "" {
		c.Print(foot, 0, 0, th.Style(theme.Bad), plain.Cut(plain.Line(f.problem), foot.W))
	}
	inputs := f.visible()
	f.at = min(f.at, len(inputs)-1)
	skip, sum := 0, 0
	for i := 0; i <= f.at; i++ {
		sum += inputs[i].rows()
	}
	for sum > body.H && skip < f.at {
		sum -= inputs[skip].rows()
		skip++
	}
	for i, in := range inputs[skip:] {
		var row layout.Box
		row, body = body.Top(in.rows())
		if row.Empty() {
			return
		}
		f.drawInput(c, row, th, in, skip+i == f.at)
	}
}

func (f *Form) drawInput(c *layout.Canvas, b layout.Box, th *theme.Theme, in *Input, focus bool) {
	label := th.Style(theme.Muted)
	if focus {
		label = th.Style(theme.Accent)
	}
	c.Print(b, 0, 0, label, plain.Cut(in.Label, labelWidth-1))
	_, value := b.Left(labelWidth)
	if len(in.Options) == 0 {
		st := th.Style(theme.Text)
		if focus {
			st = th.Style(theme.Selected)
		}
		in.Text.Draw(c, value, th, st, in.Hint, focus)
		return
	}
	f.drawOptions(c, value, th, in, focus)
}

// drawOptions draws choices side by side, beginning where the chosen one shows, and the note of
// the chosen one below.
func (f *Form) drawOptions(c *layout.Canvas, b layout.Box, th *theme.Theme, in *Input, focus bool) {
	width := func(o Option) int { return plain.Width(o.label()) + 1 }
	from, sum := 0, 0
	for i := 0; i <= in.Pick && i < len(in.Options); i++ {
		sum += width(in.Options[i])
	}
	for sum > b.W-2 && from < in.Pick {
		sum -= width(in.Options[from])
		from++
	}
	x := 0
	if from > 0 {
		x = c.Print(b, 0, 0, th.Style(theme.Muted), "‹ ")
	}
	for i, o := range in.Options[from:] {
		if x+width(o) > b.W {
			c.Print(b, b.W-1, 0, th.Style(theme.Muted), "›")
			break
		}
		st := th.Style(theme.Text)
		text := o.label()
		switch {
		case from+i == in.Pick && focus:
			st = th.Style(theme.SelectedFocus)
		case from+i == in.Pick:
			st = th.Style(theme.Selected).Bold(true)
		case o.Off:
			st = th.Style(theme.Muted)
		}
		x = c.Print(b, x, 0, st, text) + 1
	}
	if note := in.note(); note != "" && b.H > 1 {
		tok := theme.Muted
		if in.Options[in.Pick].Off {
			tok = theme.Warn
		}
		c.Print(b, 1, 1, th.Style(tok), plain.Cut(plain.Line(note), b.W-1))
	}
}
