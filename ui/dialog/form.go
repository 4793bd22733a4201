package dialog

import (
	"strings"

	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"
)

// Form is a dialog with fields. Enter submits it, as it does in every agent; a key of its own starts a new line in a
// text of several lines.
type Form struct {
	title  string
	inputs []*Input
	at     int
	verb   string // what submitting does
	// submit returns the result, or what is wrong.
	submit  func() (Result, string)
	problem string
	rows    []layout.Box // where inputs were drawn, by their place among the visible ones
	// chosen is what a digit chooses while no text is edited: words for it, "" for nothing, and what it does before the
	// form is submitted.
	chosen func(n int) (words string, choose func())
}

// NewForm returns a form; submit returns its result, or what is wrong with it.
func NewForm(title string, submit func() (Result, string), inputs ...*Input) *Form {
	return &Form{title: title, submit: submit, inputs: inputs}
}

// NewOne returns a form with a single text; empty is the message if it is empty.
func NewOne(title string, in *Input, empty string, result func(string) Result) *Form {
	return NewForm(title, func() (Result, string) {
		v := strings.TrimSpace(in.Text.Value())
		if v == "" {
			return nil, empty
		}
		return result(v), ""
	}, in)
}

// Title returns the title.
func (f *Form) Title() string { return f.title }

// Scope returns the scope of its keys.
func (f *Form) Scope() intent.Scope { return intent.Form }

// Verb sets the word for what submitting does, such as "start".
func (f *Form) Verb(word string) *Form {
	f.verb = word
	return f
}

// Digits has digits choose something and submit the form, while no text is edited.
func (f *Form) Digits(chosen func(n int) (words string, choose func())) *Form {
	f.chosen = chosen
	return f
}

// Digit returns what a typed digit chooses now, with words for it; "" is nothing.
func (f *Form) Digit(in intent.Intent) (pick intent.Pick, words string) {
	t, ok := in.(intent.Type)
	inputs := f.visible()
	if !ok || f.chosen == nil || len(t.Text) != 1 || t.Text < "1" || t.Text > "9" ||
		len(inputs[min(f.at, len(inputs)-1)].Options) == 0 {
		return pick, ""
	}
	pick.N = int(t.Text[0] - '0')
	words, _ = f.chosen(pick.N)
	return pick, words
}

// Label implements Labeler.
func (f *Form) Label(a intent.Action) string {
	if a == intent.Accept || a == intent.Submit {
		return f.verb
	}
	return ""
}

// Lines reports whether the current field takes several lines, so that an enter within pasted text is one of them.
func (f *Form) Lines() bool {
	f.at = min(f.at, len(f.visible())-1)
	return f.visible()[f.at].Text.Multi
}

// Hints returns the keys that do something in the current field.
func (f *Form) Hints(layout.Box) []intent.Action {
	out := []intent.Action{intent.Accept}
	if f.Lines() {
		out = append(out, intent.NewLine)
	}
	if len(f.visible()) > 1 {
		out = append(out, intent.NextField)
	}
	return append(out, intent.Cancel)
}

// done submits the form, or shows what is wrong.
func (f *Form) done() Result {
	r, problem := f.submit()
	if f.problem = problem; problem != "" {
		return nil
	}
	return r
}

// visible returns the inputs that are not hidden.
func (f *Form) visible() []*Input {
	var out []*Input
	for _, i := range f.inputs {
		if i.Hidden == nil || !i.Hidden() {
			out = append(out, i)
		}
	}
	return out
}

// Size returns the size that it needs.
func (f *Form) Size(w, h int) (int, int) {
	rows := 1
	for _, i := range f.visible() {
		rows += i.rows(min(w, 76))
	}
	return min(w, 76), min(rows, h)
}

// Handle handles an intent.
func (f *Form) Handle(in intent.Intent) Result {
	inputs := f.visible()
	f.at = min(f.at, len(inputs)-1)
	cur := inputs[f.at]
	if p, ok := in.(intent.Pick); ok && f.chosen != nil {
		if words, choose := f.chosen(p.N); words != "" {
			choose()
			return f.done()
		}
		return nil
	}
	act, _ := in.(intent.Action)
	switch act {
	case intent.Accept, intent.Submit:
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
		switch act {
		case intent.Right, intent.Toggle:
			cur.step(1)
		case intent.Left:
			cur.step(-1)
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

// Click goes to a field, and chooses an option of it.
func (f *Form) Click(x, y int) Result {
	for i, in := range f.visible() {
		if i < len(f.rows) && f.rows[i].Contains(x, y) {
			f.at = i
			in.click(x, y)
		}
	}
	return nil
}

// turn moves to the next or previous field.
func (f *Form) turn(next bool) {
	n := len(f.visible())
	if next {
		f.at = (f.at + 1) % n
	} else {
		f.at = (f.at + n - 1) % n
	}
}

// Draw draws the form, scrolled to the current field.
func (f *Form) Draw(c *layout.Canvas, b layout.Box, th *theme.Theme) {
	body, foot := b.Bottom(1)
	if f.problem != "" {
		c.Print(foot, 0, 0, th.Style(theme.Bad), plain.Cut(plain.Line(f.problem), foot.W))
	}
	inputs := f.visible()
	f.at = min(f.at, len(inputs)-1)
	skip, sum := 0, 0
	for i := 0; i <= f.at; i++ {
		sum += inputs[i].rows(b.W)
	}
	for sum > body.H && skip < f.at {
		sum -= inputs[skip].rows(b.W)
		skip++
	}
	f.rows = make([]layout.Box, len(inputs))
	for i, in := range inputs[skip:] {
		var row layout.Box
		row, body = body.Top(in.rows(b.W))
		if row.Empty() {
			return
		}
		f.rows[skip+i] = row
		in.draw(c, row, th, skip+i == f.at)
	}
}
