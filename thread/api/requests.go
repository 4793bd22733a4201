package api

import (
	"net/url"
	"strconv"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// InfoRequest asks for the ServerInfo; Sizes takes a while.
type InfoRequest struct {
	Sizes bool `json:"sizes,omitempty"`
}

// ArchivedRequest asks for a page of the archived threads, the newest first.
type ArchivedRequest struct {
	// Prefix is what their names begin with, "" for any.
	Prefix string `json:"prefix,omitempty"`
	// After is what the page before said as Next, 0 for the first; Limit is at most how many, 0 for as many as there may be.
	After int64 `json:"after,omitempty"`
	Limit int   `json:"limit,omitempty"`
}

// ArchivedPage is a page of the archive. Next is where the next one begins, 0 if there is none.
type ArchivedPage struct {
	Threads []thread.Status `json:"threads"`
	Next    int64           `json:"next,omitempty"`
}

// StopRequest asks the server to stop. With Force it stops even if answers cannot be saved.
type StopRequest struct {
	Force bool `json:"force,omitempty"`
}

// StopReport describes what happened to answers that the store refused.
type StopReport struct {
	Spooled int `json:"spooled"` // kept until the next start
	Lost    int `json:"lost"`
}

// Ref names a thread by its id, its name or a unique prefix of its name.
type Ref struct {
	Thread string `json:"thread"`
}

// ResumeRequest names a thread, or none for all, and the size of its terminal.
type ResumeRequest struct {
	Thread string `json:"thread,omitempty"`
	Cols   int    `json:"cols,omitempty"`
	Rows   int    `json:"rows,omitempty"`
	// HandOver is as in thread.ForkRequest; for one thread only.
	HandOver bool `json:"handOver,omitempty"`
}

// AskRequest is a prompt for a thread's agent.
type AskRequest struct {
	Thread string `json:"thread"`
	Text   string `json:"text"`
	Lines  bool   `json:"lines,omitempty"` // as in thread.AskRequest
}

// PromptsRequest asks for the prompts of a thread, or of all threads if Thread is empty. Open leaves out those that are
// done.
type PromptsRequest struct {
	Thread string `json:"thread,omitempty"`
	Open   bool   `json:"open,omitempty"`
	Limit  int    `json:"limit,omitempty"` // 200 when 0
}

// ExecutionRef names an execution by its id or its name.
type ExecutionRef struct {
	Execution string `json:"execution"`
}

// ExecutionsRequest selects executions, of a thread if Thread is set, in some states if there are States.
type ExecutionsRequest struct {
	Thread string       `json:"thread,omitempty"`
	States []work.State `json:"states,omitempty"`
	Before work.ID      `json:"before,omitempty"` // only older ones than this
	Limit  int          `json:"limit,omitempty"`  // 100 when 0
	// All is for executions of all kinds, and not runs only.
	All bool `json:"all,omitempty"`
}

// ExecutionEventsRequest asks for the record of an execution after an event.
type ExecutionEventsRequest struct {
	Execution string `json:"execution"`
	After     int64  `json:"after,omitempty"`
	Limit     int    `json:"limit,omitempty"` // 500 when 0
}

// CancelRequest cancels an execution. Reason is for people.
type CancelRequest struct {
	Execution string `json:"execution"`
	Reason    string `json:"reason,omitempty"`
}

// SendRequest is the next prompt for the thread of an execution.
type SendRequest struct {
	Execution string `json:"execution"`
	Text      string `json:"text"`
}

// PromptRef names a prompt and, if Thread is set, the thread that it must belong to.
type PromptRef struct {
	Thread string          `json:"thread,omitempty"`
	ID     thread.PromptID `json:"id"`
}

// AnswerRequest answers what a thread's agent asks.
type AnswerRequest struct {
	Thread string `json:"thread"`
	thread.AnswerRequest
}

// EditRequest changes the text of a queued prompt.
type EditRequest struct {
	ID   thread.PromptID `json:"id"`
	Text string          `json:"text"`
}

// RenameRequest renames a thread.
type RenameRequest struct {
	Thread string `json:"thread"`
	Name   string `json:"name"`
}

// PinRequest pins a thread, which keeps it at the top and from being deleted automatically, or unpins it.
type PinRequest struct {
	Thread string `json:"thread"`
	On     bool   `json:"on,omitempty"`
}

// AbandonRequest abandons a thread with a reason.
type AbandonRequest struct {
	Thread string `json:"thread"`
	Reason string `json:"text,omitempty"`
}

// TimelineRequest asks for a page of a thread's checkpoints.
type TimelineRequest struct {
	Thread string      `json:"thread"`
	Page   thread.Page `json:"page"`
}

// TurnRequest names a turn of a thread, by default the newest.
type TurnRequest struct {
	Thread string `json:"thread"`
	At     string `json:"at,omitempty"`
}

// FindRequest searches for words.
type FindRequest struct {
	Query string `json:"query"`
	Limit int    `json:"limit"`
	// Files searches only the paths of the files that turns changed.
	Files bool `json:"files,omitempty"`
}

// OfferAnswer answers a fork offer.
type OfferAnswer struct {
	Offer  string `json:"at"`
	Answer string `json:"text"`
}

// OffersRequest sets when forks are offered.
type OffersRequest struct {
	Mode thread.OfferMode `json:"text"`
}

// StagedRef names staged data by its token or a unique prefix of it.
type StagedRef struct {
	Token string `json:"token"`
}

// RetrieveRequest asks for staged data, or for a part of it.
type RetrieveRequest struct {
	Token string           `json:"token"`
	Part  thread.Selection `json:"part"`
}

// TouchRequest asks to keep staged data longer: for TTL, or for its previous time to live if TTL is 0.
type TouchRequest struct {
	Token string        `json:"token"`
	TTL   time.Duration `json:"ttl,omitempty"`
}

// MayRequest asks whether the caller may use an operation, on Thread if it is set.
type MayRequest struct {
	Op     string `json:"op"`
	Thread string `json:"thread,omitempty"`
}

// GrantsRequest changes the grants of a thread's agent.
type GrantsRequest struct {
	Thread string         `json:"thread"`
	Add    []thread.Grant `json:"add,omitempty"`
	Remove []thread.Grant `json:"remove,omitempty"`
}

// ThreadGrants is what a thread's agent may do besides looking at its own thread.
type ThreadGrants struct {
	Thread string         `json:"thread"`
	Grants []thread.Grant `json:"grants"`
}

// TerminalRequest asks to attach to a thread's terminal. It is sent as a query, because a WebSocket request has no
// body.
type TerminalRequest struct {
	Thread     thread.ID
	Cols, Rows int
	Watch      bool // as in Size
}

// Query encodes the request.
func (r TerminalRequest) Query() url.Values {
	q := url.Values{"thread": {string(r.Thread)}, "cols": {strconv.Itoa(r.Cols)}, "rows": {strconv.Itoa(r.Rows)}}
	if r.Watch {
		q.Set("watch", "true")
	}
	return q
}

// ParseTerminal decodes a request. A size that is not a number counts as zero.
func ParseTerminal(q url.Values) TerminalRequest {
	cols, _ := strconv.Atoi(q.Get("cols"))
	rows, _ := strconv.Atoi(q.Get("rows"))
	return TerminalRequest{Thread: thread.ID(q.Get("thread")), Cols: cols, Rows: rows, Watch: q.Get("watch") == "true"}
}
