package recording

import (
	"fmt"
	"time"

	"orchestrator/thread"
)

// Recorder records what the agent of one thread answers. Its methods are steps of the thread's queue: one runs at a
// time. It takes no lock of its own.
type Recorder struct {
	cfg     Config
	id      thread.ID
	live    Live
	prompts Prompts
	reports Reports

	record
	// What follows outlives the record when that is forgotten.
	waiting bool   // a retry is on its way
	trouble string // why the store refuses, "" while it does not
}

// New returns the recorder of a thread of which nothing is read yet.
func New(cfg Config, id thread.ID, live Live, prompts Prompts, reports Reports) *Recorder {
	return &Recorder{cfg: cfg, id: id, live: live, prompts: prompts, reports: reports}
}

// Begin notes the session that a run begins in.
func (r *Recorder) Begin(session string) { r.session = session }

// Rewritten forgets the agent's files: its session is written anew, and so is what is stored of it.
func (r *Recorder) Rewritten() { r.files = transcript{loaded: true} }

// Forget forgets what is known of the conversation: the thread was set back, and is read again.
func (r *Recorder) Forget() { r.record = record{} }

// Open reports whether a turn was begun and not ended.
func (r *Recorder) Open() bool { return r.loaded && r.head != "" && r.phase.open() }

// Amid reports whether there is a turn that was begun, not ended and not cut off.
func (r *Recorder) Amid() bool { return r.Open() && r.phase != phaseCut }

// SaysAgain reports whether a text that the agent is known to have is what the turn's newest request held of the
// person's words. A hook tells of each prompt once: its second word of the same is of another one.
func (r *Recorder) SaysAgain(said string, hook bool) bool {
	if !r.same(said) || hook && r.told {
		return false
	}
	r.told = true
	return true
}

// now is the time of the injected clock.
func (r *Recorder) now() time.Time { return r.cfg.Clock() }

// notice tells people something about the thread.
func (r *Recorder) notice(level thread.Level, format string, args ...any) {
	r.reports.Notice(level, fmt.Sprintf(format, args...))
}

// name is what people call the thread.
func (r *Recorder) name() string { return r.live.Thread().DisplayName() }
