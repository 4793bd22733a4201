package graph

import (
	"strconv"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/plan"
	"orchestrator/thread/wave"
	"orchestrator/thread/work"
	"orchestrator/ui/plain"
	"orchestrator/ui/styled"
	"orchestrator/ui/theme"
	"orchestrator/ui/tree"
)

// state is what a node is for people: its own state, and what there is to say beside.
type state int

// The states, in the order in which they are counted.
const (
	asks state = iota
	failed
	stalled
	works
	queued
	waits
	stale
	done
	skipped
	cancelled
	states
)

// look is how a state is drawn.
type look struct {
	Glyph string
	Tok   theme.Token
	Word  string
}

// looks are all of them: no two have the same mark.
var looks = [states]look{
	asks:      {"◆", theme.Waiting, "asks you"},
	failed:    {"▲", theme.Bad, "failed"},
	stalled:   {"■", theme.Warn, "stalled"},
	works:     {"◐", theme.Working, "works"},
	queued:    {"○", theme.Muted, "queued"},
	waits:     {"·", theme.Muted, "waits"},
	stale:     {"≈", theme.Warn, "stale"},
	done:      {"✓", theme.Muted, "done"},
	skipped:   {"×", theme.Muted, "left out"},
	cancelled: {"□", theme.Muted, "cancelled"},
}

// stateOf returns what a node is for people.
func stateOf(n wave.NodeView) state {
	switch n.State {
	case plan.NodeAsking:
		return asks
	case plan.NodeFailed:
		return failed
	case plan.NodeSkipped:
		return skipped
	case plan.NodeCancelled:
		return cancelled
	case plan.NodeWorking:
		switch {
		case n.ExecState == string(work.NeedsInput):
			return asks
		case n.Stalled != "":
			return stalled
		case n.ExecState == string(work.Queued):
			return queued
		}
		return works
	case plan.NodeDelivered:
		if n.Stale {
			return stale
		}
		return done
	default:
		return waits
	}
}

// Mark returns the mark of a node and its style.
func Mark(n wave.NodeView) (glyph string, tok theme.Token) {
	l := looks[stateOf(n)]
	return l.Glyph, l.Tok
}

// Word is what a node is, in words.
func Word(n wave.NodeView) string {
	s := stateOf(n)
	if n.Gate {
		switch s {
		case done:
			return "yes"
		case failed:
			return "no"
		default:
		}
	}
	return looks[s].Word
}

// Who says what works as a node: its agent and model.
func Who(n wave.NodeView) string {
	if n.Gate {
		return "gate"
	}
	return strings.TrimSpace(plain.Line(n.Program) + " " + tree.ShortModel(n.Program, n.Model))
}

// says is what there is to say of a node beside its figures: what it asks, why it failed, what it waits for; "" for nothing.
func says(n *wave.NodeView) (string, theme.Token) {
	switch stateOf(*n) {
	case asks:
		if n.Question == "" {
			return "asks in its thread", theme.Waiting
		}
		return plain.First(n.Question), theme.Waiting
	case failed, skipped, cancelled:
		text := n.Error
		if text == "" {
			text = n.Reason
		}
		if n.Gate && n.Answered != "" {
			text = n.Answered
		}
		return plain.First(text), looks[stateOf(*n)].Tok
	case stalled:
		return plain.First(n.Stalled), theme.Warn
	case stale:
		return "an upstream handed over another version", theme.Warn
	case waits, queued:
		if n.Wait != "" {
			return "waits for " + plain.Line(n.Wait), theme.Muted
		}
	case done:
		if n.Gate {
			return plain.First(n.Answered), theme.Muted
		}
		return plain.First(n.Summary), theme.Muted
	default:
	}
	return "", theme.Muted
}

// used is what a node has used: tokens and money, "" for nothing.
func used(u thread.Usage) string {
	if u.Context() == 0 {
		return ""
	}
	return thread.Tokens(u.Context()) + " " + u.Money()
}

// elapsed formats a time that is 0 where there is none.
func elapsed(d time.Duration) string {
	if d <= 0 {
		return ""
	}
	return thread.Elapsed(d.Round(time.Second))
}

// counted says how many nodes of a wave are in each state, those first that need somebody.
func counted(count [states]int) []styled.Span {
	var out []styled.Span
	for s := range states {
		if count[s] == 0 || s == done {
			continue
		}
		if len(out) > 0 {
			out = append(out, styled.Span{Text: " "})
		}
		out = append(out, styled.Span{Text: looks[s].Glyph + strconv.Itoa(count[s]), Tok: looks[s].Tok})
	}
	return out
}
