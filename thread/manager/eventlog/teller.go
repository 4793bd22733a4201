package eventlog

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/secret"
)

// Settle is how long an agent that asks may take to show what: many report that they ask before they draw the dialog.
const Settle = 700 * time.Millisecond

// maskStep is how many tokens more must be masked than when that was told last.
const maskStep = 1000

// Teller makes happenings of events. The zero value has heard of nothing.
type Teller struct {
	// Start is when the server started: what is older is no news.
	Start   time.Time
	threads map[thread.ID]*known
}

// known is what was last heard of a thread.
type known struct {
	name, label string
	display     string             // the label as it is
	report      thread.StateReport // without evidence
	execution   thread.ExecutionID
	outcome     thread.Outcome
	archived    bool
	mcp         thread.MCPSwitches
	masked      int64 // when it was told last

	question string // id of the one that was told
	line     string // what was told of it, and when
	asked    time.Time
	silent   bool // it asks, and nobody was told, because it may be about to show what

	began    time.Time // of the running turn; zero if none runs
	cost     float64   // when it began
	priced   bool
	ins, del int
	files    bool // ins and del are known

	sent map[thread.PromptID]bool // told, and not ended
	cut  thread.PromptID          // told last
}

// Tell returns what an event tells, without numbers, and whether its thread is to be asked with Silent after Settle.
func (t *Teller) Tell(e thread.Event) (told []thread.Happening, later bool) {
	tell := func(kind thread.HappeningKind, format string, args ...any) {
		h := thread.Happening{At: e.At, Kind: kind, Thread: e.ThreadID, Text: clean(fmt.Sprintf(format, args...), mostText)}
		if k := t.threads[e.ThreadID]; k != nil {
			h.Name, h.Label = k.name, k.label
		}
		told = append(told, h)
	}
	k := t.threads[e.ThreadID]
	switch {
	case e.Status != nil:
		later = t.status(*e.Status, e.At, tell)
	case e.Kind == thread.EventRemoved && k != nil:
		tell(thread.HappenedRemoved, "deleted")
		delete(t.threads, e.ThreadID)
	case e.Checkpoint != nil && k != nil && e.Checkpoint.Kind == thread.KindTurn && e.Checkpoint.Snapshot != nil:
		k.ins, k.del, k.files = e.Checkpoint.Snapshot.Insertions, e.Checkpoint.Snapshot.Deletions, true
	case e.Prompt != nil && k != nil:
		k.prompt(*e.Prompt, tell)
	case e.Kind == thread.EventNotice && e.Notice != nil:
		t.notice(*e.Notice, k, tell)
		for i := range told {
			if told[i].Name == "" {
				told[i].Name, told[i].Label = clean(e.Notice.About, mostLabel), clean(e.Notice.About, mostLabel)
			}
		}
	}
	return told, later
}

// Silent returns that a thread asks if it does and nobody was told yet.
func (t *Teller) Silent(id thread.ID, now time.Time) (thread.Happening, bool) {
	k := t.threads[id]
	if k == nil || !k.silent {
		return thread.Happening{}, false
	}
	k.silent = false
	return thread.Happening{At: now, Kind: thread.HappenedAsks, Thread: id, Name: k.name, Label: k.label}, true
}

// say tells that something happened.
type say func(kind thread.HappeningKind, format string, args ...any)

