package near_test

import (
	"slices"
	"strings"
	"testing"

	"orchestrator/thread/ground/near"
)

func TestNames(t *testing.T) {
	all := []string{"fork", "form", "other-7e24", "x-19d3", "agent", "agents.claude", "日本語の索引"}
	for name, want := range map[string][]string{
		"frok":                   {"fork"},
		"forn":                   {"fork", "form"},
		"foo":                    nil, // two letters of three are another word
		"zz":                     nil,
		"nothere":                nil,
		"AGENT":                  {"agent"},
		"agnet":                  {"agent"},
		"other-7e42":             {"other-7e24"},
		"日本語索引":                  {"日本語の索引"},
		"":                       nil,
		strings.Repeat("x", 1e5): nil,
	} {
		if got := near.Names(name, all); !slices.Equal(got, want) {
			t.Errorf("near %.20q are %q, want %q", name, got, want)
		}
	}
}
