package scripted

import (
	"time"
	"unicode/utf8"
)

// Reply is the answer to a turn.
type Reply struct {
	Thinking string
	Text     string
	Calls    []Call
	Usage    Usage

	// Piece is how many runes of a text an event of a stream carries. With 0 there are 24, or more so that a text has at
	// most 64 pieces.
	Piece int
	// Pace is the time between two pieces; 0 sends everything at once.
	Pace time.Duration

	// Status is an HTTP status to fail with, 0 for success; Fails is how many attempts fail, 0 all. Attempts counts them.
	Status     int
	Fails      int
	RetryAfter string // header of failures
	// Cut breaks the connection in the middle of the answer.
	Cut bool
	// Page answers with a web page, as a hotel's network does.
	Page bool
	// Hold is the name of what the answer waits for in its middle.
	Hold string
	// Verdict is the result of the provider's safety check of the calls if the request asks for one, as Claude Code's auto
	// mode does; empty means that nothing is wrong.
	Verdict Verdict
}

// Verdict is the result of a provider's safety check of tool calls.
type Verdict string

// The verdicts. Unchecked means none at all, as with a gateway that does not pass the check on.
const (
	NotFlagged Verdict = ""
	Flagged    Verdict = "flagged"
	Unchecked  Verdict = "unchecked"
)

// Usage counts tokens; the kinds of input are disjoint.
type Usage struct {
	Input, CacheRead, CacheWrite, Output int64
}

// input returns all input tokens.
func (u Usage) input() int64 { return u.Input + u.CacheRead + u.CacheWrite }

// pieces splits a text for streaming; an empty text has none.
func (r Reply) pieces(text string) []string {
	n := utf8.RuneCountInString(text)
	size := r.Piece
	if size == 0 {
		size = max(24, n/64+1)
	}
	all := make([]string, 0, n/size+1)
	begin, runes := 0, 0
	for i := range text {
		if runes == size {
			all = append(all, text[begin:i])
			begin, runes = i, 0
		}
		runes++
	}
	if begin < len(text) {
		all = append(all, text[begin:])
	}
	return all
}

// answer is a reply to a turn, to be written in the turn's wire format.
type answer struct {
	turn  Turn
	reply Reply
	id    func(kind string, i int) string
}
