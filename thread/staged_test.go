package thread_test

import (
	"slices"
	"testing"

	"orchestrator/thread"
)

func TestFindTokens(t *testing.T) {
	for text, want := range map[string][]thread.Token{
		"":                         nil,
		"no token: max: max:a1b2":  nil,
		"Contacts: max:a1b2c3d4\n": {"max:a1b2c3d4"},
		"max:max:a1b2c3d4.":        {"max:a1b2c3d4"},
		"(max:00000000,max:ffffffff) and max:00000000": {"max:00000000", "max:ffffffff"},
		"too long: max:a1b2c3d4e":                      nil,
		"cut off: max:a1b2c3":                          nil,
	} {
		if got := thread.FindTokens(text); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
