package host

// Point is where a fork begins or a rewind ends.
type Point struct {
	At string // as requests name it; empty is the newest
	// Text says it for people: "turn 3".
	Text string
	// Inside is set where a turn had not ended: a conversation cannot be cut there.
	Inside bool
}
