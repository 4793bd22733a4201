package eventlog

import (
	"cmp"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/ui/host"
	"orchestrator/ui/plain"
	"orchestrator/ui/theme"
	"orchestrator/ui/tree"
)

// row is one line of the view.
type row struct {
	at     time.Time
	mark   string
	tok    theme.Token // of the mark
	text   theme.Token // of the words
	who    string      // "" for what is about no thread
	words  string
	thread thread.ID
	kind   string
}

// look is how a kind is marked.
type look struct {
	mark string
	tok  theme.Token
	text theme.Token
}

func lookOf(k thread.HappeningKind) look {
	group := func(g thread.Group, text theme.Token) look { // as the list marks threads that this has happened to
		l := tree.LookOfGroup(g)
		return look{l.Glyph, l.Style, text}
	}
	switch k {
	case thread.HappenedAsks:
		return group(thread.GroupNeedsYou, theme.Waiting)
	case thread.HappenedDone:
		return group(thread.GroupToRead, theme.Text)
	case thread.HappenedStuck:
		return group(thread.GroupStuck, theme.Text)
	case thread.HappenedLimited:
		return look{"▲", theme.Warn, theme.Text}
	case thread.HappenedError:
		return look{"×", theme.Bad, theme.Bad}
	case thread.HappenedCut:
		return look{"×", theme.Warn, theme.Text}
	case thread.HappenedCall:
		return look{"·", theme.Warn, theme.Warn}
	case thread.HappenedBudget:
		return look{"▲", theme.Warn, theme.Warn}
	case thread.HappenedMCP:
		return look{"■", theme.Working, theme.Text}
	case thread.HappenedContext:
		return look{"▒", theme.Working, theme.Text}
	case thread.HappenedSent:
		return look{"›", theme.Muted, theme.Text}
	case thread.HappenedMerged:
		return look{"✓", theme.News, theme.Text}
	case thread.HappenedNew, thread.HappenedForked:
		return look{"+", theme.Muted, theme.Muted}
	default:
		return look{"·", theme.Muted, theme.Muted}
	}
}

// Mark returns the mark of a kind.
func Mark(k thread.HappeningKind) string { return lookOf(k).mark }

func rowOf(h thread.Happening) row {
	l := lookOf(h.Kind)
	return row{at: h.At, mark: l.mark, tok: l.tok, text: l.text, who: plain.Line(cmp.Or(h.Label, h.Name)),
		words: plain.Line(h.Words()), thread: h.Thread, kind: string(h.Kind)}
}

// rowOfNotice is the row of what this screen alone has told.
func rowOfNotice(n host.Notice) row {
	return row{at: n.At, mark: "·", tok: n.Token(), text: n.Token(), words: plain.First(n.String()), kind: "here"}
}

// matches reports whether a row has all words of a filter, in its thread, kind or text, and none of those after a !.
func (r row) matches(words []string) bool {
	text := strings.ToLower(r.who + " " + r.kind + " " + r.words)
	for _, w := range words {
		w, not := strings.CutPrefix(w, "!")
		if w != "" && strings.Contains(text, w) == not {
			return false
		}
	}
	return true
}

// filterOf returns the words of a filter as typed. The slash of other views may stand before them.
func filterOf(typed string) []string {
	return strings.Fields(strings.ToLower(strings.TrimPrefix(typed, "/")))
}
