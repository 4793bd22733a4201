package manager

import (
	"context"
	"fmt"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/manager/resume"
)

// wayBack is how an agent gets its conversation back.
type wayBack struct {
	how     thread.ResumeHow
	session string // to resume
	resume  bool
	primer  string // the first prompt of a session that starts anew
}

// finder looks for ways back.
func (l *run) finder() resume.Finder {
	return resume.Finder{
		Store: l.cfg.Store, Past: l.past, Threads: others{l.roll}, Env: l.env, StateDir: l.stateDir, Log: l.cfg.Log,
	}
}

// others are all threads, as the finder sees them.
type others struct{ *roll }

// Thread implements resume.Threads.
func (m others) Thread(id thread.ID) (thread.Thread, bool) {
	if l := m.other(id); l != nil {
		return l.thread(), true
	}
	return thread.Thread{}, false
}

// SessionTaken implements resume.Threads.
func (m others) SessionTaken(than thread.ID, session string) bool {
	return m.sessionTaken(than, session)
}

// assess looks for the best way back into the thread's conversation and changes nothing.
func (l *run) assess(ctx context.Context, agent thread.Agent) thread.ResumeProof {
	t := l.thread()
	p := l.finder().Assess(ctx, t, agent)
	if l.cfg.Worktrees != nil {
		p.Worktree = l.cfg.Worktrees.Describe(ctx, t.Dir)
		if l.current().Setup.State == thread.SetupUnfinished {
			p.Worktree += ", its setup did not finish"
		}
	}
	return p
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
		session, err := l.finder().Rebuild(ctx, l.thread(), agent)
		if err == nil {
			l.recorder.Rewritten()
			return wayBack{how: thread.ResumeRebuilt, session: session, resume: true}, nil
		}
		l.cfg.Log.Warn("rebuild a session", "thread", string(l.id), "err", err)
		l.notice(l.id, thread.LevelWarn,
			"%s: its transcript could not be written again (%v); the agent gets a summary instead",
			l.thread().DisplayName(), err)
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
