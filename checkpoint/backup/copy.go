package backup

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"orchestrator/checkpoint"
	"orchestrator/checkpoint/archive"
	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/secret"
)

// Store is a store that threads are copied from or to.
type Store interface {
	thread.Threads
	thread.Checkpoints
	thread.Prompts
	thread.Intents
	checkpoint.Deltas
}

// verb is the verb that restores a backup, for people.
const verb = "restore-backup"

// hit passes a failpoint of a restore; writing a backup has none.
func (c *copying) hit(step string) {
	if c.place != nil {
		failpoint.Hit("backup.restore." + step)
	}
}

// everything is a limit that no project reaches.
const everything = 1 << 30

// copying is one copy of all threads from one store to another. Threads, checkpoints and prompts keep their ids. A
// thread that already exists is left alone. What is copied is hidden until it is complete.
type copying struct {
	from, to Store
	file     string // for people
	now      time.Time
	redact   bool
	running  map[thread.ID]bool // with a running agent while they are copied
	// place adapts a copied thread to its new location; nil leaves it unchanged.
	place func(context.Context, thread.Thread) (thread.Thread, error)
	// carry imports what belongs to the threads that are copied, before their checkpoints; nil for none. undo removes it
	// for a thread that is dropped.
	carry func(copied []thread.Thread) (replaced, error)
	undo  func(thread.ID) error
	// before runs once all checkpoints are copied and before any thread is shown; nil does nothing.
	before func(ctx context.Context, copied []thread.ID) error

	out          Copied
	tokens       replaced
	threads      []thread.Thread                           // being copied, with their names in the target
	placeholders map[thread.ID]thread.ID                   // owners that are not copied, with their placeholders
	known        map[thread.CheckpointID]thread.Checkpoint // without texts
	own          map[thread.ID][]thread.CheckpointID       // by owner, oldest first
	done         map[thread.CheckpointID]bool              // copied
	lost         map[thread.CheckpointID]bool              // damaged
	sound        archive.Sound
	masked       map[thread.CheckpointID]bool // secrets in its conversation were redacted
}

// Copied describes what was copied.
type Copied struct {
	Threads     []thread.Thread // as they are now
	Checkpoints int
	Existing    []thread.Thread // that already existed, as they are
	Notes       []string        // for people
}

func (c *copying) run(ctx context.Context) (Copied, error) {
	c.placeholders, c.own = map[thread.ID]thread.ID{}, map[thread.ID][]thread.CheckpointID{}
	c.known = map[thread.CheckpointID]thread.Checkpoint{}
	c.done, c.lost = map[thread.CheckpointID]bool{}, map[thread.CheckpointID]bool{}
	c.sound.From = c.from
	c.masked = map[thread.CheckpointID]bool{}
	all, err := c.from.Threads(ctx)
	if err != nil {
		return c.out, err
	}
	if err := c.survey(ctx, all); err != nil {
		return c.out, err
	}
	err = c.write(ctx, all)
	c.out.Notes = append(c.out.Notes, c.left(all)...)
	if err != nil { // roll back what was written, also after a cancellation
		return c.out, errors.Join(err, c.rollBack(context.WithoutCancel(ctx)))
	}
	return c.out, nil
}

// left returns which turns were left out, for people.
func (c *copying) left(all []thread.Thread) []string {
	turns := map[thread.ID][]int{}
	for _, p := range c.sound.Lost {
		turns[p.Thread] = append(turns[p.Thread], p.Turn)
	}
	var notes []string
	for _, t := range all {
		if of := turns[t.ID]; len(of) > 0 {
			notes = append(notes, thread.Unreadable{Thread: t.ID, Name: t.Name, Turns: of}.String()+"; left out")
			delete(turns, t.ID)
		}
	}
	for id, of := range turns { // its thread was purged
		notes = append(notes, thread.Unreadable{Thread: id, Name: "thread " + string(id), Turns: of}.String()+"; left out")
	}
	return notes
}

