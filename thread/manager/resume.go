package manager

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"orchestrator/thread"
)

// wayBack is how an agent gets its conversation back.
type wayBack struct {
	how     thread.ResumeHow
	session string // to resume
	resume  bool
	primer  string // the first prompt of a session that starts anew
}

// Resume starts a thread's agent where it left off.
func (m *Manager) Resume(ctx context.Context, ref string, cols, rows int) (thread.Status, error) {
	return m.Start(ctx, ref, cols, rows)
}

// ResumeAll resumes every interrupted thread that is still in use. Those that cannot be are in the error; the others
// run all the same.
func (m *Manager) ResumeAll(ctx context.Context, cols, rows int) ([]thread.Status, error) {
	m.mu.Lock()
	var lines []*line
	for _, l := range m.all() {
		if l.t.Interrupted && l.session == nil && l.t.Deleted.IsZero() && l.t.Archived.IsZero() && l.t.Outcome.Kind == thread.OutcomeNone {
			lines = append(lines, l)
		}
	}
	m.mu.Unlock()
	list := []thread.Status{}
	var errs []error
	for _, l := range lines {
		s, err := m.startLine(ctx, l, launchRequest{cols: cols, rows: rows})
		if err != nil {
			errs = append(errs, err)
			continue
		}
		list = append(list, s)
	}
	return list, errors.Join(errs...)
}

// assess looks for the best way back into a thread's conversation and changes nothing.
func (l *line) assess(ctx context.Context, agent thread.Agent) thread.ResumeProof {
	m, t := l.m, l.thread()
	p := thread.ResumeProof{How: thread.ResumeFresh, Turn: t.Turn, Detail: "nothing was said yet"}
	if m.cfg.Worktrees != nil {
		p.Worktree = m.cfg.Worktrees.Describe(ctx, t.Dir)
		if m.statusOf(l).Setup.State == thread.SetupUnfinished {
			p.Worktree += ", its setup did not finish"
		}
	}
	if t.Head == "" && t.Turn > 0 { // the store lost its turns
		p.How, p.Detail = thread.ResumePrimer, "our record of its turns is lost"
		if t.Session != "" && !m.sessionTaken(l, t.Session) {
			p.How, p.Session = thread.ResumeNative, t.Session
			p.Detail += "; the agent continues in its own session"
		}
		return p
	}
	if t.Head == "" {
		return p
	}
	head, err := m.cfg.Store.Checkpoint(ctx, t.Head)
	if err == nil && !head.Whole() {
		p.Incomplete = fmt.Sprintf("turn %d was cut off", head.Turn)
		if head.Interrupted {
			p.Incomplete += " in the middle of an answer"
		}
	}
	if t.Handoff != nil && t.Handoff.Fresh && t.Head == t.ForkPoint {
		p.How, p.Detail = thread.ResumePrimer, "it begins with an empty context, and a summary of the conversation in it"
		return p
	}
	marks, err := m.cfg.Store.Marks(ctx, t.Head)
	if err != nil {
		marks = nil
		p.Detail = "the stored transcript cannot be read: " + err.Error()
	}
	if m.agentAt(ctx, t, t.Head) == t.Agent && len(marks) > 0 {
		if ok := l.assessNative(ctx, agent, t, marks, &p); ok {
			return p
		}
		if err == nil && head.Thread != l.id {
			p.Detail = "" // a fork that said nothing yet: its session was written from the parent's record
		}
		if _, ok := agent.(thread.Rebuilder); ok {
			var size int64
			for _, f := range marks {
				size += f.Size
			}
			why := p.Detail
			p.How, p.Bytes = thread.ResumeRebuilt, size
			p.Detail = fmt.Sprintf("%d bytes of transcript are stored and will be written again", size)
			if t.Session != "" && why != "" {
				p.Detail = why + "; " + p.Detail
			}
			return p
		}
	}
	p.How = thread.ResumePrimer
	p.Detail = "the agent gets a summary of the conversation from our record"
	return p
}

// assessNative checks the agent's own transcript.
func (l *line) assessNative(ctx context.Context, agent thread.Agent, t thread.Thread, marks []thread.Mark, p *thread.ResumeProof) bool {
	p.Detail = ""
	v, ok := agent.(thread.Verifier)
	if !ok || t.Session == "" {
		return false
	}
	if l.m.sessionTaken(l, t.Session) {
		p.Detail = "its session belongs to another thread"
		return false
	}
	matched, whole, err := v.Verify(ctx, thread.TranscriptSpec{Session: t.Session, Dir: t.Dir, Env: l.m.env(t), Marks: marks})
	switch {
	case err != nil:
		p.Detail = "the agent's transcript cannot be read: " + err.Error()
		return false
	case !whole:
		p.Detail = fmt.Sprintf("the agent's transcript does not match the stored one (%d bytes do)", matched)
		return false
	}
	p.How, p.Session, p.Bytes = thread.ResumeNative, t.Session, matched
	p.Detail = fmt.Sprintf("the agent's transcript is there; %d bytes match the stored ones", matched)
	return true
}

