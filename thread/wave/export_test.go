package wave

// Held is how many tasks are in memory.
func (w *Waves) Held() int {
	w.engine.mu.Lock()
	defer w.engine.mu.Unlock()
	return len(w.engine.tasks)
}
