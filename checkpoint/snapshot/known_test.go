package snapshot_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"orchestrator/checkpoint/snapshot"
	"orchestrator/checkpoint/snapshot/snapshottest"
	"orchestrator/thread"
)

// TestKnown finds threads by their refs and worktrees, with what their snapshots say about them, and when each was
// taken.
func TestKnown(t *testing.T) {
	r := newRepo(t, t.TempDir())
	r.Write("a.txt", "one\n")
	r.CommitAll("begin")
	about := map[thread.ID]snapshot.About{"aaaa": {Name: "alpha-0001", Agent: "demo"},
		"bbbb": {Name: "beta-0001", Agent: "claude", Session: "s2", Parent: "aaaa"}}
	s, err := snapshottest.OpenStore(r.Where(), snapshot.Config{
		About: func(id thread.ID) (snapshot.About, bool) { a, ok := about[id]; return a, ok },
	})
	if err != nil {
		t.Fatal(err)
	}
	take := func(id thread.ID, prev *thread.Snapshot) thread.Snapshot {
		t.Helper()
		snap, err := s.Take(t.Context(), id, r.Dir, prev)
		if err != nil {
			t.Fatal(err)
		}
		return snap
	}
	begin := time.Now()
	first := take("aaaa", nil)
	about["aaaa"] = snapshot.About{Name: "alpha-0001", Agent: "demo", Session: "s1"}
	said := take("aaaa", &first)
	if said.Tree != first.Tree || said.Commit == first.Commit {
		t.Errorf("its session is known by now: %+v, was %+v", said, first)
	}
	if again := take("aaaa", &said); again.Commit != said.Commit {
		t.Error("nothing changed, and there is another snapshot")
	}
	r.Write("a.txt", "two\nthree\n")
	second := take("aaaa", &said)
	shared := take("bbbb", nil)
	if shared.Tree != second.Tree {
		t.Fatalf("%+v", shared)
	}
	end := time.Now()
	if _, err := s.Add(t.Context(), "cccc", r.Dir, "gamma-0001", second); err != nil {
		t.Fatal(err)
	}
	r.Git("update-ref", "refs/orchestrator/not/ours", "HEAD")
	r.Git("update-ref", "refs/orchestrator/dddd/1", "HEAD") // no snapshot

	known, err := s.Known(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, k := range known {
		got = append(got, fmt.Sprintf("%s %s %s %s <%s %d %q", k.Thread, k.Name, k.Agent, k.Session, k.Parent, k.Snapshots,
			k.Worktree.Branch))
	}
	want := `cccc gamma-0001   <aaaa 0 "orchestrator/gamma-0001"
aaaa alpha-0001 demo s1 < 3 ""
bbbb beta-0001 claude s2 <aaaa 1 ""`
	if strings.Join(got, "\n") != want {
		t.Errorf("known are\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
	taken, err := s.Taken(t.Context(), "aaaa")
	if err != nil || len(taken) != 3 {
		t.Fatalf("%d snapshots: %v", len(taken), err)
	}
	for i, want := range []thread.Snapshot{first, said, second} {
		k := taken[i]
		if k.Commit != want.Commit || k.Tree != want.Tree || k.Base != want.Base || k.Files != want.Files ||
			k.Insertions != want.Insertions {
			t.Errorf("%d is %+v, want %+v", i, k, want)
		}
		if k.From.Before(begin) || k.From.After(end) || !k.From.Equal(k.Until) {
			t.Errorf("%d was taken at %v, between %v and %v", i, k.From, begin, end)
		}
	}
}
