package servers

// loads decides when something is loaded: only one request at a time, and again if it got out of date meanwhile.
type loads struct {
	stale, flying bool
	valid         int // answers to requests before this number are of no use
}

// again notes that what is loaded is out of date.
func (l *loads) again() { l.stale = true }

// discard says so too, and that an answer on its way is of no use.
func (l *loads) discard() {
	l.stale = true
	l.valid++
}

// begin reports whether to load, and returns the number of the request.
func (l *loads) begin() (n int, ok bool) {
	if !l.stale || l.flying {
		return 0, false
	}
	l.stale, l.flying = false, true
	return l.valid, true
}

// end ends a request, and reports whether its answer is of use.
func (l *loads) end(n int) bool {
	l.flying = false
	return n == l.valid
}
