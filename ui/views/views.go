// Package views contains the views of the selected thread in the main pane besides its terminal: the timeline with
// turns to read, the context and the diff. It loads only what is shown, and drops late results for what is no longer
// shown.
package views

import (
	"fmt"
	"path/filepath"

	"orchestrator/thread"
	"orchestrator/thread/api"
	contextview "orchestrator/ui/context"
	"orchestrator/ui/detail"
	"orchestrator/ui/diff"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/markdown"
	"orchestrator/ui/timeline"
	"orchestrator/ui/turn"

	tea "charm.land/bubbletea/v2"
)

// View is a view of the main pane.
type View int

// The views, in their order on the screen; Count is their number.
const (
	Terminal View = iota
	Timeline
	Context
	Diff
	Count
)

func (v View) String() string {
	return [...]string{"terminal", "timeline", "context", "diff"}[v]
}

// mostRest limits how many turns are searched for what is in no page of a timeline.
const mostRest = 1000

// Actions are what views need other features to do.
type Actions struct {
	Fork   func(host.Point)
	Rewind func(at thread.CheckpointID, turn int) tea.Cmd
	Edit   func(path string) tea.Cmd
	// Copy copies a text of a thread.
	Copy func(name, what, text string) tea.Cmd
	// Prompts opens the prompts of a thread.
	Prompts func(*thread.Status) tea.Cmd
}

// Feature has the views of the main pane.
type Feature struct {
	*host.Host
	do       Actions
	now      View
	reading  bool // a turn is open over the timeline
	timeline *timeline.Model
	turn     *turn.Model
	diff     *diff.Model
	context  *contexts
	detail   *detail.Model // beside the context, or instead of it
}

// New returns the views; the terminal is shown.
func New(h *host.Host, do Actions) *Feature {
	return &Feature{Host: h, do: do, timeline: timeline.New(h.Name), turn: turn.New(markdown.New()),
		diff: diff.New(), detail: detail.New(),
		context: &contexts{Host: h, view: contextview.New()}}
}

// Now returns the current view.
func (f *Feature) Now() View { return f.now }

// Reading returns the title of the open turn, or "".
func (f *Feature) Reading() string {
	if f.reading && f.now == Timeline {
		return f.turn.Title()
	}
	return ""
}

// At returns the turn that was opened last.
func (f *Feature) At() (thread.ID, thread.CheckpointID, int) { return f.turn.At() }

// Show changes the view.
func (f *Feature) Show(v View) { f.now, f.reading = v, false }

// Close closes the open turn.
func (f *Feature) Close() { f.reading = false }

// Scope returns the scope of the view's keys.
func (f *Feature) Scope() intent.Scope {
	switch f.now {
	case Timeline:
		if f.reading {
			return intent.Turn
		}
		return intent.Timeline
	case Diff:
		return intent.Diff
	default:
		return intent.Context
	}
}

// Fill loads what the current view needs of the selected thread.
func (f *Feature) Fill() tea.Cmd {
	s := f.Threads.Selected()
	if s == nil {
		f.timeline.Show("")
		return nil
	}
	switch f.now {
	case Timeline:
		if f.timeline.Thread() != s.ID {
			f.timeline.Show(s.ID)
		}
		return f.loadTimeline()
	case Diff:
		if f.diff.Thread() != s.ID {
			return f.loadDiff(s.ID, diff.BaseToNow())
		}
		return f.Reload()
	case Context:
		if f.context.view.Thread() != s.ID || f.context.view.Failed() {
			f.context.view.Show(s.ID)
		}
		return nil // Follow loads it
	default:
		return nil
	}
}

// Follow loads again what is out of date: the context, as the selected thread's gauge says, and the prompts in the
// timeline. Call it after every message
// while the main pane is visible; nothing is loaded for another view.
func (f *Feature) Follow() tea.Cmd {
	switch f.now {
	case Timeline:
		return f.loadRest(f.timeline.Thread())
	case Context:
		return f.context.follow()
	default:
		return nil
	}
}

// Listed reports whether the results in a context are on the screen, so that keys are for them.
func (f *Feature) Listed() bool { return f.now == Context && f.context.view.Listed() }

// Reload loads the diff again, if it is shown.
func (f *Feature) Reload() tea.Cmd {
	if s := f.Threads.Selected(); s != nil && f.diff.Thread() == s.ID && f.now == Diff {
		return f.loadDiff(s.ID, f.diff.Range())
	}
	return nil
}

// Rewound reloads a thread's timeline, because its history has changed.
func (f *Feature) Rewound(id thread.ID) tea.Cmd {
	if f.timeline.Thread() == id {
		f.timeline.Show(id)
	}
	return f.Fill()
}

