package program

import "orchestrator/agent/demo/record"

// The protocol without a terminal: lines of JSON both ways. The program takes one prompt, reports what happens while it
// answers, and ends with an "end", whatever happened.

// The types of orders.
const (
	OrderPrompt    = "prompt"
	OrderInterrupt = "interrupt" // ends the turn
)

// Order is a line of the program's input.
type Order struct {
	Type string `json:"type"`
	Text string `json:"text,omitempty"`
}

// The types of reports.
const (
	ReportSession = "session" // the first: Session and Model
	ReportText    = "text"    // a piece of the answer
	ReportTool    = "tool"    // Call begins: Tool, and what it is about
	ReportResult  = "result"  // Call has ended
	ReportRefused = "refused" // what the person would have been asked for Call
	ReportUsage   = "usage"   // of one request
	ReportNotice  = "notice"  // something that the person should know
	ReportEnd     = "end"     // Outcome, and Text if it is not OutcomeCompleted
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
	Usage   *record.Usage `json:"usage,omitempty"`
	Outcome string        `json:"outcome,omitempty"`
	Status  int           `json:"status,omitempty"` // the provider's, of a refused request
}