// survey finds all checkpoints: the threads' own, and ancestors whose threads are gone.
func (c *copying) survey(ctx context.Context, all []thread.Thread) error {
	add := func(list []thread.Checkpoint) {
		for _, p := range list {
			if _, twice := c.known[p.ID]; !twice {
				c.known[p.ID] = thread.Checkpoint{ID: p.ID, Thread: p.Thread, Parent: p.Parent, Seq: p.Seq, Turn: p.Turn,
					Items: p.Items, Damaged: p.Damaged}
				c.own[p.Thread] = append(c.own[p.Thread], p.ID)
			}
		}
	}
	const page = 1000
	for _, t := range all {
		for before := int64(0); ; {
			list, err := c.from.Checkpoints(ctx, t.ID, thread.Page{Before: before, Limit: page})
			if err != nil {
				return fmt.Errorf("thread %s: %w", t.Name, err)
			}
			add(list)
			if len(list) < page {
				break
			}
			before = list[len(list)-1].Seq
		}
	}
	var missing []thread.CheckpointID
	for _, t := range all {
		missing = append(missing, checkpoint.Bases(t)...)
	}
	for _, p := range c.known {
		missing = append(missing, p.Parent)
	}
	for _, id := range missing {
		if _, there := c.known[id]; there || id == "" {
			continue
		}
		list, err := c.from.Lineage(ctx, id, thread.Page{Limit: everything})
		if errors.Is(err, thread.ErrDamaged) || errors.Is(err, thread.ErrNotFound) {
			c.lost[id] = true
			continue
		}
		if err != nil {
			return err
		}
		add(list)
	}
	for _, ids := range c.own {
		slices.SortFunc(ids, func(a, b thread.CheckpointID) int { return cmp.Compare(c.known[a].Seq, c.known[b].Seq) })
	}
	return nil
}

