package plan

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

// What Stall says where it says nothing.
const (
	UsualSilence = 10 * time.Minute
	UsualRepeats = 5
	UsualTokens  = 50_000
)

const (
	// patience is how many times longer than usual an agent may be silent while something that it waits for works: a call of a
	// tool, or its model. A build of an hour is no stall, a call that never returns is one.
	patience = 6
	// mostStep is the most that passes from one look to the next: what is longer, the machine was asleep, the server was stopped,
	// or the clock was set.
	mostStep = time.Minute
	// mostOpen is how many calls that have not ended are known at most.
	mostOpen = 1000
)

// OnStall returns what follows on a stall: it is shown, if the plan says nothing.
func (s Stall) OnStall() StallPolicy {
	if s.Policy == "" {
		return StallShow
	}
	return s.Policy
}

// Watch sees whether an agent is stuck, by what it reports and by the time that passes: nothing that an agent says about
// itself counts. It is used by one goroutine at a time.
type Watch struct {
	silence time.Duration
	repeats int
	tokens  int64

	looked time.Time // last
	heard  bool      // since then
	quiet  time.Duration
	asks   map[string]bool     // questions to a person that are open
	open   map[string]bool     // calls that have not ended
	rows   map[string]sameCall // by sub-agent, "" for itself
	said   int64               // tokens of output since its files changed
	files  string              // as they were then
	seen   bool                // files are known
	idle   bool                // they have not changed since, and it said too much
}

// sameCall is a call that was made so many times in a row.
type sameCall struct {
	tool  string
	hash  [sha256.Size]byte
	times int
}

// NewWatch begins to watch an agent of a plan; writes is whether it changes files.
func NewWatch(s Stall, writes bool) *Watch {
	w := &Watch{silence: UsualSilence, repeats: UsualRepeats, tokens: UsualTokens, asks: map[string]bool{}, open: map[string]bool{}, rows: map[string]sameCall{}}
	if s.Silence != nil {
		w.silence = time.Duration(*s.Silence)
	}
	if s.Repeats != nil {
		w.repeats = *s.Repeats
	}
	if s.Tokens != nil {
		w.tokens = *s.Tokens
	}
	if !writes {
		w.tokens = 0
	}
	return w
}

// Report takes what the agent reports.
func (w *Watch) Report(e thread.RunEvent) {
	w.heard = true
	switch e.Kind {
	case thread.RunTool:
		if e.Call != "" && len(w.open) < mostOpen {
			w.open[e.Call] = true
		}
		w.called(e)
	case thread.RunResult:
		delete(w.open, e.Call)
		delete(w.rows, e.Call) // of the sub-agent that the call started
	case thread.RunAsks, thread.RunAnswered:
		if e.Question != nil && e.Kind == thread.RunAsks {
			w.asks[e.Question.ID] = true
		} else if e.Question != nil {
			delete(w.asks, e.Question.ID)
		}
	case thread.RunUsage:
		if e.Usage != nil {
			w.said += e.Usage.Output
		}
	case thread.RunEnd:
		clear(w.open)
		clear(w.asks)
		clear(w.rows)
	case thread.RunSession, thread.RunText, thread.RunThinking, thread.RunRefused, thread.RunNotice, thread.RunLine, thread.RunSteered:
	}
}

// called counts a call. Whoever asks how a run stands waits for it, and asks the same again.
func (w *Watch) called(e thread.RunEvent) {
	if strings.HasSuffix(e.Tool, thread.MCPName+"__status") {
		return
	}
	row, hash := w.rows[e.Sub], sha256.Sum256([]byte(e.Tool+"\x00"+e.Text))
	if row.hash != hash {
		row = sameCall{tool: e.Tool, hash: hash}
	}
	row.times++
	if _, known := w.rows[e.Sub]; known || len(w.rows) < mostOpen {
		w.rows[e.Sub] = row
	}
}

// Doubts reports whether it can only be known from the agent's files whether it is stuck: they are told by Files then. It does
// so at the beginning, too.
func (w *Watch) Doubts() bool { return w.tokens > 0 && (!w.seen || w.said >= w.tokens) }

// Files takes what tells the state of the agent's files apart from others.
func (w *Watch) Files(state string) {
	w.idle = w.seen && state == w.files && w.said >= w.tokens
	if !w.idle {
		w.files, w.seen, w.said = state, true, 0
	}
}

// Look returns why the agent is taken to be stuck, "" if it is not. Busy is whether it waits for its model.
func (w *Watch) Look(now time.Time, busy bool) string {
	step := min(max(now.Sub(w.looked), 0), mostStep)
	if w.looked.IsZero() || w.heard || len(w.asks) > 0 {
		step, w.quiet = 0, 0
	}
	w.looked, w.heard = now, false
	w.quiet += step
	limit := w.silence
	if busy || len(w.open) > 0 {
		limit *= patience
	}
	if row := w.longest(); w.repeats > 0 && row.times >= w.repeats {
		return fmt.Sprintf("it called %s %d times in a row with the same arguments", plaintext.OneLine(plaintext.Line(row.tool), 60), row.times)
	}
	switch {
	case limit > 0 && w.quiet >= limit:
		return fmt.Sprintf("nothing was heard of it for %s", w.quiet.Round(time.Second))
	case w.idle:
		return fmt.Sprintf("it has said %s tokens and changed no file", thread.Tokens(w.said))
	default:
		return ""
	}
}

// longest returns the call that was made most often in a row.
func (w *Watch) longest() (most sameCall) {
	for _, row := range w.rows {
		if row.times > most.times {
			most = row
		}
	}
	return most
}
