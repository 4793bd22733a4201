package recording

import (
	"context"
	"hash/maphash"
	"slices"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/turns"
)

// A conversation is recognised by the person's words in it: agents send their model's items back with fields added or
// left out, in other pieces, or with marks moved, so that neither bytes nor counts of items last.

// words returns the keys of the person's words in each item, 0 for none.
func (r *Recorder) words(items []thread.Item) []uint64 {
	out := make([]uint64, len(items))
	for i := range items {
		if said := r.personsIn(items[i]); said != "" {
			out[i] = maphash.String(r.seed, turns.Fold(said)) | 1
		}
	}
	return out
}

// personsIn returns the person's words in an item.
func (r *Recorder) personsIn(item thread.Item) string {
	var said []string
	for _, e := range r.cfg.Past.Entries([]thread.Item{item}) {
		if e.Kind == thread.EntryPrompt && strings.TrimSpace(e.Text) != "" {
			said = append(said, e.Text)
		}
	}
	return strings.Join(said, "\n")
}

// byModel reports whether the model wrote an item, or a part of it.
func (r *Recorder) byModel(item thread.Item) bool {
	return slices.ContainsFunc(r.cfg.Past.Entries([]thread.Item{item}), func(e thread.Entry) bool {
		return e.Kind == thread.EntryAnswer || e.Kind == thread.EntryThinking || e.Kind == thread.EntryCall
	})
}

// begin returns the place of the item that a turn begins with, counted from 1: the newest one with words of the person,
// or one before it that the model has not answered, if it is a prompt of the turn. It is 0 without any.
func (r *Recorder) begin(items []thread.Item, words []uint64, asked []thread.Prompt) int {
	at := len(items) - 1
	for at >= 0 && words[at] == 0 {
		at--
	}
	for i := at - 1; i >= 0 && !r.byModel(items[i]); i-- {
		if words[i] != 0 && claimed(r.personsIn(items[i]), asked) {
			at = i
		}
	}
	return at + 1
}

// claimed reports whether a text is about one of the prompts.
func claimed(said string, asked []thread.Prompt) bool {
	return slices.ContainsFunc(asked, func(p thread.Prompt) bool { return len(turns.Claim(said, []string{p.Text})) > 0 })
}

// moved returns where the turn begins in a later request of it: where it began, if the same words stand there, or else
// with the newest such words.
func (r *Recorder) moved(items []thread.Item, words []uint64) int {
	if at := r.first - 1; at >= 0 && at < len(r.spoken) && r.spoken[at] != 0 {
		if at < len(words) && words[at] == r.spoken[at] {
			return r.first
		}
		for i, w := range slices.Backward(words) {
			if w == r.spoken[at] {
				return i + 1
			}
		}
	}
	return r.begin(items, words, nil)
}

// outside is a turn that somebody else made in the session.
type outside struct {
	from, to int    // its items
	prompt   string // the person's words
	answer   string // the newest one
}

// outsiders finds the whole turns that a request has beyond the known conversation and before its own, which begins at
// the place first. It finds none if the known conversation has changed.
func (r *Recorder) outsiders(items []thread.Item, words []uint64, first int) []outside {
	var known []uint64
	for _, w := range r.spoken {
		if w != 0 {
			known = append(known, w)
		}
	}
	if len(known) == 0 && (r.head == "" || len(r.hashes) == 0) {
		return nil // the session is taken over as it is, or what is stored of it cannot be read
	}
	var out []outside
	for i := 0; i < first-1; i++ {
		switch w := words[i]; {
		case w == 0:
		case len(known) > 0 && w != known[0]:
			return nil
		case len(known) > 0:
			known = known[1:]
		default:
			if n := len(out); n > 0 {
				out[n-1].to = i
			}
			out = append(out, outside{from: i, to: first - 1, prompt: r.personsIn(items[i])})
		}
	}
	if len(known) > 0 {
		return nil
	}
	for i := range out {
		for _, e := range r.cfg.Past.Entries(items[out[i].from:out[i].to]) {
			if e.Kind == thread.EntryAnswer {
				out[i].answer = e.Text
			}
		}
	}
	return slices.DeleteFunc(out, func(o outside) bool { return o.answer == "" }) // of what was cut there is a prompt's record
}

// takeOver records the turns that somebody else made in the session, which come with the first request of the next
// turn. keep is how many of the request's items are already stored; it returns how many are now.
func (r *Recorder) takeOver(ctx context.Context, e arrival, keep int, words []uint64, asked []thread.Prompt) int {
	if e.direct || len(e.Items) == 0 || r.cfg.Past.Codec == nil {
		return keep
	}
	others := r.outsiders(e.Items, words, r.begin(e.Items, words, asked))
	foreign := 0
	for _, o := range others {
		c := thread.Checkpoint{
			ID: thread.NewID[thread.CheckpointID](), Thread: r.id, Parent: r.head, Turn: r.turn + 1, Kind: thread.KindTurn,
			Created: r.now(), Prompt: thread.Excerpt(o.prompt), Answer: thread.Excerpt(o.answer), Gauge: r.gauge,
			Session: r.session, Items: o.to, First: o.from + 1, Note: thread.NoteOutside, MCP: r.cfg.MCPs(r.id), Base: r.live.Thread().Base.Recorded(),
		}
		c.Gauge.Estimated = true
		lost := r.prompts.Missed(o.prompt)
		var ids []thread.PromptID
		for _, p := range lost {
			ids = append(ids, p.ID)
		}
		if len(ids) > 0 {
			c.Note = thread.NoteLate
		} else {
			foreign++
		}
		answered := r.prompts.Ended(ids, c, "")
		delta := thread.Delta{Keep: keep, Items: e.Items[keep:o.to], Prompts: answered}
		r.hashes = append(r.hashes[:keep], r.hash(delta.Items)...)
		r.spoken = slices.Clone(words[:o.to])
		r.head, r.turn, r.phase, keep = c.ID, c.Turn, phaseEnded, o.to
		r.commit(ctx, put{c: c, delta: delta, prompts: answered})
	}
	if foreign > 0 {
		r.notice(thread.LevelWarn, "%s: somebody else wrote in its session: %s made outside of orchestrator", r.name(),
			plaintext.Count(foreign, "turn"))
	}
	return keep
}
