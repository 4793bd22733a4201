// Package timeline is the list of a thread's checkpoints, newest first: turns with their prompt, answer, files, tokens
// and cost; the responses of a turn, collapsed; and rewinds, safety checkpoints and forks as dividers. It is loaded
// page by page while scrolling.
package timeline

import (
	"slices"

	"orchestrator/thread"
	"orchestrator/ui/intent"
	"orchestrator/ui/list"
)

// PageSize is how many checkpoints are requested at a time.
const PageSize = 100

// Model is the list with its selection.
type Model struct {
	id   thread.ID
	cps  []thread.Checkpoint // newest first
	seen map[thread.CheckpointID]bool
	open map[int]bool // turns whose responses are shown
	done bool         // the oldest checkpoint is loaded
	busy bool         // a page is being loaded
	// rest has what is in no page: the turns that a rewind left behind and the prompts that no turn answered. asked is what
	// it depended on when it was requested.
	rest  []thread.Checkpoint
	asked *version
	// stuck is set if a page brought nothing new, because a single turn fills it.
	stuck bool
	err   string

	rows  []row
	stale bool
	at    thread.CheckpointID
	mark  *thread.Checkpoint // to compare with the next marked one
	win   list.Window
	names func(thread.ID) string
}

// version is what the rest of a timeline depends on.
type version struct {
	rewind  thread.CheckpointID // the newest one
	prompts string              // the thread's unanswered prompts with their states
}

type rowKind int

const (
	rowTurn rowKind = iota
	rowResponse
	rowDivider
	rowMark   // where the parent's turns start; not a checkpoint, skipped by the cursor
	rowPrompt // a prompt that no turn answered
)

// row is a visible entry.
type row struct {
	kind rowKind
	cp   thread.Checkpoint
	// of a turn: what its responses sum up to
	usage     thread.Usage
	responses int
	text      string // of a divider or mark
}

// New returns an empty list; names returns a thread's name.
func New(names func(thread.ID) string) *Model {
	m := &Model{names: names}
	m.Show("")
	return m
}

// Show clears the list for a thread.
func (m *Model) Show(id thread.ID) {
	*m = Model{id: id, names: m.names, seen: map[thread.CheckpointID]bool{}, open: map[int]bool{}, stale: true}
}

// Thread returns the thread whose checkpoints are listed.
func (m *Model) Thread() thread.ID { return m.id }

// Want returns the page to load now, if any, and marks it as being loaded.
func (m *Model) Want() (thread.Page, bool) {
	if m.id == "" || m.busy || m.done || m.err != "" {
		return thread.Page{}, false
	}
	m.sort()
	if n := len(m.rows); n > 0 && m.index()+2*max(m.win.Rows()/2, 20) < n {
		return thread.Page{}, false
	}
	m.busy = true
	p := thread.Page{Limit: PageSize}
	if n := len(m.cps); n > 0 {
		// Before is exclusive and counts turns: request the oldest known turn again, because a page may have cut it, unless
		// that brought nothing new.
		p.Before = int64(m.cps[n-1].Turn) + 1
		if m.stuck {
			p.Before--
		}
	}
	return p, true
}

// Add adds a requested page.
func (m *Model) Add(id thread.ID, page []thread.Checkpoint, err error) {
	if id != m.id {
		return
	}
	m.busy = false
	if err != nil {
		m.err = err.Error()
		return
	}
	fresh := 0
	for _, cp := range page {
		if !m.seen[cp.ID] {
			m.seen[cp.ID] = true
			m.cps = append(m.cps, cp)
			fresh++
		}
	}
	if len(page) < PageSize || fresh == 0 && m.stuck {
		m.done = true
	}
	m.stuck = fresh == 0
	m.stale = true
}

