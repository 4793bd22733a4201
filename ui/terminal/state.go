package terminal

// State is the state of the attachment.
type State uint8

// The states.
const (
	Idle      State = iota // no thread
	Attaching              // requested, nothing received yet
	Live
	Ended  // the program has ended; its last screen stays
	Failed // the connection failed; Err says why
)

// String returns the name of the state.
func (s State) String() string {
	return [...]string{"idle", "attaching", "live", "ended", "failed"}[min(s, Failed)]
}
