package dialog

import (
	"fmt"

	"orchestrator/thread"
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/list"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"
)

// Resumed is the result of the resume list: one thread, or all where ID is empty.
type Resumed struct{ ID thread.ID }

// DialogResult marks it.
func (Resumed) DialogResult() {}

// Resumes is the list of interrupted threads with the proof of what can be resumed.
type Resumes struct {
	ids  []thread.ID
	look func(thread.ID) *thread.Status
	win  list.Window
}

// resumeRows is how many rows a thread takes.
const resumeRows = 3

// NewResumes makes the list; look tells how a thread stands now, since proofs come in while it is
// open.
func NewResumes(ids []thread.ID, look func(thread.ID) *thread.Status) *Resumes {
	r := &Resumes{ids: ids, look: look}
	r.win.Fit(len(ids), 0, nil)
	return r
}

// Title names it.
func (r *Resumes) Title() string {
	return Count(len(r.ids), "thread") + " interrupted"
}

// Count says how many of something there are: "1 line", "2 lines".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Scope says which keys it takes.
func (r *Resumes) Scope() intent.Scope { return intent.Resuming }

// Hints names the keys of a list of threads to resume.
func (r *Resumes) Hints(layout.Box) []intent.Action {
	return []intent.Action{intent.ResumeOne, intent.ResumeAll, intent.Cancel}
}

// Size returns what it wants.
func (r *Resumes) Size(w, h int) (int, int) {
	return min(w, 90), min(max(len(r.ids)*resumeRows, 2), h)
}

// Handle takes an intent.
func (r *Resumes) Handle(in intent.Intent) Result {
	act, _ := in.(intent.Action)
	switch act {
	case intent.ResumeOne:
		if at := r.win.At(); at < len(r.ids) {
			return Resumed{r.ids[at]}
		}
		return Cancelled{}
	case intent.ResumeAll:
		return Resumed{}
	case intent.Cancel:
		return Cancelled{}
	default:
		r.win.Handle(act)
	}
	return nil
}

// Draw draws it.
func (r *Resumes) Draw(c *layout.Canvas, b layout.Box, th *theme.Theme) {
	r.win.Fit(len(r.ids), b.H, func(int) int { return resumeRows })
	for n, y := range r.win.Items() {
		box := layout.Box{X: b.X, Y: b.Y + y, W: b.W, H: min(resumeRows, b.H-y)}
		s := r.look(r.ids[n])
		if s == nil {
			c.Print(box, 0, 0, th.Style(theme.Muted), "gone")
			continue
		}
		x := c.Print(box, 0, 0, th.Style(theme.Strong), plain.Line(s.DisplayName()))
		c.Print(box, x+2, 0, th.Style(theme.Muted), plain.Cut(plain.Line(s.Agent)+" · "+Count(s.Turn, "turn"), box.W-x-2))
		how, tok := Proof(s.Resume)
		if s.State.State != thread.StateInterrupted {
			how, tok = "resumed", theme.Good
		}
		for y, l := range plain.Wrap(how, box.W-2) {
			c.Print(box, 2, y+1, th.Style(tok), l)
		}
		if n == r.win.At() {
			c.Tint(box.Row(0), th.Style(theme.SelectedFocus))
		}
	}
}

// Proof says what a resume rests on.
func Proof(p *thread.ResumeProof) (string, theme.Token) {
	if p == nil {
		return "not checked yet", theme.Muted
	}
	var how string
	tok := theme.Good
	switch p.How {
	case thread.ResumeNative:
		how = "transcript found"
	case thread.ResumeRebuilt:
		how = "transcript rebuilt from what is stored"
	case thread.ResumePrimer:
		how, tok = "a summary of what is stored", theme.Warn
	case thread.ResumeFresh:
		how, tok = "nothing was said yet", theme.Muted
	default:
		how, tok = string(p.How), theme.Warn
	}
	switch {
	case p.Detail != "":
		how = plain.Line(p.Detail) // says the same, more closely
	case p.Bytes > 0 && p.How == thread.ResumeNative:
		how = "transcript verified (" + bytes(p.Bytes) + ")"
	case p.Bytes > 0:
		how += ", " + bytes(p.Bytes) + " verified"
	}
	if p.Worktree != "" {
		how += " · worktree: " + plain.Line(p.Worktree)
	}
	if n := len(p.Prompts); n > 0 {
		how += " · not answered: " + Excerpt(p.Prompts[n-1].Text, 60)
		if n > 1 {
			how += fmt.Sprintf(" and %d more", n-1)
		}
	}
	if p.Incomplete != "" {
		how, tok = how+" · incomplete: "+plain.Line(p.Incomplete), theme.Warn
	}
	return how, tok
}

// Excerpt is the beginning of a text, on one line and quoted.
func Excerpt(text string, most int) string { return "“" + plain.Cut(plain.First(text), most) + "”" }

// bytes formats a size with its thousands apart.
func bytes(n int64) string {
	if n == 1 {
		return "1 byte"
	}
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s + " bytes"
}
