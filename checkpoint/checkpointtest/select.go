package checkpointtest

import (
	"fmt"
	"slices"
	"testing"

	"orchestrator/thread"
)

// selected returns the names that a query selects, read by the page.
func (f *fixture) selected(q thread.Query) []string {
	f.Helper()
	names := []string{}
	for {
		list, next, err := f.store.SelectThreads(f.ctx, q)
		f.ok(err)
		for _, t := range list {
			names = append(names, t.Name)
			one, err := f.store.Thread(f.ctx, t.ID)
			f.ok(err)
			f.equal(t, one)
		}
		if next == 0 {
			return names
		}
		if q.Limit == 0 || len(list) > q.Limit {
			f.Fatalf("a page of %d threads, asked for %d", len(list), q.Limit)
		}
		q.After = next
	}
}

func (f *fixture) change(id thread.ID, change func(*thread.Thread)) {
	f.Helper()
	_, err := f.store.UpdateThread(f.ctx, id, func(t *thread.Thread) error { change(t); return nil })
	f.ok(err)
}

// testSelect archives, restores, deletes and purges threads: queries see what they are now.
func testSelect(_ *testing.T, f *fixture) {
	f.equal(f.selected(thread.Query{}), []string{})
	ids := map[string]thread.ID{}
	for _, name := range []string{"a-0001", "ab-0002", "b-0003", "ab%-0004", "z\u00e9-0005"} {
		ids[name] = f.thread(name).ID
	}
	born := thread.Thread{ID: thread.NewID[thread.ID](), Name: "born-0006", Archived: start, Created: start}
	f.ok(f.store.CreateThread(f.ctx, born))
	check := func(use thread.Use, want ...string) {
		f.Helper()
		for range 2 {
			for _, limit := range []int{0, 1, 2, 100} {
				f.equal(f.selected(thread.Query{Use: use, Limit: limit}), append([]string{}, want...))
				slices.Reverse(want)
				f.equal(f.selected(thread.Query{Use: use, Limit: limit, Newest: true}), append([]string{}, want...))
				slices.Reverse(want)
			}
			f.reopen()
		}
	}
	check(thread.InUse, "a-0001", "ab-0002", "b-0003", "ab%-0004", "z\u00e9-0005")
	check(thread.AtRest, "born-0006")
	f.change(ids["ab-0002"], func(t *thread.Thread) { t.Archived = start })
	f.change(ids["b-0003"], func(t *thread.Thread) { t.Deleted = start })
	f.change(born.ID, func(t *thread.Thread) { t.Archived = thread.Thread{}.Archived })
	check(thread.InUse, "a-0001", "ab%-0004", "z\u00e9-0005", "born-0006")
	check(thread.AtRest, "ab-0002", "b-0003")
	f.change(ids["ab-0002"], func(t *thread.Thread) { t.Deleted = start })
	f.change(ids["ab-0002"], func(t *thread.Thread) { t.Archived = thread.Thread{}.Archived })
	check(thread.AtRest, "ab-0002", "b-0003")
	check(thread.AnyUse, "a-0001", "ab-0002", "b-0003", "ab%-0004", "z\u00e9-0005", "born-0006")
	for prefix, want := range map[string][]string{
		"a": {"a-0001", "ab-0002", "ab%-0004"}, "ab": {"ab-0002", "ab%-0004"}, "ab%": {"ab%-0004"}, "_": {}, "z\u00e9": {"z\u00e9-0005"},
		"born-0006": {"born-0006"}, "born-00061": {}, "A": {},
	} {
		f.equal(f.selected(thread.Query{Name: prefix, Limit: 1}), want)
	}
	f.equal(f.selected(thread.Query{Name: "a", Use: thread.AtRest, Newest: true}), []string{"ab-0002"})
	f.equal(f.selected(thread.Query{ID: string(born.ID)[:12]}), []string{"born-0006"})
	f.equal(f.selected(thread.Query{ID: string(born.ID), Name: "a"}), []string{})
	f.equal(f.selected(thread.Query{Session: "s"}), []string{})
	f.change(ids["ab-0002"], func(t *thread.Thread) { t.Session = "s" }) // at rest already
	f.change(ids["a-0001"], func(t *thread.Thread) { t.Session = "s" })
	f.equal(f.selected(thread.Query{Session: "s", Limit: 1}), []string{"ab-0002"})
	f.change(ids["a-0001"], func(t *thread.Thread) { t.Archived = start })
	f.equal(f.selected(thread.Query{Session: "s", Limit: 1}), []string{"a-0001", "ab-0002"})
	f.change(ids["a-0001"], func(t *thread.Thread) { t.Archived = thread.Thread{}.Archived })
	f.equal(f.selected(thread.Query{Session: "s", Limit: 1}), []string{"ab-0002"})
	f.ok(f.store.PurgeThread(f.ctx, ids["b-0003"]))
	f.ok(f.store.PurgeThread(f.ctx, born.ID))
	check(thread.InUse, "a-0001", "ab%-0004", "z\u00e9-0005")
	check(thread.AtRest, "ab-0002")
}

// testSelectPages reads pages while threads come and go: none that was there all the time is missed or comes twice.
func testSelectPages(_ *testing.T, f *fixture) {
	var ids []thread.ID
	var stays []string
	for i := range 20 {
		t := f.thread(fmt.Sprintf("t-%04d", i))
		ids = append(ids, t.ID)
		if i%4 != 1 {
			stays = append(stays, t.Name)
		}
	}
	for _, newest := range []bool{false, true} {
		var got []string
		q := thread.Query{Use: thread.InUse, Limit: 3, Newest: newest}
		for page := 0; ; page++ {
			list, next, err := f.store.SelectThreads(f.ctx, q)
			f.ok(err)
			for _, t := range list {
				if slices.Contains(stays, t.Name) {
					got = append(got, t.Name)
				}
			}
			if q.After = next; next == 0 {
				break
			}
			if last := list[len(list)-1]; !slices.Contains(stays, last.Name) { // where the next page begins
				f.ok(f.store.PurgeThread(f.ctx, last.ID))
				ids = slices.DeleteFunc(ids, func(id thread.ID) bool { return id == last.ID })
			}
			f.thread(fmt.Sprintf("new-%v-%04d", newest, page))
		}
		if newest {
			slices.Reverse(got)
		}
		f.equal(got, stays)
	}
}
