package base

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
)

// First is what is known of the first request of an agent's process. It holds nothing of the conversation and of what the
// agent sends but names, paths and counts. It is stored as it is.
type First struct {
	At    time.Time
	Model string
	// Tokens are as the program counts them: of the parts, of the prompt, and of what was said before in a resumed
	// conversation.
	Tokens, Prompt, History int64
	// Factor corrects them by what the provider counted for the request, or is learned of others.
	Factor  float64
	Parts   []thread.BasePart // largest first
	Offered []string
	// ToolsSum is the SHA-256 of the list of tools as it was sent, in hex; "" if there is none.
	ToolsSum string
}

// Fill fills a report.
func (f *First) Fill(r *thread.BaseReport) {
	r.At, r.Model, r.Counted = f.At, f.Model, f.Tokens
	r.Tokens, r.Parts = f.Corrected()
	r.Offered, r.ToolsSum = f.Offered, f.ToolsSum
}

// Corrected returns the tokens of the base, and its parts, as the provider counts them. Together the parts have them all.
func (f *First) Corrected() (tokens int64, parts []thread.BasePart) {
	parts = slices.Clone(f.Parts)
	for i := range parts {
		parts[i].Tokens = int64(math.Round(float64(parts[i].Tokens) * f.Factor))
		tokens += parts[i].Tokens
	}
	return tokens, parts
}

// The corrections that are believed: a provider that says something else counts something else.
const (
	leastFactor = 0.5
	mostFactor  = 2.5
)

// correct sets by how much the provider counts otherwise; learned is what is known of that of other requests, input what it
// counted for this one, 0 if nothing.
func (f *First) correct(learned float64, input int64) {
	f.Factor = learned
	whole := f.Tokens + f.Prompt + f.History
	if input > 0 && whole > 0 && f.History*2 < whole { // of what was said before, the size is a guess
		if by := float64(input) / float64(whole); by >= leastFactor && by <= mostFactor {
			f.Factor = by
		}
	}
	if !(f.Factor > 0) || math.IsInf(f.Factor, 0) {
		f.Factor = 1
	}
}

// first counts what a request sends.
func (c *Config) first(id thread.ID, q wire.Request, body []byte) *First {
	s := read(q, body)
	if c.Seen != nil {
		c.Seen(id, thread.FirstRequest{Model: q.Model, Texts: slices.Concat(s.tools, s.texts)})
	}
	texts := split(func(texts []thread.BaseText) []thread.BaseText { return c.Parts(id, texts) }, s.texts)
	all := slices.Concat(s.tools, texts)
	encoding := c.Encoding(q.Model)
	t := tally{
		count: func(text string) int { return c.Count(encoding, text) }, estimate: c.Estimate, left: mostCounted,
		parts: map[key]*thread.BasePart{},
	}
	for _, text := range all {
		t.add(text)
	}
	f := &First{At: c.Now(), Model: q.Model, History: c.Estimate(s.history), Offered: s.offered}
	f.Parts, f.Prompt = t.sorted()
	for _, p := range f.Parts {
		f.Tokens += p.Tokens
	}
	if len(s.list) > 0 {
		sum := sha256.Sum256(s.list)
		f.ToolsSum = hex.EncodeToString(sum[:])
	}
	return f
}

// stored reads what was kept of a thread, nil if there is nothing.
func stored(s Store, id thread.ID) (*First, error) {
	kept, err := s.Last(id)
	if err != nil || kept == nil {
		return nil, err
	}
	var f First
	if err := json.Unmarshal(kept, &f); err != nil {
		return nil, fmt.Errorf("read what an agent sent first: %w", err)
	}
	return &f, nil
}
