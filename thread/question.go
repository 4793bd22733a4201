package thread

import (
	"time"
)

// Question is what an agent asks the person, in a dialog on its screen or without a terminal, and the answers that it offers.
type Question struct {
	// ID names this showing of this dialog: once it is answered, or shows anything else, the id is of no use. An answer
	// names it, so that it can go to no other dialog.
	ID   string       `json:"id"`
	Kind QuestionKind `json:"kind"`
	// Text is the question itself, on one line: "Do you want to proceed?".
	Text string `json:"text"`
	// About is what it is about, on one line: the command, the file; "" if the dialog does not show it.
	About string `json:"about,omitempty"`
	// Title is the dialog's first line, below its upper edge; "" if the dialog has none or it is out of sight.
	Title string `json:"-"`
	// Choices are the answers offered, in the dialog's order. Without any, it can only be answered in the agent's terminal.
	Choices []Choice `json:"choices,omitempty"`
	// Since is when it was first seen.
	Since time.Time `json:"since"`
}

// Choice is one of the answers that a dialog offers.
type Choice struct {
	Text string `json:"text"`
	// Means is what the answer does, "" if that is known to nobody but the agent.
	Means Meaning `json:"means,omitempty"`
}

// Dismiss leaves a dialog without choosing: it stands in place of the index of a choice.
const Dismiss = -1

// AnswerRequest answers the question that a thread's agent asks.
type AnswerRequest struct {
	// Question is the id of the question that the person saw.
	Question string `json:"question"`
	// Choice is the number of one of its choices, from 1. It is not read if Means or Text says what to choose.
	Choice int     `json:"choice,omitempty"`
	Means  Meaning `json:"means,omitempty"`
	// Text is what the person replies instead: the dialog is refused or dismissed, and the text follows as a prompt.
	Text string `json:"text,omitempty"`
}

// Chosen returns the index of the choice that a request asks for.
func (r AnswerRequest) Chosen(q Question) (int, error) {
	means := r.Means
	if r.Text != "" {
		means = Deny
	}
	switch at := q.Choice(means); {
	case means == "" && r.Choice >= 1 && r.Choice <= len(q.Choices):
		return r.Choice - 1, nil
	case means == "":
		return 0, Kindf(ErrInvalid, "answer %d: it offers %d", r.Choice, len(q.Choices))
	case at >= 0:
		return at, nil
	case len(q.Choices) > 0 && (r.Text != "" || means == Deny && q.Kind == QuestionPlan):
		return Dismiss, nil // it plans on
	default:
		return 0, Kindf(ErrRefused, "no answer of this dialog means %q", means)
	}
}

// QuestionKind is what a question is about.
type QuestionKind string

// The kinds of questions.
const (
	QuestionPermission QuestionKind = "permission" // may a tool run, a file be changed
	QuestionPlan       QuestionKind = "plan"       // is the plan right
	QuestionChoice     QuestionKind = "choice"     // something that the model wants to know
	QuestionTrust      QuestionKind = "trust"      // is the folder, a key, or what a project brings to be trusted
	QuestionLogin      QuestionKind = "login"      // how the person wants to log in
)

// Meaning is what an answer does.
type Meaning string

// The meanings that verbs and keys know.
const (
	Approve       Meaning = "approve" // yes, this once
	ApproveAlways Meaning = "always"  // yes, and do not ask again for what is alike
	Deny          Meaning = "deny"    // no
	OwnWords      Meaning = "words"   // the person types an answer
)

func (q *Question) id() string {
	if q == nil {
		return ""
	}
	return q.ID
}

// Is reports whether two are the same question; nil is none.
func (q *Question) Is(other *Question) bool { return q.id() == other.id() }

// Choice returns the index of the first choice with a meaning; -1 if there is none.
func (q Question) Choice(m Meaning) int {
	for i, c := range q.Choices {
		if c.Means == m {
			return i
		}
	}
	return -1
}

// Words are the question with what it is about, on one line.
func (q Question) Words() string {
	if q.About == "" || q.About == q.Text {
		return q.Text
	}
	return q.Text + " " + q.About
}

// Line is the question as one line of a list: what it is about, or else what it asks.
func (q Question) Line() string {
	switch {
	case q.About == "":
		return q.Text
	case q.Kind == QuestionTrust:
		return "trust " + q.About
	default:
		return q.About
	}
}

// ProceedID is the id of the question whether an execution may start.
func ProceedID(execution string) string { return "proceed-" + execution }
