package records

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread/bundle"
	"orchestrator/thread/work"
)

// given returns all that an execution was given.
func given(t *testing.T, r *e2e.Rig, name string) string {
	t.Helper()
	for line := range strings.Lines(r.Ok("exec", "logs", name, "--json")) {
		var e work.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		if e.Kind == work.KindGiven {
			return e.Text
		}
	}
	t.Errorf("what %s was given is not recorded", name)
	return ""
}

// TestBundlesFromFilesToReplay: what is prepared prints the same bytes, is given to a run word for word, and given again
// after its files have gone; what has changed meanwhile is refused before the run.
func TestBundlesFromFilesToReplay(t *testing.T) {
	r := e2e.NewRig(t)
	r.Write("spec/requirements.md", "# Requirements\n\n## Vector Search\n\nfast\n\n## Other\n\nno\n")
	r.Write("lib/types.ts", "export type A = {}\n")
	prepare := []string{"bundle", "prepare", "--agent-type", "tester", "--scope", "Test the search", "--files", "spec/requirements.md,lib/types.ts",
		"--section", "spec/requirements.md#Vector Search"}
	first := r.Ok(prepare...)
	r.Ok(append(prepare, "--output", "bundle.json")...)
	if again := r.Read("bundle.json"); strings.TrimSpace(again) != strings.TrimSpace(first) || strings.Contains(again, "\"shared_with\"") {
		t.Errorf("%s\n%s", first, again)
	}
	b, err := bundle.Parse([]byte(first))
	if err != nil || b.ID != "bundle-001" || b.Total <= 0 || b.Remaining != bundle.UsualBudget-b.Total {
		t.Fatalf("%+v, %v", b, err)
	}
	brief := r.Ok("bundle", "brief", "bundle.json")
	r.Ok("run", "--once", "-a", "demo", "--as", "one", "--bundle", "bundle.json", "write out.txt: done")
	if got, want := given(t, r, "one"), strings.TrimSpace(brief)+"\n\nwrite out.txt: done"; !strings.HasPrefix(got, want) || strings.Contains(got, "## Other") {
		t.Errorf("given %q, want %q", got, want)
	}
	x := e2e.Get[work.Execution](r, "exec", "show", "one")
	if x.Bundle != b.ID || x.Scope != "Test the search" || x.Type != "tester" || x.Given == 0 {
		t.Errorf("%+v", x)
	}
	r.Write("lib/types.ts", "export type B = {}\n")
	r.Says(exitcode.Refused, []string{"changed since bundle-001 was prepared: lib/types.ts"}, "run", "--once", "-a", "demo", "--bundle", "bundle-001", "x")
	if err := os.Remove(filepath.Join(r.Project, "lib/types.ts")); err != nil {
		t.Fatal(err)
	}
	r.Says(exitcode.NotFound, []string{"lib/types.ts: no such file"}, "run", "--once", "-a", "demo", "--bundle", "bundle.json", "x")
	r.Ok("exec", "replay", "one", "--as", "two")
	y := e2e.Get[work.Execution](r, "exec", "show", "two")
	if y.Replays != x.ID || y.Bundle != b.ID || y.Thread == x.Thread || y.Agent != x.Agent || y.Type != x.Type {
		t.Errorf("%+v", y)
	}
	if was, is := given(t, r, "one"), given(t, r, "two"); was != is {
		t.Errorf("given %q again as %q", was, is)
	}
	if res := r.Run("bundle", "budget", "--bundles", "bundle.json", "--budget", "1", "--json"); res.Code != exitcode.Refused || !strings.Contains(res.Stderr, "over the budget") {
		t.Errorf("%+v", res)
	} else if budget := (bundle.Budget{}); json.Unmarshal([]byte(res.Stdout), &budget) != nil || budget.Level != bundle.LevelOver {
		t.Errorf("%s", res.Stdout)
	}
}

// TestSharedContext: what two agents share is put first and kept; what a run of it is given begins alike.
func TestSharedContext(t *testing.T) {
	r := e2e.NewRig(t)
	r.Write("all.md", strings.Repeat("for all\n", 50))
	r.Write("one.md", "one\n")
	r.Write("two.md", "two\n")
	r.Ok("bundle", "prepare", "--scope", "first", "--files", "one.md,all.md", "--output", "b1.json")
	r.Ok("bundle", "prepare", "--scope", "second", "--files", "two.md,all.md", "--output", "b2.json")
	r.Ok("bundle", "dedup", "b1.json", "b2.json", "--output", "shared-context.json")
	var s bundle.Shared
	if err := json.Unmarshal([]byte(r.Read("shared-context.json")), &s); err != nil || len(s.Deduplicated) != 2 || s.Cached == 0 || s.Windows != s.Before || s.After != s.Before-s.Cached {
		t.Fatalf("%v: %+v", err, s)
	}
	first, second := r.Ok("bundle", "brief", s.Deduplicated[0].ID), r.Ok("bundle", "brief", s.Deduplicated[1].ID)
	if end := strings.Index(first, "## one.md"); end < 400 || first[:end] != second[:end] {
		t.Errorf("%s\n%s", first, second)
	}
	r.Ok("run", "--once", "-a", "demo", "--bundle", s.Deduplicated[0].ID, "hello")
	r.Write("long.md", strings.Repeat("many words of it ", 20_000))
	r.Says(exitcode.Refused, []string{"the required items have", "there is room for"}, "bundle", "prepare", "-a", "demo", "--files", "long.md")
	r.Ok("bundle", "prepare", "--files", "long.md", "--id", "long") // for any
	r.Says(exitcode.Refused, []string{"the agent has room for"}, "run", "--once", "-a", "demo", "--bundle", "long", "hello")
	if res := r.Run("bundle", "dedup", "b1.json", "b2.json", "--output", "all.md"); res.Code != exitcode.Refused || !strings.HasPrefix(r.Read("all.md"), "for all") {
		t.Errorf("%+v", res)
	}
}
