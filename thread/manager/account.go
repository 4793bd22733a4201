package manager

import (
	"context"

	"orchestrator/thread"
	exec "orchestrator/thread/work"
)

// account names the login that would pay for an execution of a thread that starts now, "" if that is not known. What is
// in the way of that, is in the way of its start, too, which tells of it.
func account(l *run) string {
	t := l.live.thread()
	agent, err := l.cfg.Agents.Agent(t.Agent)
	if err != nil {
		return ""
	}
	namer, can := agent.(thread.AccountNamer)
	if !can {
		return ""
	}
	spec := thread.LaunchSpec{
		Thread: t.ID, Dir: t.Dir, Origin: origin(l, t), Env: l.environs.env(t), Flags: t.Launch, Model: modelOf(l, t), Once: t.Once,
	}
	name, err := namer.Account(worldSpec(t, spec))
	if err != nil {
		l.cfg.Log.Debug("look which login pays", "thread", string(t.ID), "err", err)
		return ""
	}
	return name
}

// otherAccount reports whether another login pays for a queued execution than it was queued with, as the person has
// signed in since, or the environment that they brought went with the server. It is stored then, and decided again by the
// limits of that one.
func otherAccount(ctx context.Context, l *run, x exec.Execution) (bool, error) {
	now := account(l)
	if now == "" || now == x.Account {
		return false, nil
	}
	_, err := l.open.change(ctx, x.ID, x.Fence, func(x *exec.Execution) error {
		x.Account = now
		return nil
	})
	return err == nil, err
}
