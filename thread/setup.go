package thread

// SetupState is how far the setup of a thread's worktree is.
type SetupState string

// The states. Of a worktree that is ready there is none.
const (
	SetupRuns   SetupState = "running"
	SetupFailed SetupState = "failed"
	// SetupUnfinished is that of one that was running when its server ended. It is never stored: what is stored as
	// running, and is not, is unfinished.
	SetupUnfinished SetupState = "unfinished"
)

// Setup says how far the setup of a worktree is.
type Setup struct {
	State  SetupState `json:"state,omitempty"`
	Detail string     `json:"detail,omitempty"` // why it failed
}
