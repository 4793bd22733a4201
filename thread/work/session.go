package work

import (
	"encoding/json"
	"time"

	"orchestrator/thread"
)

// Phase is where a work session stands: 1 to 5, 0 before the first.
type Phase int

// The phases.
const (
	PhaseAnalyze Phase = iota + 1
	PhasePlan
	PhaseExecute
	PhaseValidate
	PhaseConfirm
)

// String returns the phase's word, "" if there is none.
func (p Phase) String() string {
	words := []string{"", "analyze", "plan", "execute", "validate", "confirm"}
	if p < 0 || int(p) >= len(words) {
		return ""
	}
	return words[p]
}

// SessionStatus is the state of a work session.
type SessionStatus string

// The states of work sessions. The last three are final.
const (
	SessionPlanning  SessionStatus = "planning"  // phases 1 and 2
	SessionExecuting SessionStatus = "executing" // phases 3 to 5, or something of it has begun
	SessionCompleted SessionStatus = "completed"
	SessionFailed    SessionStatus = "failed"
	SessionCancelled SessionStatus = "cancelled"
)

// Final reports whether nothing is added to a work session any more.
func (s SessionStatus) Final() bool {
	return s == SessionCompleted || s == SessionFailed || s == SessionCancelled
}

// Approval says who agrees before a work session spends money.
type Approval string

// The approvals.
const (
	ApproveManual  Approval = "manual"  // a person starts each execution
	ApproveSuggest Approval = "suggest" // what is proposed begins once a person agrees; the usual one
	ApproveAuto    Approval = "auto"    // what is proposed begins by itself, within the budget
)

// Session is a work session: what a piece of work is for. It is no conversation of an agent, which is called its session.
// Times are in UTC. In JSON it has the names of the view "sessions", and more.
type Session struct {
	Name     string          `json:"session_id"` // unique in the project for good: the person's choice, or work-001
	Created  time.Time       `json:"created_at"`
	Scope    string          `json:"scope"` // what it is for, in a line or some
	Phase    Phase           `json:"phase"`
	Status   SessionStatus   `json:"status"`
	Metadata json.RawMessage `json:"metadata,omitempty"` // an object

	Approval Approval `json:"policy"`
	// Budget is what all of it may spend, and WarnAt the part at which a person is warned; 0.75 if 0.
	Budget    thread.Budget `json:"budget,omitzero"`
	WarnAt    float64       `json:"warn_at,omitempty"`
	Updated   time.Time     `json:"updated_at"`
	Completed time.Time     `json:"completed_at,omitzero"`
	// By is the thread whose agent made it, "" for a person. Host and User are where that was.
	By   thread.ID `json:"recorded_by,omitempty"`
	Host string    `json:"host,omitempty"`
	User string    `json:"user,omitempty"`
}

// At moves a work session to a phase, and its state with it. One of which something has begun goes on executing.
func (s *Session) At(p Phase, begun bool) error {
	if p < PhaseAnalyze || p > PhaseConfirm {
		return thread.Hint(thread.Kindf(thread.ErrInvalid, "there is no phase %d", int(p)), "phases are 1 analyze, 2 plan, 3 execute, 4 validate, 5 confirm")
	}
	if err := s.Open(); err != nil {
		return err
	}
	s.Phase, s.Status = p, SessionPlanning
	if p >= PhaseExecute || begun {
		s.Status = SessionExecuting
	}
	return nil
}

// Begin is called before an execution of a work session begins, or is written down: it executes from then on. One that is
// over is refused with thread.ErrRefused.
func (s *Session) Begin() error {
	if err := s.Open(); err != nil {
		return err
	}
	s.Phase, s.Status = max(s.Phase, PhaseExecute), SessionExecuting
	return nil
}

// End ends a work session. One that is completed has been through all phases.
func (s *Session) End(status SessionStatus, at time.Time) error {
	if !status.Final() {
		return thread.Hint(thread.Kindf(thread.ErrInvalid, "a work session does not end as %q", thread.Excerpt(string(status))), "take completed, failed or cancelled")
	}
	if err := s.Open(); err != nil {
		return err
	}
	if status == SessionCompleted {
		s.Phase = PhaseConfirm
	}
	if at.Before(s.Created) {
		at = s.Created // the clock was set back
	}
	s.Status, s.Completed = status, at
	return nil
}

// Open returns thread.ErrRefused for a work session that has ended: nothing is added to it.
func (s *Session) Open() error {
	if !s.Status.Final() {
		return nil
	}
	return thread.Hint(thread.Kindf(thread.ErrRefused, "the work session %s is %s since %s: nothing is added to it any more", s.Name, s.Status,
		s.Completed.Local().Format(time.DateTime)), "begin another: orchestrator session init \"...\"")
}

// Admits reports whether the agent of a thread may add to a work session, and sees it: one that it has made itself, or the
// one that its thread belongs to, since that was started in it. own is the name of the latter, "" for none.
func (s Session) Admits(by thread.ID, own string) bool {
	return by != "" && (s.By == by || own != "" && s.Name == own)
}

// SessionQuery selects work sessions.
type SessionQuery struct {
	Statuses []SessionStatus // none for all
	By       thread.ID       // only of this thread's agent; "" for all
	Before   string          // only older ones than this; "" for the newest
	Limit    int             // 0 means 100; at most 1000
}

// TaskStatus is the state of a task.
type TaskStatus string

// The states of tasks.
const (
	TaskPending    TaskStatus = "pending"
	TaskInProgress TaskStatus = "in_progress"
	TaskComplete   TaskStatus = "complete"
	TaskFailed     TaskStatus = "failed"
	TaskCancelled  TaskStatus = "cancelled"
)

// Task is a part of a work session. Its title identifies it there.
type Task struct {
	Session string     `json:"session_id"`
	Title   string     `json:"title"`
	Body    string     `json:"body,omitempty"`
	Status  TaskStatus `json:"status"`
	Created time.Time  `json:"created_at"`
	Updated time.Time  `json:"updated_at"`
	By      thread.ID  `json:"recorded_by,omitempty"`
}
