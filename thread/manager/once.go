package manager

import (
	"cmp"
	"fmt"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/budget"
	"orchestrator/thread/grant"
	exec "orchestrator/thread/work"
)

// longest is the longest deadline of a run.
const longest = 7 * 24 * time.Hour

// checkOnce rejects what cannot be run without a terminal, before anything is created for it.
func checkOnce(cfg *Config, agent, model string, o thread.Once, prompt, name string) error {
	if err := budget.Check(o.Budget); err != nil {
		return err
	}
	if o.Group != "" {
		if err := budget.CheckGroup(o.Group); err != nil {
			return err
		}
	}
	if !o.On {
		return nil
	}
	a, err := cfg.Agents.Agent(agent)
	if err != nil {
		return err
	}
	switch _, can := a.(thread.Headless); {
	case cfg.Runs.Store == nil:
		return thread.Kindf(thread.ErrUnsupported, "this server runs no agents without a terminal")
	case !can:
		return noHeadless(agent)
	case o.Asks != "" && o.Asks != thread.AsksPerson && o.Asks != thread.AsksNobody:
		return thread.Hint(thread.Kindf(thread.ErrInvalid, "%q is not known for what a run asks", thread.Excerpt(string(o.Asks))), "take wait or refuse")
	case o.Deadline < 0 || o.Deadline > longest:
		return thread.Kindf(thread.ErrInvalid, "a deadline of %s: it must be at most %s", o.Deadline, span(longest))
	}
	if err := checkAsk(prompt); err != nil {
		return fmt.Errorf("the prompt of a run: %w", err)
	}
	if err := exec.CheckCaps(o.Caps); err != nil {
		return err
	}
	if name != "" {
		if err := exec.CheckName(name); err != nil {
			return err
		}
	}
	if err := exec.CheckOnFail(exec.OnFail(o.OnFail)); err != nil {
		return err
	}
	if err := checkFallback(cfg, o.Fallback, agent, model); err != nil {
		return err
	}
	return exec.CheckRules(cmp.Or(exec.Policy(o.Lost), exec.PolicyAsk), disposal(o, exec.DisposeKeep))
}

// checkFallback refuses what cannot take the place of an agent that runs without a terminal.
func checkFallback(cfg *Config, fallback, agent, model string) error {
	if err := exec.CheckFallback(fallback, agent, model); err != nil {
		return err
	}
	if _, is := exec.FallbackModel(fallback); is || fallback == "" || fallback == exec.NoFallback {
		return nil
	}
	other, err := cfg.Agents.Agent(fallback)
	if err != nil {
		return fmt.Errorf("the fallback: %w", err)
	}
	if _, can := other.(thread.Headless); !can {
		return fmt.Errorf("the fallback: %w", noHeadless(fallback))
	}
	return nil
}

// below returns the grants of a run that a thread's agent asks for: only to start others, one level less deep.
func below(m *registry, by thread.ID, o thread.Once) []thread.Grant {
	if by == "" || !o.On {
		return nil
	}
	l := m.run(by)
	if l == nil {
		return nil
	}
	return grant.Below(l.live.thread().Grants)
}

// noHeadless is the error for an agent that works in a terminal only.
func noHeadless(agent string) error {
	return thread.Hint(thread.Kindf(thread.ErrUnsupported, "%s cannot run without a terminal", agent),
		"start it with `orchestrator new`")
}

// disposal is what becomes of a thread's worktree; "keep" stands for none where another one is configured.
func disposal(o thread.Once, configured exec.Disposal) exec.Disposal {
	switch o.Dispose {
	case "":
		return configured
	case "keep":
		return exec.DisposeKeep
	default:
		return exec.Disposal(o.Dispose)
	}
}
