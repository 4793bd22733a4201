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
		"of an odd length: max:a1b2c3d4e":              nil,
		"long: max:a1b2c3d4e5f6, max:a1b2c3d4e5f60718": {"max:a1b2c3d4e5f6", "max:a1b2c3d4e5f60718"},
		"too long: max:a1b2c3d4e5f6071829":             nil,
		"cut off: max:a1b2c3":                          nil,
	} {
		if got := thread.FindTokens(text); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestReplaceTokens(t *testing.T) {
	others := map[thread.Token]thread.Token{"max:a1b2c3d4": "max:00000000", "max:ffffffff": "max:eeeeeeee"}
	for text, want := range map[string]string{
		"":                              "",
		"none":                          "none",
		"max:a1b2c3d4":                  "max:00000000",
		`{"a":"\nmax:a1b2c3d4\u0000"}`:  `{"a":"\nmax:00000000\u0000"}`,
		"max:max:ffffffff max:a1b2c3d4": "max:max:eeeeeeee max:00000000",
		"max:a1b2c3d4e5 max:a1b2c3d":    "max:a1b2c3d4e5 max:a1b2c3d",
	} {
		if got := string(thread.ReplaceTokens([]byte(text), others)); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

func TestTokenDigits(t *testing.T) {
	for digits, ok := range map[int]bool{0: false, 6: false, 8: true, 9: false, 12: true, 16: true, 18: false} {
		if err := thread.CheckTokenDigits(digits); (err == nil) != ok {
			t.Errorf("%d digits: %v", digits, err)
		}
	}
	for _, digits := range []int{8, 12, 16} {
		got := thread.NewLongToken(digits)
		if _, whole, err := thread.ParseToken(string(got)); err != nil || !whole || len(got.Digits()) != digits {
			t.Errorf("%d digits: %s, %v", digits, got, err)
		}
	}
}
