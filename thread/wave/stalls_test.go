package wave_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	planmemory "orchestrator/checkpoint/plantest/memory"
	"orchestrator/thread"
	"orchestrator/thread/plan"
	"orchestrator/thread/wave"
	"orchestrator/thread/work"
)

// TestStalls watches agents by a clock that is not ours: who is silent, who repeats itself, and nobody else.
func TestStalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plans := planmemory.New(time.Now)
		p := plan.Plan{Name: "p", Agents: []plan.Agent{
			{Name: "silent", Prompt: "p"}, {Name: "repeats", Prompt: "p"}, {Name: "asks", Prompt: "p"}, {Name: "thinks", Prompt: "p"},
			{Name: "ends", Prompt: "p"}, {Name: "talks", Prompt: "p", Writes: []string{"*"}}, {Name: "models", Prompt: "p"}, {Name: "starts", Prompt: "p"},
		}}
		nodes, err := plan.Layout(p)
		if err != nil {
			t.Fatal(err)
		}
		task, err := plans.AddTask(t.Context(), plan.Task{Title: "t", Status: plan.InProgress, Plan: &p, PlanName: p.Name}, nodes)
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		told := map[string][]string{}
		s := wave.NewStalls(wave.StallConfig{
			Store: plans, Busy: func(id work.ID) bool { return id == "models" },
			Files: func(context.Context, thread.ID) (string, bool) { return "same", true },
			Stuck: func(of thread.Part, why string) {
				mu.Lock()
				defer mu.Unlock()
				told[of.Agent] = append(told[of.Agent], why)
			},
		})
		ctx, stop := context.WithCancel(t.Context())
		var wait sync.WaitGroup
		wait.Go(func() { _ = s.Run(ctx) })
		for _, a := range p.Agents {
			state := work.Running
			if a.Name == "starts" {
				state = work.Deployed
			}
			s.Stands(work.Execution{ID: work.ID(a.Name), Thread: thread.ID(a.Name), State: state, Part: thread.Part{Task: task.Name, Agent: a.Name, Round: 1}})
			s.Heard(work.ID(a.Name), thread.RunEvent{Kind: thread.RunSession})
		}
		s.Heard("asks", thread.RunEvent{Kind: thread.RunAsks, Question: &thread.Question{ID: "q"}})
		for i := range 5 {
			s.Heard("repeats", thread.RunEvent{Kind: thread.RunTool, Tool: "Bash", Text: "ls", Call: fmt.Sprint(i)})
			s.Heard("repeats", thread.RunEvent{Kind: thread.RunResult, Call: fmt.Sprint(i)})
		}
		time.Sleep(10 * time.Second)
		s.Heard("talks", thread.RunEvent{Kind: thread.RunUsage, Usage: &thread.Usage{Output: 60_000}})
		for range 11 {
			time.Sleep(time.Minute)
			s.Heard("thinks", thread.RunEvent{Kind: thread.RunThinking, Text: "hm"})
			s.Heard("repeats", thread.RunEvent{Kind: thread.RunText, Text: "hm"})
			s.Heard("talks", thread.RunEvent{Kind: thread.RunText, Text: "hm"})
		}
		s.Stands(work.Execution{ID: "ends", State: work.Completed, Part: thread.Part{Task: task.Name, Agent: "ends", Round: 1}})
		time.Sleep(10 * time.Second)
		s.Heard("silent", thread.RunEvent{Kind: thread.RunText, Text: "here"})
		s.Heard("repeats", thread.RunEvent{Kind: thread.RunTool, Tool: "Read", Text: "a", Call: "r"})
		s.Heard("ends", thread.RunEvent{Kind: thread.RunText, Text: "late"})
		time.Sleep(10 * time.Second)
		stop()
		wait.Wait()
		want := map[string][]string{
			"silent":  {"nothing was heard of it for 10m0s", ""},
			"repeats": {"it called Bash 5 times in a row with the same arguments", ""},
			"talks":   {"it has said 60k tokens and changed no file"},
			"ends":    {"nothing was heard of it for 10m0s"},
		}
		for _, a := range p.Agents {
			if !slices.Equal(told[a.Name], want[a.Name]) {
				t.Errorf("%s: %q, want %q", a.Name, told[a.Name], want[a.Name])
			}
		}
	})
}
