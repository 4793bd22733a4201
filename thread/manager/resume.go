package manager

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"orchestrator/thread"
	"orchestrator/thread/manager/resume"
)

// resumePlan is how an agent resumes its conversation.
type resumePlan struct {
	how     thread.ResumeHow
	session string // to resume
	resume  bool
	primer  string // the first prompt of a new session
	file    string // that contains it
}

// finder finds ways to resume a conversation.
func (l *run) finder() resume.Finder {
	return resume.Finder{
		Store: l.cfg.Store, Past: l.past, Threads: others{l.index}, Env: l.environs.env, StateDir: l.cfg.stateDir, Places: l.cfg.places, Log: l.cfg.Log,
	}
}

// others are all threads, as the finder sees them.
type others struct{ index *index }

// Thread implements resume.Threads.
func (m others) Thread(id thread.ID) (thread.Thread, bool) {
	if l := m.index.other(id); l != nil {
		return l.thread(), true
	}
	return thread.Thread{}, false
}

// SessionTaken implements resume.Threads.
func (m others) SessionTaken(than thread.ID, session string) (bool, error) {
	return m.index.sessionTaken(than, session)
}

// assess finds the best way to resume a thread's conversation and changes nothing.
func (l *run) assess(ctx context.Context, agent thread.Agent) (thread.ResumeProof, error) {
	t := l.live.thread()
	p, err := l.finder().Assess(ctx, t, agent)
	if err != nil {
		return p, err
	}
	if l.cfg.Worktrees != nil {
		p.Worktree = l.cfg.Worktrees.Describe(ctx, t.Dir)
		if l.live.current().Setup.State == thread.SetupUnfinished {
			p.Worktree += ", setup not finished"
		}
	}
	return p, nil
}

// planResume finds and prepares the best way to resume a thread's conversation. If there is none it returns an error
// rather than a blank session.
func (l *run) planResume(ctx context.Context, agent thread.Agent) (resumePlan, error) {
	l.mend(ctx)
	p, err := l.assess(ctx, agent)
	if err != nil {
		return resumePlan{}, err
	}
	switch p.How {
	case thread.ResumeFresh:
		return resumePlan{how: thread.ResumeFresh}, nil
	case thread.ResumeNative:
		return resumePlan{how: thread.ResumeNative, session: p.Session, resume: true}, nil
	case thread.ResumeRebuilt:
		session, err := l.finder().Rebuild(ctx, l.live.thread(), agent)
		if err == nil {
			l.recorder.Rewritten(ctx, session)
			return resumePlan{how: thread.ResumeRebuilt, session: session, resume: true}, nil
		}
		if errors.Is(err, thread.ErrUnreachable) {
			return resumePlan{}, err
		}
		l.cfg.Log.Warn("rebuild a session", "thread", string(l.live.id), "err", err)
		l.notices.post(l.live.id, thread.LevelWarn,
			"%s: its session could not be rebuilt (%v); the agent gets a summary instead",
			l.live.thread().DisplayName(), err)
	case thread.ResumePrimer:
	default:
	}
	text, file, err := l.writeHandoff(ctx)
	if err != nil {
		return resumePlan{}, thread.Hint(err, "the stored conversation is damaged; fork the thread at an earlier turn")
	}
	l.recorder.Rewritten(ctx, "")
	return resumePlan{how: thread.ResumePrimer, primer: text, file: file}, nil
}

// prove records how a thread that does not run can be resumed.
func (l *run) prove(ctx context.Context) {
	l.recorder.Settle(ctx)
	l.mend(ctx)
	t := l.live.thread()
	agent, err := l.cfg.Agents.Agent(t.Agent)
	p := thread.ResumeProof{Turn: t.Turn}
	if err != nil {
		p.Detail = "agent " + t.Agent + " is not available: " + err.Error()
	} else if p, err = l.assess(ctx, agent); err != nil {
		p = thread.ResumeProof{Turn: t.Turn, Detail: "it is not known how it goes on: " + err.Error()}
	}
	if head, err := l.cfg.Store.Checkpoint(ctx, t.Head); err == nil && head.Note == thread.NoteRebuilt {
		p.Rebuilt = true
		p.Detail += fmt.Sprintf("; turn %d was %s", head.Turn, thread.NoteRebuilt)
	}
	p.Detail = strings.TrimSpace(p.Detail)
	l.live.mu.Lock()
	defer l.live.mu.Unlock()
	if l.live.session == nil {
		l.live.proof = &p
		l.live.show()
	}
}
