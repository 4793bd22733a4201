// Package recorded reads past conversations from agents' own session files: their pieces in order, with sizes.
//
// A Reader is the part of an agent's adapter that reads such a file. Files are recognised by their content, never by
// their names, and only read. They may be of any version, cut anywhere, and from strangers: a line that cannot be read
// is named and passed over, and numbers that cannot be true are refused with their line.
//
// It knows no agent's format, and nothing of what the pieces are good for.
package recorded

import (
	"context"
	"errors"
	"iter"
	"os"
	"strings"
	"time"

	"orchestrator/thread"
)

// Reader reads the session files of an agent.
type Reader interface {
	// Places returns patterns of where the agent keeps them.
	Places(env []string) []string
	// Recognises reports whether a file is one of them by its beginning, or by that of one of its first lines.
	Recognises(beginning []byte) bool
	// Pieces reads a file. An error is a *lines.Broken, after which it goes on, or one with which it ends.
	Pieces(ctx context.Context, f *os.File) iter.Seq2[Piece, error]
}

// Kind describes what a piece is.
type Kind string

// The kinds of pieces.
const (
	Text     Kind = "text"
	Thinking Kind = "thinking"
	Call     Kind = "call"
	Result   Kind = "result"
	// Boundary is where the agent replaced what was before by less of it, and Rewind where the person went back.
	Boundary Kind = "boundary"
	Rewind   Kind = "rewind"
	// Session begins another session of the same file.
	Session Kind = "session"
)

// Piece is one piece of a conversation.
type Piece struct {
	Kind Kind
	// Own is set if the model wrote it, and Person if the person did. Neither did what the agent itself added.
	Own, Person bool
	// Bytes and Lines are the size of the content; Images are counted beside it.
	Bytes  int64
	Lines  int
	Images int
	// Tool and ID pair a call and its result. Input is that of a call.
	Tool, ID string
	Input    []byte
	Error    bool
	// Text is what was said.
	Text string
	// Response is set on the first piece of each response of which the provider's counts are known. It may be added to
	// until the next one.
	Response *thread.Exchange
	At       time.Time // zero if unknown
	// Name is that of a session.
	Name string
}

// Say adds a text to a piece.
func (p Piece) Say(text string) Piece {
	p.Text += text
	p.Bytes += int64(len(text))
	if text != "" {
		p.Lines += strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1
	}
	return p
}

// mostCounted is more than any provider counts in a session.
const mostCounted = 1 << 40

// ErrCount is the error of counts that cannot be true.
var ErrCount = errors.New("a count of tokens that cannot be true")

// Check returns an error if counts cannot be true.
func Check(u thread.Usage) error {
	for _, n := range []int64{u.Input, u.CacheRead, u.CacheWrite, u.Output} {
		if n < 0 || n > mostCounted {
			return ErrCount
		}
	}
	return nil
}
