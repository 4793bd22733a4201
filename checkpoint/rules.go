package checkpoint

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

// Limits of one put. They bound what a runaway agent or a hostile archive can make a store keep in memory.
const (
	// MaxBody is the most bytes that one checkpoint may add, items and transcript together.
	MaxBody = 64 << 20
	// MaxText is the most bytes of Prompt and of Answer that a checkpoint keeps.
	MaxText = 2000
	// MaxName is the most bytes of an id, a thread's name, a settings key or a native file's name.
	MaxName = 1024
	// DefaultLimit is the limit of a Page without one.
	DefaultLimit = 100
)

// Check refuses a put that no store may accept, with thread.ErrInvalid.
func Check(c thread.Checkpoint, d thread.Delta) error {
	if err := checkName("checkpoint id", string(c.ID)); err != nil {
		return err
	}
	if err := checkName("thread id", string(c.Thread)); err != nil {
		return err
	}
	if c.Parent == c.ID {
		return thread.Kindf(thread.ErrInvalid, "checkpoint %s is its own parent", c.ID)
	}
	if d.Keep < 0 || (c.Parent == "" && d.Keep != 0) {
		return thread.Kindf(thread.ErrInvalid, "checkpoint %s keeps %d items without a parent", c.ID, d.Keep)
	}
	size := 0
	for _, i := range d.Items {
		size += len(i.Raw) + len(i.Wire)
	}
	for _, ch := range d.Transcript {
		if err := checkName("transcript file", ch.File); err != nil {
			return err
		}
		if ch.Offset < 0 {
			return fmt.Errorf("transcript file %q: chunk at %d: %w", ch.File, ch.Offset, thread.ErrInvalid)
		}
		size += len(ch.Data)
	}
	if size > MaxBody {
		return thread.Kindf(thread.ErrInvalid, "checkpoint %s adds %d bytes, the limit is %d", c.ID, size, MaxBody)
	}
	return nil
}

// CheckStored refuses a checkpoint whose id is already used by another one, with thread.ErrInvalid.
func CheckStored(old, c thread.Checkpoint) error {
	if old.Thread != c.Thread || old.Parent != c.Parent {
		return thread.Kindf(thread.ErrInvalid, "checkpoint %s is stored for thread %s", c.ID, old.Thread)
	}
	return nil
}

// CheckThread refuses a thread that no store may accept, with thread.ErrInvalid.
func CheckThread(t thread.Thread) error {
	if err := checkName("thread id", string(t.ID)); err != nil {
		return err
	}
	return checkName("thread name", t.Name)
}

// CheckKeep refuses a delta that keeps more than its parent has.
func CheckKeep(c thread.Checkpoint, d thread.Delta, parentItems int) error {
	if d.Keep > parentItems {
		return thread.Kindf(thread.ErrInvalid, "checkpoint %s keeps %d of its parent's %d items", c.ID, d.Keep, parentItems)
	}
	return nil
}

func checkName(what, s string) error {
	switch {
	case s == "":
		return thread.Kindf(thread.ErrInvalid, "%s is empty", what)
	case len(s) > MaxName:
		return thread.Kindf(thread.ErrInvalid, "%s has %d bytes, the limit is %d", what, len(s), MaxName)
	case strings.ContainsFunc(s, unicode.IsControl) || strings.ToValidUTF8(s, "") != s:
		return thread.Kindf(thread.ErrInvalid, "%s %q contains control characters or is not UTF-8", what, s)
	}
	return nil
}

// Normal returns the checkpoint as stores keep it: times in UTC, Prompt and Answer cut to MaxText.
func Normal(c thread.Checkpoint) thread.Checkpoint {
	c.Created = utc(c.Created)
	c.Prompt, c.Answer = cut(c.Prompt), cut(c.Answer)
	return c
}

// NormalThread returns the thread as stores keep it: times in UTC.
func NormalThread(t thread.Thread) thread.Thread {
	t.Created, t.Updated = utc(t.Created), utc(t.Updated)
	t.Archived, t.Deleted = utc(t.Archived), utc(t.Deleted)
	t.Outcome.At = utc(t.Outcome.At)
	return t
}

// Unshared returns a copy of a thread that shares no memory with others.
func Unshared(t thread.Thread) thread.Thread {
	t.Launch.Args, t.Launch.Env = slices.Clone(t.Launch.Args), slices.Clone(t.Launch.Env)
	t.Launch.Program = slices.Clone(t.Launch.Program)
	t.Grants, t.MCP = slices.Clone(t.Grants), t.MCP.Clone()
	t.Base, t.Declined = t.Base.Clone(), slices.Clone(t.Declined)
	if t.Handoff != nil {
		h := *t.Handoff
		h.EnabledMCPs, h.Staged = slices.Clone(h.EnabledMCPs), slices.Clone(h.Staged)
		t.Handoff = &h
	}
	if t.Masks != nil {
		m := *t.Masks
		t.Masks = &m
	}
	t.Once.Budget = t.Once.Budget.Clone()
	return t
}

func utc(t time.Time) time.Time { return t.UTC().Round(0) }

// cut shortens s to MaxText bytes at the boundary of a rune.
func cut(s string) string {
	return plaintext.Cut(strings.ToValidUTF8(s, "\uFFFD"), MaxText)
}

// Advance moves a thread to a checkpoint that was put for it.
func Advance(t *thread.Thread, c thread.Checkpoint) {
	t.Head = c.ID
	t.Turn = c.Turn
	if c.Kind == thread.KindResponse && t.Turn > 0 {
		t.Turn-- // the running turn is not complete
	}
	if c.Gauge != (thread.Gauge{}) {
		t.Gauge = c.Gauge
	}
	t.Usage = t.Usage.Add(c.Usage)
	if c.Session != "" {
		t.Session = c.Session
	}
	t.Updated = c.Created
}

// Passes reports whether a checkpoint passes the page's filter.
func Passes(p thread.Page, k thread.CheckpointKind) bool {
	return !p.Turns || k != thread.KindResponse
}

// Limit returns the limit of a page.
func Limit(p thread.Page) int {
	if p.Limit <= 0 {
		return DefaultLimit
	}
	return p.Limit
}

// ChangeThread runs change on a thread for UpdateThread and refuses changes that are not allowed.
func ChangeThread(t thread.Thread, change func(*thread.Thread) error) (thread.Thread, error) {
	id, created := t.ID, t.Created
	if err := change(&t); err != nil {
		return thread.Thread{}, err
	}
	if t.ID != id {
		return thread.Thread{}, thread.Kindf(thread.ErrInvalid, "thread %s: the id cannot be changed", id)
	}
	t.Created = created
	if err := CheckThread(t); err != nil {
		return thread.Thread{}, err
	}
	return NormalThread(t), nil
}

// Bases lists the checkpoints that a thread is based on directly, besides those that it owns.
func Bases(t thread.Thread) []thread.CheckpointID {
	ids := []thread.CheckpointID{t.Head, t.ForkPoint}
	if t.Handoff != nil {
		ids = append(ids, t.Handoff.CheckpointID)
	}
	return slices.DeleteFunc(ids, func(id thread.CheckpointID) bool { return id == "" })
}
