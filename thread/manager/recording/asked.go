package recording

import (
	"slices"

	"orchestrator/thread"
)

// begins reports whether a response begins a turn, and which unanswered prompts it is about. spoke is set if its
// request contains words of the person that the one before did not.
func (r *Recorder) begins(e thread.Exchange, spoke bool) (begins bool, fresh []thread.Prompt) {
	if !e.Stale { // otherwise it is another request's
		fresh = r.prompts.Claim(e.Prompt)
	}
	ours := slices.ContainsFunc(fresh, func(p thread.Prompt) bool { return p.From != thread.FromPane && !p.Steered })
	if r.head == "" {
		return !r.phase.open(), fresh
	}
	return r.phase.begins(spoke, e.Prompt != "" && !r.same(e.Prompt), len(fresh) > 0, ours), fresh
}

// answering returns the prompts that a turn is about, as they are stored with its first response; the first one names
// the turn. fresh are those that the agent is known to have.
func (r *Recorder) answering(said string, fresh []thread.Prompt) []thread.Prompt {
	var first thread.PromptID
	if len(r.asked) > 0 {
		first = r.asked[0]
	}
	asked, told := r.prompts.Answering(said, fresh, r.turn, first)
	for _, p := range asked {
		if p.State.Over() { // a turn of very many prompts
			r.asked = slices.DeleteFunc(r.asked, func(id thread.PromptID) bool { return id == p.ID })
			continue
		}
		r.asked = append(r.asked, p.ID)
	}
	r.told = r.told || told
	return asked
}

// Answers reports whether a checkpoint that waits to be stored ends a prompt.
func (r *Recorder) Answers(id thread.PromptID) bool {
	return slices.ContainsFunc(r.pending, func(p put) bool {
		return slices.ContainsFunc(p.prompts, func(o thread.Prompt) bool { return o.ID == id && o.State.Over() })
	})
}

// spoke reports whether a response's request contains words of the person that the conversation did not contain before:
// an agent may continue by itself after a turn, with the results of a background sub-agent. words are those of its items.
func (r *Recorder) spoke(e arrival, words []uint64) bool {
	switch {
	case e.direct, len(e.Items) == 0, r.cfg.Past.Codec == nil:
		return r.phase != phaseLeft || e.Prompt != "" && !r.same(e.Prompt)
	case e.Prompt != "" && !r.same(e.Prompt):
		return true
	case len(e.Items) < len(r.hashes): // it was compacted, or the person went back and repeated a prompt
		return false
	}
	return count(words) > count(r.spoken)
}

// count returns how many items contain words.
func count(words []uint64) (n int) {
	for _, w := range words {
		if w != 0 {
			n++
		}
	}
	return n
}
