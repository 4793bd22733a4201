package recording

import "testing"

func TestPhaseAfter(t *testing.T) {
	for _, tc := range []struct {
		ends, interrupted, unread bool
		want                      phase
		open                      bool
	}{
		{true, false, false, phaseEnded, false},
		{true, false, true, phaseLeft, false},
		{false, false, false, phaseRunning, true},
		{false, false, true, phaseRunning, true},
		{true, true, false, phaseCut, true}, // an answer that was cut off ends no turn
		{false, true, false, phaseCut, true},
		{true, true, true, phaseCut, true},
	} {
		got := phaseAfter(tc.ends, tc.interrupted, tc.unread)
		if got != tc.want || got.open() != tc.open {
			t.Errorf("after ends %v, interrupted %v, unread %v: %d, open %v; want %d, %v",
				tc.ends, tc.interrupted, tc.unread, got, got.open(), tc.want, tc.open)
		}
	}
	if phaseOf(true) != phaseEnded || phaseOf(false) != phaseCut {
		t.Error("a stored turn has ended when it is whole, and was cut off when it is not")
	}
}

func TestPhaseBegins(t *testing.T) {
	for _, tc := range []struct {
		name                        string
		spoke, changed, asked, ours bool
		begins                      map[phase]bool // in the phases named; in no other
	}{
		{name: "nothing new"},
		{name: "a word of the person", spoke: true, begins: map[phase]bool{phaseEnded: true, phaseLeft: true}},
		{name: "other words than the turn's", spoke: true, changed: true, begins: map[phase]bool{phaseEnded: true, phaseLeft: true, phaseCut: true}},
		{name: "a prompt of the pane", asked: true, begins: map[phase]bool{phaseEnded: true, phaseLeft: true, phaseCut: true}},
		{name: "a prompt of ours", asked: true, ours: true, begins: map[phase]bool{phaseEnded: true, phaseLeft: true, phaseCut: true, phaseRunning: true}},
	} {
		for _, p := range []phase{phaseEnded, phaseLeft, phaseRunning, phaseCut} {
			if got := p.begins(tc.spoke, tc.changed, tc.asked, tc.ours); got != tc.begins[p] {
				t.Errorf("%s in phase %d: begins a turn: %v, want %v", tc.name, p, got, tc.begins[p])
			}
		}
	}
}
