package manager

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

// wayBack is how an agent gets its conversation back.
type wayBack struct {
	how     thread.ResumeHow
	session string // to resume
	resume  bool
	primer  string // the first prompt of a session that starts anew
}

// assess looks for the best way back into a thread's conversation and changes nothing.
func (l *run) assess(ctx context.Context, agent thread.Agent) thread.ResumeProof {
	t := l.thread()
	p := thread.ResumeProof{How: thread.ResumeFresh, Turn: t.Turn, Detail: "nothing was said yet"}
	if l.cfg.Worktrees != nil {
		p.Worktree = l.cfg.Worktrees.Describe(ctx, t.Dir)
		if l.current().Setup.State == thread.SetupUnfinished {
			p.Worktree += ", its setup did not finish"
		}
	}
	if t.Head == "" && t.Turn > 0 { // the store lost its turns
		p.How, p.Detail = thread.ResumePrimer, "our record of its turns is lost"
		if t.Session != "" && !l.sessionTaken(l.id, t.Session) {
			p.How, p.Session = thread.ResumeNative, t.Session
			p.Detail += "; the agent continues in its own session"
		}
		return p
	}
	if t.Head == "" {
		return p
	}
	head, err := l.cfg.Store.Checkpoint(ctx, t.Head)
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
	marks, err := l.cfg.Store.Marks(ctx, t.Head)
	if err != nil {
		marks = nil
		p.Detail = "the stored transcript cannot be read: " + err.Error()
	}
	if l.agentAt(ctx, t, t.Head) == t.Agent && len(marks) > 0 {
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
func (l *run) assessNative(ctx context.Context, agent thread.Agent, t thread.Thread, marks []thread.Mark, p *thread.ResumeProof) bool {
	p.Detail = ""
	v, ok := agent.(thread.Verifier)
	if !ok || t.Session == "" {
		return false
	}
	if l.sessionTaken(l.id, t.Session) {
		p.Detail = "its session belongs to another thread"
		return false
	}
	matched, whole, err := v.Verify(ctx, thread.TranscriptSpec{Session: t.Session, Dir: t.Dir, Env: l.env(t), Marks: marks})
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
func (l *run) wayBack(ctx context.Context, agent thread.Agent) (wayBack, error) {
	p := l.assess(ctx, agent)
	switch p.How {
	case thread.ResumeFresh:
		return wayBack{how: thread.ResumeFresh}, nil
	case thread.ResumeNative:
		return wayBack{how: thread.ResumeNative, session: p.Session, resume: true}, nil
	case thread.ResumeRebuilt:
		session, err := l.rebuild(ctx, agent)
		if err == nil {
			l.recorder.Rewritten()
			return wayBack{how: thread.ResumeRebuilt, session: session, resume: true}, nil
		}
		l.cfg.Log.Warn("rebuild a session", "thread", string(l.id), "err", err)
		l.notice(l.id, thread.LevelWarn, "%s: its transcript could not be written again (%v); the agent gets a summary instead", l.thread().DisplayName(), err)
	case thread.ResumePrimer:
	default:
	}
	text, err := l.handOver(ctx)
	if err != nil {
		return wayBack{}, thread.Hint(err, "its record is damaged; fork the thread at an earlier turn")
	}
	l.recorder.Rewritten()
	return wayBack{how: thread.ResumePrimer, primer: text}, nil
}

// rebuild writes the agent's native session from the stored transcript: the same one where it
// was lost, a new one where the thread has none yet or the agent's files went another way.
func (l *run) rebuild(ctx context.Context, agent thread.Agent) (string, error) {
	t := l.thread()
	files, err := l.cfg.Store.Transcript(ctx, t.Head)
	if err != nil {
		return "", fmt.Errorf("read the stored transcript: %w", err)
	}
	origin, err := l.origin(ctx, t)
	if err != nil {
		return "", err
	}
	spec := thread.RebuildSpec{
		Session: origin.Session, FromDir: origin.Dir, Dir: t.Dir, StateDir: l.stateDir(t.ID), Env: l.env(t), Files: files,
		Answer: l.past.FinalAnswer(ctx, t.Head),
	}
	l.catchUp(ctx, agent, origin, &spec)
	r, ok := agent.(thread.Rebuilder)
	if !ok {
		return "", fmt.Errorf("agent %s cannot: %w", t.Agent, thread.ErrUnsupported)
	}
	if t.Session == "" || t.Session != origin.Session || l.sessionTaken(l.id, t.Session) {
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
	if l.sessionTaken(l.id, session) {
		return "", fmt.Errorf("session %s belongs to another thread: %w", session, thread.ErrInvalid)
	}
	return session, nil
}

// catchUp adds to a session's stored files what its agent wrote of the last answer after they were
// read: agents show an answer before they write it down, on a busy machine by more than we wait.
func (l *run) catchUp(ctx context.Context, agent thread.Agent, origin thread.Thread, spec *thread.RebuildSpec) {
	reader, ok := agent.(thread.Transcriber)
	usage, tells := agent.(thread.UsageReader)
	answer := plaintext.LastLine(spec.Answer)
	if answer == "" || !ok || !tells {
		return
	}
	var stored []thread.Chunk
	var marks []thread.Mark
	for _, f := range spec.Files {
		stored = append(stored, thread.Chunk{File: f.File, Data: f.Data})
		sum := sha256.Sum256(f.Data)
		marks = append(marks, thread.Mark{File: f.File, Size: int64(len(f.Data)), SHA256: hex.EncodeToString(sum[:])})
	}
	if endsWith(usage, stored, answer) {
		return
	}
	late, err := reader.ReadTranscript(ctx, thread.TranscriptSpec{
		Session: origin.Session, Dir: origin.Dir, Env: l.env(origin), Marks: marks, Answer: answer,
	})
	if err != nil || !endsWith(usage, late, answer) {
		l.cfg.Log.Warn("the stored transcript lacks the last answer", "thread", string(l.id), "session", origin.Session, "err", err)
		return
	}
	files := slices.Clone(spec.Files)
	for _, c := range late {
		i := slices.IndexFunc(files, func(f thread.TranscriptFile) bool { return f.File == c.File })
		switch {
		case i < 0 && c.Offset == 0:
			files = append(files, thread.TranscriptFile{File: c.File, Data: c.Data})
		case i >= 0 && c.Offset == int64(len(files[i].Data)):
			files[i].Data = slices.Concat(files[i].Data, c.Data)
		default:
			return // it was written anew: what is stored is what we know
		}
	}
	spec.Files = files
}

// endsWith reports whether the last main response that files tell of holds an answer.
func endsWith(usage thread.UsageReader, chunks []thread.Chunk, answer string) bool {
	all, err := usage.ReadUsage(chunks)
	all = slices.DeleteFunc(all, func(e thread.Exchange) bool { return !e.Main })
	return err == nil && len(all) > 0 && strings.Contains(all[len(all)-1].Text, answer)
}

// origin is where a thread's stored transcript came from: the thread whose agent wrote it, with the
// session it wrote it in.
func (l *run) origin(ctx context.Context, t thread.Thread) (thread.Thread, error) {
	list, err := l.cfg.Store.Lineage(ctx, t.Head, thread.Page{Limit: 1000})
	if err != nil {
		return thread.Thread{}, fmt.Errorf("read where the transcript came from: %w", err)
	}
	for _, c := range list {
		if c.Session == "" {
			continue
		}
		from := t
		if c.Thread != t.ID {
			if l := l.other(c.Thread); l != nil {
				from = l.thread()
			}
		}
		from.Session = c.Session
		return from, nil
	}
	return thread.Thread{}, fmt.Errorf("session of the stored transcript: %w", thread.ErrNotFound)
}

// agentAt returns the agent that wrote the transcript of a checkpoint, "" when nobody knows.
func (l *run) agentAt(ctx context.Context, t thread.Thread, at thread.CheckpointID) string {
	c, err := l.cfg.Store.Checkpoint(ctx, at)
	if err != nil {
		return ""
	}
	if c.Thread == t.ID {
		return t.Agent
	}
	if l := l.other(c.Thread); l != nil {
		return l.thread().Agent
	}
	return ""
}

// prove notes what can be resumed of a thread that does not run.
func (l *run) prove(ctx context.Context) {
	l.recorder.Settle(ctx)
	t := l.thread()
	agent, err := l.cfg.Agents.Agent(t.Agent)
	var p thread.ResumeProof
	if err != nil {
		p = thread.ResumeProof{Turn: t.Turn, Detail: "agent " + t.Agent + " is not there: " + err.Error()}
	} else {
		p = l.assess(ctx, agent)
	}
	if head, err := l.cfg.Store.Checkpoint(ctx, t.Head); err == nil && head.Note == thread.NoteRebuilt {
		p.Rebuilt = true
		p.Detail += fmt.Sprintf("; our record of turn %d was %s", head.Turn, thread.NoteRebuilt)
	}
	p.Detail = strings.TrimSpace(p.Detail)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.session == nil {
		l.proof = &p
		l.show()
	}
}

// newSession returns a random UUID, which is what agents take as a session id.
func newSession() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
