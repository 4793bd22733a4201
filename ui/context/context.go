// Package context is the context view: what fills a thread's context, how it grew, what masks leave out of it, and the
// results of tools to mask, unmask and pin.
//
// It only shows what the server counted, and takes no number from what it draws. A report for another thread, or one
// older than what is shown, is dropped. Text from agents is cleaned as it comes in.
package context

import (
	"orchestrator/thread"
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/theme"
)

// State is what of a thread decides whether its report is up to date.
type State struct {
	Gauge thread.Gauge
	Run   thread.ExecutionID
}

// StateOf returns the state of a thread.
func StateOf(s *thread.Status) State {
	st := State{Gauge: s.Gauge}
	if s.Execution != nil {
		st.Run = s.Execution.ID
	}
	return st
}

// Request is a request for a report.
type Request struct {
	thread thread.ID
	number int
	reads  bool // it only reads
}

// Model is the view.
type Model struct {
	id     thread.ID
	report thread.ContextReport
	fills  []fill
	known  bool // there is a report
	err    string
	list   results
	listed layout.Box // where the list was drawn last
	about  bool       // the facts about the thread are shown instead

	// since, asked and shown are numbers of requests: the last one before the thread was shown, the newest one, and the
	// one whose report is shown.
	since, asked, shown int
	reading             bool  // a request that only reads is on its way
	changing            int   // requests for changes that are on their way
	state               State // of the thread when its report was last asked for
	fresh               bool  // it was asked for, and is not known to be out of date
}

// New returns an empty view.
func New() *Model { return &Model{} }

// Show clears the view for a thread.
func (m *Model) Show(id thread.ID) {
	*m = Model{id: id, since: m.asked, asked: m.asked}
}

// Thread returns the thread that is shown.
func (m *Model) Thread() thread.ID { return m.id }

// Failed reports whether the last report could not be read.
func (m *Model) Failed() bool { return m.err != "" }

// Want returns the request to make if the report of the thread in a state is not there or on its way. It waits for
// changes, so that a report is never from before a change that is shown.
func (m *Model) Want(now State) (Request, bool) {
	if m.id == "" || m.reading || m.changing > 0 || m.fresh && m.state == now {
		return Request{}, false
	}
	m.reading, m.fresh, m.state = true, true, now
	return m.begin(true), true
}

// Change returns the request for a change.
func (m *Model) Change() Request {
	m.changing++
	return m.begin(false)
}

func (m *Model) begin(reads bool) Request {
	m.asked++
	return Request{thread: m.id, number: m.asked, reads: reads}
}

// Fill sets the report that answers a request.
func (m *Model) Fill(q Request, r thread.ContextReport, err error) {
	if q.thread != m.id || q.number <= m.since {
		return
	}
	if q.reads {
		m.reading = false
	} else {
		m.changing--
	}
	switch {
	case q.number < m.shown:
		m.fresh = false // which of the two was made later is not known
		return
	case err != nil:
		if q.reads {
			m.err = err.Error()
		}
		return
	}
	m.shown, m.report, m.err, m.known = q.number, r, "", true
	m.fills = fillsOf(r.Parts)
	if len(m.fills) == 0 && r.Tokens > 0 { // known from before, but not of what
		m.fills = []fill{{name: "not told apart yet", letter: "O", tok: theme.FillOther, tokens: r.Tokens}}
	}
	m.list.set(&r)
}

// Stale notes that the report is out of date.
func (m *Model) Stale() { m.fresh = false }

// Known reports whether the server has reported on the thread.
func (m *Model) Known() bool { return m.known }

// Ready reports whether there is a context to show.
func (m *Model) Ready() bool { return m.known && (m.report.Tokens > 0 || len(m.report.Parts) > 0) }

// Report returns the report that is shown.
func (m *Model) Report() thread.ContextReport { return m.report }

// Selected returns the result under the cursor, or nil.
func (m *Model) Selected() *thread.ContextResult {
	if !m.Listed() {
		return nil
	}
	return m.list.selected()
}

// Part returns the part of the base under the cursor, or nil.
func (m *Model) Part() *thread.BasePart {
	if r := m.list.at(); m.Listed() && r != nil {
		return r.part
	}
	return nil
}

// Fold shows or hides the parts of the base, if the cursor is on it, and reports whether it is.
func (m *Model) Fold() bool { return m.Listed() && m.list.fold() }

// Listed reports whether the results are shown, so that keys are for them.
func (m *Model) Listed() bool { return m.Ready() && !m.about }

// About shows the facts about the thread instead of the context, or the context again.
func (m *Model) About() { m.about = m.Ready() && !m.about }

// Close leaves the facts or the filter, and reports whether there was something to leave.
func (m *Model) Close() bool {
	if m.about {
		m.about = false
		return true
	}
	if m.Listed() && m.list.query != "" {
		m.list.filter("")
		return true
	}
	return false
}

// Search shows only the results with all of some words.
func (m *Model) Search(text string) { m.list.filter(text) }

// Move moves the cursor by n results.
func (m *Model) Move(n int) { m.list.move(n) }

// Click moves the cursor to the result in a cell of the screen.
func (m *Model) Click(x, y int) {
	if m.Listed() && m.listed.Contains(x, y) {
		m.list.click(y - m.listed.Y)
	}
}

// Handle handles an action and reports whether it was one for the list.
func (m *Model) Handle(a intent.Action) bool { return m.Listed() && m.list.handle(a) }

// Later returns how many tokens of results that are sent come after one.
func (m *Model) Later(r *thread.ContextResult) int64 {
	var sum int64
	for i := len(m.report.Results) - 1; i >= 0; i-- {
		x := m.report.Results[i]
		if x.ID == r.ID && x.Input == r.Input {
			break
		}
		if !x.Masked {
			sum += max(x.Tokens, 0)
		}
	}
	return sum
}

// Maskable returns how many results can be masked now, and their tokens.
func (m *Model) Maskable() (n int, tokens int64) {
	for _, r := range m.report.Results {
		if !r.Masked && !r.Pinned && r.Kept == "" {
			n++
			tokens += max(r.Tokens, 0)
		}
	}
	return n, tokens
}
