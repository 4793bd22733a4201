package api

import (
	"net/url"
	"strconv"

	"orchestrator/thread"
)

// InfoRequest asks who serves; Sizes takes a while.
type InfoRequest struct {
	Sizes bool `json:"sizes,omitempty"`
}

// StopRequest asks the server to end. With Force it ends although answers cannot be saved.
type StopRequest struct {
	Force bool `json:"force,omitempty"`
}

// StopReport says what became of answers that the store refused.
type StopReport struct {
	Spooled int `json:"spooled"` // kept, and stored at the next start
	Lost    int `json:"lost"`
}

// Ref names a thread by its id, its name or a prefix of the name that is unique.
type Ref struct {
	Thread string `json:"thread"`
}

// ResumeRequest names a thread, none where all are meant, and the size of its terminal.
type ResumeRequest struct {
	Thread string `json:"thread,omitempty"`
	Cols   int    `json:"cols,omitempty"`
	Rows   int    `json:"rows,omitempty"`
}

// AskRequest is a prompt for a thread's agent.
type AskRequest struct {
	Thread string `json:"thread"`
	Text   string `json:"text"`
}

// PromptsRequest asks for the prompts of a thread, of all threads where it is empty; Open leaves out those that are
// over.
type PromptsRequest struct {
	Thread string `json:"thread,omitempty"`
	Open   bool   `json:"open,omitempty"`
	Limit  int    `json:"limit,omitempty"` // 200 when 0
}

// PromptRef names a prompt, and the thread that it must be one of where that is set.
type PromptRef struct {
	Thread string          `json:"thread,omitempty"`
	ID     thread.PromptID `json:"id"`
}

// EditRequest gives a queued prompt another text.
type EditRequest struct {
	ID   thread.PromptID `json:"id"`
	Text string          `json:"text"`
}

// RenameRequest gives a thread another name.
type RenameRequest struct {
	Thread string `json:"thread"`
	Name   string `json:"name"`
}

// PinRequest pins a thread, which keeps it on top and from being collected, or unpins it.
type PinRequest struct {
	Thread string `json:"thread"`
	On     bool   `json:"on,omitempty"`
}

// AbandonRequest says why a thread's work is given up.
type AbandonRequest struct {
	Thread string `json:"thread"`
	Reason string `json:"text,omitempty"`
}

// TimelineRequest asks for a page of a thread's checkpoints.
type TimelineRequest struct {
	Thread string      `json:"thread"`
	Page   thread.Page `json:"page"`
}

// TurnRequest names a turn of a thread, the newest where At is empty.
type TurnRequest struct {
	Thread string `json:"thread"`
	At     string `json:"at,omitempty"`
}

// FindRequest asks for what holds words.
type FindRequest struct {
	Query string `json:"query"`
	Limit int    `json:"limit"`
}

// OfferAnswer is what a person thinks of a fork offer.
type OfferAnswer struct {
	Offer  string `json:"at"`
	Answer string `json:"text"`
}

// OffersRequest says what is to become of fork offers.
type OffersRequest struct {
	Mode thread.OfferMode `json:"text"`
}

// MayRequest asks whether the caller may do an operation; Thread is set where it concerns one.
type MayRequest struct {
	Op     string `json:"op"`
	Thread string `json:"thread,omitempty"`
}

// GrantsRequest changes what a thread's agent may do.
type GrantsRequest struct {
	Thread string         `json:"thread"`
	Add    []thread.Grant `json:"add,omitempty"`
	Remove []thread.Grant `json:"remove,omitempty"`
}

// ThreadGrants is what a thread's agent may do, beyond looking at its own thread.
type ThreadGrants struct {
	Thread string         `json:"thread"`
	Grants []thread.Grant `json:"grants"`
}

// TerminalRequest asks to join a thread's terminal. It travels as a query, as a WebSocket begins without a body.
type TerminalRequest struct {
	Thread     thread.ID
	Cols, Rows int
}

// Query returns the request as it is sent.
func (r TerminalRequest) Query() url.Values {
	return url.Values{"thread": {string(r.Thread)}, "cols": {strconv.Itoa(r.Cols)}, "rows": {strconv.Itoa(r.Rows)}}
}

// ParseTerminal reads a request that was sent; a size that is no number is none.
func ParseTerminal(q url.Values) TerminalRequest {
	cols, _ := strconv.Atoi(q.Get("cols"))
	rows, _ := strconv.Atoi(q.Get("rows"))
	return TerminalRequest{Thread: thread.ID(q.Get("thread")), Cols: cols, Rows: rows}
}
