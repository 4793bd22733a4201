package work

// Named is a check with what it says.
type Named struct {
	Name    string
	Verdict Verdict
}

// Checks returns what checks say that have said something, in the order in which they run.
func (v *Validation) Checks() []Named {
	if v == nil {
		return nil
	}
	var out []Named
	for _, name := range CheckNames() {
		if at := v.verdict(name); at != nil && *at != "" {
			out = append(out, Named{name, *at})
		}
	}
	return out
}

// Failed reports whether a check failed.
func (v *Validation) Failed() bool {
	for _, c := range v.Checks() {
		if c.Verdict == Fail {
			return true
		}
	}
	return false
}

// Passed reports whether a check passed and none failed.
func (v *Validation) Passed() bool {
	passed := false
	for _, c := range v.Checks() {
		passed = passed || c.Verdict == Pass
	}
	return passed && !v.Failed()
}
