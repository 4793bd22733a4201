package thread

import "time"

// Dialogue knows what is said between us and one process. It does no input and output itself, and is used by one
// goroutine at a time: Begin, then Read for each line, Interrupt at any time in between, End at last. A process may print
// before it was asked, and end before: then Read and End come without Begin.
type Dialogue interface {
	// Begin asks the prompt.
	Begin(prompt string) Said
	// Read takes a line that the process printed, without its line end, and does not keep it. A line that it does not
	// understand is a RunLine.
	Read(line []byte) Said
	// Interrupt asks the process to end the running turn. Nothing to write means that only a signal does.
	Interrupt() Said
	// End takes the end of the process, with its exit code, after its last line. The last event of a run is a RunEnd, from
	// Read or, if the lines did not say how the run ended, from End: an exit code of 0 alone is no success.
	End(code int) Said
}

// Asker is a Dialogue whose program asks a person, and waits for the answer: RunAsks, then RunAnswered. Optional for a
// Dialogue; one that is none refuses what would be asked.
type Asker interface {
	// Answer answers the question with an id: choice is the index of one of its choices, or Dismiss. Text is what the person
	// says to it, "" for nothing. ErrRefused if it is not open any more. Its RunAnswered is among the events.
	Answer(question string, choice int, text string) (Said, error)
}

// Steerer is a Dialogue whose program takes a further prompt into the turn that it works on. Optional for a Dialogue.
type Steerer interface {
	// Steer gives it a prompt; ErrBusy if there is no turn that would take it.
	Steer(prompt string) (Said, error)
}

// Said is what follows from a step of a Dialogue.
type Said struct {
	Events []RunEvent
	// Write is for the standard input of the process, which is closed then if Close is set.
	Write []byte
	Close bool
}

// RunEventKind is the kind of a RunEvent.
type RunEventKind string

// The kinds.
const (
	RunSession  RunEventKind = "session"  // Session is known
	RunText     RunEventKind = "text"     // Text is a piece of what the model says to the person, as it streams in
	RunThinking RunEventKind = "thinking" // Text is a piece of what it thinks
	RunTool     RunEventKind = "tool"     // it calls Tool with Text; Call names the call
	RunResult   RunEventKind = "result"   // the call has ended: Text is what it returned; Failed is set if it failed
	RunRefused  RunEventKind = "refused"  // what would have been asked of a person was refused; Text says what and why
	RunUsage    RunEventKind = "usage"    // Usage is that of a request, or of several since the last such event
	RunNotice   RunEventKind = "notice"   // Text is for people: it tries again, a server is missing
	RunLine     RunEventKind = "line"     // Text is a line that is not one of the program's protocol
	RunAsks     RunEventKind = "asks"     // it asks Question and waits; Call names the call that it is about
	RunAnswered RunEventKind = "answered" // Question was answered, as Text says, or is withdrawn: Failed is set then
	RunSteered  RunEventKind = "steered"  // the running turn has taken a further prompt, Text
	RunEnd      RunEventKind = "end"      // the run has ended with Outcome, for the Reason
)

// RunOutcome is how a run ended.
type RunOutcome string

// The outcomes.
const (
	RunCompleted RunOutcome = "completed"
	RunFailed    RunOutcome = "failed"
	RunCancelled RunOutcome = "cancelled"
)

// RunEvent is something that an agent without a terminal reports. Texts are as the agent wrote them: with secrets, control
// characters and at any length.
type RunEvent struct {
	Kind RunEventKind `json:"kind"`
	At   time.Time    `json:"at"` // set by the session
	Text string       `json:"text,omitempty"`
	// Tool is the name of a tool, Call the id of the call.
	Tool   string `json:"tool,omitempty"`
	Call   string `json:"call,omitempty"`
	Failed bool   `json:"failed,omitempty"`
	// Reads is, for a RunTool that only reads one file, its path as the agent names it.
	Reads string `json:"reads,omitempty"`
	// Question is that of RunAsks and RunAnswered; its ID is unique in the run. Its Since is set by the session.
	Question *Question `json:"question,omitempty"`
	// Stderr is set for a RunLine of the standard error; set by the session.
	Stderr bool `json:"stderr,omitempty"`
	// Sub is set for what a sub-agent does: it names the call that started it.
	Sub     string     `json:"sub,omitempty"`
	Session string     `json:"session,omitempty"`
	Model   string     `json:"model,omitempty"`
	Usage   *Usage     `json:"usage,omitempty"`
	Outcome RunOutcome `json:"outcome,omitempty"`
	Reason  string     `json:"reason,omitempty"` // for people
	// State is, for a RunEnd that is RunFailed, what trouble it was if the program tells: StateUnauthorised, StateLimited …
	State State `json:"state,omitempty"`
	// Gone is set for a RunEnd that only the end of the process shows; set by the session.
	Gone bool `json:"gone,omitempty"`
	// Status is the provider's HTTP status, 0 if the program does not tell.
	Status int `json:"status,omitempty"`
}
