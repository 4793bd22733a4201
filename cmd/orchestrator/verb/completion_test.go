package verb

import "testing"

// TestBeginsTurn: one in forty checkpoint ids begins with eight digits.
func TestBeginsTurn(t *testing.T) {
	for typed, want := range map[string]bool{"": true, "1": true, "1004": true, "2268159": true, "22681597": false, "226815970": false, "a1": false} {
		if beginsTurn(typed) != want {
			t.Errorf("%q: %v", typed, !want)
		}
	}
}
