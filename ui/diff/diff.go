// Package diff shows the file changes between two points of a thread: one file at a time, with changed words
// highlighted, and a list of the files if there is room.
package diff

import (
	"fmt"

	"orchestrator/thread"
	"orchestrator/ui/intent"
	"orchestrator/ui/layout"
	"orchestrator/ui/list"
	"orchestrator/ui/pager"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"
)

// Range has the two points to compare; the zero value is the thread's base and now.
type Range struct {
	From, To string
	// Text describes it.
	Text string
	// Turn is the turn whose changes these are, or 0 for base and now.
	Turn int
}

// BaseToNow compares the worktree with its base.
func BaseToNow() Range { return Range{From: "base", To: "now", Text: "All changes since the base"} }

// OfTurn compares a turn with the one before.
func OfTurn(turn int) Range {
	from := "base"
	if turn > 1 {
		from = fmt.Sprint(turn - 1)
	}
	return Range{From: from, To: fmt.Sprint(turn), Text: fmt.Sprintf("Changes in turn %d", turn), Turn: turn}
}

// Between compares two checkpoints.
func Between(from, to thread.Checkpoint) Range {
	text := fmt.Sprintf("Changes from turn %d to turn %d", from.Turn, to.Turn)
	if from.Turn == to.Turn {
		text = fmt.Sprintf("Changes within turn %d", to.Turn)
	}
	return Range{From: string(from.ID), To: string(to.ID), Text: text}
}

// Model is the view.
type Model struct {
	id    thread.ID
	what  Range
	files []thread.FileDiff
	err   string
	busy  bool

	at    int // the current file
	pages pager.Pager
	width int
	list  list.Window // of the files
}

// New returns an empty view.
func New() *Model { return &Model{} }

// Show clears the view for a comparison that is being loaded. It keeps the current file if the thread is the same.
func (m *Model) Show(id thread.ID, what Range) {
	keep := ""
	if id == m.id && m.at < len(m.files) {
		keep = m.files[m.at].Path
	}
	*m = Model{id: id, what: what, busy: true}
	m.pages.Free = true
	if keep != "" {
		m.files = []thread.FileDiff{{Path: keep}}
	}
}

// Thread returns the thread whose files are shown.
func (m *Model) Thread() thread.ID { return m.id }

// Range returns the points that are compared.
func (m *Model) Range() Range { return m.what }

// Fill sets the files of a comparison; those of another comparison are dropped.
func (m *Model) Fill(id thread.ID, what Range, files []thread.FileDiff, err error) {
	if id != m.id || what != m.what {
		return
	}
	keep := ""
	if len(m.files) > 0 {
		keep = m.files[0].Path
	}
	m.busy, m.files, m.width, m.at = false, files, 0, 0
	for i, f := range files {
		if f.Path == keep {
			m.at = i
		}
	}
	if err != nil {
		m.err = err.Error()
	}
}

// File returns the current file, or "".
func (m *Model) File() string {
	if m.busy || m.at >= len(m.files) {
		return ""
	}
	return m.files[m.at].Path
}

// Search searches the current file and returns how many lines match.
func (m *Model) Search(q string) int { return m.pages.Search(q) }

// Searched reports whether matches of a search are marked.
func (m *Model) Searched() bool { return m.pages.Query() != "" }

// Scroll scrolls by lines.
func (m *Model) Scroll(n int) { m.pages.Scroll(n) }

// Handle handles an action and reports whether it was one for the view.
func (m *Model) Handle(a intent.Action) bool {
	switch a {
	case intent.NextFile:
		m.step(1)
	case intent.PrevFile:
		m.step(-1)
	default:
		return m.pages.Handle(a)
	}
	return true
}

func (m *Model) step(n int) {
	if to := m.at + n; to >= 0 && to < len(m.files) && !m.busy {
		m.at, m.width = to, 0
		q := m.pages.Query()
		m.pages.Reset()
		m.pages.Search(q)
	}
}

// Counts sums up files: "3 files +12 −4".
func Counts(files []thread.FileDiff) string {
	add, del := 0, 0
	for _, f := range files {
		add += f.Insertions
		del += f.Deletions
	}
	noun := "files"
	if len(files) == 1 {
		noun = "file"
	}
	return fmt.Sprintf("%d %s +%d −%d", len(files), noun, add, del)
}

