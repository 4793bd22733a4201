package manager

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/manager/outbox"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/turns"
)

// loadPrompts puts what is stored of prompts on the desks: those that are not over, and the newest of the others.
func (m *Manager) loadPrompts(ctx context.Context) error {
	const all, recent = 1 << 20, 1000
	open, err := m.cfg.Store.Prompts(ctx, "", true, all)
	if err != nil {
		return fmt.Errorf("read the prompts: %w", err)
	}
	past, err := m.cfg.Store.Prompts(ctx, "", false, recent)
	if err != nil {
		return fmt.Errorf("read the prompts: %w", err)
	}
	list := slices.Concat(open, slices.DeleteFunc(past, func(p thread.Prompt) bool { return !p.State.Over() }))
	slices.SortFunc(list, func(a, b thread.Prompt) int { return int(a.Seq - b.Seq) })
	for _, p := range list {
		if l := m.line(p.Thread); l != nil {
			l.desk.mu.Lock()
			l.desk.Keep(p)
			l.desk.mu.Unlock()
		}
	}
	m.mu.Lock()
	lines := m.all()
	m.mu.Unlock()
	for _, l := range lines {
		l.desk.mu.Lock()
		some := l.desk.Any(func(thread.Prompt) bool { return true })
		left := l.desk.Any(func(p thread.Prompt) bool { return !p.State.Over() && p.State != thread.PromptQueued })
		if some {
			l.note()
		}
		l.desk.mu.Unlock()
		if left {
			l.enqueue(func() { l.reconcile(m.ctx) })
		}
	}
	return nil
}

// leftBehind is why a prompt is open or being typed and no agent runs.
const leftBehind = "the server ended before it was answered"

// reconcile is the step that finds out what became of prompts that an earlier server left with an agent that is gone.
// One that was answered in the moment of its end is: its turn is settled first. One that was being typed is queued
// again, unless the agent wrote down that it has it: nothing is sent twice that nobody saw arrive.
func (l *line) reconcile(ctx context.Context) {
	l.rec.settle(ctx, l)
	d := &l.desk
	var wrote []byte
	for _, p := range l.left() {
		if p.State == thread.PromptTyping && wrote == nil {
			wrote = append(l.written(ctx), ' ')
		}
		d.mu.Lock()
		if now, known := d.Prompt(p.ID); known && now.State == p.State {
			e, reason := outbox.Stopped, leftBehind
			if p.State == thread.PromptTyping && !mentions(wrote, p.Text) {
				e, reason = outbox.Postponed, "the server ended before it was typed"
			}
			if p.From == thread.FromPrimer { // the next start makes it again
				e = outbox.Forgotten
			}
			l.put(ctx, l.after(p, e, reason)) //nolint:errcheck // logged; the desk has it
		}
		d.mu.Unlock()
	}
}

// left returns the prompts that were given to an agent and are not in a checkpoint that waits to be stored.
func (l *line) left() []thread.Prompt {
	l.desk.mu.Lock()
	defer l.desk.mu.Unlock()
	return l.desk.Which(func(p thread.Prompt) bool {
		return (p.State == thread.PromptTyping || p.State == thread.PromptOpen) && !l.rec.answers(p.ID)
	})
}

// written returns what the agent's own files gained since the last checkpoint.
func (l *line) written(ctx context.Context) []byte {
	r := &l.rec
	r.load(ctx, l)
	var all []byte
	for _, c := range r.files.peek(ctx, l, r.session, "", time.Time{}) {
		all = append(all, c.Data...)
	}
	return all
}

// mentions reports whether an agent's files hold a prompt: its first words, as JSON writes them.
func mentions(wrote []byte, text string) bool {
	const enough = 80
	raw, err := json.Marshal(plaintext.Cut(firstLine(text), enough))
	if err != nil || len(raw) < 3 {
		return false
	}
	return bytes.Contains(wrote, raw[1:len(raw)-1])
}

// dismiss is the step at the end of a run: what the agent had is interrupted.
func (l *line) dismiss(ctx context.Context, why string) {
	for _, p := range l.left() {
		l.desk.mu.Lock()
		if p, known := l.desk.Prompt(p.ID); known && p.State == thread.PromptOpen {
			l.put(ctx, l.after(p, outbox.Stopped, why)) //nolint:errcheck // logged; the desk has it
		}
		l.desk.mu.Unlock()
	}
}

// prime is the step at a start that notes what the agent is told before all else, and forgets what another run was to
// be told.
func (l *line) prime(ctx context.Context, primer string) {
	d := &l.desk
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range d.Which(func(p thread.Prompt) bool { return p.From == thread.FromPrimer && p.State == thread.PromptQueued }) {
		l.put(ctx, l.after(p, outbox.Forgotten, p.Reason)) //nolint:errcheck // logged; the desk has it
	}
	d.Prime(primer)
	l.note()
	l.typeNext()
}

