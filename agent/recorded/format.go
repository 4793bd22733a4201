package recorded

import (
	"context"
	"io"
	"iter"

	"orchestrator/agent/transcript"
	"orchestrator/thread"
	"orchestrator/thread/lines"
)

// Decoder reads the lines of a session, in order.
type Decoder interface {
	// Line reads a line; an error says why it cannot be read.
	Line(raw []byte) error
	// End is called after the last line.
	End()
}

// Format begins to read a session, of which it gives what it finds to out.
type Format func(out *Responses) Decoder

// Pieces reads a session. An error is a *lines.Broken, after which it goes on, or one with which it ends.
func (f Format) Pieces(ctx context.Context, in io.Reader) iter.Seq2[Piece, error] {
	return func(yield func(Piece, error) bool) {
		out := &Responses{To: func(p Piece) bool { return yield(p, nil) }}
		s := f(out)
		for _, err := range lines.Parse(in, func(raw []byte) (none struct{}, err error) { return none, s.Line(raw) }) {
			if ctx.Err() != nil {
				err = ctx.Err()
			}
			if out.Stopped() || err != nil && !yield(Piece{}, err) || ctx.Err() != nil {
				return
			}
		}
		s.End()
	}
}

// Exchanges returns the responses in lines. Lines that cannot be read are passed over.
func (f Format) Exchanges(data []byte) []thread.Exchange {
	var all []*thread.Exchange
	f.read(data, func(p Piece) {
		if p.Response != nil {
			all = append(all, p.Response)
		}
	})
	out := make([]thread.Exchange, len(all)) // the last lines may have said more of any of them
	for i, e := range all {
		out[i] = *e
	}
	return out
}

// Usage returns the responses in what was added to a session's own file.
func (f Format) Usage(chunks []thread.Chunk) (all []thread.Exchange) {
	for _, c := range chunks {
		if c.File == transcript.Main {
			all = append(all, f.Exchanges(c.Data)...)
		}
	}
	return all
}

// Answer returns what the model said in a line.
func (f Format) Answer(line []byte) string {
	text := ""
	f.read(line, func(p Piece) {
		if p.Own && p.Kind == Text {
			text += p.Text
		}
	})
	return text
}

// Begins reports whether a turn begins with a line.
func (f Format) Begins(line []byte) bool { return f.read(line, func(Piece) {}).begins }

// read reads lines that are there as a whole.
func (f Format) read(data []byte, each func(Piece)) *Responses {
	out := &Responses{To: func(p Piece) bool { each(p); return true }}
	s := f(out)
	transcript.Lines(data, func(line []byte) { _ = s.Line(line) })
	s.End()
	return out
}
