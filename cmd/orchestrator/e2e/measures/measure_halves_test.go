package measures

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/cmd/orchestrator/e2e"
)

// TestMeasureHalves replays recorded sessions, the project with the most of them apart from all others, and holds that
// "safe" masks at most 4 % of the reads that a later edit needs, in each half and with each cache: what it protects was
// chosen on one half and measured on the other, and the other way round.
func TestMeasureHalves(t *testing.T) {
	shared := os.Getenv("ORCHESTRATOR_SHARED")
	if shared == "" {
		t.Skip("SKIPPED without recorded sessions: `ORCHESTRATOR_SHARED=FOLDER go test -v -count=1 -run TestMeasureHalves ./cmd/orchestrator/e2e/measures` replays those in FOLDER/corpus/sessions.tar.zst")
	}
	dir := t.TempDir()
	unpack := exec.Command("tar", "--zstd", "-xf", filepath.Join(shared, "corpus", "sessions.tar.zst"), "-C", dir)
	if out, err := unpack.CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: the sessions cannot be unpacked: %v\n%s", err, out)
	}
	projects := make(map[string][]string)
	most := ""
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".jsonl") {
			project, _, _ := strings.Cut(d.Name(), "__")
			projects[project] = append(projects[project], path)
			if len(projects[project]) > len(projects[most]) {
				most = project
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var others []string
	for project, files := range projects {
		if project != most {
			others = append(others, files...)
		}
	}
	r := e2e.NewRig(t)
	for _, half := range []struct {
		name  string
		files []string
	}{{most, projects[most]}, {"all but " + most, others}} {
		var got e2e.Replayed
		out := r.Ok(append([]string{"context", "replay", "--json", "--policy", "safe"}, half.files...)...)
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			t.Fatal(err)
		}
		hits, edits := make(map[string]int), make(map[string]int) // by cache, over all agents
		for _, g := range got.Groups {
			for _, o := range g.Results {
				t.Logf("%s: %s, %s, cache %s: %d of %d edits hit, context %.1f %% smaller, cost %+.1f %%",
					half.name, g.Agent, g.Sessions, o.Cache, o.EditsHit, o.EditsRead, o.ContextCut, o.Cost)
				if g.Sessions == "all" {
					hits[o.Cache] += o.EditsHit
					edits[o.Cache] += o.EditsRead
				}
			}
		}
		if len(edits) == 0 {
			t.Fatalf("%s: nothing was replayed: %+v", half.name, got)
		}
		for cache, n := range edits {
			share := 100 * float64(hits[cache]) / float64(max(1, n))
			t.Logf("%s: cache %s: %d of %d edits hit, %.1f %%", half.name, cache, hits[cache], n, share)
			if n < 100 || share > 4 {
				t.Errorf("%s: cache %s: %d of %d edits hit, %.1f %%", half.name, cache, hits[cache], n, share)
			}
		}
	}
}
