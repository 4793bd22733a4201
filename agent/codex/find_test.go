package codex_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"orchestrator/agent/agenttest"
	"orchestrator/agent/codex"
	"orchestrator/agent/launch"
	"orchestrator/thread"
)

// TestFindSession finds the session of an agent that asks its model elsewhere, among those of others.
func TestFindSession(t *testing.T) {
	since := time.Now().Add(-time.Second)
	id := func(n byte, at time.Time) string { return agenttest.UUID7(at, n) }
	own, other, third := id(1, time.Now()), id(2, time.Now()), id(3, time.Now())
	type rollout struct {
		id, dir string
		roots   []string
		source  any
		old     bool
		raw     string
	}
	for name, c := range map[string]struct {
		all  []rollout
		want string
	}{
		"none":                    {nil, ""},
		"by its folder":           {[]rollout{{id: own, dir: "/w", roots: []string{"/w", "/state/drop"}}, {id: other, dir: "/w", roots: []string{"/w", "/another/drop"}}}, own},
		"in another folder":       {[]rollout{{id: own, dir: "/elsewhere", roots: []string{"/elsewhere", "/state/drop"}}}, own},
		"the only one":            {[]rollout{{id: own, dir: "/w"}, {id: other, dir: "/elsewhere"}}, own},
		"two":                     {[]rollout{{id: own, dir: "/w"}, {id: other, dir: "/w"}}, ""},
		"of a sub-agent":          {[]rollout{{id: own, dir: "/w"}, {id: other, dir: "/w", source: map[string]any{"subagent": "review"}}}, own},
		"from before":             {[]rollout{{id: id(4, since.Add(-time.Hour)), dir: "/w", old: true}}, ""},
		"that goes on from then":  {[]rollout{{id: id(4, since.Add(-time.Hour)), dir: "/w"}}, ""},
		"another's, with folders": {[]rollout{{id: other, dir: "/w", roots: []string{"/w", "/another/drop"}}}, ""},
		"a name that begins so":   {[]rollout{{id: other, dir: "/x", roots: []string{"/x", "/state-2/drop"}}}, ""},
		"half written":            {[]rollout{{id: third, raw: `{"type":"session_meta","payload":{"id":"`}, {id: own, dir: "/w"}}, own},
		"no id":                   {[]rollout{{id: "../../x", dir: "/w"}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			day := filepath.Join(home, ".codex", "sessions", filepath.FromSlash(time.Now().Format("2006/01/02")))
			for i, r := range c.all {
				if r.source == nil {
					r.source = "cli"
				}
				line, err := json.Marshal(map[string]any{"type": "session_meta",
					"payload": map[string]any{"id": r.id, "cwd": r.dir, "runtime_workspace_roots": r.roots, "source": r.source}})
				if err != nil {
					t.Fatal(err)
				}
				text := string(line) + "\n{}\n"
				if r.raw != "" {
					text = r.raw
				}
				path := filepath.Join(day, "rollout-"+string(rune('a'+i))+".jsonl")
				agenttest.Put(t, path, text)
				if r.old {
					if err := os.Chtimes(path, since.Add(-time.Minute), since.Add(-time.Minute)); err != nil {
						t.Fatal(err)
					}
				}
			}
			got, err := codex.New(launch.Config{}).FindSession(t.Context(), thread.FindSpec{
				Dir: "/w", StateDir: "/state", Env: []string{"HOME=" + home}, Since: since,
			})
			if err != nil || got != c.want {
				t.Errorf("%q %v, want %q", got, err, c.want)
			}
		})
	}
}
