package program

import "orchestrator/agent/demo/record"

// The protocol without a terminal: lines of JSON both ways. The program takes one prompt, reports what happens while it
// answers, and ends with an "end", whatever happened. What it would ask the person it refuses, or if --asks is given it
// asks, and waits for an answer.

// The types of orders.
const (
	OrderPrompt    = "prompt"
	OrderInterrupt = "interrupt" // ends the turn
	OrderAnswer    = "answer"    // answers Question by Choice, -1 for none of them, and Text, the person's own words
	OrderSteer     = "steer"     // Text is one more prompt, for the running turn
)

// Order is a line of the program's input.
type Order struct {
	Type     string `json:"type"`
	Text     string `json:"text,omitempty"`
	Question string `json:"question,omitempty"`
	Choice   int    `json:"choice,omitempty"`
}

// The types of reports.
const (
	ReportSession   = "session"   // the first: Session and Model
	ReportText      = "text"      // a piece of the answer
	ReportTool      = "tool"      // Call begins: Tool, and what it is about
	ReportResult    = "result"    // Call has ended
	ReportRefused   = "refused"   // what the person would have been asked for Call
	ReportAsks      = "asks"      // Call asks Question, and waits
	ReportWithdrawn = "withdrawn" // Question is not open any more though it was not answered, for the reason Text
	ReportSteered   = "steered"   // the turn has taken the prompt Text
	ReportUsage     = "usage"     // of one request
	ReportNotice    = "notice"    // something that the person should know
	ReportEnd       = "end"       // Outcome, and Text if it is not OutcomeCompleted
)

// The outcomes.
const (
	OutcomeCompleted   = "completed"
	OutcomeFailed      = "failed"
	OutcomeInterrupted = "interrupted"
)

// Report is a line of the program's output.
type Report struct {
	Type    string        `json:"type"`
	Text    string        `json:"text,omitempty"`
	Session string        `json:"session,omitempty"`
	Model   string        `json:"model,omitempty"`
	Call    string        `json:"call,omitempty"`
	Tool    string        `json:"tool,omitempty"`
	Failed  bool          `json:"failed,omitempty"`
	Reads   string        `json:"reads,omitempty"` // the file that Call reads, and does nothing else
	Usage   *record.Usage `json:"usage,omitempty"`
	Outcome string        `json:"outcome,omitempty"`
	Status  int           `json:"status,omitempty"` // the provider's, of a refused request
	// Question is that of ReportAsks; ReportWithdrawn has its id.
	Question *Question `json:"question,omitempty"`
}

// The kinds of questions.
const (
	AsksPermission = "permission"
	AsksPlan       = "plan"
	AsksChoice     = "choice"
)

// What choices do.
const (
	MeansYes    = "approve"
	MeansAlways = "always"
	MeansNo     = "deny"
)

// Question is what the person is asked. Its id is of no other question.
type Question struct {
	ID      string   `json:"id"`
	Kind    string   `json:"kind,omitempty"`
	Text    string   `json:"text,omitempty"`
	About   string   `json:"about,omitempty"`
	Choices []Choice `json:"choices,omitempty"`
}

// Choice is an answer that is offered.
type Choice struct {
	Text  string `json:"text"`
	Means string `json:"means,omitempty"`
}
