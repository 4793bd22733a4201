package tree

import (
	"fmt"

	"orchestrator/thread"
	"orchestrator/ui/theme"
)

// Look is how a thread's state is drawn.
type Look struct {
	Glyph string
	Style theme.Token
	// Word is the name of the state.
	Word string
}

// LookOf returns how a thread is drawn: its mark is that of its group, the word that of its outcome, or of its state.
func LookOf(s *thread.Status) Look {
	look := LookOfGroup(s.Group())
	switch {
	case s.Outcome.Kind == thread.OutcomeMerged:
		return Look{"■", theme.Muted, "merged"}
	case s.Outcome.Kind == thread.OutcomeAbandoned:
		return Look{"□", theme.Muted, "abandoned"}
	case !s.State.State.Live() && s.Group() == thread.GroupQuiet:
		look.Glyph = "□"
	case s.State.Retrying:
		look.Style = theme.Warn
	}
	look.Word = s.State.State.Word() + s.State.More()
	if s.Runs() {
		look.Word = s.Run.Word()
		if s.Run.Waiting() && !s.Run.Asks {
			look.Style = theme.Muted
		}
	}
	if s.State.State == thread.StateExited && s.Exit.Code != 0 && !s.Runs() {
		look.Word = fmt.Sprintf("exited (%d)", s.Exit.Code)
	}
	if p, ok := s.Unanswered(); ok {
		look.Word += ", prompt " + string(p.State)
	}
	if s.Merging != "" {
		look.Word += ", merge into " + s.Merging + " has conflicts"
	}
	return look
}

// LookOfReport returns how a reported state is drawn, with its details.
func LookOfReport(r thread.StateReport) Look { return LookOf(&thread.Status{State: r}) }

// LookOfLost returns how a thread is drawn while the server is gone and its state is unknown.
func LookOfLost(s *thread.Status) Look {
	if s.Outcome.Kind == thread.OutcomeNone && s.State.State.Live() {
		return Look{"□", theme.Muted, "no server"}
	}
	return LookOf(s)
}

// LookOfState returns how a state is drawn.
func LookOfState(s thread.State) Look { return LookOfReport(thread.StateReport{State: s}) }

// LookOfGroup returns how the threads of a group are drawn.
func LookOfGroup(g thread.Group) Look {
	switch g {
	case thread.GroupNeedsYou:
		return Look{"◆", theme.Waiting, string(g)}
	case thread.GroupWorking:
		return Look{"◐", theme.Working, string(g)}
	case thread.GroupToRead:
		return Look{"●", theme.News, string(g)}
	case thread.GroupStuck:
		return Look{"▲", theme.Bad, string(g)}
	default:
		return Look{"○", theme.Muted, string(thread.GroupQuiet)}
	}
}
