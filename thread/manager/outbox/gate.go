package outbox

import (
	"time"

	"orchestrator/thread"
)

// Gate decides whether a prompt may be typed into an agent now.
type Gate struct {
	Running  bool
	Stopping bool // it is being stopped
	Silent   bool // nothing reports what it does
	Limit    time.Time
	State    thread.State
}

// Closed returns why a prompt must wait, for people; "" if it may be typed. Limit is when the provider's limit ends,
// zero without one.
func (g Gate) Closed() string {
	switch {
	case !g.Running:
		return "its agent is not running"
	case g.Stopping:
		return "its agent is being stopped"
	case g.Silent: // its state is unknown
	case !g.Limit.IsZero():
		return "rate limited until " + g.Limit.Local().Format(time.TimeOnly)
	case g.State == thread.StateWorking, g.State == thread.StateSilent:
		return "its agent is working"
	case g.State == thread.StateApproval, g.State == thread.StateQuestion:
		return "its agent is waiting for you"
	}
	return ""
}
