package replay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"

	"orchestrator/thread/lines"
)

// Format is a format in which sessions are recorded.
type Format interface {
	// Name says for people whose format it is, and Agent is the agent whose sessions have it, "" if any agent's have.
	Name() string
	Agent() string
	// Recognises reports whether a file has this format by its beginning, or by the beginning of one of its lines.
	Recognises(beginning []byte) bool
	// Read reads a file of one or more sessions. An error is a *lines.Broken, after which it goes on, or one with which it
	// ends.
	Read(ctx context.Context, f *os.File) iter.Seq2[Event, error]
}

// ErrFormat is the error of a file that has no known format.
var ErrFormat = errors.New("not a recorded session")

const (
	headBytes = 1 << 20 // of a file that are read to recognise it
	headLines = 200     // likewise
)

// Recognise returns the format of a file, an error with ErrFormat if it has none of these. It reads the beginning of the
// file and leaves its position where it is.
func Recognise(f io.ReaderAt, formats []Format) (Format, error) {
	head := make([]byte, headBytes)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	count := 0
	line := head[:n] // an object of many lines begins with the file
	for at := head[:n]; len(at) > 0 && count < headLines; count++ {
		for _, format := range formats {
			if format.Recognises(line) {
				return format, nil
			}
		}
		_, at, _ = bytes.Cut(at, []byte("\n"))
		line, _, _ = bytes.Cut(at, []byte("\n"))
	}
	names := make([]string, 0, len(formats))
	for _, format := range formats {
		names = append(names, format.Name())
	}
	return nil, fmt.Errorf("%w: the formats that are read are %s", ErrFormat, strings.Join(names, ", "))
}

// Own is the project's own format of recorded sessions: a JSON object on each line, which Read reads.
type Own struct{}

// Name implements Format.
func (Own) Name() string { return "role-and-type JSONL" }

// Agent implements Format.
func (Own) Agent() string { return "" }

// Recognises implements Format.
func (Own) Recognises(beginning []byte) bool {
	f := lines.Fields(beginning)
	role, kind := lines.Word(f["role"]), lines.Word(f["type"])
	return slices.Contains([]string{"user", "assistant", "system"}, role) &&
		slices.Contains([]Kind{KindText, KindThinking, KindCall, KindResult, KindBoundary}, Kind(kind))
}

// Read implements Format.
func (Own) Read(_ context.Context, f *os.File) iter.Seq2[Event, error] { return Read(f) }
