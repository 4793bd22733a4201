package replay

import (
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"math"
	"strings"
	"time"

	"orchestrator/contextmgr/policy"
	"orchestrator/thread/lines"
)

// Read reads a session in the format of recorded sessions: a JSON object on each line. It holds one line at a time. An
// error is a *lines.Broken, after which it goes on, or the reader's, with which it ends.
func Read(r io.Reader) iter.Seq2[Event, error] { return lines.Parse(r, parse) }

// record is a line of the format.
type record struct {
	Role    string          `json:"role"`
	Type    Kind            `json:"type"`
	Tool    string          `json:"tool"`
	ID      string          `json:"id"`
	Content json.RawMessage `json:"content"`
	T       *float64        `json:"t"`
	Model   string          `json:"model"`
	Usage   *struct {
		In    int64 `json:"in"`
		Read  int64 `json:"read"`
		Write int64 `json:"write"`
		Out   int64 `json:"out"`
	} `json:"usage"`
	Signature int64 `json:"sig_bytes"`
	Images    int   `json:"images"`
	IsError   bool  `json:"is_error"`
}

// mostCounted bounds the numbers of a line, so that no sum of them overflows.
const mostCounted = 1 << 40

func parse(line []byte) (Event, error) {
	var r record
	if err := json.Unmarshal(line, &r); err != nil {
		return Event{}, err
	}
	switch r.Type {
	case KindText, KindThinking, KindCall, KindResult, KindBoundary:
	default:
		return Event{}, fmt.Errorf("unknown type %q", r.Type)
	}
	text := content(r.Content)
	e := Event{
		Kind: r.Type, Person: r.Role != "assistant", Bytes: int64(len(text)), Lines: LinesOf(text),
		Images: min(1000, max(0, r.Images)),
		Tool:   r.Tool, ID: r.ID, Error: r.IsError, Model: r.Model,
	}
	if r.Type == KindThinking && len(text) == 0 {
		e.Bytes = min(mostCounted, max(0, r.Signature)) // reasoning that only the provider can read
	}
	if r.Type == KindCall {
		e.Use = policy.Describe(r.Tool, []byte(text))
	}
	if u := r.Usage; u != nil {
		for _, n := range []int64{u.In, u.Read, u.Write, u.Out} {
			if n < 0 || n > mostCounted {
				return Event{}, fmt.Errorf("usage of %d tokens", n)
			}
		}
		e.Usage = &Usage{Input: u.In, CacheRead: u.Read, CacheWrite: u.Write, Output: u.Out}
	}
	if r.T != nil && math.Abs(*r.T) < 1e9 {
		e.At, e.Timed = time.Duration(*r.T*float64(time.Second)), true
	}
	return e, nil
}

// content returns the text of a content, or its JSON unchanged if it is not a text.
func content(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

// LinesOf returns how many lines a content has.
func LinesOf(text string) int {
	if text == "" {
		return 0
	}
	return strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1
}