func (c *copying) write(ctx context.Context, all []thread.Thread) error {
	var copied []thread.Thread // as they were
	for _, t := range all {
		switch there, err := c.to.Thread(ctx, t.ID); {
		case err == nil:
			c.out.Existing = append(c.out.Existing, there)
			continue
		case !errors.Is(err, thread.ErrNotFound):
			return err
		}
		name, err := c.hide(ctx, t)
		if err != nil {
			return fmt.Errorf("thread %s: %w", t.Name, err)
		}
		c.hit("hidden")
		t.Name = name
		copied = append(copied, t)
	}
	if c.carry != nil {
		var err error
		if c.tokens, err = c.carry(copied); err != nil {
			return err
		}
	}
	c.hit("carried")
	if err := c.checkpoints(ctx); err != nil {
		return err
	}
	c.hit("written")
	if c.before != nil {
		var ids []thread.ID
		for _, t := range copied {
			ids = append(ids, t.ID)
		}
		if err := c.before(ctx, ids); err != nil {
			return err
		}
	}
	c.hit("files")
	for _, t := range copied {
		if err := c.show(ctx, t); err != nil {
			return fmt.Errorf("thread %s: %w", t.Name, err)
		}
		c.hit("shown")
	}
	for _, id := range c.placeholders { // ancestors of others stay
		if err := c.drop(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// hide stores a hidden, incomplete thread; if it stays like that, the next start rolls it back.
func (c *copying) hide(ctx context.Context, t thread.Thread) (name string, err error) {
	if err := c.to.PutIntent(ctx, archive.Unfinished(t.ID, verb, c.file, c.now)); err != nil {
		return "", err
	}
	t.Head, t.ForkPoint, t.Handoff, t.Masks, t.Deleted = "", "", nil, nil, c.now
	if c.redact {
		t = withoutSecrets(t) // what is changed later is still in the file
	}
	c.threads = append(c.threads, t)
	err = c.to.CreateThread(ctx, t)
	for range 8 {
		if !errors.Is(err, thread.ErrNameTaken) {
			break
		}
		t.Name = thread.NewName(t.Label)
		err = c.to.CreateThread(ctx, t)
	}
	return t.Name, err
}

// checkpoints copies the checkpoints in the order of their threads, each after its parent.
func (c *copying) checkpoints(ctx context.Context) error {
	owners := make([]thread.ID, 0, len(c.own))
	for id := range c.own {
		owners = append(owners, id)
	}
	slices.Sort(owners)
	left := make(map[thread.ID][]thread.CheckpointID, len(c.own))
	for id, list := range c.own {
		left[id] = list
	}
	for moved := true; moved; {
		moved = false
		for _, owner := range owners {
			for len(left[owner]) > 0 {
				p := c.known[left[owner][0]]
				if p.Parent != "" && !c.done[p.Parent] && !c.lost[p.Parent] {
					break
				}
				if err := c.checkpoint(ctx, owner, p); err != nil {
					return fmt.Errorf("checkpoint %s: %w", p.ID, err)
				}
				left[owner], moved = left[owner][1:], true
			}
		}
	}
	for _, list := range left {
		if len(list) > 0 {
			return fmt.Errorf("checkpoint %s is its own ancestor: %w", list[0], thread.ErrDamaged)
		}
	}
	return nil
}

// checkpoint copies one checkpoint.
func (c *copying) checkpoint(ctx context.Context, owner thread.ID, p thread.Checkpoint) error {
	whole := p
	if !p.Damaged {
		var err error
		whole, err = c.from.Checkpoint(ctx, p.ID)
		if errors.Is(err, thread.ErrDamaged) { // since the survey
			whole, err = p, nil
			whole.Damaged = true
		}
		if err != nil {
			return err
		}
	}
	whole, d, ok, err := c.sound.Read(ctx, whole)
	if err != nil {
		return err
	}
	if !ok {
		c.lost[p.ID] = true
		return nil
	}
	if _, err := c.to.Checkpoint(ctx, p.ID); err == nil {
		c.done[p.ID] = true
		return nil
	}
	if c.redact {
		was := d
		archive.WithoutSecrets(&whole, &d)
		c.masked[p.ID] = c.masked[p.Parent] || changed(was, d)
	}
	c.tokens.in(owner).Replace(&whole, &d)
	if whole.Thread, err = c.owner(ctx, owner); err != nil {
		return err
	}
	if _, err := c.to.PutCheckpoint(ctx, whole, d); err != nil {
		return err
	}
	c.done[p.ID] = true
	c.out.Checkpoints++
	c.hit("checkpoint")
	return nil
}

// changed reports whether secrets were redacted in what an agent continues with.
func changed(a, b thread.Delta) bool {
	return !slices.EqualFunc(a.Items, b.Items, func(x, y thread.Item) bool { return bytes.Equal(x.Raw, y.Raw) }) ||
		!slices.EqualFunc(a.Transcript, b.Transcript, func(x, y thread.Chunk) bool { return bytes.Equal(x.Data, y.Data) })
}

// owner returns the thread that checkpoints of a thread are stored for: itself, or a placeholder if it is gone, or if
// it exists in the target without them.
func (c *copying) owner(ctx context.Context, id thread.ID) (thread.ID, error) {
	if slices.ContainsFunc(c.threads, func(t thread.Thread) bool { return t.ID == id }) {
		return id, nil
	}
	if ghost, ok := c.placeholders[id]; ok {
		return ghost, nil
	}
	t := thread.Thread{
		ID: thread.NewID[thread.ID](), Name: thread.NewName("gone"), Label: "gone", Created: c.now, Updated: c.now,
	}
	c.placeholders[id] = t.ID
	if err := c.to.PutIntent(ctx, archive.Unfinished(t.ID, verb, c.file, c.now)); err != nil {
		return "", err
	}
	t.Deleted = c.now
	return t.ID, c.to.CreateThread(ctx, t)
}

// show copies a thread's prompts and makes it what it was, or what place returns.
func (c *copying) show(ctx context.Context, t thread.Thread) error {
	prompts, err := c.from.Prompts(ctx, t.ID, false, everything)
	if err != nil {
		return err
	}
	for _, p := range prompts {
		if c.redact {
			p.Text, p.Reason = secret.Redact(p.Text), secret.Redact(p.Reason)
		}
		if c.place != nil && !p.State.Over() { // nothing is typed by itself days later
			p.State, p.Reason, p.Ended = thread.PromptInterrupted, "not answered when the backup was made", c.now
		}
		p.Text = string(thread.ReplaceTokens([]byte(p.Text), c.tokens.in(t.ID)))
		if _, err := c.to.PutPrompt(ctx, p); err != nil {
			return err
		}
	}
	for c.lost[t.Head] {
		t.Head = c.known[t.Head].Parent
		t.Turn, t.Session = c.known[t.Head].Turn, ""
	}
	if c.lost[t.ForkPoint] {
		t.ForkPoint = ""
	}
	if t.Handoff != nil && c.lost[t.Handoff.CheckpointID] {
		t.Handoff = nil
	}
	c.handoff(&t)
	if t.Masks != nil { // their log is another one in a backup; one that was restored is sealed by then
		t.Masks = &thread.MaskSeal{Mode: t.Masks.Mode}
	}
	t.Interrupted = t.Interrupted || c.running[t.ID] && t.Archived.IsZero()
	if c.redact {
		t = withoutSecrets(t)
		if c.masked[t.Head] {
			t.Session = "" // its agent's own files contain the secrets: the first start writes them again
		}
	}
	if c.place != nil {
		if t, err = c.place(ctx, t); err != nil {
			return err
		}
	}
	c.hit("placed")
	now, err := c.to.UpdateThread(ctx, t.ID, func(now *thread.Thread) error {
		if now.Masks != nil {
			t.Masks = now.Masks
		}
		*now = t
		return nil
	})
	if err != nil {
		return err
	}
	c.hit("visible")
	c.out.Threads = append(c.out.Threads, now)
	return c.to.DropIntent(ctx, archive.Unfinished(t.ID, verb, "", c.now).ID)
}

// withoutSecrets redacts secrets in what a thread was called and started with.
func withoutSecrets(t thread.Thread) thread.Thread {
	t.Title, t.Label = secret.Redact(t.Title), secret.Redact(t.Label)
	t.Launch.Env = slices.DeleteFunc(slices.Clone(t.Launch.Env), func(kv string) bool { return secret.Redact(kv) != kv })
	for _, list := range []*[]string{&t.Launch.Args, &t.Launch.Program} {
		*list = slices.Clone(*list)
		for i, word := range *list {
			(*list)[i] = secret.Redact(word)
		}
	}
	return t
}

// handoff replaces the tokens of a handoff.
func (c *copying) handoff(t *thread.Thread) {
	tokens := c.tokens.in(t.ID)
	if t.Handoff == nil || len(tokens) == 0 {
		return
	}
	h := *t.Handoff
	h.ContextSummary = string(thread.ReplaceTokens([]byte(h.ContextSummary), tokens))
	h.Staged = slices.Clone(h.Staged)
	for i, old := range h.Staged {
		if other, ok := tokens[old]; ok {
			h.Staged[i] = other
		}
	}
	t.Handoff = &h
}

// rollBack removes what was copied and is not shown yet.
func (c *copying) rollBack(ctx context.Context) error {
	var errs []error
	for _, id := range c.placeholders {
		errs = append(errs, c.drop(ctx, id))
	}
	for _, t := range c.threads {
		if !slices.ContainsFunc(c.out.Threads, func(s thread.Thread) bool { return s.ID == t.ID }) {
			errs = append(errs, c.drop(ctx, t.ID))
		}
	}
	return errors.Join(errs...)
}

// drop removes a hidden thread.
func (c *copying) drop(ctx context.Context, id thread.ID) error {
	if c.undo != nil { // the intent is there until the thread is gone
		if err := c.undo(id); err != nil {
			return err
		}
	}
	if err := c.to.PurgeThread(ctx, id); err != nil && !errors.Is(err, thread.ErrNotFound) {
		return err
	}
	return c.to.DropIntent(ctx, archive.Unfinished(id, verb, "", c.now).ID)
}
