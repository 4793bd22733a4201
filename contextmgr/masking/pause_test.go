package masking

import "testing"

// TestPause: it lasts from the next request to the end of its turn, whatever comes first.
func TestPause(t *testing.T) {
	for _, tt := range []struct {
		p     pause
		turns []int // with which the requests' turns begin
		holds []bool
	}{
		{0, []int{0, 3}, []bool{false, false}},
		{untilNextTurn, []int{0, 0, 1, 0}, []bool{true, true, false, false}},
		{untilNextTurn, []int{5, 5, 9, 5}, []bool{true, true, false, false}},
		{untilNextTurn, []int{5, 2, 6}, []bool{true, true, false}}, // the agent went back meanwhile
	} {
		p := tt.p
		for i, turn := range tt.turns {
			if got := p.holds(turn); got != tt.holds[i] {
				t.Errorf("%d, request %d of %v: %v", tt.p, i, tt.turns, got)
			}
		}
	}
}