// begins reports whether a response begins a turn, and which prompts it is about that no turn answered yet. spoke is
// set where its request holds a word of the person that the one before did not.
func (l *line) begins(r *record, e thread.Exchange, spoke bool) (begins bool, fresh []thread.Prompt) {
	l.desk.mu.Lock()
	defer l.desk.mu.Unlock()
	fresh = l.desk.Claim(e.Prompt, false)
	ours := slices.ContainsFunc(fresh, func(p thread.Prompt) bool { return p.From != thread.FromPane })
	switch {
	case r.head == "":
		begins = r.ended
	case r.ended:
		begins = spoke || len(fresh) > 0
	case r.cut:
		begins = len(fresh) > 0 || e.Prompt != "" && !r.same(e.Prompt)
	default: // in the middle of a turn: what the person typed is part of it, ours is not typed into one
		begins = ours
	}
	return begins, fresh
}

// answering returns the prompts that a turn is about, as they are to be stored with its first response; the turn is
// named by the first of them. fresh are those that are known to be with the agent; with none, it is one that seemed to
// have come to nothing, or that nobody told of before.
func (l *line) answering(r *record, said string, fresh []thread.Prompt) []thread.Prompt {
	d := &l.desk
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(fresh) == 0 {
		fresh = d.ClaimPast(said)
	}
	if len(fresh) == 0 && strings.TrimSpace(said) != "" {
		fresh = []thread.Prompt{{ID: thread.NewPromptID(), Thread: l.id, From: thread.FromPane, Text: said, Accepted: l.m.now()}}
	}
	var first thread.PromptID
	if len(r.asked) > 0 {
		first = r.asked[0]
	}
	for i := range fresh {
		p := &fresh[i]
		if first == "" {
			first = p.ID
		} else {
			p.With = first
		}
		*p = l.after(*p, outbox.Answering, "")
		p.Turn = r.turn
		r.asked = append(r.asked, p.ID)
		r.told = r.told || d.Told(p.ID)
		l.place(*p)
	}
	return fresh
}

// ends returns the prompts of the turn that ends with a checkpoint, as they are to be stored with it.
func (l *line) ends(r *record, c thread.Checkpoint, why string) []thread.Prompt {
	l.desk.mu.Lock()
	defer l.desk.mu.Unlock()
	var out []thread.Prompt
	for _, id := range r.asked {
		p, known := l.desk.Prompt(id)
		if !known || p.State == thread.PromptAnswered {
			continue
		}
		if c.Interrupted {
			p = l.after(p, outbox.Cut, cmp.Or(why, "stopped before the turn ended"))
		} else {
			p = l.after(p, outbox.Answered, "").Brief()
		}
		p.Answer, p.Turn = c.ID, c.Turn
		out = append(out, p)
	}
	return out
}

// promptsStored takes over prompts that were stored with a checkpoint.
func (l *line) promptsStored(ps []thread.Prompt) {
	if len(ps) == 0 {
		return
	}
	l.desk.mu.Lock()
	defer l.desk.mu.Unlock()
	for _, p := range ps {
		if now, known := l.desk.Prompt(p.ID); known {
			if p.Seq = now.Seq; p.Seq == 0 {
				if stored, err := l.m.cfg.Store.Prompt(l.m.ctx, p.ID); err == nil {
					p.Seq = stored.Seq
				}
			}
			if p.State == thread.PromptOpen && now.State != thread.PromptTyping {
				now.Seq = p.Seq
				l.desk.Keep(now)
				continue // told already; it may be further by now
			}
		}
		l.place(p)
	}
	l.typeNext()
}

// oldNotesKey is the setting in which older programs kept what a thread's agent was still to be told, and
// oldNotesMoved the one that says that all of it is prompts now.
func oldNotesKey(id thread.ID) string { return "tell:" + string(id) }

const oldNotesMoved = "tell moved"

// moveOldNotes makes prompts of what an older program kept.
func (m *Manager) moveOldNotes(ctx context.Context) error {
	if moved, err := m.cfg.Store.Setting(ctx, oldNotesMoved); err != nil || moved != "" {
		return err
	}
	m.mu.Lock()
	lines := m.all()
	m.mu.Unlock()
	for _, l := range lines {
		if err := l.moveOldNotes(ctx); err != nil {
			return fmt.Errorf("move what %s is still to be told: %w", l.thread().Name, err)
		}
	}
	return m.cfg.Store.SetSetting(ctx, oldNotesMoved, "yes")
}

