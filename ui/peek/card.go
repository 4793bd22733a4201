package peek

import (
	"fmt"
	"strings"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/markdown"
	"orchestrator/ui/pager"
	"orchestrator/ui/plain"
	"orchestrator/ui/styled"
	"orchestrator/ui/theme"
	"orchestrator/ui/tree"

	tea "charm.land/bubbletea/v2"
)

// card is the dialog. What the thread asks is read when it is drawn; its answer is loaded.
type card struct {
	*host.Host
	follow, leave, enter func() tea.Cmd

	id    thread.ID // whose answer it has
	turn  int       // the turns that there were when it was loaded
	said  string
	of    int // its turn
	err   error
	busy  bool
	md    *markdown.Renderer
	pages pager.Pager
	state thread.StateReport // for which the lines were made
	width int                // and the width; 0 if they are stale
}

func (c *card) thread() *thread.Status { return c.Threads.Selected() }

// Title returns the title.
func (c *card) Title() string {
	if s := c.thread(); s != nil {
		return c.Threads.Called(s)
	}
	return ""
}

// Scope returns the scope of its keys.
func (c *card) Scope() intent.Scope { return intent.Peeking }

// Size returns the size that it needs: it leaves the list in sight where there is room.
func (c *card) Size(w, h int) (int, int) { return min(w, max(72, w*6/10)), min(h, max(24, h-4)) }

// Beside marks it as a dialog.Beside.
func (c *card) Beside() {}

// Hints returns its keys.
func (c *card) Hints(layout.Box) []intent.Action {
	return []intent.Action{intent.Down, intent.Open, intent.Cancel, intent.PageDown}
}

// Label returns the words for its keys.
func (c *card) Label(a intent.Action) string {
	switch a {
	case intent.Down:
		return "next"
	case intent.Open:
		return "open"
	case intent.PageDown:
		return "scroll"
	default:
		return ""
	}
}

// Handle handles an intent.
func (c *card) Handle(in intent.Intent) dialog.Result {
	act, _ := in.(intent.Action)
	switch act {
	case intent.Cancel:
		return host.Do(c.leave)
	case intent.Open:
		return host.Do(c.enter)
	case intent.Up, intent.Down, intent.First, intent.Last:
		n := map[intent.Action]int{intent.Up: -1, intent.Down: 1, intent.First: -c.Threads.Len(), intent.Last: c.Threads.Len()}[act]
		c.Threads.Move(n)
		return host.Stay(c.follow)
	default:
		c.pages.Free = true
		c.pages.Handle(act)
	}
	return nil
}

// Draw draws the dialog.
func (c *card) Draw(cv *layout.Canvas, b layout.Box, th *theme.Theme) {
	s := c.thread()
	if s == nil {
		return
	}
	head, rest := b.Top(1)
	look := tree.LookOf(s)
	x := cv.Print(head, 0, 0, th.Style(look.Style), look.Glyph+" "+plain.Line(look.Word))
	who := strings.TrimSpace(plain.Line(s.Agent) + " " + tree.Model(s))
	if since := s.GroupSince(); !since.IsZero() {
		who = thread.Age(c.Clock().Sub(since)) + "  " + who
	}
	cv.Print(head, x+2, 0, th.Style(theme.Muted), plain.Cut(who, head.W-x-2))
	_, rest = rest.Top(1)
	if !c.state.Same(s.State) {
		c.width, c.state = 0, s.State
	}
	if c.width != rest.W {
		c.width = rest.W
		c.pages.Free = true
		c.pages.Set(c.lines(s, rest.W-2))
	}
	c.pages.Draw(cv, rest, th, false)
}

// said is an answer and its turn.
type said struct {
	text string
	turn int
}

// lines lays out what a thread asks and answered.
func (c *card) lines(s *thread.Status, w int) []styled.Line {
	var out []styled.Line
	add := func(tok theme.Token, text string) {
		out = append(out, styled.WrapAll(w, tok, []string{plain.Line(text)})...)
	}
	switch q := s.State.Question; {
	case q != nil:
		for part := range strings.SplitSeq(q.About, ` \n `) {
			if part != "" {
				add(theme.Code, part)
			}
		}
		add(theme.Waiting, q.Text)
		for i, choice := range q.Choices {
			add(theme.Text, fmt.Sprintf("%d  %s", i+1, choice.Text))
		}
		out = append(out, styled.Line{})
	case s.Line() != "" && s.Group() != thread.GroupQuiet && s.Group() != thread.GroupToRead:
		add(theme.Working, s.Line())
		out = append(out, styled.Line{})
	}
	switch {
	case c.err != nil:
		add(theme.Bad, c.err.Error())
	case c.said != "":
		add(theme.Muted, fmt.Sprintf("answer of turn %d", c.of))
		if c.md == nil {
			c.md = markdown.New()
		}
		out = append(out, c.md.Render(c.said, w)...)
	case c.busy:
		add(theme.Muted, "Loading …")
	default:
		add(theme.Muted, "No answer yet")
	}
	return out
}
