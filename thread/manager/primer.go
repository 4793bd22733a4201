package manager

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/manager/handoff"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/relocate"
	"orchestrator/thread/secret"
)

// maxSummary is the most bytes of a handoff's summary that the thread's row keeps; the whole text is stored in the
// thread's folder.
const maxSummary = 1500

// large is the size in bytes from which on a part of a handoff is staged.
const large = 16 << 10

// writeHandoff writes a summary for an agent that cannot be given its native conversation, from our own record: at most
// the budget of tokens, with bulky results as files that the agent may read. It returns the summary and its file.
func (l *run) writeHandoff(ctx context.Context) (text, file string, err error) {
	t := l.live.thread()
	c, items, later, err := l.remains(ctx, t)
	if err != nil {
		return "", "", fmt.Errorf("read the conversation to hand over: %w", err)
	}
	top := l.topOf(t)
	in := handoff.Input{
		Top: top, Dir: t.Dir, Turn: c.Turn, Whole: c.Whole(),
		Before: !c.Whole() && c.Thread != t.ID && t.Worktree.Path != "",
		Budget: l.cfg.Limits.Primer, Tokens: l.cfg.Tokens, Own: func(s string) string { return s },
	}
	if moved := l.movedTops(t, top); len(moved) > 0 {
		in.Own = relocate.New(moved).Text
	}
	const all = 1 << 20
	list, err := l.past.Turns(ctx, c.ID, thread.Page{Limit: all})
	if err != nil {
		return "", "", fmt.Errorf("read the turns to hand over: %w", err)
	}
	clean := func(s string) string { return secret.Redact(in.Own(s)) }
	in.Turns = handoff.Turns(c, list, items, l.past.Entries, clean)
	for _, o := range slices.Backward(later) {
		in.Turns = append(in.Turns, handoff.Turn{
			Number: o.Turn, Prompt: clean(o.Prompt), Said: clean(o.Answer), Cut: o.Interrupted,
		})
	}
	from := t
	if p := l.index.other(c.Thread); p != nil {
		from = p.thread()
	}
	in.Thread, in.Agent = from.Name, from.Agent
	if t.Handoff != nil {
		in.Label = t.Handoff.Description
	}
	if !slices.ContainsFunc(in.Turns, handoff.Turn.Says) {
		// The turns may not tell where they are in the conversation, as after it was compacted.
		all := handoff.Turn{Number: c.Turn, Prompt: clean(c.Prompt), Said: clean(c.Answer), Loose: true}
		for _, e := range l.past.Entries(items) {
			e.Text = clean(e.Text)
			all.Rest = append(all.Rest, e)
		}
		if !all.Says() {
			return "", "", fmt.Errorf("hand over %d unreadable items: %w", len(items), thread.ErrDamaged)
		}
		in.Turns = []handoff.Turn{all}
	}
	in.Files = l.past.ChangedFiles(ctx, t, c)
	in.Open = l.unanswered(ctx, t, c)
	folder := "handoff-" + string(c.ID)
	var staged []thread.Token
	in.Save = func(name, text string) (handoff.Saved, error) {
		saved, err := l.saveBulky(ctx, t, from, filepath.Join(folder, name), text)
		if saved.Token != "" {
			staged = append(staged, saved.Token)
		}
		return saved, err
	}
	text, err = handoff.Primer(in)
	if err != nil {
		return "", "", err
	}
	if file, err = l.cfg.attachments(t.ID).Put(filepath.Join(folder, "primer.md"), []byte(text)); err != nil {
		return "", "", err
	}
	err = l.live.update(ctx, func(t *thread.Thread) error {
		h := l.cfg.handoff(*t, from, c, in.Label)
		h.ContextSummary = plaintext.Cut(text, maxSummary)
		h.Staged = staged
		h.Fresh = t.Handoff != nil && t.Handoff.Fresh
		t.Handoff = &h
		return nil
	})
	if err != nil {
		return "", "", fmt.Errorf("store the handoff: %w", err)
	}
	l.notices.post(l.live.id, thread.LevelInfo, "%s: the agent gets a summary of %s tokens (budget %s) of %s up to turn %d",
		t.DisplayName(), thread.Tokens(int64(l.cfg.Tokens(text))), thread.Tokens(int64(in.Budget)), in.Thread, c.Turn)
	return text, file, nil
}

// remains returns the newest checkpoint of a thread whose conversation can be read, with that, and the turns that came
// later, newest first, of which only their checkpoints are left. It says so if there are such.
func (l *run) remains(ctx context.Context, t thread.Thread) (
	c thread.Checkpoint, items []thread.Item, later []thread.Checkpoint, err error,
) {
	if c, err = l.cfg.Store.Checkpoint(ctx, t.Head); err == nil {
		items, err = l.cfg.Store.Conversation(ctx, t.Head)
	}
	if !errors.Is(err, thread.ErrDamaged) {
		return c, items, nil, err
	}
	why := err
	if c, items, err = l.past.Readable(ctx, t.Head); err != nil {
		return c, nil, nil, err
	}
	if c.ID == "" {
		return c, nil, nil, why
	}
	turns, err := l.past.Turns(ctx, t.Head, thread.Page{Limit: 1 << 20})
	for _, o := range turns {
		if o.Turn > c.Turn && !o.Damaged {
			later = append(later, o)
		}
	}
	l.notices.post(l.live.id, thread.LevelWarn, "%s: what was said after turn %d cannot be read in full (%v): the agent gets what is left",
		t.DisplayName(), c.Turn, why)
	return c, items, later, err
}

