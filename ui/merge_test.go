package ui

import (
	"errors"
	"testing"
)

func TestRewind(t *testing.T) {
	on(t, world(), func(r *rig) {
		r.keys("tab", "down", "R")
		r.must("back 1 turn, from turn 4 to turn 3", "Files: 2 reverted (+3 −1)")
		r.keys("right", "right", "enter") // files
		r.mustAsk("rewind auth-feature-a3f2 to c-5 files=true conversation=false")
		r.keys("u")
		r.must("undo: rewind auth-feature to turn 2", "Restores the files from before the rewind")
		r.keys("right", "enter")
		r.mustAsk("rewind auth-feature-a3f2 to safe files=true conversation=false")
	})
}

func TestMerge(t *testing.T) {
	on(t, world(), func(r *rig) {
		r.keys(". m")
		r.mustAsk("merge auth-feature-a3f2 dry=true finish=false")
		r.must("1 conflict to resolve", "[ Merge and finish ]", "(undo: git revert)")
		r.keys("right", "enter")
		r.mustAsk("merge auth-feature-a3f2 dry=false finish=false")
		r.must("merge stopped: 1 conflict", "× parse.go", "[ Abort merge ]")
		r.keys("right", "enter")
		r.mustAsk("continue auth-feature-a3f2")
		r.keys("right", "right", "enter")
		r.mustAsk("abort auth-feature-a3f2")
	})
	srv := world()
	srv.merge.Conflicts = nil
	srv.merge.Finished = true
	on(t, srv, func(r *rig) {
		r.keys(". f", "enter")
		if srv.asked("merge auth-feature-a3f2 dry=false") {
			t.Error("enter alone finishes")
		}
		r.keys(". f", "right", "enter")
		r.mustAsk("merge auth-feature-a3f2 dry=false finish=true")
		r.must("merged into main (1 file +2 −1)", "archived")
	})
}

func TestMergeIntoAnother(t *testing.T) {
	on(t, world(), func(r *rig) {
		r.keys(". m", "right", "right", "right", "enter")
		r.must("merge auth-feature into", "docs")
		r.text("docs")
		r.keys("enter")
		r.mustAsk(`merge auth-feature-a3f2 dry=true finish=false into="docs-f9a0"`)
		r.keys("right", "enter")
		r.mustAsk(`merge auth-feature-a3f2 dry=false finish=false into="docs-f9a0"`)
	})
}

// A merge that waits for its conflicts is led back to by merging again.
func TestMergeThatWaits(t *testing.T) {
	srv := world()
	srv.merge.Stopped = true
	on(t, srv, func(r *rig) {
		r.keys(". m")
		r.must("The merge stopped in /work/project", "× parse.go", "[ Continue ]", "[ Abort merge ]")
		r.keys("right", "enter")
		r.mustAsk("continue auth-feature-a3f2")
		if srv.asked("merge auth-feature-a3f2 dry=false") {
			t.Error("it was begun again")
		}
	})
}

func TestFinishWithoutAWorktree(t *testing.T) {
	srv := world()
	srv.err = errors.New("it has no worktree of its own")
	on(t, srv, func(r *rig) {
		r.keys(". f")
		r.must("its changes are already in /work/project", "[ Archive ]")
		srv.err = nil
		r.keys("right", "enter")
		r.mustAsk("archive auth-feature-a3f2")
	})
}

// What is not committed where a merge goes, and is in its way, is named and committed first if the person says so.
func TestCommitAndMerge(t *testing.T) {
	srv := world()
	srv.merge.Conflicts, srv.dirty = nil, []string{"parse.go", "notes \x1b[31m.txt"}
	play(t, srv, 120, 36, nil, func(r *rig) {
		stage(r)
		r.keys(". m")
		r.must("has uncommitted changes", "notes ␛[31m.txt", "[ Commit and merge ]", "[ Commit, merge and finish ]")
		r.keys("enter")
		if srv.asked("merge auth-feature-a3f2 dry=false") {
			t.Error("enter alone merges")
		}
		r.keys(". m", "right", "enter")
		r.mustAsk(`merge auth-feature-a3f2 dry=false finish=false into="" commit=true`)
		r.must("2 files committed there first")
		r.keys(". f", "right", "enter")
		r.mustAsk(`merge auth-feature-a3f2 dry=false finish=true into="" commit=true`)
	})
	// Another target is looked at by itself.
	srv = world()
	srv.dirty = []string{"parse.go"}
	on(t, srv, func(r *rig) {
		r.keys(". m", "right", "right", "right", "enter")
		srv.dirty = nil
		r.text("docs")
		r.keys("enter", "right", "enter")
		r.mustAsk(`merge auth-feature-a3f2 dry=false finish=false into="docs-f9a0" commit=false`)
	})
	// It came into the way after the person had looked.
	srv = world()
	srv.merge.Conflicts = nil
	on(t, srv, func(r *rig) {
		r.keys(". m", "right")
		srv.dirty = []string{"late.go"}
		r.keys("enter")
		r.must("would overwrite", "  late.go", "[ Commit and merge ]")
		if srv.asked(`merge auth-feature-a3f2 dry=false finish=false into="" commit=true`) {
			t.Error("it was committed unasked")
		}
	})
}

func TestMergeOfASharedFolder(t *testing.T) {
	srv := world()
	srv.merge.Shared, srv.merge.Beside = []string{"docs-f9a0"}, []string{"main-1a2b"}
	on(t, srv, func(r *rig) {
		r.keys(". m")
		r.must("shared with docs-f9a0: their changes", "Other threads there: main-1a2b.")
	})
}

// What is written after the question was asked is not committed unnamed.
func TestCommitsWhatWasNamed(t *testing.T) {
	srv := world()
	srv.merge.Conflicts, srv.dirty = nil, []string{"parse.go"}
	on(t, srv, func(r *rig) {
		r.keys(". m", "right")
		srv.dirty = []string{"parse.go", "secret.env"}
		r.keys("enter")
		if srv.asked("merge auth-feature-a3f2 dry=false") {
			t.Error("a file was committed that nobody was asked about")
		}
		r.must("  secret.env", "[ Commit and merge ]", "have changed")
		r.keys("right", "enter")
		r.mustAsk(`merge auth-feature-a3f2 dry=false finish=false into="" commit=true`)
	})
}

// The agent of what a merge went into is sent a note only if the person says so.
func TestNoteOfAMerge(t *testing.T) {
	srv := world()
	srv.merge.Conflicts, srv.merge.Ask, srv.merge.Summary = nil, true, "For your information: it was merged.\nFiles: parse.go"
	on(t, srv, func(r *rig) {
		r.keys(". m", "right", "enter")
		r.must("tell the agent about the merge?", "costs a turn", "Files: parse.go", "[ Don't send ]", "[ Send note ]")
		r.keys("enter")
		if srv.asked("send the note") {
			t.Error("it was sent unasked")
		}
		r.keys(". m", "right", "enter", "right", "enter")
		r.mustAsk("send the note of auth-feature-a3f2")
		r.must("Note sent")
	})
	srv = world()
	srv.merge.Conflicts, srv.merge.Told = nil, true
	play(t, srv, 120, 36, nil, func(r *rig) {
		stage(r)
		r.keys(". m", "right", "enter")
		r.must("note sent to its agent")
	})
}