// Read shows a turn of a thread.
func (f *Feature) Read(id thread.ID, cp thread.Checkpoint) tea.Cmd {
	f.now, f.reading = Timeline, true
	return tea.Batch(f.Fill(), f.loadTurn(id, cp))
}

// Checkpoint updates the views after a new checkpoint.
func (f *Feature) Checkpoint(cp thread.Checkpoint) tea.Cmd {
	if cp.Kind == thread.KindRewind && f.timeline.Thread() == cp.Thread {
		f.timeline.Show(cp.Thread) // its history has changed
		if f.now == Timeline {
			return f.loadTimeline()
		}
		return nil
	}
	f.timeline.Push(cp)
	if cp.Kind == thread.KindTurn && f.now == Diff && f.diff.Thread() == cp.Thread && f.diff.Range().Turn == 0 {
		return f.Reload()
	}
	return nil
}

// Search searches the current view.
func (f *Feature) Search(text string) {
	switch f.now {
	case Diff:
		f.diff.Search(text)
	case Context:
		f.context.view.Search(text)
	default:
		f.turn.Search(text)
	}
}

// Searched reports whether matches of a search are marked in the view.
func (f *Feature) Searched() bool {
	switch f.Scope() {
	case intent.Turn:
		return f.turn.Searched()
	case intent.Diff:
		return f.diff.Searched()
	default:
		return false
	}
}

// Scroll scrolls by lines, or in the timeline and the list of results by one row.
func (f *Feature) Scroll(lines int) {
	switch {
	case f.now == Timeline && f.reading:
		f.turn.Scroll(lines)
	case f.now == Timeline:
		f.timeline.Move(max(min(lines, 1), -1))
	case f.now == Diff:
		f.diff.Scroll(lines)
	case f.now == Context && f.context.view.Listed():
		f.context.view.Move(max(min(lines, 1), -1))
	case f.now == Context:
		f.detail.Scroll(lines)
	}
}

// Click handles a click on a cell of the screen.
func (f *Feature) Click(x, y int) {
	if f.now == Context {
		f.context.view.Click(x, y)
	}
}

// Act handles an action in the focused view, and reports whether it means something there.
func (f *Feature) Act(a intent.Action) (tea.Cmd, bool) {
	if a == intent.EndSearch {
		f.Search("")
		return nil, true
	}
	switch f.Scope() {
	case intent.Timeline:
		return f.inTimeline(a)
	case intent.Turn:
		return f.inTurn(a)
	case intent.Diff:
		return f.inDiff(a)
	default:
		if !f.context.view.Listed() && f.detail.Handle(a) {
			return nil, true
		}
		return f.context.act(a)
	}
}

func (f *Feature) inTimeline(a intent.Action) (tea.Cmd, bool) {
	tl := f.timeline
	if tl.Handle(a) {
		return f.loadTimeline(), true
	}
	cp := tl.Selected()
	if cp == nil {
		return nil, false
	}
	if cp.Kind == thread.KindPrompt {
		return f.onPrompt(a)
	}
	switch a {
	case intent.Open:
		f.reading = true
		return f.loadTurn(tl.Thread(), *cp), true
	case intent.ForkAt:
		f.do.Fork(pointOf(*cp))
	case intent.Rewind:
		return f.do.Rewind(cp.ID, cp.Turn), true
	case intent.ShowDiff:
		f.now = Diff
		return f.loadDiff(tl.Thread(), diff.OfTurn(cp.Turn)), true
	case intent.Compare:
		if from, to, both := tl.Mark(); both {
			f.now = Diff
			return f.loadDiff(tl.Thread(), diff.Between(from, to)), true
		}
	default:
		return nil, false
	}
	return nil, true
}

// onPrompt handles an action on a prompt that no turn answered: there is nothing to read, to fork or to compare.
func (f *Feature) onPrompt(a intent.Action) (tea.Cmd, bool) {
	switch a {
	case intent.Open:
		if s := f.Threads.Thread(f.timeline.Thread()); s != nil {
			return f.do.Prompts(s), true
		}
		return nil, true
	case intent.ForkAt, intent.Rewind, intent.ShowDiff, intent.Compare:
		return f.Notify(thread.LevelInfo, "This prompt has no turn: no answer came. Go to a turn, or press enter to see the "+
			"prompt."), true
	default:
		return nil, false
	}
}

func pointOf(cp thread.Checkpoint) host.Point {
	p := host.Point{At: string(cp.ID), Text: fmt.Sprintf("turn %d", cp.Turn), Inside: !cp.Whole()}
	if p.Inside {
		p.Text = "a response of " + p.Text
	}
	return p
}