// saveBulky stores a text for an agent that gets a handoff. A large one is staged, so that it can be passed on, searched
// and exported; the file that the agent may read is the same one then.
func (l *run) saveBulky(ctx context.Context, t, from thread.Thread, name, text string) (handoff.Saved, error) {
	files := l.cfg.attachments(t.ID)
	if len(text) > large && l.cfg.Stage != nil {
		d, err := l.cfg.Stage(ctx, thread.StageRequest{
			Source: "handoff of " + from.Name, Labels: []string{filepath.Base(name)}, TTL: time.Hour, Thread: t.ID,
		}, strings.NewReader(text))
		if err == nil {
			var path string
			if path, err = files.Link(name, d.File); err == nil {
				return handoff.Saved{Path: path, Token: d.Token}, nil
			}
		}
		l.cfg.Log.Warn("stage a part of a handoff", "thread", string(t.ID), "err", err) // a file will do
	}
	path, err := files.Put(name, []byte(text))
	return handoff.Saved{Path: path}, err
}

// topOf is the folder that a thread's files are named relative to: its worktree, or the project.
func (l *run) topOf(t thread.Thread) string {
	tops := []string{t.Worktree.Path, l.cfg.Project}
	for p := l.index.other(t.Parent); p != nil; p = l.index.other(p.thread().Parent) {
		tops = append(tops, p.thread().Worktree.Path)
	}
	best := ""
	for _, top := range tops {
		if rel, err := filepath.Rel(top, t.Dir); top != "" && err == nil && filepath.IsLocal(rel) && len(top) > len(best) {
			best = top
		}
	}
	return cmp.Or(best, t.Dir)
}

// movedTops maps the folders of the threads that a thread descends from to its own. What an agent reads must not name
// their folders: it would work there.
func (l *run) movedTops(t thread.Thread, top string) map[string]string {
	moved := map[string]string{}
	for p := l.index.other(t.Parent); p != nil; p = l.index.other(p.thread().Parent) {
		if was := l.topOf(p.thread()); was != top {
			moved[was] = top
		}
	}
	if len(moved) > 0 {
		moved[top] = top                       // it may lie in one of them,
		moved[l.cfg.StateDir] = l.cfg.StateDir // and so may the state of threads
	}
	return moved
}

// unanswered returns the prompts that were unanswered at the point where a thread starts, oldest first: they are open
// for it.
func (l *run) unanswered(ctx context.Context, t thread.Thread, c thread.Checkpoint) []thread.Prompt {
	const newest = 200
	var out []thread.Prompt
	waits := map[string]bool{} // what the thread's own agent is asked anyway
	ids := []thread.ID{t.ID}
	if c.Thread != t.ID { // it has not answered anything itself
		ids = slices.Compact([]thread.ID{t.ID, t.Parent, c.Thread})
	}
	for _, id := range ids {
		list, err := l.cfg.Store.Prompts(ctx, id, false, newest)
		if err != nil {
			l.cfg.Log.Warn("read unanswered prompts", "thread", string(id), "err", err)
			continue
		}
		list = slices.DeleteFunc(list, func(p thread.Prompt) bool { return id != t.ID && p.Accepted.After(t.Created) })
		var own []thread.Prompt
		further := false // the thread continued after the point
		repeated := map[thread.PromptID]bool{}
		for _, p := range list {
			repeated[p.Again] = true
			switch {
			case id == t.ID && !p.State.Over():
				waits[p.Text] = true
			case p.State == thread.PromptAnswered && p.Turn > c.Turn:
				further = true
			case p.State == thread.PromptAnswered:
				own = own[:0]
			case p.State.Again() && p.From != thread.FromPrimer:
				own = append(own, p)
			}
		}
		out = append(out, slices.DeleteFunc(own, func(p thread.Prompt) bool {
			named := !c.Whole() && p.Turn == c.Turn
			return named || repeated[p.ID] || waits[p.Text] || further && (p.Turn == 0 || p.Turn > c.Turn)
		})...)
	}
	slices.SortStableFunc(out, func(a, b thread.Prompt) int { return cmp.Compare(a.Seq, b.Seq) })
	return out
}

// handoff is the payload that is stored with a fork.
func (c *Config) handoff(t, from thread.Thread, at thread.Checkpoint, label string) thread.Handoff {
	list := at.MCP
	if at.ID == from.Head && c.MCP != nil {
		list = c.mcps(from.ID) // they may have been switched since then
	}
	mcps := thread.MCPNames(list)
	if mcps == nil {
		mcps = []string{}
	}
	return thread.Handoff{
		TaskID: string(t.ID), ThreadID: t.ID, Description: label, EnabledMCPs: mcps, CheckpointID: at.ID,
		Metadata: thread.HandoffMetadata{ParentThreadID: from.ID, ForkPoint: at.Turn, TokenBudget: c.Limits.Primer},
	}
}
