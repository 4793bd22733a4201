package paint

// TurnNow shows the next frame of the spinners at once.
func (w *Writer) TurnNow() {
	if t := w.spinners.next.timer; t != nil {
		t.Stop()
	}
	w.turn()
}
