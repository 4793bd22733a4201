package agents

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"orchestrator/agent/agenttest/clis"
	"orchestrator/agent/agenttest/model"
	"orchestrator/agent/scripted"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
)

// TestRealLeftOutComesBack: the real Claude Code, started with the least, has its model call a tool that is left out. It
// is offered, and after the restart it is there, in the same conversation.
func TestRealLeftOutComesBack(t *testing.T) {
	for _, cli := range clis.All() {
		if cli.Name != "claude" {
			continue
		}
		t.Run(cli.Name, func(t *testing.T) {
			cli.Mode = ""
			r := newScripted(t, cli, func(turn model.Turn) scripted.Reply {
				if !turn.Side && strings.Contains(turn.Prompt, "many agents") && turn.Round == 0 {
					return scripted.Reply{Calls: []scripted.Call{{Name: "Workflow", Args: map[string]any{"script": "return 1"}}}}
				}
				return atWork(turn)
			})
			name := r.Ok("new", "-a", cli.Name, "-m", cli.Model, "--base", "minimal", "left out")
			offered := func(what string) []string {
				var body struct{ Tools []struct{ Name string } }
				if err := json.Unmarshal(r.request(what).Body, &body); err != nil {
					t.Fatal(err)
				}
				var names []string
				for _, tool := range body.Tools {
					names = append(names, tool.Name)
				}
				return names
			}
			r.Ok("send", name, "begin here. #say:begun.")
			if names := offered("begin here."); slices.Contains(names, "Workflow") || !slices.Contains(names, "Bash") {
				t.Fatalf("offered at the start: %v", names)
			}
			r.Ok("send", name, "now use many agents.")
			e2e.Await(t, "the offer", func() bool { return r.Status(name).Offer != nil })
			if said := r.Ok("offer", name); !strings.Contains(said, "needs Workflow") || !strings.Contains(said, "its agent asked for it") {
				t.Errorf("offered:\n%s", said)
			}
			before := r.Status(name)
			r.Ok("offer", "accept", name)
			e2e.Await(t, "the restart", func() bool {
				x := r.Status(name).Execution
				return x != nil && x.ID != before.Execution.ID
			})
			r.AwaitState(name, thread.StateIdle, thread.StateDone)
			r.Ok("send", name, "go on there. #say:gone on.")
			q := r.request("go on there.")
			if names := offered("go on there."); !slices.Contains(names, "Workflow") && !strings.Contains(string(q.Body), `:\nSkill\nWorkflow\n`) {
				t.Errorf("offered after the restart, at once or to be loaded: %v", names)
			}
			r.Ok("send", name, "once more: use many agents.")
			ctx, cancel := context.WithTimeout(t.Context(), e2e.Patience)
			defer cancel()
			called, err := r.model.Wait(ctx, func(q model.Request) bool {
				return !q.Turn.Side && strings.Contains(q.Turn.Prompt, "once more: ") && q.Turn.Round == 1
			})
			results := called.Turn.Results()
			if err != nil || len(results) != 2 || !strings.Contains(results[0], "No such tool available") || !strings.Contains(results[1], "Invalid workflow script") {
				t.Errorf("called before and after: %q, %v", results, err)
			}
			if said := strings.Join(q.Turn.Prompts(), "\n"); !strings.Contains(said, "begin here.") {
				t.Errorf("its conversation: %s", said)
			}
			if s := r.Status(name); s.Session != before.Session || slices.Contains(s.Base.Left, "workflows") || s.Offer != nil {
				t.Errorf("after the restart: %+v, session %s, offer %+v", s.Base, s.Session, s.Offer)
			}
			if said := r.Ok("events", "--kind", "context"); strings.Contains(said, "although its base leaves out") {
				t.Errorf("the base is not as its profile says:\n%s", said)
			}
			t.Logf("%s: without Workflow, asked for, and with it after the restart: left out %v, then %v", cli.Name, before.Base.Left, r.Status(name).Base.Left)
		})
	}
}

// TestRealBasesHold: of no real CLI the check claims that a profile does not work, with all that was measured.
func TestRealBasesHold(t *testing.T) {
	for _, cli := range clis.All() {
		t.Run(cli.Name, func(t *testing.T) {
			r := newRealRig(t, cli)
			for _, profile := range []string{thread.BaseFull, thread.BaseSlim, thread.BaseMinimal} {
				args := []string{"new", "-a", cli.Name, "-m", cli.Model, "--base", profile, profile}
				if cli.Mode != "" {
					args = append(args, "--permission-mode", cli.Mode)
				}
				name := r.Ok(args...)
				r.Ok("send", name, "with "+profile+". #say:begun.")
				r.Ok("stop", name)
				r.Ok("resume", name)
				r.Ok("send", name, "again with "+profile+". #say:gone on.")
				if s := r.Status(name); profile != thread.BaseFull && len(s.Base.Left) == 0 {
					t.Errorf("%s leaves out nothing: %+v", profile, s.Base)
				}
			}
			if said := r.Ok("events", "--kind", "context"); strings.Contains(said, "although its base leaves out") {
				t.Errorf("claimed:\n%s", said)
			}
			if said := r.Ok("offer"); said != "nothing is offered" {
				t.Errorf("offered:\n%s", said)
			}
		})
	}
}
