package ui

import (
	"testing"

	"orchestrator/thread"
)

// What has no key of its own is found in the palette.
func TestPaletteOfTheProject(t *testing.T) {
	for _, c := range []struct {
		query string
		shows string
		keys  []string
		asks  string
		told  string
	}{
		{"push its branch", "pushes orchestrator/auth to your remote", []string{"right", "enter"}, "push auth-feature-a3f2 pr=false", "pushed to origin"},
		{"open a pull", "gh opens a pull request", []string{"right", "enter"}, "push auth-feature-a3f2 pr=true", "https://example.org/pr/1"},
		{"export the", "auth-feature-a3f2.orchestrator", []string{"enter"}, "export auth-feature-a3f2 to /work/project/auth-feature-a3f2.orchestrator files=true", "Exported to"},
		{"delete old", "archived 40 days ago", []string{"right", "enter"}, "collect dry=false", "1 thread deleted, 2 KiB freed"},
		{"fork offers", "Suggest shows the offer", []string{"right", "right", "enter"}, "offers auto", "Fork offers: auto"},
	} {
		srv := world()
		srv.threads[0].Worktree = thread.Worktree{Path: "/work/project/.orchestrator/worktrees/auth", Branch: "orchestrator/auth"}
		on(t, srv, func(r *rig) {
			r.keys("ctrl+p")
			r.text(c.query)
			r.keys("enter")
			r.must(c.shows)
			r.keys(c.keys...)
			r.mustAsk(c.asks)
			r.must(c.told)
		})
	}
}

// A thread in the project's folder has no branch to push; that is said before it is asked.
func TestPushWithoutABranch(t *testing.T) {
	on(t, world(), func(r *rig) {
		r.keys("ctrl+p")
		r.text("open a pull")
		r.keys("enter")
		r.must("open pull request for auth-feature", "no branch of its own")
		r.keys("enter")
		if r.srv.asked("push") {
			t.Error("pushed")
		}
	})
}

func TestImport(t *testing.T) {
	on(t, world(), func(r *rig) {
		r.keys("ctrl+p")
		r.text("import a")
		r.keys("enter", "enter")
		r.must("Enter a file name")
		r.text("/tmp/other.orchestrator")
		r.keys("enter")
		r.mustAsk("import /tmp/other.orchestrator")
		r.must("brought imported")
	})
}

func TestCompareTurns(t *testing.T) {
	on(t, world(), func(r *rig) {
		r.keys("tab", "down", "c")
		r.must("◂ compare")
		r.keys("down", "down", "c")
		r.mustAsk("diff auth-feature-a3f2 c-2..c-5")
		r.must("from turn 2 to turn 3")
	})
}