// WantRest reports whether to load what is in no page, and marks it as requested; prompts are the thread's unanswered
// ones.
func (m *Model) WantRest(prompts []thread.Prompt) bool {
	if m.id == "" {
		return false
	}
	var now version
	if i := slices.IndexFunc(m.cps, func(c thread.Checkpoint) bool {
		return c.Kind == thread.KindRewind && c.Thread == m.id
	}); i >= 0 {
		now.rewind = m.cps[i].ID
	}
	for _, p := range prompts {
		now.prompts += string(p.ID) + " " + string(p.State) + "\n"
	}
	if m.asked != nil && *m.asked == now {
		return false
	}
	m.asked = &now
	return true
}

// SetRest sets what is in no page, from a timeline with all.
func (m *Model) SetRest(id thread.ID, all []thread.Checkpoint) {
	if id != m.id {
		return
	}
	m.rest, m.stale = nil, true
	for _, cp := range all {
		if cp.Rewound || cp.Kind == thread.KindPrompt {
			m.rest = append(m.rest, cp)
		}
	}
}

// Push adds a new checkpoint.
func (m *Model) Push(cp thread.Checkpoint) {
	if cp.Thread != m.id || m.seen[cp.ID] {
		return
	}
	m.seen[cp.ID] = true
	follow := len(m.rows) == 0 || m.index() == m.first()
	m.cps = slices.Insert(m.cps, 0, cp)
	m.stale = true
	if follow {
		m.at = ""
	}
}

// Selected returns the checkpoint under the cursor, or nil. For a turn it is the newest one.
func (m *Model) Selected() *thread.Checkpoint {
	m.sort()
	if i := m.index(); i < len(m.rows) && m.rows[i].kind != rowMark {
		return &m.rows[i].cp
	}
	return nil
}

// Select moves the cursor to a checkpoint or its turn, and reports whether it is in the list.
func (m *Model) Select(id thread.CheckpointID) bool {
	for _, cp := range m.cps {
		if cp.ID == id {
			m.sort()
			m.at = id
			for _, r := range m.rows {
				if r.kind == rowTurn && r.cp.Turn == cp.Turn && !r.cp.Rewound {
					m.at = r.cp.ID
				}
			}
			return true
		}
	}
	return false
}

// Step returns the turn before (-1) or after (1) a turn in the list, or nil.
func (m *Model) Step(turn, dir int) *thread.Checkpoint {
	m.sort()
	var best *thread.Checkpoint
	for i := range m.rows {
		r := &m.rows[i]
		if r.kind != rowTurn || r.cp.Rewound || (dir < 0) != (r.cp.Turn < turn) || r.cp.Turn == turn {
			continue
		}
		if best == nil || (dir < 0 && r.cp.Turn > best.Turn) || (dir > 0 && r.cp.Turn < best.Turn) {
			best = &r.cp
		}
	}
	return best
}

// Mark marks the checkpoint under the cursor for a comparison, or unmarks it. With the second one it returns both, the
// older one first, and clears the mark.
func (m *Model) Mark() (from, to thread.Checkpoint, both bool) {
	cp, marked := m.Selected(), m.mark
	m.mark = nil
	switch {
	case cp == nil:
	case marked == nil:
		c := *cp
		m.mark = &c
	case marked.ID == cp.ID:
	case marked.Rewound || cp.Rewound:
		if marked.Created.Before(cp.Created) {
			return *marked, *cp, true
		}
		return *cp, *marked, true
	case m.place(marked.ID) > m.place(cp.ID):
		return *marked, *cp, true
	default:
		return *cp, *marked, true
	}
	return from, to, false
}

// place returns the index of a checkpoint in the list, newest first.
func (m *Model) place(id thread.CheckpointID) int {
	return slices.IndexFunc(m.cps, func(c thread.Checkpoint) bool { return c.ID == id })
}

// Handle handles an action and reports whether it was one for the list.
func (m *Model) Handle(a intent.Action) bool {
	switch a {
	case intent.Unfold, intent.Fold:
		if cp := m.Selected(); cp != nil {
			m.open[cp.Turn] = a == intent.Unfold
			m.Select(cp.ID)
			m.stale = true
		}
		return true
	default:
		n, moves := m.win.Steps(a)
		m.Move(n)
		return moves
	}
}

