package resume

import (
	"context"
	"errors"
	"fmt"

	"orchestrator/thread"
)

// Assess finds the best way to resume a thread's conversation and changes nothing. While the store does not tell what that
// depends on it is an error: a worse way is not taken for that.
func (f Finder) Assess(ctx context.Context, t thread.Thread, agent thread.Agent) (thread.ResumeProof, error) {
	p := thread.ResumeProof{How: thread.ResumeFresh, Turn: t.Turn, Detail: "no turns yet"}
	taken, err := f.Threads.SessionTaken(t.ID, t.Session)
	if err != nil {
		return p, fmt.Errorf("find out whose the session is: %w", err)
	}
	if t.Head == "" && t.Turn > 0 { // the store lost its turns
		p.How, p.Detail = thread.ResumePrimer, "the stored turns are lost"
		if t.Session != "" && !taken {
			p.How, p.Session = thread.ResumeNative, t.Session
			p.Detail += "; the agent continues in its own session"
		}
		return p, nil
	}
	if t.Head == "" {
		if t.Once.On && !taken && f.begun(ctx, t, agent) {
			p.How, p.Session, p.Detail = thread.ResumeNative, t.Session, "no turn has ended; the agent continues in its own session"
		}
		return p, nil
	}
	head, err := f.Store.Checkpoint(ctx, t.Head)
	if errors.Is(err, thread.ErrUnreachable) {
		return p, err
	}
	if err == nil && !head.Whole() {
		p.Incomplete = fmt.Sprintf("turn %d was cut off", head.Turn)
		if head.Interrupted {
			p.Incomplete += " in the middle of an answer"
		}
	}
	if t.Handoff != nil && t.Handoff.Fresh && t.Head == t.ForkPoint {
		p.How, p.Detail = thread.ResumePrimer, "starts with an empty context and a summary of the conversation"
		return p, nil
	}
	marks, err := f.Store.Marks(ctx, t.Head)
	if errors.Is(err, thread.ErrUnreachable) {
		return p, err
	}
	if err != nil {
		marks = nil
		p.Detail = "the stored transcript cannot be read: " + err.Error()
	}
	if f.agentAt(ctx, t, t.Head) == t.Agent && len(marks) > 0 {
		if ok := f.assessNative(ctx, agent, t, taken, marks, &p); ok {
			return p, nil
		}
		if err == nil && head.Thread != t.ID {
			p.Detail = "" // a fork without turns of its own: its session was written from the parent's record
		}
		if _, ok := agent.(thread.Rebuilder); ok {
			var size int64
			for _, m := range marks {
				size += m.Size
			}
			why := p.Detail
			p.How, p.Bytes = thread.ResumeRebuilt, size
			p.Detail = fmt.Sprintf("the session will be rebuilt from the stored transcript (%s)", thread.Bytes(size))
			if t.Session != "" && why != "" {
				p.Detail = why + "; " + p.Detail
			}
			return p, nil
		}
	}
	p.How = thread.ResumePrimer
	p.Detail = "the agent gets a summary of the stored conversation"
	return p, nil
}

// begun reports whether the agent has written something of a thread's session, of which nothing is stored: it was stopped
// in its first turn.
func (f Finder) begun(ctx context.Context, t thread.Thread, agent thread.Agent) bool {
	reader, can := agent.(thread.Transcriber)
	if !can || t.Session == "" {
		return false
	}
	chunks, err := reader.ReadTranscript(ctx, thread.TranscriptSpec{Session: t.Session, Dir: t.Dir, Env: f.Env(t)})
	return err == nil && len(chunks) > 0
}

// assessNative checks the agent's own transcript.
func (f Finder) assessNative(
	ctx context.Context, agent thread.Agent, t thread.Thread, taken bool, marks []thread.Mark, p *thread.ResumeProof,
) bool {
	p.Detail = ""
	v, ok := agent.(thread.Verifier)
	if !ok || t.Session == "" {
		return false
	}
	if taken {
		p.Detail = "its session belongs to another thread"
		return false
	}
	spec := thread.TranscriptSpec{Session: t.Session, Dir: t.Dir, Env: f.Env(t), Marks: marks}
	matched, whole, err := v.Verify(ctx, spec)
	switch {
	case errors.Is(err, thread.ErrElsewhere):
		p.Detail = "the agent's session names the folder where the project was"
		return false
	case err != nil:
		p.Detail = "the agent's transcript cannot be read: " + err.Error()
		return false
	case !whole:
		p.Detail = fmt.Sprintf("the agent's transcript differs from the stored one after %d bytes", matched)
		return false
	}
	p.How, p.Session, p.Bytes = thread.ResumeNative, t.Session, matched
	p.Detail = fmt.Sprintf("✓ verified (%s)", thread.Bytes(matched))
	return true
}

// agentAt returns the agent that wrote the transcript of a checkpoint, "" if unknown.
func (f Finder) agentAt(ctx context.Context, t thread.Thread, at thread.CheckpointID) string {
	c, err := f.Store.Checkpoint(ctx, at)
	if err != nil {
		return ""
	}
	if c.Thread == t.ID {
		return t.Agent
	}
	if o, known := f.Threads.Thread(c.Thread); known {
		return o.Agent
	}
	return ""
}
