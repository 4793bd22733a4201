package masking

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"orchestrator/contextmgr/masks"
	"orchestrator/contextmgr/policy"
	"orchestrator/contextmgr/summary"
	"orchestrator/thread"
)

const (
	mostWriting  = 4 // summaries at once
	mostFailures = 2 // after so many in a row no summary of a thread is written by itself
)

// byDefault is what people write for the author of the settings.
const byDefault = "default"

// Summarise has a summary of a thread's older turns written and stored, for the requests that follow. An author of ""
// is the one of the settings, or else the model.
func (m *Masker) Summarise(ctx context.Context, id thread.ID, by thread.SummaryAuthor) error {
	c, err := m.conversation(id)
	if err != nil {
		return err
	}
	if by == "" || by == byDefault {
		by = cmp.Or(m.cfg.summaries().By, thread.ByModel)
	}
	if !m.enter() {
		return errors.New("the server stops")
	}
	defer m.writing.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(m.ctx, cancel)()
	_, err = m.write(ctx, c, by, true)
	return err
}

// Settle waits until no summary is being written.
func (m *Masker) Settle() { m.writing.Wait() }

// Close ends the writing of summaries and lets no other begin.
func (m *Masker) Close() error {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.stop()
	m.writing.Wait()
	return nil
}

// enter counts one that writes in, unless the masker is closed.
func (m *Masker) enter() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return false
	}
	m.writing.Add(1)
	return true
}

// turnEnded does what the context asks for between turns. The conversation's lock is held.
func (r *request) turnEnded(m measured) {
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
	switch c.decision.Ask {
	case policy.AskSummarise, policy.AskWarn, policy.AskFork:
	default:
		delete(c.told, "summary")
		return
	}
	s := r.cfg.summaries()
	if by := s.author(c.login); by != "" {
		price := 0.0
		if by == thread.ByModel {
			price = r.cfg.inputPrice(c.model)
		}
		if c.failed < mostFailures && p.pays(price) && r.masker.enter() {
			go r.masker.automatically(c, by)
		}
		return
	}
	if s.Offer && p.pays(r.cfg.inputPrice(c.model)) && s.How != nil {
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

func turns(n int) string {
	if n == 1 {
		return "the oldest turn"
	}
	return fmt.Sprintf("the %d oldest turns", n)
}

func about(p planned) string {
	if !p.priced {
		return ""
	}
	return fmt.Sprintf(" and cost about $%.2f", p.usd)
}

// automatically writes a summary that nobody asked for.
func (m *Masker) automatically(c *conversation, by thread.SummaryAuthor) {
	defer m.writing.Done()
	defer func() {
		if p := recover(); p != nil {
			m.cfg.Log.Error("summarising panicked", "thread", string(c.id), "type", fmt.Sprintf("%T", p))
		}
	}()
	notice, err := m.write(m.ctx, c, by, false)
	if err == nil || m.ctx.Err() != nil || errors.Is(err, errNothing) || errors.Is(err, errBusy) {
		return
	}
	m.cfg.Log.Error("write a summary", "thread", string(c.id), "err", err)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed++
	if !c.told["unsummarised"] && notice != nil {
		c.told["unsummarised"] = true
		notice(thread.LevelWarn, "the older turns of this thread are not replaced by a summary: "+err.Error())
	}
}

var errBusy = fmt.Errorf("a summary of this thread is being written: %w", thread.ErrRefused)

// write writes and stores a summary. It returns how to tell people about the thread.
func (m *Masker) write(
	ctx context.Context, c *conversation, by thread.SummaryAuthor, byHand bool,
) (notice func(thread.Level, string), err error) {
	s := m.cfg.summaries()
	if err := m.allow(c, s, by); err != nil {
		return nil, err
	}
	out, scanner, err := m.kept.get(c.id)
	if err != nil {
		return nil, err
	}
	notice = out.Notice
	scan, err := scanner.Scan(out.Call, nil)
	if err != nil {
		return notice, fmt.Errorf("read the last request: %w", err)
	}
	r := &request{cfg: m.cfg, masker: m, conversation: c, outgoing: out, scanner: scanner, scan: scan}
	p, d, err := r.prepare(s, by)
	if err != nil {
		return notice, err
	}
	defer func() {
		c.mu.Lock()
		c.writing = false
		c.mu.Unlock()
	}()
	select {
	case m.slots <- struct{}{}:
		defer func() { <-m.slots }()
	case <-ctx.Done():
		return notice, context.Cause(ctx)
	}
	entries := scanner.Entries(scan.Request.Items[p.from:p.to])
	d.Replaced = summary.Readable(entries)
	var w summary.Written
	switch by {
	case thread.ByExtract:
		w.Text = summary.Extract(entries, mostSummary, func(text string) int { return int(m.cfg.Counts.Estimate(len(text))) })
		if w.Text == "" {
			return notice, fmt.Errorf("an extract would not be much shorter: %w", errNothing)
		}
	case thread.ByModel:
		w, err = s.Model.Write(ctx, d)
	case thread.ByProgram:
		w, err = s.Program.Write(ctx, d)
	}
	if err == nil {
		err = summary.Refuse(w.Text, d.Replaced)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spent += w.CostUSD
	if err != nil {
		return notice, err
	}
	sum, err := r.store(p, d.Replaced, w)
	if err != nil {
		return notice, err
	}
	c.offer, c.failed = nil, 0
	delete(c.told, "unsummarised")
	delete(c.told, "summary")
	if !byHand {
		notice(thread.LevelInfo, stored(p, sum, w))
	}
	return notice, nil
}

// stored says what has become of older turns.
func stored(p planned, sum masks.Summary, w summary.Written) string {
	what := "an extract"
	if sum.Source != "" {
		what = "a summary by " + sum.Source
	}
	cost := ""
	if w.CostUSD > 0 {
		cost = fmt.Sprintf("; writing it cost $%.2f", w.CostUSD)
	}
	return fmt.Sprintf("%s, %s tokens, are replaced by %s of %s tokens%s",
		turns(p.turns), thread.Tokens(sum.Replaced), what, thread.Tokens(sum.Tokens), cost)
}

// allow refuses a summary that may not be written.
func (m *Masker) allow(c *conversation, s Summaries, by thread.SummaryAuthor) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch mode, why := c.mode(m.cfg.Settings(c.id, c.login)); {
	case mode != thread.MaskSafe && mode != thread.MaskLean:
		return thread.Hint(fmt.Errorf("nothing is replaced in mode %s (%s): %w", mode, why, thread.ErrRefused),
			"set the mode safe or lean first")
	case by == thread.ByExtract:
		return nil
	case by == thread.ByProgram && s.Program == nil:
		return thread.Hint(fmt.Errorf("no program writes summaries: %w", thread.ErrRefused),
			"name one with summary_program in the configuration")
	case by == thread.ByProgram:
		return nil
	case by != thread.ByModel:
		return thread.Hint(fmt.Errorf("%q does not write summaries: %w", by, thread.ErrInvalid),
			"use model, extract or program")
	case c.login && !s.Login:
		return thread.Hint(fmt.Errorf("the agent uses a subscription login, and a request of the program's own needs consent: %w",
			thread.ErrRefused), "set summary_login = true in the configuration, or make an extract")
	case s.Model == nil:
		return fmt.Errorf("no model writes summaries: %w", thread.ErrRefused)
	default:
		return nil
	}
}

// prepare plans a summary with the masks that are in force now, and marks the conversation as being summarised.
func (r *request) prepare(s Summaries, by thread.SummaryAuthor) (planned, summary.Draft, error) {
	c := r.conversation
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.writing {
		return planned{}, summary.Draft{}, errBusy
	}
	r.settings = r.cfg.Settings(c.id, c.login)
	mode, _ := c.mode(r.settings)
	r.settings.Mode = policy.Mode(mode)
	m := r.measure()
	p, err := r.plan(m)
	if err != nil {
		return p, summary.Draft{}, err
	}
	if by == thread.ByModel && s.MostUSD > 0 && p.usd > s.MostUSD {
		return p, summary.Draft{}, thread.Hint(fmt.Errorf("the model would cost about $%.2f, more than the $%.2f that a summary may: %w",
			p.usd, s.MostUSD, thread.ErrLimit), "raise summary_usd in the configuration, or make an extract")
	}
	c.writing = true
	return p, r.draft(m, p, s.Also), nil
}