// Move moves the cursor by n entries.
func (m *Model) Move(n int) {
	m.sort()
	if len(m.rows) == 0 {
		return
	}
	to := max(min(m.index()+n, len(m.rows)-1), 0)
	if m.rows[to].kind == rowMark { // never the last one, and never two in a row
		to++
		if n < 0 && to > 1 {
			to -= 2
		}
	}
	m.at = m.rows[to].cp.ID
}

// index returns the row of the cursor.
func (m *Model) index() int {
	for i, r := range m.rows {
		if r.kind != rowMark && r.cp.ID == m.at {
			return i
		}
	}
	return m.first()
}

// first returns the first row that the cursor can be on.
func (m *Model) first() int {
	if len(m.rows) > 1 && m.rows[0].kind == rowMark {
		return 1
	}
	return 0
}

// sort rebuilds the rows after checkpoints have changed.
func (m *Model) sort() {
	if !m.stale {
		return
	}
	m.stale = false
	m.rows = m.rows[:0]
	from := m.id
	for i := 0; i < len(m.cps); {
		cp := m.cps[i]
		if cp.Thread != from {
			m.rows = append(m.rows, row{kind: rowMark, text: "forked from " + m.names(cp.Thread) + " here"})
			from = cp.Thread
		}
		if i+1 < len(m.cps) && cp.Undoes(m.cps[i+1]) {
			i += 2
			continue
		}
		if text := dividerText(cp); text != "" {
			m.rows = append(m.rows, row{kind: rowDivider, cp: cp, text: text})
			i++
			continue
		}
		i = m.group(i)
	}
	for _, cp := range m.rest {
		if cp.Kind == thread.KindPrompt {
			m.insert(row{kind: rowPrompt, cp: cp}, func(r row) bool {
				return r.kind == rowMark || r.kind == rowTurn && r.cp.Turn <= cp.Turn && !r.cp.Rewound
			})
			continue
		}
		m.insert(row{kind: rowTurn, cp: cp, usage: cp.Usage}, func(r row) bool {
			return r.kind != rowMark && r.kind != rowPrompt && !r.cp.Damaged && r.cp.Created.Before(cp.Created)
		})
	}
}

// insert inserts a row before the first one that it is newer than.
func (m *Model) insert(r row, newer func(row) bool) {
	at := slices.IndexFunc(m.rows, newer)
	if at < 0 {
		at = len(m.rows)
	}
	m.rows = slices.Insert(m.rows, at, r)
}

func dividerText(cp thread.Checkpoint) string {
	text := cp.Note
	switch cp.Kind {
	case thread.KindSafety:
		if text == "" {
			text = "safety checkpoint"
		}
	case thread.KindRewind:
		if text == "" {
			text = "rewound"
		}
	case thread.KindImport:
		if text == "" {
			text = "imported"
		}
	default:
		return ""
	}
	return text
}

// group appends the turn that starts at i with its responses, and returns where the next one starts.
func (m *Model) group(i int) int {
	head := m.cps[i]
	k := i
	r := row{kind: rowTurn, cp: head}
	for ; k < len(m.cps); k++ {
		cp := m.cps[k]
		if cp.Turn != head.Turn || cp.Thread != head.Thread || dividerText(cp) != "" ||
			(k > i && cp.Kind == thread.KindTurn) {
			break
		}
		r.usage = r.usage.Add(cp.Usage)
		if cp.Kind != thread.KindTurn {
			r.responses++
		}
		if r.cp.Prompt == "" {
			r.cp.Prompt = cp.Prompt
		}
		if r.cp.Answer == "" {
			r.cp.Answer = cp.Answer
		}
		if r.cp.Snapshot == nil {
			r.cp.Snapshot = cp.Snapshot
		}
	}
	m.rows = append(m.rows, r)
	if m.open[head.Turn] {
		for _, cp := range m.cps[i+1 : k] {
			m.rows = append(m.rows, row{kind: rowResponse, cp: cp})
		}
	}
	return k
}
