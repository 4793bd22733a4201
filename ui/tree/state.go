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
	// Mark is shown at the right edge of threads that need the user.
	Mark string
}

// LookOf returns how a thread is drawn: by its outcome if it has one, and otherwise by its state.
func LookOf(s *thread.Status) Look {
	switch s.Outcome.Kind {
	case thread.OutcomeMerged:
		return Look{"✓", theme.Good, "merged", ""}
	case thread.OutcomeAbandoned:
		return Look{"✗", theme.Muted, "abandoned", ""}
	case thread.OutcomeNone:
	}
	look := LookOfReport(s.State)
	if s.State.State == thread.StateExited && s.Exit.Code != 0 {
		look.Word, look.Style = fmt.Sprintf("exited (%d)", s.Exit.Code), theme.Warn
	}
	if p, ok := s.Unanswered(); ok {
		look.Word += ", prompt " + string(p.State)
		if look.Mark == "" || look.Mark == "•" {
			look.Mark = "p"
		}
	}
	return look
}

// LookOfReport returns how a reported state is drawn, with its details.
func LookOfReport(r thread.StateReport) Look {
	look := LookOfState(r.State)
	look.Word += r.More()
	if r.Stuck {
		look.Style, look.Mark = theme.Bad, "!"
	}
	return look
}

// LookOfLost returns how a thread is drawn while the server is gone and its state is unknown.
func LookOfLost(s *thread.Status) Look {
	if s.Outcome.Kind == thread.OutcomeNone && s.State.State.Live() {
		return Look{"◇", theme.Muted, "no server", ""}
	}
	return LookOf(s)
}

// LookOfState returns how a state is drawn.
func LookOfState(s thread.State) Look {
	switch s {
	case thread.StateApproval:
		return Look{"◆", theme.Waiting, "needs approval", "!"}
	case thread.StateQuestion:
		return Look{"◆", theme.Waiting, "asks a question", "?"}
	case thread.StateDone:
		return Look{"●", theme.Accent, "done", "•"}
	case thread.StateUnauthorised:
		return Look{"▲", theme.Bad, "unauthorised", "!"}
	case thread.StateLimited:
		return Look{"▲", theme.Warn, "limited", ""}
	case thread.StateUnavailable:
		return Look{"▲", theme.Warn, "unavailable", ""}
	case thread.StateUnreachable:
		return Look{"▲", theme.Warn, "unreachable", ""}
	case thread.StateCut:
		return Look{"▲", theme.Warn, "cut off", ""}
	case thread.StateFailed:
		return Look{"▲", theme.Warn, "failed", ""}
	case thread.StateSilent:
		return Look{"△", theme.Warn, "no answer yet", ""}
	case thread.StateInterrupted:
		return Look{"◼", theme.Warn, "interrupted", "R"}
	case thread.StateStarting:
		return Look{"◌", theme.Working, "starting", ""}
	case thread.StateWorking:
		return Look{"◐", theme.Working, "working", ""}
	case thread.StateIdle:
		return Look{"○", theme.Good, "idle", ""}
	case thread.StateUnknown:
		return Look{"◇", theme.Muted, "unknown", ""}
	case thread.StateExited:
		return Look{"□", theme.Muted, "not running", ""}
	default:
		return Look{"□", theme.Muted, "not started", ""}
	}
}

// need ranks threads: the lower, the more they need the user. States that come and go by themselves share a rank, so
// that the list does not move while agents work.
func need(s *thread.Status) int {
	st := s.State.State
	switch {
	case s.Outcome.Kind != thread.OutcomeNone:
		return 4
	case st.NeedsPerson():
		return 0
	case s.State.Stuck && !s.Seen: // like an unseen answer
		return 1
	case st == thread.StateDone:
		return 1
	case st == thread.StateInterrupted:
		return 2
	}
	if _, left := s.Unanswered(); left {
		return 1
	}
	return 3
}

// Waits reports whether `w` selects a thread.
func Waits(s *thread.Status) bool {
	return s.Archived.IsZero() && need(s) <= 1
}
