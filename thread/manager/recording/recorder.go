package recording

import (
	"fmt"
	"time"

	"orchestrator/thread"
)

// Recorder records the answers of one thread's agent. Its methods are steps of the thread's queue, or parts of them:
// one runs at a time. It has no lock of its own.
type Recorder struct {
	cfg     Config
	id      thread.ID
	live    Live
	prompts Prompts
	reports Reports

	record
	// The fields below outlive the record when that is forgotten.
	waiting bool   // a retry is scheduled
	trouble string // why the store refuses checkpoints, "" while it does not
}

// New returns the recorder of a thread. It reads nothing yet.
func New(cfg Config, id thread.ID, live Live, prompts Prompts, reports Reports) *Recorder {
	return &Recorder{cfg: cfg, id: id, live: live, prompts: prompts, reports: reports}
}

// Begin sets the session of a run that begins.
func (r *Recorder) Begin(session string) { r.session = session }

// Forget forgets what is known about the conversation, after a rewind for instance: it is read again when needed.
func (r *Recorder) Forget() { r.record = record{files: r.files.forgotten()} }

// Open reports whether a turn has begun and not ended.
func (r *Recorder) Open() bool { return r.loaded && r.head != "" && r.phase.open() }

// Amid reports whether there is a turn that has begun and was neither ended nor cut off.
func (r *Recorder) Amid() bool { return r.Open() && r.phase != phaseCut }

// SaysAgain reports whether a prompt that the agent is known to have has the same words as the turn's newest request,
// so that it is part of the turn. A hook reports each prompt once: a second report of the same words is about another
// one.
func (r *Recorder) SaysAgain(said string, hook bool) bool {
	if !r.same(said) || hook && r.told {
		return false
	}
	r.told = true
	return true
}

// now is the time of the configured clock.
func (r *Recorder) now() time.Time { return r.cfg.Clock() }

// notice shows people a message about the thread.
func (r *Recorder) notice(level thread.Level, format string, args ...any) {
	r.reports.Notice(level, fmt.Sprintf(format, args...))
}

// name returns the thread's name for people.
func (r *Recorder) name() string { return r.live.Thread().DisplayName() }
