// Package wave shows the tasks of plans: a list of them, and each as a graph by wave, live. What a task asks is answered where
// it is seen: in the list of threads, in the inbox, in the list of tasks and in the graph. An answer goes only to the question
// that was on the screen when its key was pressed; the server takes the first and tells the second.
//
// The server is asked once, and again for the tasks that its events name, a few times a second at most; the graph only while
// it is open.
package wave

import (
	"time"

	"orchestrator/thread"
	"orchestrator/thread/plan"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/theme"

	tea "charm.land/bubbletea/v2"
)

// Feature shows tasks.
type Feature struct {
	src   *source
	list  *list // open or closed
	page  *page // open or closed
	first bool  // the list was looked at last, rather than the record of work
	begun bool  // either was looked at
	stale bool  // the server is another one

	answers *answers
	acts    *acts
}

// New adds the feature to a host.
func New(h *host.Host, cfg Config) *Feature {
	f := &Feature{}
	f.src = &source{Host: h, cfg: cfg, answered: map[string]time.Time{}}
	f.answers, f.acts = &answers{src: f.src}, &acts{f.src}
	f.src.also = f.touchPage
	f.list = f.newList("")
	f.src.changed = func() { f.list.fill() }
	h.Actions.On(intent.ShowWaves, f.Show)
	return f
}

func (f *Feature) newList(at string) *list {
	return &list{src: f.src, at: at, do: does{enter: f.enter, answer: f.answers.result, menu: f.acts.menu, work: func() tea.Cmd {
		f.Worked()
		return f.src.cfg.Work()
	}}}
}

// Show opens the list of tasks.
func (f *Feature) Show() tea.Cmd {
	f.first, f.begun = true, true
	f.list = f.newList(f.list.at)
	f.list.fill()
	f.src.Dialogs.Push(f.list)
	return f.src.load(nil)
}

// Worked tells that the record of work is looked at.
func (f *Feature) Worked() { f.first, f.begun = false, true }

// First reports whether tasks are shown rather than the record of work: they were looked at last, or one is at work and
// neither was looked at yet.
func (f *Feature) First() bool { return f.first || !f.begun && f.src.works() }

// Open opens the graph of a task, at one of its nodes if that is not "".
func (f *Feature) Open(task, node string) tea.Cmd {
	f.page = newPage(f.src, task, node, pageDoes{enter: f.answers.visit, answer: f.answers.result, menu: f.acts.menu, read: f.answers.read})
	f.src.Dialogs.Push(f.page)
	return f.page.load()
}

// Touched takes that tasks have changed.
func (f *Feature) Touched(names []string) tea.Cmd {
	if len(names) == 0 {
		return nil
	}
	return tea.Batch(f.src.touched(names), f.touchPage(names))
}

func (f *Feature) touchPage(names []string) tea.Cmd {
	if f.page == nil || !f.src.Dialogs.Has(f.page) {
		return nil
	}
	return f.page.touched(names)
}

// Again tells that the server may know something else, because it is another one.
func (f *Feature) Again() { f.stale = true }

// Follow asks for what is out of date, and notes which question the cursor is on. Call it after every message.
func (f *Feature) Follow() tea.Cmd {
	f.answers.key(nil)
	if !f.stale {
		return nil
	}
	f.stale = false
	if f.page != nil && f.src.Dialogs.Has(f.page) {
		return tea.Batch(f.src.load(nil), f.page.load())
	}
	return f.src.load(nil)
}

// Answer returns what a key does to the question that the cursor is on in the list of threads, and the words for it, nil for
// keys that answer nothing. It does nothing itself: a letter may be the first one of a sentence.
func (f *Feature) Answer(in intent.Intent) (do func() tea.Cmd, words string) {
	return f.answers.key(in)
}

// Respond answers a question with a yes or a no, or shows all of it first if not all of it was in sight.
func (f *Feature) Respond(q thread.NodeQuestion, yes, whole bool) tea.Cmd {
	return f.answers.respond(q, yes, whole)
}

// Item names what is under the cursor of the open list or graph, to see later whether it still is.
func (f *Feature) Item() string {
	switch f.src.Dialogs.Top() {
	case f.list:
		return f.list.Item()
	case f.page:
		return f.page.Item()
	default:
		return ""
	}
}

// Asked returns what tasks ask.
func (f *Feature) Asked() []thread.NodeQuestion { return f.src.asked() }

// Tasks returns the names and titles of the tasks that are known, newest first.
func (f *Feature) Tasks() (all []plan.Task) {
	for _, s := range f.src.known {
		all = append(all, s.Task)
	}
	return all
}

// enter opens the graph of a task.
func (f *Feature) enter(name string) dialog.Result {
	return host.Stay(func() tea.Cmd { return f.Open(name, "") })
}

// DrawAsked draws a question of a task in the main pane.
func (f *Feature) DrawAsked(c *layout.Canvas, b layout.Box, th *theme.Theme, q thread.NodeQuestion) {
	drawAsked(f.src, c, b, th, q)
}
