package terminal

// State is the state of the attachment.
type State uint8

// The states.
const (
	Idle      State = iota // no thread
	Attaching              // asked for, nothing has come yet
	Live
	Ended  // the program has ended; its last screen stays
	Failed // the connection broke or never was; Err tells why
)

// String names the state.
func (s State) String() string {
	return [...]string{"idle", "attaching", "live", "ended", "failed"}[min(s, Failed)]
}
