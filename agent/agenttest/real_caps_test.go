package agenttest_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orchestrator/agent/agenttest/clis"
	"orchestrator/agent/scripted"
	"orchestrator/thread"
)

// TestRealNoCalls resumes those real CLIs for a report that go on offering their tools: nothing that they call is done, the
// tools stand in the request as before, so that the provider's cache holds, and the turn after it may call again. Others
// offer none; what they do is a row of TestRealRuns.
func TestRealNoCalls(t *testing.T) {
	for _, cli := range clis.All() {
		if cli.Name != "gemini" && cli.Name != "opencode" {
			continue
		}
		t.Run(cli.Name, func(t *testing.T) {
			s := newRuns(t, cli)
			file := filepath.Join(s.dir, "there.txt")
			if err := os.WriteFile(file, []byte("read me"), 0o600); err != nil {
				t.Fatal(err)
			}
			const work = "work #read:there.txt #bash:touch called #say:worked"
			p := completes(t, s.once(nil).Begin(strings.Replace(work, "there.txt", file, 1)))
			id := p.Until(thread.RunSession).Session
			reads := 0
			for _, e := range p.Events {
				if e.Kind == thread.RunTool && e.Reads == file {
					reads++
				}
			}
			if reads != 1 {
				t.Errorf("%d calls read the file\n%s", reads, p.Log())
			}
			const report = "report #bash:touch ../forbidden #write:forbidden=x #read:there.txt #say:progress and gap"
			p = completes(t, s.once(func(spec *thread.LaunchSpec) {
				resuming(id)(spec)
				spec.Once.Caps.NoTools = true
			}).Begin(report))
			if got := p.Said(thread.RunText); !strings.Contains(got, "progress and gap") {
				t.Errorf("said %q\n%s", got, p.Log())
			}
			for _, name := range []string{"forbidden", "../forbidden"} {
				if _, err := os.Stat(filepath.Join(s.dir, name)); err == nil {
					t.Errorf("%s was made", name)
				}
			}
			for _, e := range p.Events {
				if e.Kind == thread.RunResult && !e.Failed {
					t.Errorf("a call was made: %+v", e)
				}
			}
			before, after := s.requests(strings.Replace(work, "there.txt", file, 1)), s.requests(report)
			if len(after) == 0 || len(before) == 0 {
				t.Fatalf("%d requests before, %d after: it is none of the conversation", len(before), len(after))
			}
			if was, is := names(before[0].Turn.Tools), names(after[0].Turn.Tools); !slices.Equal(was, is) {
				t.Errorf("the tools offered differ: %v, %v", was, is)
			}
			completes(t, s.once(resuming(id)).Begin("again #bash:touch again #say:done"))
			if _, err := os.Stat(filepath.Join(s.dir, "again")); err != nil {
				t.Error(err)
			}
		})
	}
}

func names(tools []scripted.Tool) (all []string) {
	for _, tool := range tools {
		all = append(all, tool.Name)
	}
	slices.Sort(all)
	return all
}
