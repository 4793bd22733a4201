package share_test

import (
	"testing"

	"orchestrator/thread/share"
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
		"elsewhere":                  {share.Place{Dir: project}, share.Place{Dir: "/src/shopping"}, false},
		"elsewhere, one in another":  {share.Place{Dir: "/src/lib"}, share.Place{Dir: "/src/lib/a"}, true},
		"side by side elsewhere":     {share.Place{Dir: "/src/lib/a"}, share.Place{Dir: "/src/lib/b"}, false},
	} {
		if share.Together(project, tc.a, tc.b) != tc.want || share.Together(project, tc.b, tc.a) != tc.want {
			t.Errorf("%s: not %v", name, tc.want)
		}
	}
}