// wayBack finds and prepares the best way back into a thread's conversation. It is an error rather
// than a blank session when there is none.
func (l *line) wayBack(ctx context.Context, agent thread.Agent) (wayBack, error) {
	p := l.assess(ctx, agent)
	switch p.How {
	case thread.ResumeFresh:
		return wayBack{how: thread.ResumeFresh}, nil
	case thread.ResumeNative:
		return wayBack{how: thread.ResumeNative, session: p.Session, resume: true}, nil
	case thread.ResumeRebuilt:
		session, err := l.rebuild(ctx, agent)
		if err == nil {
			l.rec.rewritten()
			return wayBack{how: thread.ResumeRebuilt, session: session, resume: true}, nil
		}
		l.m.cfg.Log.Warn("rebuild a session", "thread", string(l.id), "err", err)
		l.m.notice(l.id, thread.LevelWarn, "%s: its transcript could not be written again (%v); the agent gets a summary instead", l.thread().DisplayName(), err)
	case thread.ResumePrimer:
	default:
	}
	text, err := l.handOver(ctx)
	if err != nil {
		return wayBack{}, thread.Hint(err, "its record is damaged; fork the thread at an earlier turn")
	}
	l.rec.rewritten()
	return wayBack{how: thread.ResumePrimer, primer: text}, nil
}

// rebuild writes the agent's native session from the stored transcript: the same one where it
// was lost, a new one where the thread has none yet or the agent's files went another way.
func (l *line) rebuild(ctx context.Context, agent thread.Agent) (string, error) {
	m, t := l.m, l.thread()
	files, err := m.cfg.Store.Transcript(ctx, t.Head)
	if err != nil {
		return "", fmt.Errorf("read the stored transcript: %w", err)
	}
	origin, err := m.origin(ctx, t)
	if err != nil {
		return "", err
	}
	spec := thread.RebuildSpec{
		Session: origin.Session, FromDir: origin.Dir, Dir: t.Dir, StateDir: m.stateDir(t.ID), Env: m.env(t), Files: files,
		Answer: m.finalAnswer(ctx, t.Head),
	}
	l.catchUp(ctx, agent, origin, &spec)
	r, ok := agent.(thread.Rebuilder)
	if !ok {
		return "", fmt.Errorf("agent %s cannot: %w", t.Agent, thread.ErrUnsupported)
	}
	if t.Session == "" || t.Session != origin.Session || m.sessionTaken(l, t.Session) {
		spec.NewSession = newSession()
	}
	session, err := r.Rebuild(ctx, spec)
	if err != nil && spec.NewSession == "" {
		spec.NewSession = newSession() // the old one holds something else, which stays
		session, err = r.Rebuild(ctx, spec)
	}
	if err != nil {
		return "", fmt.Errorf("write the session again: %w", err)
	}
	if m.sessionTaken(l, session) {
		return "", fmt.Errorf("session %s belongs to another thread: %w", session, thread.ErrInvalid)
	}
	return session, nil
}

// finalAnswer is the answer that the conversation of a whole turn ends with, by our own record; empty
// where it ends otherwise or cannot be read.
func (m *Manager) finalAnswer(ctx context.Context, at thread.CheckpointID) string {
	c, err := m.cfg.Store.Checkpoint(ctx, at)
	if err != nil || !c.Whole() || c.Interrupted {
		return ""
	}
	items, err := m.cfg.Store.Conversation(ctx, at)
	if err != nil {
		return ""
	}
	entries := m.entries(items)
	if n := len(entries); n > 0 && entries[n-1].Kind == thread.EntryAnswer {
		return entries[n-1].Text
	}
	return ""
}

// origin is where a thread's stored transcript came from: the thread whose agent wrote it, with the
// session it wrote it in.
func (m *Manager) origin(ctx context.Context, t thread.Thread) (thread.Thread, error) {
	list, err := m.cfg.Store.Lineage(ctx, t.Head, thread.Page{Limit: 1000})
	if err != nil {
		return thread.Thread{}, fmt.Errorf("read where the transcript came from: %w", err)
	}
	for _, c := range list {
		if c.Session == "" {
			continue
		}
		from := t
		if c.Thread != t.ID {
			if l := m.line(c.Thread); l != nil {
				from = l.thread()
			}
		}
		from.Session = c.Session
		return from, nil
	}
	return thread.Thread{}, fmt.Errorf("session of the stored transcript: %w", thread.ErrNotFound)
}

