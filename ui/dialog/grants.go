package dialog

import (
	"slices"

	"orchestrator/thread"
	"orchestrator/thread/grant"
)

// Granted is the result of the grants dialog: what was changed in it.
type Granted struct {
	ID          thread.ID
	Add, Remove []thread.Grant
}

// DialogResult marks it.
func (Granted) DialogResult() {}

// NewGrants makes the dialog that shows and changes what a thread's agent may do beyond looking at its own thread.
func NewGrants(s *thread.Status) *Form {
	was := slices.Clone(s.Grants)
	all := grant.All()
	inputs := make([]*Input, len(all))
	for i, m := range all {
		inputs[i] = yesNo(string(m.Grant), slices.Contains(was, m.Grant), m.May)
	}
	return NewForm("grants of "+s.DisplayName(), func() (Result, string) {
		r := Granted{ID: s.ID}
		for i, m := range all {
			switch had := slices.Contains(was, m.Grant); {
			case inputs[i].on() && !had:
				r.Add = append(r.Add, m.Grant)
			case !inputs[i].on() && had:
				r.Remove = append(r.Remove, m.Grant)
			}
		}
		return r, ""
	}, inputs...)
}
