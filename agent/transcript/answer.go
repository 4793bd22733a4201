package transcript

import (
	"bytes"
	"context"
	"strings"
	"time"

	"orchestrator/thread"
)

// waitFor is how long Await waits at most, waitStep how often it looks.
const (
	waitFor  = time.Second
	waitStep = 20 * time.Millisecond
)

// Answer is what a turn ended with, and how to find it among the lines of a file.
type Answer struct {
	// File is the name of the file that it is written to.
	File string
	// Text is what it says; "" when nobody knows.
	Text string
	// Read returns what a line says where it is an answer.
	Read func(line []byte) string
	// Begins tells the first line of a turn.
	Begins func(line []byte) bool
	// By is when the wait ends; waitFor from now where it is zero.
	By time.Time
}

// Await reads until the answer is there, for up to a second and not beyond By, and returns the last reading: agents write the
// last line of an answer some time after they have shown it. It cuts the file where the next turn begins, so that
// what an agent was told while it answered is not taken for a part of the turn that it ended. An answer without
// text is not waited for, and nothing is cut. Nor is one whose time has passed, but it is cut where it is there.
func (a Answer) Await(ctx context.Context, read func() ([]thread.Chunk, error)) ([]thread.Chunk, error) {
	a.Text = squeeze(a.Text)
	wait := waitFor
	if !a.By.IsZero() {
		wait = min(waitFor, time.Until(a.By)) // a clock may have been set back
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

// cut ends the file before the turn after the answer and says whether the answer is there.
func (a Answer) cut(chunks []thread.Chunk) (out []thread.Chunk, there bool) {
	if a.Text == "" {
		return chunks, true
	}
	next := false
	for _, c := range chunks {
		if c.File != a.File {
			out = append(out, c)
			continue
		}
		at := 0
		for line := range bytes.Lines(c.Data) {
			trimmed := bytes.TrimSpace(line)
			if next = next || there && len(trimmed) > 0 && a.Begins(trimmed); next {
				break
			}
			there = there || strings.Contains(squeeze(a.Read(trimmed)), a.Text)
			at += len(line)
		}
		if c.Data = c.Data[:at]; len(c.Data) > 0 {
			out = append(out, c)
		}
	}
	return out, there
}

// squeeze makes texts comparable that differ in white space only.
func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }
