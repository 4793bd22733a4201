package masking

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"orchestrator/contextmgr/gateway"
	"orchestrator/contextmgr/masks"
	"orchestrator/contextmgr/policy"
	"orchestrator/contextmgr/summary"
	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
)

// mostWriting is how many summaries are written at once.
const mostWriting = 4

// writer writes summaries, in goroutines of its own or for callers who wait, until it is closed.
type writer struct {
	cfg   Config
	kept  *kept
	slots chan struct{} // for summaries that are being written

	ctx  context.Context // ends when it is closed
	stop context.CancelFunc
	busy sync.WaitGroup

	mu     sync.Mutex // guards closed; a leaf
	closed bool
}

func newWriter(cfg Config) (*writer, error) {
	kept, err := newKept()
	if err != nil {
		return nil, err
	}
	w := &writer{cfg: cfg, kept: kept, slots: make(chan struct{}, mostWriting)}
	w.ctx, w.stop = context.WithCancel(context.Background())
	return w, nil
}

// Settle waits until no summary is being written.
func (w *writer) Settle() { w.busy.Wait() }

// Close ends the writing of summaries and lets no other begin.
func (w *writer) Close() error {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.stop()
	w.busy.Wait()
	return nil
}

// enter counts one that writes in, unless the writer is closed.
func (w *writer) enter() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false
	}
	w.busy.Add(1)
	return true
}

// keep implements between.
func (w *writer) keep(o gateway.Outgoing, scanner wire.Scanner) { w.kept.keep(o, scanner) }

// start implements between.
func (w *writer) start(c *conversation, by thread.SummaryAuthor) {
	if w.enter() {
		go w.automatically(c, by)
	}
}

// byHand writes a summary that somebody waits for.
func (w *writer) byHand(ctx context.Context, c *conversation, by thread.SummaryAuthor) error {
	if !w.enter() {
		return errors.New("the server stops")
	}
	defer w.busy.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(w.ctx, cancel)()
	_, err := w.write(ctx, c, by, true)
	return err
}

// automatically writes a summary that nobody asked for.
func (w *writer) automatically(c *conversation, by thread.SummaryAuthor) {
	defer w.busy.Done()
	defer func() {
		if p := recover(); p != nil {
			w.cfg.Log.Error("summarising panicked", "thread", string(c.id), "type", fmt.Sprintf("%T", p))
		}
	}()
	notice, err := w.write(w.ctx, c, by, false)
	if err == nil || w.ctx.Err() != nil || errors.Is(err, errNothing) || errors.Is(err, errBusy) {
		return
	}
	w.cfg.Log.Error("write a summary", "thread", string(c.id), "err", err)
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
func (w *writer) write(
	ctx context.Context, c *conversation, by thread.SummaryAuthor, byHand bool,
) (notice func(thread.Level, string), err error) {
	s := w.cfg.summaries()
	if err := w.allow(c, s, by); err != nil {
		return nil, err
	}
	out, scanner, err := w.kept.get(c.id)
	if err != nil {
		return nil, err
	}
	notice = out.Notice
	scan, err := scanner.Scan(out.Call, nil)
	if err != nil {
		return notice, fmt.Errorf("read the last request: %w", err)
	}
	r := &request{cfg: w.cfg, between: w, conversation: c, outgoing: out, scanner: scanner}
	r.read(scan)
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
	case w.slots <- struct{}{}:
		defer func() { <-w.slots }()
	case <-ctx.Done():
		return notice, context.Cause(ctx)
	}
	entries := scanner.Entries(scan.Request.Items[p.from:p.to])
	d.Replaced = summary.Readable(entries)
	var made summary.Written
	switch by {
	case thread.ByExtract:
		made.Text = summary.Extract(entries, mostSummary, func(text string) int { return int(w.cfg.Counts.Estimate(len(text))) })
		if made.Text == "" {
			return notice, fmt.Errorf("an extract would not be much shorter: %w", errNothing)
		}
	case thread.ByModel:
		made, err = s.Model.Write(ctx, d)
	case thread.ByProgram:
		made, err = s.Program.Write(ctx, d)
	case thread.ByNobody: // was refused
	}
	if err == nil {
		err = summary.Refuse(made.Text, d.Replaced)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spent += made.CostUSD
	if err != nil {
		return notice, err
	}
	sum, err := r.store(p, d.Replaced, made)
	if err != nil {
		return notice, err
	}
	c.offer, c.failed = nil, 0
	delete(c.told, "unsummarised")
	delete(c.told, "summary")
	if !byHand {
		notice(thread.LevelInfo, stored(p, sum, made))
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
func (w *writer) allow(c *conversation, s Summaries, by thread.SummaryAuthor) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch mode, why := c.mode(w.cfg.Settings(c.id, c.login)); {
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
			thread.ErrRefused), "set summary_login = \"allow\" in the configuration, or make an extract")
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
