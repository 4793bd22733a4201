package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"orchestrator/checkpoint/archive"
	"orchestrator/contextmgr/masks"
	"orchestrator/contextmgr/staging"
	"orchestrator/thread"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/secret"
)

// carry has the staged data and the masks that an archive of a thread carries.
type carry struct {
	staging *staging.Store
	masks   *masks.Store
}

// into adds to an export what the thread needs. It returns functions that say what was left out, once it is written.
func (c carry) into(ctx context.Context, e *archive.Export, from archive.Source, t thread.Thread) (func() []string, error) {
	redact := secret.Mask
	if e.Secrets {
		redact = func(b []byte) []byte { return b }
	}
	set, err := c.masks.Thread(t.ID, t.Parent)
	if err != nil {
		return nil, err
	}
	tokens, err := c.named(ctx, from, t, set)
	if err != nil {
		return nil, err
	}
	carried, tooLarge, err := c.staging.Carried(tokens)
	if err != nil {
		return nil, fmt.Errorf("look up staged data: %w", err)
	}
	if len(carried) > 0 {
		e.Staged = func(w io.Writer) error { return c.staging.Export(w, carried, redact) }
	}
	unmasked := 0
	if !set.Empty() {
		e.Masks = func(w io.Writer) error {
			var err error
			unmasked, err = set.Export(w, redact)
			return err
		}
	}
	return func() []string {
		var notes []string
		if tooLarge > 0 {
			notes = append(notes, "staged data was left out, as there is too much of it for one file: "+
				plaintext.Count(tooLarge, "token"))
		}
		if unmasked > 0 {
			notes = append(notes, "what is masked was left out where the content is lost or too large: "+
				plaintext.Count(unmasked, "mask"))
		}
		return notes
	}, nil
}

// named returns the tokens that a thread's conversation, masks and handoff name.
func (c carry) named(ctx context.Context, from archive.Source, t thread.Thread, set *masks.Set) ([]thread.Token, error) {
	seen := map[thread.Token]bool{}
	find := func(text string) {
		for _, t := range thread.FindTokens(text) {
			seen[t] = true
		}
	}
	if err := archive.Texts(ctx, from, t.ID, func(b []byte) { find(string(b)) }); err != nil {
		return nil, err
	}
	for _, m := range set.All() {
		find(m.Names)
	}
	for _, s := range set.Summaries() {
		find(s.Text)
	}
	if h := t.Handoff; h != nil {
		find(h.ContextSummary)
		for _, t := range h.Staged {
			seen[t] = true
		}
	}
	return slices.Sorted(maps.Keys(seen)), nil
}

// outOf has an import take over what an archive carries. It returns a function that says which tokens were replaced.
func (c carry) outOf(ctx context.Context, i *archive.Import) func() []string {
	var fresh []thread.Token
	var replaced []string
	renamed := func(others map[thread.Token]thread.Token) map[thread.Token]thread.Token {
		for _, old := range slices.Sorted(maps.Keys(others)) {
			replaced = append(replaced, fmt.Sprintf("%s → %s", old, others[old]))
		}
		return others
	}
	i.Staged = archive.Part{
		Check: staging.CheckImport,
		Read: func(id thread.ID, r io.Reader) (map[thread.Token]thread.Token, error) {
			done, err := c.staging.Import(ctx, id, r)
			fresh = append(fresh, done.New...)
			return renamed(done.Others), err
		},
	}
	i.Masks = archive.Part{
		Check: masks.CheckImport,
		Read: func(id thread.ID, r io.Reader) (map[thread.Token]thread.Token, error) {
			others, err := c.masks.Import(id, r)
			return renamed(others), err
		},
	}
	i.Undo = func(id thread.ID) error { return errors.Join(c.masks.Drop(id), c.staging.Discard(fresh)) }
	return func() []string {
		if len(replaced) == 0 {
			return nil
		}
		return []string{"tokens that are in use here were replaced: " + strings.Join(replaced, ", ")}
	}
}
