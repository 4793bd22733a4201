package checkpoint_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"orchestrator/checkpoint"
	"orchestrator/checkpoint/checkpointtest/memory"
	"orchestrator/thread"
)

var now = time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)

const day = 24 * time.Hour

func ago(days int) time.Time { return now.Add(-time.Duration(days) * day) }

func archived(id thread.ID, days int, bytes int64, parent thread.ID) checkpoint.Candidate {
	return checkpoint.Candidate{Thread: thread.Thread{ID: id, Name: string(id), Parent: parent, Created: ago(days + 1),
		Updated: ago(days), Archived: ago(days)}, Bytes: bytes}
}

func TestSelect(t *testing.T) {
	active := checkpoint.Candidate{Thread: thread.Thread{ID: "active", Created: ago(900), Updated: ago(900)}, Bytes: 1000}
	deleted := checkpoint.Candidate{Thread: thread.Thread{ID: "deleted", Deleted: ago(31), Archived: ago(90)}, Bytes: 10}
	fresh := checkpoint.Candidate{Thread: thread.Thread{ID: "fresh", Deleted: ago(1)}, Bytes: 10}
	pinned, running, cut := archived("pinned", 500, 10, ""), archived("running", 500, 10, ""), archived("cut", 500, 10, "")
	pinned.Thread.Pinned, running.Running, cut.Thread.Interrupted = true, true, true
	touched := archived("touched", 500, 10, "")
	touched.Thread.Updated = ago(2)
	child := checkpoint.Candidate{Thread: thread.Thread{ID: "child", Parent: "forked"}}
	for name, tc := range map[string]struct {
		p    checkpoint.Policy
		all  []checkpoint.Candidate
		want []thread.ID
	}{
		"no limits": {checkpoint.Policy{}, []checkpoint.Candidate{active, deleted, archived("a", 900, 1, "")}, nil},
		"deleted": {checkpoint.Policy{Deleted: 30 * day},
			[]checkpoint.Candidate{active, deleted, fresh, archived("a", 900, 1, "")}, []thread.ID{"deleted"}},
		"age": {checkpoint.Policy{Archived: 90 * day},
			[]checkpoint.Candidate{active, fresh, archived("young", 89, 1, ""), archived("b", 90, 1, ""),
				archived("c", 100, 1, ""), touched}, []thread.ID{"c", "b"}},
		"kept": {checkpoint.Policy{Deleted: 1, Archived: 1, Count: 1, Bytes: 1},
			[]checkpoint.Candidate{active, pinned, running, cut}, nil},
		"count": {checkpoint.Policy{Count: 2},
			[]checkpoint.Candidate{archived("a", 1, 1, ""), archived("b", 2, 1, ""), archived("c", 3, 1, ""),
				archived("d", 4, 1, "")}, []thread.ID{"d", "c"}},
		"count after age": {checkpoint.Policy{Archived: 3 * day, Count: 2},
			[]checkpoint.Candidate{archived("a", 1, 1, ""), archived("b", 2, 1, ""), archived("c", 3, 1, ""),
				archived("d", 4, 1, "")}, []thread.ID{"d", "c"}},
		"size": {checkpoint.Policy{Bytes: 1025},
			[]checkpoint.Candidate{active, archived("a", 1, 20, ""), archived("b", 2, 20, ""), archived("c", 3, 20, "")},
			[]thread.ID{"c", "b"}},
		"size unreachable": {checkpoint.Policy{Bytes: 5}, []checkpoint.Candidate{active, archived("a", 1, 20, "")},
			[]thread.ID{"a"}},
		"forked from": {checkpoint.Policy{Archived: day}, []checkpoint.Candidate{archived("forked", 9, 1, ""), child}, nil},
		"with its fork": {checkpoint.Policy{Archived: day},
			[]checkpoint.Candidate{archived("p", 9, 1, ""), archived("q", 8, 1, "p"), archived("r", 7, 1, "q")},
			[]thread.ID{"p", "q", "r"}},
		"fork is younger": {checkpoint.Policy{Archived: 8 * day},
			[]checkpoint.Candidate{archived("p", 9, 1, ""), archived("q", 2, 1, "p")}, nil},
		"clock went back": {checkpoint.Policy{Deleted: day, Archived: day},
			[]checkpoint.Candidate{archived("future", -400, 1, "")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []thread.ID
			for _, d := range tc.p.Select(now.Sub, tc.all) {
				got = append(got, d.ID)
				if d.Why == "" {
					t.Errorf("%s goes without a reason", d.ID)
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(tc.want) {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

func TestCollect(t *testing.T) {
	ctx := t.Context()
	s := memory.New()
	var all []checkpoint.Candidate
	for n := range 4 {
		c := archived(thread.ID(fmt.Sprint("t", n)), 100+n, 1, "")
		if err := s.CreateThread(ctx, c.Thread); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	expired := checkpoint.Policy{Archived: day}.Select(now.Sub, all)
	if _, err := s.UpdateThread(ctx, "t1", func(t *thread.Thread) error {
		t.Archived = time.Time{}
		t.Updated = now
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	boom := errors.New("boom")
	gone, err := checkpoint.Collect(ctx, s, expired, func(ctx context.Context, id thread.ID) error {
		if id == "t2" {
			return boom
		}
		return s.PurgeThread(ctx, id)
	})
	if !errors.Is(err, boom) || len(gone) != 2 {
		t.Errorf("gone %v, %v", gone, err)
	}
	left, err := s.Threads(ctx)
	if err != nil || len(left) != 2 {
		t.Errorf("left %v, %v", left, err)
	}
}