func (l *line) moveOldNotes(ctx context.Context) error {
	store := l.m.cfg.Store
	raw, err := store.Setting(ctx, oldNotesKey(l.id))
	if err != nil || raw == "" {
		return err
	}
	var texts []string
	if err := json.Unmarshal([]byte(raw), &texts); err != nil {
		l.m.cfg.Log.Warn("what a thread was to be told cannot be read", "thread", string(l.id), "err", err)
	}
	newest, err := store.Checkpoints(ctx, l.id, thread.Page{Turns: true, Limit: 1})
	if err != nil {
		return err
	}
	for i, text := range texts {
		if i == 0 && len(newest) > 0 && len(outbox.Claim(newest[0].Prompt, []thread.Prompt{{Text: text}})) > 0 {
			continue // it was told in the moment of the end
		}
		// The id makes a second try the same prompt.
		id := thread.PromptID(fmt.Sprintf("p%.10s%02x", l.id, i&0xff))
		p := thread.Prompt{ID: id, Thread: l.id, From: thread.FromNote, Text: text, State: thread.PromptQueued, Accepted: l.m.now()}
		if _, err := store.PutPrompt(ctx, p); err != nil {
			return err
		}
	}
	return store.SetSetting(ctx, oldNotesKey(l.id), "")
}

// askedIn returns the prompts of the turn of the newest checkpoint, as far as something may come of them.
func (l *line) askedIn(c thread.Checkpoint) []thread.PromptID {
	l.desk.mu.Lock()
	defer l.desk.mu.Unlock()
	var ids []thread.PromptID
	for _, p := range l.desk.Which(func(p thread.Prompt) bool {
		return p.Turn == c.Turn && c.Turn > 0 && (p.Answer == "" || p.Answer == c.ID)
	}) {
		ids = append(ids, p.ID)
	}
	return ids
}

// answers reports whether a checkpoint that waits to be stored ends a prompt.
func (r *record) answers(id thread.PromptID) bool {
	return slices.ContainsFunc(r.pending, func(p put) bool {
		return slices.ContainsFunc(p.prompts, func(o thread.Prompt) bool { return o.ID == id && o.State.Over() })
	})
}

// promptsLost ends prompts whose checkpoint can never be stored.
func (l *line) promptsLost(ps []thread.Prompt) {
	l.desk.mu.Lock()
	defer l.desk.mu.Unlock()
	for _, p := range ps {
		if p.State.Over() {
			l.put(l.m.ctx, l.after(p, outbox.Lost, "its answer could not be stored")) //nolint:errcheck // logged; the desk has it
		}
	}
}

// same reports whether a request holds the same words of the person as the turn's newest.
func (r *record) same(prompt string) bool { return turns.Same(prompt, r.said) }

// spoken says which items hold words of the person.
func (m *Manager) spoken(items []thread.Item) []bool {
	out := make([]bool, len(items))
	for i := range items {
		out[i] = slices.ContainsFunc(m.entries(items[i:i+1]), func(e thread.Entry) bool { return e.Kind == thread.EntryPrompt && strings.TrimSpace(e.Text) != "" })
	}
	return out
}

// spoke reports whether a response's request holds words of the person that the conversation did not hold before: an
// agent may go on after a turn by itself, with what a sub-agent in the background has found. keep is how many of its
// items stand already.
func (r *record) spoke(l *line, e arrival, keep int) bool {
	switch {
	case e.direct, len(e.Items) == 0, l.m.cfg.Reader == nil:
		return !r.left || e.Prompt != "" && !r.same(e.Prompt)
	case e.Prompt != "" && !r.same(e.Prompt):
		return true
	case len(e.Items) < len(r.hashes): // it was compacted, or the person went back in it and said the same
		return false
	}
	count := func(all []bool) (n int) {
		for _, is := range all {
			if is {
				n++
			}
		}
		return n
	}
	return count(l.m.spoken(e.Items[keep:])) > count(r.spoken[keep:])
}

// proofWith returns the proof with prompts that have no answer.
func proofWith(p thread.ResumeProof, asked []thread.Prompt) thread.ResumeProof {
	p.Prompts = asked
	for _, a := range asked {
		if a.State == thread.PromptInterrupted && p.Incomplete == "" {
			p.Incomplete = fmt.Sprintf("prompt %s was not answered: %s", a.ID, oneLine(a.Text, 60))
		}
	}
	return p
}

// unansweredEvidence tells of a prompt without an answer.
func unansweredEvidence(p thread.Prompt) thread.Evidence {
	detail := fmt.Sprintf("%s is %s", p.ID, p.State)
	if p.Reason != "" {
		detail += ", " + p.Reason
	}
	at := p.Accepted
	for _, t := range []time.Time{p.Opened, p.Ended} {
		if t.After(at) {
			at = t
		}
	}
	return thread.Evidence{Source: thread.SourcePrompt, Detail: detail + ": " + oneLine(p.Text, 100), At: at}
}
