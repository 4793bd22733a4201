package masking

import (
	"fmt"

	"orchestrator/contextmgr/policy"
	"orchestrator/thread"
)

// mostFailures is after how many failures in a row no summary of a thread is written by itself.
const mostFailures = 2

// turnEnded does what the context asks for between turns. The conversation's lock is held.
func (r *request) turnEnded(m measurement) {
	defer func() {
		if p := recover(); p != nil {
			r.cfg.Log.Error("planning a summary panicked", "thread", string(r.conversation.id), "type", fmt.Sprintf("%T", p))
		}
	}()
	c := r.conversation
	c.offer = nil
	p, err := r.plan(m)
	if err != nil {
		return
	}
	c.offer = &p
	switch c.latest.decision.Ask {
	case policy.AskSummarise, policy.AskWarn, policy.AskFork:
	default:
		delete(c.told, "summary")
		return
	}
	s := r.cfg.summaries()
	if by := s.author(c.login); by != "" {
		price := 0.0
		if by == thread.ByModel {
			price = r.cfg.inputPrice(c.cache.model)
		}
		if c.failed < mostFailures && p.pays(price) {
			r.between.start(c, by)
		}
		return
	}
	if s.Offer && p.pays(r.cfg.inputPrice(c.cache.model)) && s.How != nil {
		text := fmt.Sprintf("a summary of %s would free %s tokens%s: %s", turns(p.turns), thread.Tokens(p.gain.Frees),
			about(p), s.How(c.id))
		if !c.told["summary"] {
			c.told["summary"] = true
			r.outgoing.Notice(thread.LevelInfo, text)
		}
	}
}

// author returns who writes summaries by themselves: where the model may not be asked, nobody does but an extract is
// made.
func (s Summaries) author(login bool) thread.SummaryAuthor {
	switch {
	case s.By == thread.ByModel && (s.Model == nil || login && !s.Login), s.By == thread.ByProgram && s.Program == nil:
		return thread.ByNobody
	default:
		return s.By
	}
}

// turns names the oldest turns.
func turns(n int) string {
	if n == 1 {
		return "the oldest turn"
	}
	return fmt.Sprintf("the %d oldest turns", n)
}

// about says what a summary is expected to cost.
func about(p planned) string {
	if !p.priced {
		return ""
	}
	return fmt.Sprintf(" and cost about $%.2f", p.usd)
}