// status tells what is new in a status, and reports whether the thread asks something that is not known yet.
func (t *Teller) status(s thread.Status, at time.Time, tell say) (asks bool) {
	k := t.threads[s.ID]
	fresh := k == nil
	if fresh {
		if t.threads == nil {
			t.threads = map[thread.ID]*known{}
		}
		k = &known{outcome: s.Outcome, archived: !s.Archived.IsZero(), mcp: s.MCP.Clone(), masked: s.Gauge.Masked,
			sent: map[thread.PromptID]bool{}}
		t.threads[s.ID] = k
	}
	k.name, k.display = s.Name, s.DisplayName()
	k.label = clean(k.display, mostLabel)
	if fresh && !s.Created.Before(t.Start) {
		t.made(s, tell)
	}
	k.runs(s, fresh && s.State.Since.Before(t.Start), tell)
	asks = k.state(s, at, tell)
	k.switches(s.MCP, tell)
	k.masks(s.Gauge.Masked, tell)
	if o := s.Outcome; o.Kind != k.outcome.Kind || !o.At.Equal(k.outcome.At) {
		switch k.outcome = o; o.Kind {
		case thread.OutcomeMerged:
			tell(thread.HappenedMerged, "merged into %s", cmp.Or(t.labelOf(o.Into), "the branch below"))
		case thread.OutcomeAbandoned:
			tell(thread.HappenedRemoved, "abandoned%s", after(": ", o.Reason))
		default:
		}
	}
	if is := !s.Archived.IsZero(); is != k.archived {
		if k.archived = is; is {
			tell(thread.HappenedRemoved, "archived")
		}
	}
	return asks
}

// made tells of a new thread.
func (t *Teller) made(s thread.Status, tell say) {
	if s.Parent == "" {
		tell(thread.HappenedNew, "%s", s.Agent)
		return
	}
	tell(thread.HappenedForked, "forked from %s", cmp.Or(t.labelOf(s.Parent), "another thread"))
}

func (t *Teller) labelOf(id thread.ID) string {
	if k := t.threads[id]; k != nil {
		return k.label
	}
	return ""
}

// runs tells of the start and the end of the agent's program, unless that is old.
func (k *known) runs(s thread.Status, old bool, tell say) {
	before := k.execution
	k.execution = ""
	if s.Execution != nil {
		k.execution = s.Execution.ID
	}
	stopped := before != "" && k.execution == ""
	lost := before == "" && k.report.State == "" && !old && s.State.State == thread.StateInterrupted
	switch {
	case k.execution != "" && k.execution != before:
		tell(thread.HappenedStarted, "%s", s.Agent)
		k.began = time.Time{}
	case stopped || lost:
		why := s.State.Why()
		if s.State.State == thread.StateInterrupted {
			why = "interrupted" + after(": ", why)
		}
		tell(thread.HappenedEnded, "%s", why)
	}
}

// state tells of a new state, and reports whether the thread asks something that is not known yet.
func (k *known) state(s thread.Status, at time.Time, tell say) (asks bool) {
	before, r := k.report, s.State
	k.report = r
	k.report.Evidence, k.report.Notes = nil, nil
	if r.State != thread.StateApproval && r.State != thread.StateQuestion {
		k.question, k.silent = "", false
	}
	switch {
	case r.Works():
		if k.began.IsZero() {
			k.began, k.files = at, false
			k.cost, k.priced = s.Cost()
		}
	case r.State == thread.StateApproval || r.State == thread.StateQuestion:
		return k.asks(r, before, at, tell)
	case r.State == thread.StateDone || r.State == thread.StateIdle:
		if !k.began.IsZero() {
			tell(thread.HappenedDone, "%s", k.spent(s, at))
		}
		k.began = time.Time{}
	case !r.State.Live():
		k.began = time.Time{}
	}
	trouble := func(r thread.StateReport) bool {
		return r.State.Trouble() && !r.Stuck && r.State != thread.StateUnauthorised
	}
	stuck := func(r thread.StateReport) bool { return r.Stuck || r.State == thread.StateUnauthorised }
	gave := r
	gave.Stuck = false // which the kind says
	said := string(r.State) + gave.More() + after(": ", r.Why())
	switch {
	case stuck(r) && (!stuck(before) || before.State != r.State):
		tell(thread.HappenedStuck, "%s", said)
		k.began = time.Time{}
	case trouble(r) && (!trouble(before) || before.State != r.State || !before.Until.Equal(r.Until)):
		tell(thread.HappenedLimited, "%s", said)
	}
	return false
}

