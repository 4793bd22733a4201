// Package wire defines what the codecs of the model APIs have in common: how a request is recognised and read, how its
// answer is read as it streams, and how a stored conversation becomes text for people.
//
// A codec only reads. It keeps every byte it returns unchanged, never re-encodes a request, and is total: any bytes
// give a result or an error, in bounded memory. It opens no connection and knows no prices. The codecs are in packages
// below this one and are chosen in the composition root; there is no registry here.
package wire

import (
	"encoding/json"
	"net/http"
	"strings"

	"orchestrator/thread"
)

// The names of the formats, as stored in thread.Item.Wire.
const (
	Anthropic = "anthropic"
	Responses = "responses"
	Chat      = "chat"
	Gemini    = "gemini"
)

// Purpose is what a request is for.
type Purpose string

// The purposes. All but PurposeMain are side requests.
const (
	PurposeMain       Purpose = "main"
	PurposeTitle      Purpose = "title"
	PurposeSubagent   Purpose = "subagent"
	PurposeCount      Purpose = "count"
	PurposeCompaction Purpose = "compaction"
	PurposeClassifier Purpose = "classifier"
	PurposeSummary    Purpose = "summary" // the program's own, of the conversation
	PurposeOther      Purpose = "other"
)

// Side returns the purpose for an Exchange: empty for the main conversation.
func (p Purpose) Side() string {
	if p == PurposeMain {
		return ""
	}
	return string(p)
}

// Call is a request as the agent sent it.
type Call struct {
	Path   string // of the upstream, unescaped
	Query  string
	Header http.Header
	Body   []byte // uncompressed
}

// Request is the content of a call. Items and System are slices of the call's body, not copies.
type Request struct {
	Model   string
	System  json.RawMessage
	Items   []thread.Item
	Tools   []string // names of the offered tools
	Prompt  string   // the person's newest message
	Fresh   bool     // the model has written nothing after Prompt
	Session string
	Purpose Purpose
	// Sub is whose request it is, if its Purpose is PurposeSubagent and it tells.
	Sub thread.SubAgent
	// LongWindow is set if the request asks for the model's long context window.
	LongWindow bool
}

// Usage is the provider's token counts. The kinds of input are disjoint.
type Usage struct {
	Input        int64
	CacheRead    int64
	CacheWrite   int64 // all written tokens, including CacheWriteHr
	CacheWriteHr int64 // the part with a lifetime of an hour
	Output       int64
	// Odd is set if a number was none that can be: less than nothing.
	Odd bool
}

// Zero reports whether nothing was counted.
func (u Usage) Zero() bool { return u == Usage{} }

// Result is the content of an answer, as far as it arrived.
type Result struct {
	Model string
	// Item is the answer's message in the codec's format, nil if there is none.
	Item  json.RawMessage
	Text  string
	Tools []string // names of the called tools, in order
	Usage Usage
	Stop  string
	// EndsTurn is set if the agent has nothing left to do but wait for the person.
	EndsTurn bool
	// Complete is set if the end of the answer has arrived.
	Complete bool
	// Err is the error that the provider reported, in a stream or as the whole answer.
	Err string
}

// Answer reads one answer. It is used by one goroutine.
type Answer interface {
	// Write adds the next bytes of the body, uncompressed. It never blocks or fails.
	Write(b []byte)
	// Result returns what arrived, after the last byte. Write must not be called after it.
	Result() Result
}

// Reader turns stored items into text for people.
type Reader interface {
	// Entries returns the items as entries of a conversation. An item that it cannot read becomes an entry that says so;
	// instructions of the agent give none.
	Entries(items []thread.Item) []thread.Entry
	// Turns returns the index of each item that begins a turn, which is a prompt of the person.
	Turns(items []thread.Item) []int
}

// Codec reads one wire format.
type Codec interface {
	Reader
	// Wire returns the name of the format.
	Wire() string
	// Match reports whether a request to this path of an upstream is in the format.
	Match(method, path string) bool
	// Request reads a call that matched. With an error, it returns what it could read.
	Request(Call) (Request, error)
	// Answer returns a reader for an answer.
	Answer(status int, contentType string) Answer
	// Error returns a body that the format's clients show as an error.
	Error(status int, message string) []byte
}

// Codecs are the supported formats, in the order in which they are tried.
type Codecs []Codec

// Match returns the codec for a request, nil if there is none.
func (cs Codecs) Match(method, path string) Codec {
	for _, c := range cs {
		if c.Match(method, path) {
			return c
		}
	}
	return nil
}

// Readers reads conversations whose items may be in several formats, by wire name.
type Readers map[string]Reader

// Entries implements Reader over runs of items of one format.
func (rs Readers) Entries(items []thread.Item) []thread.Entry {
	var all []thread.Entry
	rs.runs(items, func(r Reader, run []thread.Item, _ int) {
		if r == nil {
			all = append(all, Unreadable())
			return
		}
		all = append(all, r.Entries(run)...)
	})
	return all
}

// Turns implements Reader.
func (rs Readers) Turns(items []thread.Item) []int {
	var all []int
	rs.runs(items, func(r Reader, run []thread.Item, at int) {
		if r == nil {
			return
		}
		for _, i := range r.Turns(run) {
			all = append(all, at+i)
		}
	})
	return all
}

// runs calls fn for each run of items of one format, with a nil reader if the format is unknown.
func (rs Readers) runs(items []thread.Item, fn func(r Reader, run []thread.Item, at int)) {
	for at := 0; at < len(items); {
		end := at + 1
		for end < len(items) && items[end].Wire == items[at].Wire {
			end++
		}
		fn(rs[items[at].Wire], items[at:end], at)
		at = end
	}
}

var _ thread.Reader = Readers(nil)

// PathEnds reports whether a path ends in the given segments, such as "/v1/messages".
func PathEnds(path, parts string) bool {
	return strings.HasSuffix(strings.TrimSuffix(path, "/"), parts)
}
