package activity

// Requests counts an agent's main requests to its model, each from its start until its answer is durable. The zero
// value has seen none.
type Requests struct {
	begun    int
	inFlight int    // not ended yet
	arrived  int    // answers not recorded yet
	unstored int    // answers and polls that are not durable yet
	failure  string // of the newest request
}

// Begin counts a request that started.
func (r *Requests) Begin() {
	r.begun++
	r.inFlight++
	r.failure = ""
}

// End counts a request that ended, with or without an answer.
func (r *Requests) End(answered bool) {
	r.inFlight = max(0, r.inFlight-1)
	if answered {
		r.unstored++
		r.arrived++
	}
}

// Fail records how a request failed if it is the newest; begun is Begun at its end.
func (r *Requests) Fail(begun int, how string) {
	if r.begun == begun {
		r.failure = how
	}
}

// Forget clears the failure of the newest request when a new run begins.
func (r *Requests) Forget() { r.failure = "" }

// Take counts an answer that is now being recorded.
func (r *Requests) Take() { r.arrived-- }

// Await counts an answer to be stored that did not come through a request of ours.
func (r *Requests) Await() { r.unstored++ }

// Store counts answers that are now durable, and reports whether all are.
func (r *Requests) Store(n int) (all bool) {
	r.unstored -= n
	return r.unstored == 0
}

// Begun returns how many requests have started.
func (r *Requests) Begun() int { return r.begun }

// InFlight reports whether a request has not ended.
func (r *Requests) InFlight() bool { return r.inFlight > 0 }

// Waiting reports whether an answer has not been recorded.
func (r *Requests) Waiting() bool { return r.arrived > 0 }

// Unstored reports whether an answer is not durable.
func (r *Requests) Unstored() bool { return r.unstored > 0 }

// Quiet reports whether all requests have ended and all answers are durable.
func (r *Requests) Quiet() bool { return r.inFlight == 0 && r.arrived == 0 && r.unstored == 0 }

// Failure returns how the newest request failed, "" if it did not.
func (r *Requests) Failure() string { return r.failure }
