package wave

import (
	"context"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/budget"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/plan"
	"orchestrator/thread/secret"
	"orchestrator/thread/work"
)

// begins is the change that begins another round of a node.
func begins(n *plan.Node, given map[string]int) {
	n.Round++
	n.Fence++
	n.State, n.Reason, n.Given = plan.NodeWorking, "", given
	n.Execution, n.Exec, n.Thread, n.Repaired, n.Stalled = "", "", "", false, ""
	n.Question, n.Asks, n.Stale, n.Ended = "", "", false, time.Time{}
}

// waits is the change that has a node wait for another round.
func waits(n *plan.Node) {
	n.Fence++
	n.State, n.Reason, n.Ended = plan.NodeWaiting, "", time.Time{}
	n.Asks, n.Answered, n.Stalled, n.Without = "", "", "", nil
	if !n.Gate { // a gate asks the same again
		n.Question = ""
	}
}

// reason is an error as a node's reason, in one line.
func reason(err error) string { return plaintext.OneLine(secret.Redact(err.Error()), 300) }

// budgetOf reads a budget as plans have it.
func budgetOf(text string) (thread.Budget, error) {
	if text == "" {
		return thread.Budget{}, nil
	}
	return budget.Parse(text)
}

// limit has all of a task's runs share its budget.
func (c Config) limit(ctx context.Context, t plan.Task) error {
	b, err := budgetOf(t.Plan.Budget)
	if err != nil || !b.Set() {
		return err
	}
	return c.Runs.Budget(ctx, t.Name, b)
}

// stopped reports whether a node was stopped: its run is to end, whatever becomes of it by then.
func stopped(n plan.Node) bool {
	return n.State == plan.NodeCancelled || n.State == plan.NodeFailed && n.Stalled != ""
}

// leftOver reports whether an execution is of a round that was over before it began to matter: a crash has left it.
func leftOver(n plan.Node, x work.Execution) bool {
	if x.State.Final() || x.Part.Round == 0 || x.Part.Round == n.Round && !stopped(n) {
		return false
	}
	over := n.Ended
	if x.Part.Round != n.Round {
		over = n.Started
	}
	return x.Part.Round <= n.Round && !over.IsZero() && x.Created.Before(over)
}

// yesNo is an answer as it is kept.
func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}
