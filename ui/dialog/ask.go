package dialog

import (
	"slices"
	"strings"

	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"
)

// Choice is an answer to a question.
type Choice struct {
	Label  string
	Result Result
	Danger bool
	// Preset preselects it instead of the choice that cancels. It is for choices that are harmless if selected by
	// accident.
	Preset bool
	// Read means that it cannot be selected before the end of the body was on the screen: until then its key scrolls.
	Read bool
}

// Cancel returns the choice that changes nothing.
func Cancel(label string) Choice { return Choice{Label: label, Result: Cancelled{}} }

// Ask is a question with its choices side by side. Its body can be set later. The choice that cancels is preselected,
// and typing text selects it again, so that nobody confirms by accident.
type Ask struct {
	title   string
	body    Scroll
	choices []Choice
	at      int
	over    func() string
	foot    layout.Box // where the choices were drawn
}

// NewAsk returns a question.
func NewAsk(title string, body []Line, choices ...Choice) *Ask {
	a := &Ask{title: title}
	a.Set(body, choices...)
	return a
}

// Set replaces the body and the choices, such as after loading something. A withdrawn question stays withdrawn.
func (a *Ask) Set(body []Line, choices ...Choice) {
	a.body, a.choices = NewScroll(body), choices
	a.begin()
	a.Recheck()
}

// begin selects the preselected choice.
func (a *Ask) begin() {
	a.at = 0
	cancels := func(ch Choice) bool { _, ok := ch.Result.(Cancelled); return ok }
	for _, begins := range []func(Choice) bool{func(ch Choice) bool { return ch.Preset }, cancels} {
		if i := slices.IndexFunc(a.choices, begins); i >= 0 {
			a.at = i
			return
		}
	}
}

// Until withdraws the question once over returns a reason, such as that it was answered on another screen. Until then
// over returns "".
func (a *Ask) Until(over func() string) *Ask {
	a.over = over
	return a
}

// Recheck withdraws the question if it is obsolete, and reports whether it did.
func (a *Ask) Recheck() bool {
	if a.over == nil {
		return false
	}
	why := a.over()
	if why == "" {
		return false
	}
	a.body, a.choices, a.at = NewScroll([]Line{{Text: why, Tok: theme.Warn}}), []Choice{Cancel("Close")}, 0
	a.over = nil
	return true
}

// Title returns the title.
func (a *Ask) Title() string { return a.title }

// Scope returns the scope of its keys.
func (a *Ask) Scope() intent.Scope { return intent.Confirm }

// Hints leaves out the keys that have nothing to select.
func (a *Ask) Hints(layout.Box) []intent.Action {
	switch len(a.choices) {
	case 0:
		return []intent.Action{intent.Cancel}
	case 1:
		return []intent.Action{intent.Accept}
	default:
		if a.acts() < 0 {
			return []intent.Action{intent.Right, intent.Accept, intent.Cancel}
		}
		return []intent.Action{intent.Right, intent.Accept, intent.Submit, intent.Cancel}
	}
}

// Size returns the size that it needs.
func (a *Ask) Size(w, h int) (int, int) {
	w = min(w, 90)
	row := 0
	for _, ch := range a.choices {
		row += plain.Width(ch.Label) + 6
	}
	bw, bh := a.body.Size(w)
	bw = min(max(bw, row, plain.Width(a.title)+4, 44), w)
	_, bh2 := a.body.Size(bw)
	return bw, min(max(bh, bh2)+1+a.rows(bw), h)
}

// button is the place of a choice, relative to the first one.
type button struct{ x, y, w int }

// buttons lays out the choices side by side, in as many rows as needed.
func (a *Ask) buttons(w int) []button {
	out := make([]button, len(a.choices))
	x, y := 0, 0
	for i, ch := range a.choices {
		n := plain.Width(plain.Line(ch.Label)) + 4
		if x > 0 && x+n > w {
			x, y = 0, y+1
		}
		out[i] = button{x, y, n}
		x += n + 2
	}
	return out
}

// rows returns how many rows the choices need.
func (a *Ask) rows(w int) int {
	if len(a.choices) == 0 {
		return 1
	}
	return a.buttons(w)[len(a.choices)-1].y + 1
}

// Handle handles an intent.
func (a *Ask) Handle(in intent.Intent) Result {
	act, isAction := in.(intent.Action)
	if !isAction {
		a.begin()
		return nil
	}
	switch act {
	case intent.Accept:
		return a.choose(a.at)
	case intent.Submit:
		if i := a.acts(); i >= 0 {
			return a.choose(i)
		}
	case intent.Cancel:
		return Cancelled{}
	case intent.Left:
		a.at = max(a.at-1, 0)
	case intent.Right:
		a.at = max(min(a.at+1, len(a.choices)-1), 0)
	default:
		a.body.Handle(act)
	}
	return nil
}

// acts returns the first choice that does something, -1 if none does.
func (a *Ask) acts() int {
	return slices.IndexFunc(a.choices, func(ch Choice) bool { _, cancels := ch.Result.(Cancelled); return !cancels })
}

// choose ends the question with a choice, or scrolls as long as that has not been shown whole.
func (a *Ask) choose(i int) Result {
	switch {
	case i >= len(a.choices) || a.Recheck():
	case a.choices[i].Read && !a.body.ended:
		a.body.Handle(intent.PageDown)
	default:
		return a.choices[i].Result
	}
	return nil
}

// Click chooses a choice. One that does harm is selected first, and chosen by a second click.
func (a *Ask) Click(x, y int) Result {
	for i, b := range a.buttons(a.foot.W) {
		if y != a.foot.Y+b.y || x < a.foot.X+b.x || x >= a.foot.X+b.x+b.w {
			continue
		}
		was := a.at
		if a.at = i; a.choices[i].Danger && was != i {
			return nil
		}
		return a.choose(a.at)
	}
	return nil
}

// Label names the choice that a key chooses.
func (a *Ask) Label(act intent.Action) string {
	if i := a.acts(); act == intent.Submit && i >= 0 {
		return strings.ToLower(plain.Cut(plain.Line(a.choices[i].Label), 24))
	}
	return ""
}

// Draw draws the dialog.
func (a *Ask) Draw(c *layout.Canvas, b layout.Box, th *theme.Theme) {
	body, foot := b.Bottom(a.rows(b.W))
	a.foot = foot
	body.H--
	a.body.Draw(c, body, th)
	at := a.buttons(b.W)
	for i, ch := range a.choices {
		st := th.Style(theme.Text)
		switch {
		case i == a.at:
			st = th.Style(theme.SelectedFocus)
		case ch.Danger:
			st = th.Style(theme.Bad)
		}
		c.Print(foot, at[i].x, at[i].y, st, "[ "+plain.Line(ch.Label)+" ]")
	}
}
