package plan

// Known is how much a watch knows.
func Known(w *Watch) int { return len(w.asks) + len(w.open) + len(w.rows) }
