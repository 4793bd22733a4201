package rebuild

import (
	"bytes"
	"fmt"

	"orchestrator/thread"
)

// mainFile is the name of the file that every adapter keeps the conversation itself in.
const mainFile = "main"

// Turn is one turn in a transcript.
type Turn struct {
	Prompt string
	Said   []thread.Exchange // its main responses, at least one
	side   float64           // cost in USD of its side requests
	End    int64             // where it ends in the main file
	// known is how many of its responses are already stored.
	known int
}

// last is the last response of the turn so far.
func (t Turn) last() thread.Exchange { return t.Said[len(t.Said)-1] }

// ended reports whether the agent waits for the person after it.
func (t Turn) ended() bool { return t.last().EndsTurn }

// Divide divides the content of a main file, from an offset on, into turns. What follows the last response, such as an
// unanswered prompt, is left for later.
func Divide(a Agent, data []byte, from int64) ([]Turn, error) {
	var all []Turn
	begin, at := 0, 0
	add := func() error {
		t, ok, err := readTurn(a, data[begin:at])
		if err != nil || !ok {
			return err
		}
		t.End = from + int64(at)
		if n := len(all); t.Prompt == "" && n > 0 { // the agent continued by itself
			all[n-1].Said = append(all[n-1].Said, t.Said...)
			all[n-1].side += t.side
			all[n-1].End = t.End
		} else {
			all = append(all, t)
		}
		begin = at
		return nil
	}
	for line := range bytes.Lines(data) {
		if trimmed := bytes.TrimSpace(line); at > begin && len(trimmed) > 0 && a.BeginsTurn(trimmed) {
			if err := add(); err != nil {
				return nil, err
			}
		}
		at += len(line)
	}
	err := add()
	return all, err
}

// readTurn reads a piece of a main file; false if it contains no answer.
func readTurn(a Agent, data []byte) (t Turn, ok bool, err error) {
	told, err := a.ReadUsage([]thread.Chunk{{File: mainFile, Data: data}})
	if err != nil {
		return t, false, fmt.Errorf("read the transcript: %w", err)
	}
	for _, e := range told {
		if !e.Main {
			t.side += e.Usage.CostUSD
			continue
		}
		if t.Prompt == "" {
			t.Prompt = e.Prompt
		}
		t.Said = append(t.Said, e)
	}
	return t, len(t.Said) > 0, nil
}
