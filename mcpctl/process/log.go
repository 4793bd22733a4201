package process

import (
	"bytes"
	"sync"

	"orchestrator/thread/plaintext"
)

const (
	maxLines = 200
	maxLog   = 64 << 10
	maxLine  = 2 << 10
)

// Log keeps the last lines that a server printed and that are no messages. It outlives the processes of the server.
type Log struct {
	mu    sync.Mutex // guards the fields; held for moments
	lines [][]byte   // as they came, each cut to maxLine
	size  int
	added int // lines, ever
}

// Add adds a line.
func (l *Log) Add(line []byte) {
	line = bytes.Clone(bytes.TrimRight(line[:min(len(line), maxLine)], "\r\n"))
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
	l.size += len(line)
	l.added++
	for len(l.lines) > maxLines || l.size > maxLog {
		l.size -= len(l.lines[0])
		l.lines[0] = nil
		l.lines = l.lines[1:]
	}
}

// Added returns how many lines have ever been added.
func (l *Log) Added() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.added
}

// Lines returns the lines, the oldest first, without anything that a terminal would act on.
func (l *Log) Lines() []string { return l.Since(0) }

// Since returns those of the lines that came after so many were added.
func (l *Log) Since(added int) []string {
	l.mu.Lock()
	n := min(len(l.lines), l.added-added)
	lines := bytes.Join(l.lines[len(l.lines)-n:], []byte("\n"))
	l.mu.Unlock()
	if n == 0 {
		return nil
	}
	out := make([]string, 0, n)
	for line := range bytes.SplitSeq(lines, []byte("\n")) {
		out = append(out, plaintext.Line(string(line)))
	}
	return out
}

// splitter is a writer that adds what is written to a log line by line.
type splitter struct {
	log  *Log
	part []byte // of a line that has not ended, cut to maxLine
}

// Write implements io.Writer. It never fails.
func (s *splitter) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		line, rest, ended := bytes.Cut(b, []byte("\n"))
		s.part = append(s.part, line[:min(len(line), maxLine-len(s.part))]...)
		if !ended {
			break
		}
		s.log.Add(s.part)
		s.part = s.part[:0]
		b = rest
	}
	return n, nil
}

// end adds a last line without a newline.
func (s *splitter) end() {
	if len(s.part) > 0 {
		s.log.Add(s.part)
	}
}
