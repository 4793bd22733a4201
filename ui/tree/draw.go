package tree

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/colorprofile"

	"orchestrator/thread"
	"orchestrator/ui/layout"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"
)

// Draw draws the visible rows, scrolled to the selection.
func (t *Tree) Draw(c *layout.Canvas, b layout.Box, th *theme.Theme, v View) {
	if t.focus != v.Focus {
		t.focus, t.stale = v.Focus, true
	}
	t.sort()
	if len(t.lines) == 0 {
		t.win.Fit(0, b.H, nil)
		c.Print(b, 1, 0, th.Style(theme.Muted), plain.Cut(t.empty(), b.W-1))
		return
	}
	t.w, t.h = b.W, b.H
	if t.fit() {
		var last layout.Box
		b, last = b.Bottom(1)
		c.Print(last, 1, 0, th.Style(theme.Muted), plain.Cut(t.beyond(), b.W-1))
	}
	col := columnsOf(b.W)
	for i, y := range t.win.Items() {
		l := t.lines[i]
		box := layout.Box{X: b.X, Y: b.Y + y, W: b.W, H: min(t.height(i), b.H-y)}
		if l.row < 0 {
			_, box = box.Bottom(1)
			t.drawTitle(c, box, th, l.group, v)
			continue
		}
		r := t.rows[l.row]
		t.drawRow(painter{c, th, box, col}, r, v)
		if r.ID == t.selected && th.Profile() > colorprofile.ASCII { // without colours, the bar at its left is enough
			c.Tint(box, th.Style(theme.Selected))
		}
	}
}

// beyond returns how many threads are beyond the edges of the window.
func (t *Tree) beyond() string {
	threads := func(from, to int) (n int) {
		for _, l := range t.lines[from:to] {
			if l.row >= 0 {
				n++
			}
		}
		return n
	}
	var parts []string
	if n := threads(0, t.win.Above()); n > 0 {
		parts = append(parts, fmt.Sprintf("↑%d", n))
	}
	if n := threads(len(t.lines)-t.win.Below(), len(t.lines)); n > 0 {
		parts = append(parts, fmt.Sprintf("↓%d", n))
	}
	return strings.Join(parts, " ") + " more"
}

func (t *Tree) empty() string {
	switch {
	case t.filter != "":
		return "No matches"
	case t.archived:
		return "Archive is empty"
	default:
		return "No threads yet"
	}
}

// drawTitle draws the title of a group, with the key that serves it.
func (t *Tree) drawTitle(c *layout.Canvas, b layout.Box, th *theme.Theme, g thread.Group, v View) {
	n := t.counts.Groups[g]
	if t.filter != "" {
		n = t.inGroup(g)
	}
	tok := theme.Title
	if g == thread.GroupNeedsYou {
		tok = theme.Waiting
	}
	x := c.Print(b, 1, 0, th.Style(tok), strings.ToUpper(string(g)))
	if n > 0 {
		x = c.Print(b, x+2, 0, th.Style(tok), fmt.Sprint(n))
	}
	hint := ""
	switch {
	case t.shut(g):
		hint = join(v.Fold, "unfold")
	case g == thread.GroupNeedsYou:
		hint = join(v.Next, "next")
	case g == thread.GroupToRead:
		hint = join(v.Peek, "peek")
	case g == thread.GroupQuiet:
		hint = join(v.Fold, "fold")
	}
	if x+plain.Width(hint)+3 <= b.W {
		c.PrintRight(b, 1, 0, th.Style(theme.Muted), hint)
	}
}

// inGroup counts the rows that stand in a group.
func (t *Tree) inGroup(g thread.Group) (n int) {
	for _, r := range t.rows {
		if t.groupOf(r.ID) == g {
			n++
		}
	}
	return n
}

func join(key, word string) string {
	if key == "" {
		return ""
	}
	return key + " " + word
}
