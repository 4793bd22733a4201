package paint

import "time"

// A program that hides its cursor moves it about while it draws a frame, which may come in pieces, and leaves it at its
// input. So a hidden cursor is moved once it rests.
const (
	// parkDelay is how long it must rest.
	parkDelay = 30 * time.Millisecond
	// parkLimit is how long it stays where it was at most.
	parkLimit = 250 * time.Millisecond
)

// drift is where a hidden cursor is that has left its place.
type drift struct {
	x, y        int
	left, since time.Time // when it left its place, and since when it is where it is; left is zero while it is in its place
	timer       *time.Timer
}

func (d *drift) stop() {
	if d.timer != nil {
		d.timer.Stop()
	}
	*d = drift{}
}