func (f *Feature) inTurn(a intent.Action) (tea.Cmd, bool) {
	id, at, n := f.turn.At()
	switch a {
	case intent.Leave:
		f.reading = false
	case intent.Older, intent.Newer:
		if cp := f.timeline.Step(n, step(a)); cp != nil {
			f.timeline.Select(cp.ID)
			return tea.Batch(f.loadTurn(id, *cp), f.loadTimeline()), true
		}
	case intent.ForkAt:
		cp := thread.Checkpoint{ID: at, Turn: n}
		if in := f.timeline.Selected(); in != nil && in.ID == at {
			cp = *in
		}
		f.do.Fork(pointOf(cp))
	case intent.Rewind:
		return f.do.Rewind(at, n), true
	case intent.Copy:
		text, what := f.turn.Copy()
		return f.do.Copy(f.Name(id), what, text), true
	default:
		return nil, f.turn.Handle(a)
	}
	return nil, true
}

func (f *Feature) inDiff(a intent.Action) (tea.Cmd, bool) {
	v := f.diff
	s := f.Threads.Selected()
	switch a {
	case intent.Base:
		if s != nil && v.Range().Turn == 0 && s.Turn > 0 {
			return f.loadDiff(s.ID, diff.OfTurn(s.Turn)), true
		}
		if s != nil {
			return f.loadDiff(s.ID, diff.BaseToNow()), true
		}
	case intent.Older, intent.Newer:
		if s == nil {
			return nil, true
		}
		turn := v.Range().Turn
		if turn == 0 {
			turn = s.Turn + 1
		}
		if turn += step(a); turn >= 1 && turn <= s.Turn {
			return f.loadDiff(s.ID, diff.OfTurn(turn)), true
		}
	case intent.Editor:
		if s != nil && v.File() != "" && filepath.IsLocal(v.File()) {
			return f.do.Edit(filepath.Join(s.Dir, v.File())), true
		}
	default:
		return nil, v.Handle(a)
	}
	return nil, true
}

func step(a intent.Action) int {
	if a == intent.Older {
		return -1
	}
	return 1
}

func (f *Feature) loadTimeline() tea.Cmd {
	id := f.timeline.Thread()
	rest := f.loadRest(id)
	p, want := f.timeline.Want()
	if !want {
		return rest
	}
	return tea.Batch(rest, f.page(id, p, func(page []thread.Checkpoint, err error) tea.Cmd {
		f.timeline.Add(id, page, err)
		return f.loadTimeline()
	}))
}

// loadRest loads what is in no page of the timeline, if that has changed.
func (f *Feature) loadRest(id thread.ID) tea.Cmd {
	s := f.Threads.Thread(id)
	if s == nil || !f.timeline.WantRest(s.Prompts) {
		return nil
	}
	return f.page(id, thread.Page{Turns: true, All: true, Limit: mostRest},
		func(all []thread.Checkpoint, err error) tea.Cmd {
			if err == nil { // the timeline itself shows the error
				f.timeline.SetRest(id, all)
			}
			return nil
		})
}

func (f *Feature) page(id thread.ID, p thread.Page, then func([]thread.Checkpoint, error) tea.Cmd) tea.Cmd {
	return host.Call(f.Host, host.Quick, api.Timeline.On(f.Server, api.TimelineRequest{Thread: string(id), Page: p}), then)
}

func (f *Feature) loadTurn(id thread.ID, cp thread.Checkpoint) tea.Cmd {
	f.turn.Show(id, cp)
	return host.Call(f.Host, host.Quick, api.Turn.On(f.Server, api.TurnRequest{Thread: string(id), At: string(cp.ID)}),
		func(entries []thread.Entry, err error) tea.Cmd {
			f.turn.Fill(id, cp.ID, entries, err)
			return nil
		})
}

// LastDiff shows what a thread's last turn changed; before the first one, all that has changed.
func (f *Feature) LastDiff(s *thread.Status) tea.Cmd {
	if s.Turn == 0 {
		return f.loadDiff(s.ID, diff.BaseToNow())
	}
	return f.loadDiff(s.ID, diff.OfTurn(s.Turn))
}

func (f *Feature) loadDiff(id thread.ID, what diff.Range) tea.Cmd {
	f.diff.Show(id, what)
	q := thread.DiffRequest{Thread: string(id), From: what.From, To: what.To}
	return host.Call(f.Host, host.Quick, api.Diff.On(f.Server, q), func(files []thread.FileDiff, err error) tea.Cmd {
		f.diff.Fill(id, what, files, err)
		return nil
	})
}
