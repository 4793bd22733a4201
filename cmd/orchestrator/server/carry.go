package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"orchestrator/checkpoint/archive"
	"orchestrator/checkpoint/backup"
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
	work    carryWork
}

// all adds to a backup what its threads need. It returns a function that says what was left out, once it is written.
func (c carry) all(b *backup.Backup, kept *thread.BackupReport) func() []string {
	redact := redacting(!b.Redacted)
	tooLarge, unmasked := 0, 0
	byThread := sync.OnceValues(func() (map[thread.ID][]thread.Token, error) {
		all := map[thread.ID][]thread.Token{}
		list, err := c.staging.List(func(thread.Staged) bool { return true })
		for _, s := range list {
			all[s.Thread] = append(all[s.Thread], s.Token)
		}
		return all, err
	})
	b.Staged = func(id thread.ID, w io.Writer) error {
		tokens, err := byThread()
		if err != nil {
			return err
		}
		carried, left, err := c.staging.Carried(tokens[id])
		if err != nil {
			return fmt.Errorf("look up staged data: %w", err)
		}
		tooLarge += left
		return c.staging.Export(w, carried, redact)
	}
	type copied struct {
		home  thread.ID
		token thread.Token
	}
	written := map[copied]thread.ID{} // the thread whose export has it
	b.Masks = func(id thread.ID, w io.Writer) error {
		set, err := c.masks.Thread(id, "")
		if err != nil || set.Empty() {
			return err
		}
		left, err := set.Export(w, redact, func(m masks.Mask) thread.ID { return written[copied{m.Home, m.Token}] })
		for _, m := range set.All() {
			if at := (copied{m.Home, m.Token}); written[at] == "" {
				written[at] = id
			}
		}
		unmasked += left
		return err
	}
	recorded := c.work.all(b, kept)
	return func() []string { return append(leftBehind(tooLarge, unmasked), recorded()...) }
}

// redacting returns what is applied to what a file carries.
func redacting(secrets bool) func([]byte) []byte {
	if secrets {
		return func(b []byte) []byte { return b }
	}
	return secret.Mask
}

// leftBehind returns what a file has not room for, or what is lost.
func leftBehind(tooLarge, unmasked int) []string {
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
}

// into adds to an export what the thread needs. It returns functions that say what was left out, once it is written.
func (c carry) into(ctx context.Context, e *archive.Export, from archive.Source, t thread.Thread) (func() []string, error) {
	redact := redacting(e.Secrets)
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
			unmasked, err = set.Export(w, redact, nil)
			return err
		}
	}
	return func() []string { return leftBehind(tooLarge, unmasked) }, nil
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

// taking imports what a file carries.
type taking struct {
	Staged, Masks archive.Part
	// Undo removes what was imported for a thread.
	Undo func(thread.ID) error
	// Notes names the tokens that were replaced.
	Notes func() []string
}

// outOf returns what takes over what an archive carries, or the threads of a backup.
func (c carry) outOf(ctx context.Context, beside masks.Beside) taking {
	fresh := map[thread.ID][]thread.Token{}
	noRoom, lost := 0, 0
	var replaced []string
	renamed := func(others map[thread.Token]thread.Token) map[thread.Token]thread.Token {
		for _, old := range slices.Sorted(maps.Keys(others)) {
			replaced = append(replaced, fmt.Sprintf("%s → %s", old, others[old]))
		}
		return others
	}
	return taking{
		Staged: archive.Part{
			Check: staging.CheckImport,
			Read: func(id thread.ID, r io.Reader) (map[thread.Token]thread.Token, error) {
				done, err := c.staging.Import(ctx, id, r)
				fresh[id] = append(fresh[id], done.New...)
				noRoom += done.LeftOut
				return renamed(done.Others), err
			},
		},
		Masks: archive.Part{
			Check: func(r io.Reader) error { return masks.CheckImport(r, beside) },
			Read: func(id thread.ID, r io.Reader) (map[thread.Token]thread.Token, error) {
				done, err := c.masks.Import(id, r, beside)
				lost += done.Lost
				return renamed(done.Others), err
			},
		},
		Undo: func(id thread.ID) error {
			err := c.staging.Discard(fresh[id])
			if beside == nil { // otherwise others may need its copies, and they go when nothing does
				err = errors.Join(c.masks.Drop(id), err)
			}
			return err
		},
		Notes: func() []string {
			var notes []string
			if len(replaced) > 0 {
				notes = append(notes, "tokens that are in use here were replaced: "+strings.Join(replaced, ", "))
			}
			if noRoom > 0 {
				notes = append(notes, "staged data was left out, as the limits here have no room for it: "+plaintext.Count(noRoom, "token"))
			}
			if lost > 0 {
				notes = append(notes, "what is masked was left out where the thread that had the content here no longer has it: "+
					plaintext.Count(lost, "mask"))
			}
			return notes
		},
	}
}
