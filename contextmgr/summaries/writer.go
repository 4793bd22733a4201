package summaries

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"orchestrator/contextmgr/gateway"
	"orchestrator/contextmgr/policy"
	"orchestrator/contextmgr/summary"
	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
)

const (
	mostWriting  = 4 // summaries at once
	mostFailures = 2 // in a row: after them no summary of a thread is written by itself
)

// byDefault is what people write for the author of the settings.
const byDefault = "default"

// Writer writes summaries, in goroutines of its own or for callers who wait, until it is closed.
type Writer struct {
	settings func() Settings
	tokens   func(bytes int) int64
	log      *slog.Logger
	last     *lastRequests
	slots    chan struct{} // for summaries that are being written

	ctx  context.Context // ends when it is closed
	stop context.CancelFunc
	busy sync.WaitGroup

	mu sync.Mutex // lets no other enter while it is closed; a leaf
}

// NewWriter returns a writer, which asks for the settings each time and estimates the tokens of bytes. Close ends it.
func NewWriter(settings func() Settings, tokens func(bytes int) int64, log *slog.Logger) (*Writer, error) {
	last, err := newLastRequests()
	if err != nil {
		return nil, err
	}
	w := &Writer{settings: settings, tokens: tokens, log: log, last: last, slots: make(chan struct{}, mostWriting)}
	w.ctx, w.stop = context.WithCancel(context.Background())
	return w, nil
}

// Settle waits until no summary is being written.
func (w *Writer) Settle() { w.busy.Wait() }

// Close ends the writing of summaries and lets no other begin.
func (w *Writer) Close() error {
	w.mu.Lock()
	w.stop()
	w.mu.Unlock()
	w.busy.Wait()
	return nil
}

// enter counts one that writes in, unless the writer is closed.
func (w *Writer) enter() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ctx.Err() != nil {
		return false
	}
	w.busy.Add(1)
	return true
}

// Keep keeps a request that ended a turn, for the summaries that are asked for from then on.
func (w *Writer) Keep(o gateway.Outgoing, scanner wire.Scanner) { w.last.keep(o, scanner) }

// Forget forgets what is kept of a thread.
func (w *Writer) Forget(id thread.ID) { w.last.forget(id) }

// Write has a summary of a thread's older turns written and stored, for the requests that follow. An author of "" is the
// one of the settings, or else the model.
func (w *Writer) Write(ctx context.Context, t *Thread, by thread.SummaryAuthor) error {
	if by == "" || by == byDefault {
		by = cmp.Or(w.settings().By, thread.ByModel)
	}
	if !w.enter() {
		return errors.New("the server stops")
	}
	defer w.busy.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(w.ctx, cancel)()
	_, _, err := w.write(ctx, t, by)
	return err
}

// TurnEnded does what the context asks for between turns: it has a summary written, or offers one. The conversation's
// lock is held.
func (w *Writer) TurnEnded(t *Thread, s Sent, ask policy.Ask) {
	defer w.survive(t, "planning a summary")
	state := t.conversation.State()
	t.offer = nil
	p, err := newPlan(s, state.Masks.Summaries())
	if err != nil {
		return
	}
	t.offer = &thread.SummaryOffer{Turns: p.turns, Replaced: p.sum.Replaced, Frees: p.gain.Frees, CostUSD: p.usd, Priced: p.priced}
	if ask == policy.AskNothing {
		t.toldOffer = false
		return
	}
	how := w.settings()
	switch by := how.author(state.Login); {
	case by != thread.ByNobody:
		price := 0.0
		if by == thread.ByModel {
			price = s.InputUSD
		}
		if t.failed < mostFailures && p.pays(price) && w.enter() {
			go w.automatically(t, by)
		}
	case how.Offer && !t.toldOffer && p.pays(s.InputUSD):
		t.toldOffer = true
		s.Notice(thread.LevelInfo, offered(p))
	}
}

// survive is deferred: a panic becomes a line in the log.
func (w *Writer) survive(t *Thread, doing string) {
	if p := recover(); p != nil {
		w.log.Error(doing+" panicked", "thread", string(t.id), "type", fmt.Sprintf("%T", p))
	}
}

// automatically writes a summary that nobody asked for, and tells people.
func (w *Writer) automatically(t *Thread, by thread.SummaryAuthor) {
	defer w.busy.Done()
	defer w.survive(t, "summarising")
	notice, text, err := w.write(w.ctx, t, by)
	if err == nil {
		notice(thread.LevelInfo, text)
		return
	}
	if w.ctx.Err() != nil || errors.Is(err, errNothing) || errors.Is(err, errBusy) {
		return
	}
	w.log.Error("write a summary", "thread", string(t.id), "err", err)
	t.conversation.Lock()
	defer t.conversation.Unlock()
	t.failed++
	if !t.toldFailure && notice != nil {
		t.toldFailure = true
		notice(thread.LevelWarn, "the older turns of this thread are not replaced by a summary: "+err.Error())
	}
}

// write writes and stores a summary. It returns how to tell people about the thread, and what has become of its turns.
func (w *Writer) write(
	ctx context.Context, t *Thread, by thread.SummaryAuthor,
) (notice func(thread.Level, string), text string, err error) {
	how := w.settings()
	if err := t.allow(how, by); err != nil {
		return nil, "", err
	}
	out, scanner, err := w.last.get(t.id)
	if err != nil {
		return nil, "", err
	}
	scan, err := scanner.Scan(out.Call, nil)
	if err != nil {
		return out.Notice, "", fmt.Errorf("read the last request: %w", err)
	}
	p, d, err := t.begin(how, by, out, scanner, scan)
	if err != nil {
		return out.Notice, "", err
	}
	defer t.end()
	select {
	case w.slots <- struct{}{}:
		defer func() { <-w.slots }()
	case <-ctx.Done():
		return out.Notice, "", context.Cause(ctx)
	}
	entries := scanner.Entries(scan.Request.Items[p.from:p.to])
	d.Replaced = summary.Readable(entries)
	var made summary.Written
	switch by {
	case thread.ByExtract:
		made.Text = summary.Extract(entries, mostSummary, func(text string) int { return int(w.tokens(len(text))) })
		if made.Text == "" {
			return out.Notice, "", fmt.Errorf("an extract would not be much shorter: %w", errNothing)
		}
	case thread.ByModel:
		made, err = how.Model.Write(ctx, d)
	case thread.ByProgram:
		made, err = how.Program.Write(ctx, d)
	case thread.ByNobody: // was refused
	}
	if err == nil {
		err = summary.Refuse(made.Text, d.Replaced)
	}
	text, err = t.written(p, d.Replaced, made, err)
	return out.Notice, text, err
}
