package plan_test

import (
	"strings"
	"testing"

	"orchestrator/thread/plan"
)

func TestPatternsOverlap(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"a.go", "a.go", true}, {"a.go", "b.go", false}, {"./a.go", "a.go", true}, {"/a.go", "a.go", true},
		{"docs/**", "docs/a/b.md", true}, {"docs/", "docs/a.md", true}, {"docs/**", "src/**", false}, {"docs/**", "docs", true},
		{"**", "any/thing", true}, {"**/*.go", "a.go", true}, {"**/*.go", "x/y/a.go", true}, {"**/*.go", "**/*.md", false},
		{"*.go", "x/a.go", false}, {"*", "a", true}, {"*", "a/b", false}, {"a*c", "abbc", true}, {"a*c", "*b*", true}, {"a*c", "b*", false},
		{"src/*/x", "src/a/*", true}, {"src/*/x", "src/*", false}, {"src/?", "src/ab", false}, {"src/[ab]", "src/a", true},
		{"a/**/z", "a/z", true}, {"a/**/z", "a/b/c/z", true}, {"a/**/z", "a/**/y", false}, {"a/**", "**/b", true},
		{"src/login/**", "src/log*/**", true}, {"src/login", "src/login/**", true}, {"", "", true}, {"x[", "x[", true},
	} {
		if got := plan.Overlap(c.a, c.b); got != c.want {
			t.Errorf("%q and %q: %v, want %v", c.a, c.b, got, c.want)
		}
		if got := plan.Overlap(c.b, c.a); got != c.want {
			t.Errorf("%q and %q: %v, want %v", c.b, c.a, got, c.want)
		}
	}
}

func TestHostilePatternsEnd(t *testing.T) {
	t.Parallel()
	a, b := strings.Repeat("*a", 500)+"x", strings.Repeat("a*", 500)+"y"
	if plan.Overlap(a, b) {
		t.Error("one ends with x, the other with y")
	}
}

func TestPlansThatWriteTheSame(t *testing.T) {
	t.Parallel()
	docs := plan.Plan{Agents: []plan.Agent{{Name: "a"}, {Name: "b", Writes: []string{"README.md", "docs/**"}}}}
	code := plan.Plan{Agents: []plan.Agent{{Name: "a", Writes: []string{"src/**"}}}}
	more := plan.Plan{Agents: []plan.Agent{{Name: "z", Writes: []string{"docs/api/*.md"}}}}
	if got := plan.BothWrite(docs, code); got != "" {
		t.Errorf("%q is written by one of them only", got)
	}
	if got := plan.BothWrite(docs, more); got != "docs/**" {
		t.Errorf("%q, want docs/**", got)
	}
	if got := plan.BothWrite(plan.Plan{}, more); got != "" {
		t.Errorf("%q is written by one of them only", got)
	}
}