// agentAt returns the agent that wrote the transcript of a checkpoint, "" when nobody knows.
func (m *Manager) agentAt(ctx context.Context, t thread.Thread, at thread.CheckpointID) string {
	c, err := m.cfg.Store.Checkpoint(ctx, at)
	if err != nil {
		return ""
	}
	if c.Thread == t.ID {
		return t.Agent
	}
	if l := m.line(c.Thread); l != nil {
		return l.thread().Agent
	}
	return ""
}

// repairExecutions marks the threads of runs that never ended as interrupted. The mark comes first:
// a crash in between finds the run still open and does it again. On a full disk both wait for room.
func (m *Manager) repairExecutions(ctx context.Context) error {
	open, err := m.cfg.Store.OpenExecutions(ctx)
	if err != nil {
		return fmt.Errorf("read the runs: %w", err)
	}
	var later []thread.Execution
	for _, x := range open {
		err := m.lostRun(ctx, x)
		if errors.Is(err, thread.ErrDiskFull) && m.showLost(x) {
			later = append(later, x)
			continue
		}
		if err != nil {
			return err
		}
	}
	if len(later) > 0 {
		m.lostLater(later)
	}
	return nil
}

// lostRun stores that a process ended without us.
func (m *Manager) lostRun(ctx context.Context, x thread.Execution) error {
	t, err := m.cfg.Store.UpdateThread(ctx, x.Thread, func(t *thread.Thread) error {
		t.Interrupted = true
		if t.Session == "" {
			t.Session = x.Session
		}
		return nil
	})
	switch {
	case err == nil:
		m.mu.Lock()
		if l := m.lines[x.Thread]; l != nil {
			l.t = t
		}
		m.mu.Unlock()
	case !errors.Is(err, thread.ErrNotFound):
		return fmt.Errorf("mark %s as interrupted: %w", x.Thread, err)
	}
	return m.endLost(ctx, x)
}

func (m *Manager) endLost(ctx context.Context, x thread.Execution) error {
	if err := m.cfg.Store.EndExecution(ctx, x.ID, m.now(), thread.Exit{Code: -1, Reason: "lost"}); err != nil {
		return fmt.Errorf("end the run of %s: %w", x.Thread, err)
	}
	return nil
}

// showLost has a thread shown as interrupted that cannot be stored so; false when there is none.
func (m *Manager) showLost(x thread.Execution) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.lines[x.Thread]
	if l == nil {
		return false
	}
	l.t.Interrupted, l.t.Session = true, cmp.Or(l.t.Session, x.Session)
	return true
}

// lostAgain is how often storing the ends of runs is tried on a full disk.
const lostAgain = 2 * time.Second

// lostLater stores the ends of runs once there is room on the disk. A thread that was started again meanwhile is
// not interrupted.
func (m *Manager) lostLater(runs []thread.Execution) {
	x := runs[0]
	l := m.line(x.Thread)
	if l == nil { // purged meanwhile
		if len(runs) > 1 {
			m.lostLater(runs[1:])
		}
		return
	}
	l.later(lostAgain, func() {
		store := m.lostRun
		if l.running() != nil {
			store = m.endLost
		}
		if err := store(m.ctx, x); err == nil {
			runs = runs[1:]
		} else if !errors.Is(err, thread.ErrDiskFull) {
			m.cfg.Log.Error("store the end of a run", "thread", string(x.Thread), "err", err)
			runs = runs[1:] // it is named at the next start
		}
		if len(runs) > 0 {
			m.lostLater(runs)
		}
	})
}

// checkInterrupted finds out in the background what can be resumed of the interrupted threads.
func (m *Manager) checkInterrupted() {
	m.mu.Lock()
	var lines []*line
	for _, l := range m.all() {
		if l.t.Interrupted && l.t.Deleted.IsZero() {
			lines = append(lines, l)
		}
	}
	m.mu.Unlock()
	for _, l := range lines {
		l.enqueue(func() { l.prove(m.ctx) })
	}
}

// prove notes what can be resumed of a thread that does not run.
func (l *line) prove(ctx context.Context) {
	l.rec.settle(ctx, l)
	t := l.thread()
	agent, err := l.m.cfg.Agents.Agent(t.Agent)
	var p thread.ResumeProof
	if err != nil {
		p = thread.ResumeProof{Turn: t.Turn, Detail: "agent " + t.Agent + " is not there: " + err.Error()}
	} else {
		p = l.assess(ctx, agent)
	}
	if head, err := l.m.cfg.Store.Checkpoint(ctx, t.Head); err == nil && head.Note == thread.NoteRebuilt {
		p.Rebuilt = true
		p.Detail += fmt.Sprintf("; our record of turn %d was %s", head.Turn, thread.NoteRebuilt)
	}
	p.Detail = strings.TrimSpace(p.Detail)
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	if l.session == nil {
		l.proof = &p
		l.m.show(l)
	}
}
