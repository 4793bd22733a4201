package masking

// count is what the provider counted for the last main request that it answered, beside what was estimated for the same
// one: a later one is estimated by how its estimate differs. What others can see of it is stored.
type count struct {
	Input, Estimate int64 // 0 if nothing was counted
	Items           int

	answered int64 // with the answer
	request  int   // its number
}

// forget forgets what was counted: it says nothing about another session of the agent.
func (c *count) forget() { *c = count{request: c.request} }

// recall takes over what was counted before this process started, if a request of so many items goes on from there.
// Without it, what is only estimated may seem to fill the window.
func (c *count) recall(was count, items int) {
	if c.Input == 0 && was.Items <= items {
		c.Input, c.Estimate, c.Items = was.Input, was.Estimate, was.Items
	}
}

// context returns how many tokens a request has that is estimated to have so many.
func (c *count) context(estimate int64) int64 {
	if c.Input == 0 {
		return estimate
	}
	return max(0, c.Input+estimate-c.Estimate)
}

// added returns how many tokens a request adds to the one before, 0 if that is unknown.
func (c *count) added(estimate int64) int64 {
	if c.Input == 0 {
		return 0
	}
	return max(0, estimate-c.Estimate)
}

// aloneMargin is by how much the size of a whole conversation can be wrong of which the provider has counted nothing: what
// was learned of others says little about it.
const aloneMargin = 0.3

// margin returns the relative error of what context returns, if others were wrong by as much as learned.
func (c *count) margin(learned float64) float64 {
	if c.Input == 0 {
		return max(learned, aloneMargin)
	}
	return learned
}

// ratio returns how many tokens the provider counts for one that is estimated.
func (c *count) ratio() float64 {
	if c.Input <= 0 || c.Estimate <= 0 {
		return 1
	}
	return float64(c.Input) / float64(c.Estimate)
}

// precedes reports whether the request with a number comes next after the one that was counted.
func (c *count) precedes(request int) bool {
	return c.answered != 0 && request != 0 && request == c.request+1
}

// window is how large a context may be.
type window struct {
	tokens int64 // 0 if that is unknown
	// exceeded is set if the provider answered a request for which it counted more: a count or the window is wrong.
	exceeded bool
}
