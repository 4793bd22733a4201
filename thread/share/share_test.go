package share_test

import (
	"slices"
	"testing"

	"orchestrator/thread/share"

	"pgregory.net/rapid"
)

func TestTogether(t *testing.T) {
	const project = "/src/shop"
	for name, tc := range map[string]struct {
		a, b share.Place
		want bool
	}{
		"the project twice":          {share.Place{Dir: project}, share.Place{Dir: project}, true},
		"two folders of the project": {share.Place{Dir: project + "/api"}, share.Place{Dir: project + "/web"}, true},
		"a worktree of its own":      {share.Place{Dir: project}, share.Place{Dir: "/w/a", Worktree: "/w/a"}, false},
		"two worktrees":              {share.Place{Dir: "/w/a/api", Worktree: "/w/a"}, share.Place{Dir: "/w/ab/api", Worktree: "/w/ab"}, false},
		"a fork without a worktree":  {share.Place{Dir: "/w/a/api", Worktree: "/w/a"}, share.Place{Dir: "/w/a/web"}, true},
		"a worktree in the project":  {share.Place{Dir: project}, share.Place{Dir: project + "/w/a", Worktree: project + "/w/a"}, false},
		"elsewhere":                  {share.Place{Dir: project}, share.Place{Dir: "/src/shopping"}, false},
		"elsewhere, one in another":  {share.Place{Dir: "/src/lib"}, share.Place{Dir: "/src/lib/a"}, true},
		"side by side elsewhere":     {share.Place{Dir: "/src/lib/a"}, share.Place{Dir: "/src/lib/b"}, false},
	} {
		if share.Together(project, tc.a, tc.b) != tc.want || share.Together(project, tc.b, tc.a) != tc.want {
			t.Errorf("%s: not %v", name, tc.want)
		}
	}
}

func TestOwn(t *testing.T) {
	for name, tc := range map[string]struct {
		steps       []share.Step
		own, others []string
	}{
		"one after the other": {
			[]share.Step{{Thread: "a", Paths: []string{"a", "both"}, Alone: true}, {Thread: "b", Paths: []string{"b", "both"}, Alone: true}},
			[]string{"a"}, []string{"b", "both"},
		},
		"at once":          {[]share.Step{{Thread: "a", Paths: []string{"a"}}, {Thread: "b", Paths: []string{"b"}}}, nil, []string{"a", "b"}},
		"after the last":   {[]share.Step{{Thread: "a", Paths: []string{"a"}, Alone: true}, {Paths: []string{"a", "swap"}, Alone: true}}, nil, []string{"a", "swap"}},
		"twice by one":     {[]share.Step{{Thread: "a", Paths: []string{"x"}, Alone: true}, {Thread: "a", Paths: []string{"x"}, Alone: true}}, []string{"x"}, nil},
		"nothing happened": {},
	} {
		own, others := share.Own("a", tc.steps)
		if !slices.Equal(own, tc.own) || !slices.Equal(others, tc.others) {
			t.Errorf("%s: own %v, others %v", name, own, others)
		}
	}
}

// TestIndex compares with what each pair says by itself.
func TestIndex(t *testing.T) {
	const project = "/src/shop"
	dirs := []string{"", "/", "/src", project, project + "/api", project + "/api/v1", project + "/web", "/src/shopping", "/src/lib", "/src/lib/a", "/w/a", "/w/a/api", "/w/ab", "/w/ab/api", "/w/a b", "/w/a-b"}
	trees := []string{"", "", "", "/w/a", "/w/ab", "/w/a-b", project + "/api"}
	rapid.Check(t, func(t *rapid.T) {
		place := rapid.Custom(func(t *rapid.T) share.Place {
			p := share.Place{Dir: rapid.SampledFrom(dirs).Draw(t, "dir"), Worktree: rapid.SampledFrom(trees).Draw(t, "worktree")}
			if p.Worktree != "" && p.Dir != "" {
				p.Dir = p.Worktree + rapid.SampledFrom([]string{"", "/api"}).Draw(t, "below")
			}
			return p
		})
		all := rapid.SliceOf(place).Draw(t, "places")
		one := place.Draw(t, "one")
		var want []int
		for i, p := range all {
			if share.Together(project, one, p) {
				want = append(want, i)
			}
		}
		if got := share.NewIndex(project, all).With(one); !slices.Equal(got, want) {
			t.Fatalf("%+v among %+v: %v, want %v", one, all, got, want)
		}
	})
}
