package transcript

import (
	"bytes"
	"context"
	"strings"
	"time"

	"orchestrator/thread"
)

// waitFor is the time limit of Await, waitStep its interval.
const (
	waitFor  = time.Second
	waitStep = 20 * time.Millisecond
)

// Answer is the last text of a turn, and how to find it among the lines of a file.
type Answer struct {
	// File is the name of the file that contains it.
	File string
	// Text is its text; "" if unknown.
	Text string
	// Read returns the text of a line that is an answer.
	Read func(line []byte) string
	// Begins reports whether a line is the first of a turn.
	Begins func(line []byte) bool
	// Known is how many lines the file had before the answer; 0 if that is not known. If it has fewer, it is another file.
	Known int
	// By is when the wait ends; if zero, after waitFor.
	By time.Time
}

// Await reads until the answer is in the file, for up to a second and not beyond By, and returns the last reading:
// agents write the last line of an answer some time after they have shown it. It cuts the file where the next turn
// begins, so that text that was typed during the answer is not taken as part of the turn that just ended. Without a
// text, it neither waits nor cuts. After By it does not wait, but cuts if the answer is there.
func (a Answer) Await(ctx context.Context, read func() ([]thread.Chunk, error)) ([]thread.Chunk, error) {
	a.Text = squeeze(a.Text)
	wait := waitFor
	if !a.By.IsZero() {
		wait = min(waitFor, time.Until(a.By)) // the clock may have been set back
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	tick := time.NewTicker(waitStep)
	defer tick.Stop()
	for {
		chunks, err := read()
		chunks, there := a.cut(chunks)
		if err != nil || there {
			return chunks, err
		}
		select {
		case <-ctx.Done():
			return chunks, nil
		case <-tick.C:
		}
	}
}

// cut ends the file before the turn after the answer, and reports whether it surely contains the answer. Of several that are
// the same, it is the last one behind the known lines: a file that is read from its beginning, as that of a fork is, has
// earlier turns. If it is not known how many lines they have, an answer with another turn behind it may be one of those,
// while the agent has yet to write the one that is meant.
func (a Answer) cut(chunks []thread.Chunk) (out []thread.Chunk, there bool) {
	if a.Text == "" {
		return chunks, true
	}
	type place struct{ chunk, at int }
	var ends *place // where the turn after the last answer begins
	sure := false   // no earlier turn is read
	for i, c := range chunks {
		if c.File != a.File {
			continue
		}
		earlier := 0
		if c.Offset == 0 && bytes.Count(c.Data, []byte("\n")) >= a.Known {
			earlier = a.Known
		}
		sure = c.Offset > 0 || earlier > 0
		at, n := 0, 0
		for line := range bytes.Lines(c.Data) {
			if n++; n <= earlier {
				at += len(line)
				continue
			}
			trimmed := bytes.TrimSpace(line)
			if there && ends == nil && len(trimmed) > 0 && a.Begins(trimmed) {
				ends = &place{i, at}
			}
			if strings.Contains(squeeze(a.Read(trimmed)), a.Text) {
				there, ends = true, nil
			}
			at += len(line)
		}
	}
	for i, c := range chunks {
		if c.File == a.File && ends != nil && i >= ends.chunk {
			if i > ends.chunk || ends.at == 0 {
				continue
			}
			c.Data = c.Data[:ends.at]
		}
		out = append(out, c)
	}
	return out, there && (ends == nil || sure)
}

// squeeze normalizes white space, so that texts can be compared.
func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }
