package wave

import (
	"time"

	"orchestrator/thread"
	"orchestrator/thread/plan"
	"orchestrator/thread/work"
)

// Sum is a task as lists show it: how far it is, without what each of its agents does.
type Sum struct {
	Task   plan.Task              `json:"task"` // without its plan document
	Agents int                    `json:"agents"`
	Done   int                    `json:"done"` // of them: handed over, or left out by policy
	States map[plan.NodeState]int `json:"states"`
	Usage  thread.Usage           `json:"usage"`
	Wall   time.Duration          `json:"wall"`
	Stale  int                    `json:"stale,omitempty"`
	Stalls int                    `json:"stalls,omitempty"`
	// Open is what a person is asked.
	Open []thread.NodeQuestion `json:"open,omitempty"`
}

// SumOf returns a task as lists show it, of the same as ViewOf.
func SumOf(t plan.Task, nodes []plan.Node, execs []work.Execution, now time.Time) Sum {
	t.Plan = nil
	s := Sum{Task: t, States: map[plan.NodeState]int{}, Usage: sumOf(execs), Wall: span(t.Started, t.Ended, now)}
	for _, n := range nodes {
		if n.State == plan.NodeAsking {
			s.Open = append(s.Open, questionOf(t, n))
		}
		if n.Gate {
			continue
		}
		s.Agents++
		s.States[n.State]++
		if n.State == plan.NodeDelivered || n.State == plan.NodeSkipped {
			s.Done++
		}
		if n.Stale {
			s.Stale++
		}
		if n.Stalled != "" && n.State == plan.NodeWorking {
			s.Stalls++
		}
	}
	return s
}

func questionOf(t plan.Task, n plan.Node) thread.NodeQuestion {
	return thread.NodeQuestion{Task: t.Name, Title: t.Title, Agent: n.Agent, Asks: string(n.Asks), Text: n.Question, Since: n.Asked}
}