// asks tells of a question once: what it asks, if that is known or known before Settle is over. A dialog that is drawn in
// pieces is another question with each of them, and what else is known of the agent may seem newer for a moment.
func (k *known) asks(r, before thread.StateReport, at time.Time, tell say) (later bool) {
	switch was := before.State == thread.StateApproval || before.State == thread.StateQuestion; {
	case r.Question != nil && r.Question.ID != k.question:
		k.question, k.silent = r.Question.ID, false
		if line := r.Question.Line(); line != k.line || at.Sub(k.asked) >= Settle {
			k.line, k.asked = line, at
			tell(thread.HappenedAsks, "%s", line)
		}
	case r.Question == nil && !was:
		k.silent = true
		return true
	}
	return false
}

// spent returns what the turn took.
func (k *known) spent(s thread.Status, at time.Time) string {
	said := thread.Elapsed(at.Sub(k.began))
	if usd, known := s.Cost(); known && (k.priced || k.cost == 0) {
		if usd -= k.cost; usd >= 0.005 {
			said += fmt.Sprintf(", $%.2f", usd)
		} else if usd > 0 {
			said += ", under $0.01"
		}
	}
	if k.files && k.ins+k.del > 0 {
		said += fmt.Sprintf(", +%d −%d", k.ins, k.del)
	}
	return said
}

// switches tells which MCP servers were switched.
func (k *known) switches(now thread.MCPSwitches, tell say) {
	before := k.mcp
	if now.Equal(before) {
		return
	}
	k.mcp = now.Clone()
	for _, w := range now.On {
		if _, was := before.Find(w.Server); was || w.By == thread.MCPInherited {
			continue
		}
		by := map[thread.MCPBy]string{thread.MCPPerson: "by you", thread.MCPOffer: "as offered"}[w.By]
		tell(thread.HappenedMCP, "%s switched on%s", w.Server, after(": ", cmp.Or(w.Why, by)))
	}
	for _, w := range before.On {
		if _, is := now.Find(w.Server); !is {
			tell(thread.HappenedMCP, "%s switched off", w.Server)
		}
	}
}

// masks tells how much is masked when that has grown.
func (k *known) masks(now int64, tell say) {
	if more := now - k.masked; more >= max(maskStep, k.masked/4) {
		tell(thread.HappenedContext, "masks %s tokens of old results, %s in all", thread.Tokens(more), thread.Tokens(now))
		k.masked = now
	}
	k.masked = min(k.masked, now)
}

// prompt tells that a prompt was sent or cut off.
func (k *known) prompt(p thread.Prompt, tell say) {
	switch {
	case p.From == thread.FromPrimer:
	case p.State == thread.PromptOpen && !k.sent[p.ID]:
		k.sent[p.ID] = true
		tell(thread.HappenedSent, "%s", p.Text)
	case p.State.Again() && k.cut != p.ID:
		k.cut = p.ID
		tell(thread.HappenedCut, "%s%s", plaintext.OneLine(p.Text, mostText/2), after(" · ", p.Reason))
	case p.State.Over() && k.cut == p.ID && !p.State.Again():
		k.cut = ""
	}
	if p.State.Over() {
		delete(k.sent, p.ID)
	}
}

// notice tells what people are told. The name of its thread is not part of the text.
func (t *Teller) notice(n thread.Notice, k *known, tell say) {
	kind, text := n.Kind, n.Text
	switch {
	case n.Level == thread.LevelError:
		kind = thread.HappenedError
	case kind == "":
		kind = thread.HappenedNotice
	}
	if k != nil {
		text = strings.TrimPrefix(text, k.display+": ")
	}
	tell(kind, "%s", text)
}

// after returns a text behind what stands before it, "" for none.
func after(before, text string) string {
	if text == "" {
		return ""
	}
	return before + text
}

// clean returns a text on one short line, harmless and without secrets.
func clean(s string, n int) string {
	const read = 4 << 10
	s = plaintext.Line(secret.Redact(plaintext.Cut(s, read)))
	return plaintext.Short(strings.Join(strings.Fields(s), " "), n)
}
