package agents

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/agent/agenttest/clis"
	"orchestrator/cmd/orchestrator/e2e"
)

// TestRealReplay has every real CLI work until its context is large, and replays what it recorded itself: there are as
// many requests as the model answered, as large as the model counted, and masking makes them smaller.
func TestRealReplay(t *testing.T) {
	const turns = 12
	for _, cli := range clis.All() {
		t.Run(cli.Name, func(t *testing.T) {
			t.Log("REAL: replaying what the real " + cli.Name + " recorded")
			r := newRealRig(t, cli)
			r.Env = append(r.Env, "ORCHESTRATOR_MASKING=off") // the model counts what the agent sent
			name := r.start("replay")
			for i := 1; i <= turns; i++ {
				r.Ok("send", name, fmt.Sprintf("prompt-%d. #bash:seq %d 6000 #write:f-%d.txt=file-%d #bash:seq %d 7000 #say:answer-%d.", i, i*10, i, i, i*10, i))
			}
			r.Ok("stop", name) // some write the end of a session then
			var files []string
			for _, line := range strings.Split(r.Run("context", "replay").Stderr, "\n") {
				if words := strings.Fields(line); len(words) > 2 && words[0] == cli.Name { // where it says that they are
					found, err := filepath.Glob(strings.Replace(words[1], "~", r.Home, 1))
					if err != nil {
						t.Fatal(err)
					}
					files = append(files, found...)
				}
			}
			out := r.Ok(append([]string{"context", "replay", "--json"}, files...)...)
			var got e2e.Replayed
			if err := json.Unmarshal([]byte(out), &got); err != nil {
				t.Fatal(err)
			}
			t.Log(r.Ok(append([]string{"context", "replay"}, files...)...))
			requests, tokens := 0, int64(0)
			for _, q := range r.model.Main() {
				u := q.Reply.Usage
				requests++
				tokens += u.Input + u.CacheRead + u.CacheWrite
			}
			if len(got.Problems) > 0 || len(got.Groups) == 0 {
				t.Fatalf("%+v", got)
			}
			all := got.Groups[0]
			if all.Agent != cli.Name || all.Requests != requests || int64(all.Context) != tokens/int64(requests) {
				t.Errorf("%d requests of %s with %.0f tokens in the mean; the model answered %d with %d", all.Requests, all.Agent, all.Context,
					requests, tokens/int64(requests))
			}
			for _, o := range all.Results {
				if masks := o.Policy == "safe" || o.Policy == "lean"; masks && (o.ContextCut < 10 || o.Masks == 0) {
					t.Errorf("%s with a cache of %s masks %.1f times and cuts %.1f%%", o.Policy, o.Cache, o.Masks, o.ContextCut)
				}
			}
		})
	}
}