// listWidth is the width of the file list; below minWithList there is no list.
const (
	listWidth   = 34
	minWithList = 110
)

// Draw draws the view; others are the threads that work in the same folder.
func (m *Model) Draw(c *layout.Canvas, b layout.Box, th *theme.Theme, focus bool, others []string) {
	head, body := b.Top(1)
	x := c.Print(head, 0, 0, th.Style(theme.Muted), m.what.Text)
	switch {
	case m.err != "":
		for y, l := range plain.Wrap(plain.Line(m.err), b.W) {
			c.Print(body, 0, y+1, th.Style(theme.Bad), l)
		}
		return
	case m.busy:
		c.Print(body, 0, 0, th.Style(theme.Muted), "…")
		return
	case len(m.files) == 0:
		c.Print(body, 0, 1, th.Style(theme.Muted), "No changes")
		return
	}
	x = c.Print(head, x, 0, th.Style(theme.Muted), ": "+Counts(m.files))
	if len(others) > 0 {
		c.Print(head, x, 0, th.Style(theme.Warn), plain.Cut("  including "+plain.Line(plain.Few(others)), head.W-x))
	}
	if b.W >= minWithList && len(m.files) > 1 {
		var files layout.Box
		files, body = body.Left(listWidth)
		m.drawList(c, files, th)
		_, body = body.Left(1)
	}
	f := m.files[m.at]
	title, body := body.Top(1)
	m.drawTitle(c, title, th, f)
	if m.width != body.W {
		m.width = body.W
		m.pages.Set(Lines(f, body.W-1))
	}
	m.pages.Draw(c, body, th, focus)
}

func (m *Model) drawTitle(c *layout.Canvas, b layout.Box, th *theme.Theme, f thread.FileDiff) {
	right := b.W
	if len(m.files) > 1 {
		right = c.PrintRight(b, 0, 0, th.Style(theme.Muted), fmt.Sprintf("%d/%d", m.at+1, len(m.files))) - 1
	}
	del := c.PrintRight(layout.Box{X: b.X, Y: b.Y, W: right, H: 1}, 0, 0, th.Style(theme.DiffDel),
		fmt.Sprintf("−%d", f.Deletions)) - 1
	add := c.PrintRight(layout.Box{X: b.X, Y: b.Y, W: del, H: 1}, 0, 0, th.Style(theme.DiffAdd),
		fmt.Sprintf("+%d", f.Insertions)) - 1
	name := plain.Line(f.Path)
	if f.OldPath != "" && f.OldPath != f.Path {
		name = plain.Line(f.OldPath) + " → " + name
	}
	x := c.Print(b, 0, 0, th.Style(statusToken(f.Status)), letter(f.Status)+" ")
	c.Print(b, x, 0, th.Style(theme.Strong), plain.Cut(name, add-x-1))
}

func letter(status string) string {
	switch status {
	case "added":
		return "A"
	case "deleted":
		return "D"
	case "renamed":
		return "R"
	case "type":
		return "T"
	default:
		return "M"
	}
}

func statusToken(status string) theme.Token {
	switch status {
	case "added":
		return theme.DiffAdd
	case "deleted":
		return theme.DiffDel
	default:
		return theme.Warn
	}
}

func (m *Model) drawList(c *layout.Canvas, b layout.Box, th *theme.Theme) {
	m.list.Fit(len(m.files), b.H, nil)
	m.list.Go(m.at)
	for i, y := range m.list.Items() {
		f := m.files[i]
		row := b.Row(y)
		counts := fmt.Sprintf("+%d −%d", f.Insertions, f.Deletions)
		right := c.PrintRight(row, 1, 0, th.Style(theme.Muted), counts)
		x := c.Print(row, 0, 0, th.Style(statusToken(f.Status)), letter(f.Status)+" ")
		c.Print(row, x, 0, th.Style(theme.Text), plain.CutLeft(plain.Line(f.Path), right-x-1))
		if i == m.at {
			c.Tint(layout.Box{X: row.X, Y: row.Y, W: row.W - 1, H: 1}, th.Style(theme.Selected))
		}
	}
}
