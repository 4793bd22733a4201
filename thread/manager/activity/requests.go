package activity

// Requests counts an agent's main requests to its model, from the start of one until its answer is durable. The zero
// Requests has seen none.
type Requests struct {
	begun    int
	inFlight int    // have not ended
	arrived  int    // answers that nothing was done about yet
	unstored int    // answers and polls that are not durable yet
	failure  string // of the newest one
}

// Begin counts one that has started.
func (r *Requests) Begin() {
	r.begun++
	r.inFlight++
	r.failure = ""
}

// End counts one that has ended, with an answer or without.
func (r *Requests) End(answered bool) {
	r.inFlight = max(0, r.inFlight-1)
	if answered {
		r.unstored++
		r.arrived++
	}
}

// Fail remembers how a request failed, where it is the newest: begun is Begun at its end.
func (r *Requests) Fail(begun int, how string) {
	if r.begun == begun {
		r.failure = how
	}
}

// Forget forgets how the newest request failed: a new run begins.
func (r *Requests) Forget() { r.failure = "" }

// Take counts an answer that is being recorded.
func (r *Requests) Take() { r.arrived-- }

// Await counts an answer that is to be stored and came by no request of ours.
func (r *Requests) Await() { r.unstored++ }

// Store counts answers that are durable, and reports whether all are.
func (r *Requests) Store(n int) (all bool) {
	r.unstored -= n
	return r.unstored == 0
}

// Begun is how many have started.
func (r *Requests) Begun() int { return r.begun }

// InFlight reports whether one has not ended.
func (r *Requests) InFlight() bool { return r.inFlight > 0 }

// Waiting reports whether nothing was done yet about an answer.
func (r *Requests) Waiting() bool { return r.arrived > 0 }

// Unstored reports whether an answer is not durable.
func (r *Requests) Unstored() bool { return r.unstored > 0 }

// Quiet reports whether all have ended and all answers are durable.
func (r *Requests) Quiet() bool { return r.inFlight == 0 && r.arrived == 0 && r.unstored == 0 }

// Failure says how the newest one failed, "" where it did not.
func (r *Requests) Failure() string { return r.failure }
