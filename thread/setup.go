package thread

// SetupState is the state of the setup of a thread's worktree.
type SetupState string

// The states. A worktree that is ready has none.
const (
	SetupRuns   SetupState = "running"
	SetupFailed SetupState = "failed"
	// SetupUnfinished is that of a setup that was running when its server ended. It is never stored: one that is stored as
	// running, and is not running, is unfinished.
	SetupUnfinished SetupState = "unfinished"
)

// Setup is the state of a worktree's setup.
type Setup struct {
	State  SetupState `json:"state,omitempty"`
	Detail string     `json:"detail,omitempty"` // why it failed
}
