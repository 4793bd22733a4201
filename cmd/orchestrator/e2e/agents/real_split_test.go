package agents

import (
	"strings"
	"testing"
	"time"

	"orchestrator/agent/agenttest/clis"
	"orchestrator/agent/agenttest/model"
	"orchestrator/agent/scripted"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread/plan"
)

// TestRealSplit has each real CLI split a text. The model's server is asked for that and for nothing else until a person
// starts what is proposed; then it is asked for the one that was started.
func TestRealSplit(t *testing.T) {
	for _, cli := range clis.All() {
		t.Run(cli.Name, func(t *testing.T) {
			t.Parallel()
			r := newScripted(t, cli, func(turn model.Turn) scripted.Reply {
				if strings.Contains(turn.Prompt, "Split the text below into tasks") {
					return scripted.Reply{Text: "Two things:\n\n```json\n" + `{"tasks":[{"title":"Mend the login","body":"two tabs"},{"title":"Write the docs"}]}` + "\n```\n"}
				}
				return scripted.Reply{Text: "done"}
			})
			list := e2e.Get[[]plan.Task](r.Rig, "task", "split", "so, um, the login, with two tabs. and the docs, start them all now", "--agent", cli.Name, "--model", cli.Model)
			if len(list) != 2 || list[1].Title != "Mend the login" || list[0].Title != "Write the docs" {
				t.Fatalf("proposed: %+v", list)
			}
			time.Sleep(time.Second) // nothing is asked meanwhile
			if asked := r.model.Main(); len(asked) != 1 || !strings.Contains(asked[0].Turn.Prompt, "so, um, the login") {
				t.Fatalf("the model was asked %d times before the yes", len(asked))
			}
			r.Ok("task", "start", list[1].Name, "--read-only", "--agent", cli.Name, "--model", cli.Model)
			e2e.Await(t, "the task to be complete", func() bool { return r.Task(list[1].Name).Task.Status == plan.Complete })
			asked := r.model.Main()
			if len(asked) != 2 || !strings.Contains(asked[1].Turn.Prompt, "Mend the login") || strings.Contains(asked[1].Turn.Prompt, "Write the docs") {
				t.Errorf("the model was asked %d times, last: %q", len(asked), asked[len(asked)-1].Turn.Prompt)
			}
		})
	}
}
