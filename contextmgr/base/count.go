package base

import (
	"cmp"
	"slices"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

// What is kept of a request is bounded.
const (
	mostParts   = 400
	mostCounted = 4 << 20 // bytes that are counted; the rest is estimated
)

// key is what a part is of.
type key struct {
	kind thread.BaseKind
	name string
}

// tally counts what a request sends.
type tally struct {
	count    func(text string) int
	estimate func(bytes int) int64
	left     int // bytes that may still be counted
	parts    map[key]*thread.BasePart
}

func (t *tally) tokens(text string) int64 {
	if t.left -= len(text); t.left < 0 {
		return t.estimate(len(text))
	}
	return int64(t.count(text))
}

func (t *tally) add(text thread.BaseText) {
	if text.Text == "" {
		return
	}
	k := key{text.Kind, plaintext.Cut(text.Name, mostName)}
	if t.parts[k] == nil && len(t.parts) >= mostParts {
		k.name = "" // of which there is one for each kind
	}
	if t.parts[k] == nil {
		t.parts[k] = &thread.BasePart{Kind: k.kind, Name: k.name}
	}
	t.parts[k].Tokens += t.tokens(text.Text)
	t.parts[k].Count++
}

// sorted returns the parts but the prompt, largest first, and the tokens of the prompt.
func (t *tally) sorted() (parts []thread.BasePart, prompt int64) {
	for _, p := range t.parts {
		if p.Kind == thread.BasePrompt {
			prompt += p.Tokens
			continue
		}
		parts = append(parts, *p)
	}
	slices.SortFunc(parts, func(a, b thread.BasePart) int {
		return cmp.Or(cmp.Compare(b.Tokens, a.Tokens), strings.Compare(string(a.Kind), string(b.Kind)), strings.Compare(a.Name, b.Name))
	})
	return parts, prompt
}

// split has texts told apart. What comes back without all of the text is not used, nor is anything after a panic.
func split(with func([]thread.BaseText) []thread.BaseText, texts []thread.BaseText) (out []thread.BaseText) {
	defer func() {
		if recover() != nil {
			out = texts
		}
	}()
	told := with(slices.Clone(texts))
	var was, is strings.Builder
	for _, t := range texts {
		was.WriteString(t.Text)
	}
	for _, t := range told {
		is.WriteString(t.Text)
	}
	if was.String() != is.String() {
		return texts
	}
	return told
}
