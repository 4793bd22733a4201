package activity

import (
	"fmt"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

// Known is what is known about a thread whose agent runs.
type Known struct {
	Reported thread.StateReport // by the agent's session; zero before its first report
	Started  time.Time
	Seen     bool   // a person has seen the last answer
	Unstored bool   // an answer is not durable
	Trouble  string // why the store refuses it
	First    bool   // its first prompt is being typed
}

// Running is a thread's state as people see it: what the session reports, except that it is working until the last
// answer is durable, and done instead of idle until somebody has seen it. What asks a person, and was shown before that
// answer came, is not hidden while it is stored. before is what people saw last.
func Running(k Known, before thread.StateReport) thread.StateReport {
	r := k.Reported
	switch r.State {
	case "":
		return thread.StateReport{State: thread.StateStarting, Since: k.Started}
	case thread.StateApproval, thread.StateQuestion:
		// A person is needed: a store that refuses for minutes must not hide it.
		if k.Unstored && k.Trouble == "" && !sameDialog(r, before) {
			return heldBack(k, before)
		}
	case thread.StateIdle, thread.StateDone:
		if k.Unstored {
			return heldBack(k, before)
		}
		if k.First {
			return typingFirst(r)
		}
		r.State = thread.StateIdle
		if !k.Seen {
			r.State = thread.StateDone
		}
	default:
	}
	return r
}

// sameDialog reports whether two reports are of one dialog.
func sameDialog(a, b thread.StateReport) bool {
	asks := func(r thread.StateReport) string {
		if r.Question == nil {
			return ""
		}
		return r.Question.ID
	}
	return a.State == b.State && a.Since.Equal(b.Since) && asks(a) == asks(b)
}

// heldBack reports working while the last answer is not durable.
func heldBack(k Known, before thread.StateReport) thread.StateReport {
	since := k.Reported.Since
	if before.State == thread.StateWorking {
		since = before.Since
	}
	detail := "storing the last answer"
	if k.Trouble != "" {
		detail = "the last answer is not stored yet: " + k.Trouble
	}
	return under(k.Reported, thread.StateWorking, since, detail)
}

// typingFirst reports starting while the first prompt is being typed: whoever waits for idle waits for its answer.
func typingFirst(r thread.StateReport) thread.StateReport {
	return under(r, thread.StateStarting, r.Since, "typing its first prompt")
}

// under returns a report of another state and its reason, with the evidence of an earlier report below it.
func under(r thread.StateReport, s thread.State, since time.Time, detail string) thread.StateReport {
	v := thread.Evidence{Source: thread.SourceProcess, State: s, Detail: detail, At: r.Since}
	return thread.StateReport{State: s, Since: since, Evidence: append([]thread.Evidence{v}, r.Evidence...)}
}

// Stopped is the state of a thread whose agent does not run. before is what people saw last; proof is how it can be
// resumed, nil if unknown.
func Stopped(t thread.Thread, proof *thread.ResumeProof, before thread.StateReport) thread.StateReport {
	state, detail, since := thread.StateExited, "not started yet", t.Created
	ended := t.Exit != thread.Exit{}
	switch {
	case t.Interrupted && !ended:
		state, detail, since = thread.StateInterrupted, "its process ended while the server was not running", t.Updated
	case t.Interrupted:
		state, detail, since = thread.StateInterrupted, Exit(t.Exit), t.Updated
	case ended:
		detail, since = Exit(t.Exit), t.Updated
	case t.Session != "":
		detail, since = "its process exited", t.Updated
	}
	if before.State == state && before.Why() == detail {
		since = before.Since // a rename does not make the state newer
	}
	r := thread.StateReport{State: state, Since: since, Evidence: []thread.Evidence{
		{Source: thread.SourceProcess, State: state, Detail: detail, At: since},
	}}
	if proof != nil && proof.Rebuilt {
		r.Evidence = append(r.Evidence, thread.Evidence{
			Source: thread.SourceProcess, State: state, Detail: proof.Detail, At: since,
		})
	}
	return r
}

// Exit describes for people how a process ended.
func Exit(e thread.Exit) string {
	said := ""
	switch {
	case e.Limit:
		return e.Reason
	case e.Killed():
		said = fmt.Sprintf("ended by signal %d", e.Code-128)
	case e.Reason == "" || e.Reason == "exited":
		said = fmt.Sprintf("exited with code %d", e.Code)
	case e.Code != 0:
		return fmt.Sprintf("%s, code %d", e.Reason, e.Code)
	default:
		return e.Reason
	}
	if last := plaintext.LastLine(e.Screen); last != "" {
		said += ": " + last
	}
	return said
}
