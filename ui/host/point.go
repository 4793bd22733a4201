package host

// Point is a point of a thread's history, to fork at or rewind to.
type Point struct {
	At string // as in requests; "" is the newest
	// Text describes it, such as "turn 3".
	Text string
	// Inside is set if it is inside a turn, where a conversation cannot be cut.
	Inside bool
}
