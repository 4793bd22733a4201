// Package runs cancels executions of agents without a terminal, and goes on with those that were lost or have failed.
package runs

import (
	"context"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/work"
	"orchestrator/ui/dialog"
	"orchestrator/ui/host"
	"orchestrator/ui/intent"

	tea "charm.land/bubbletea/v2"
)

// Feature acts on the newest execution of a thread.
type Feature struct {
	*host.Host
}

// Register adds the feature to a host.
func Register(h *host.Host) {
	f := &Feature{h}
	h.Actions.OnThread(intent.CancelRun, f.openCancel)
	h.Actions.OnThread(intent.ResumeRun, f.resume)
	h.Actions.OnThread(intent.FallbackRun, f.fallBack)
}

// openCancel asks whether to cancel a run. The question goes away with what it is about.
func (f *Feature) openCancel(s *thread.Status) tea.Cmd {
	if !s.Run.Waiting() && !s.Run.Working() {
		return f.Notify(thread.LevelInfo, f.Name(s.ID)+" has no run to cancel")
	}
	id, name, run := s.ID, f.Name(s.ID), *s.Run
	body := dialog.Plain("It has not started, and never will.")
	if run.Working() {
		body = dialog.Plain("Its process is ended within a second. What it has done so far stays.")
	}
	f.Dialogs.Push(dialog.NewAsk("cancel "+run.Execution+" of "+name+"?", body, dialog.Cancel("Keep it"),
		dialog.Choice{Label: "Cancel the run", Danger: true, Result: host.Do(func() tea.Cmd { return f.cancel(name, run.Execution) })}).
		Until(func() string {
			now := f.Threads.Thread(id)
			if now == nil || now.Run == nil || now.Run.Execution != run.Execution || now.Run.Over() {
				return run.Execution + " has ended."
			}
			return ""
		}))
	return nil
}

func (f *Feature) cancel(name, execution string) tea.Cmd {
	return f.call("cancel "+execution, name+": "+execution+" cancelled", func(ctx context.Context) (work.Execution, error) {
		return api.CancelExecution.Do(ctx, f.Server, api.CancelRequest{Execution: execution, Reason: "from the screen"})
	})
}

// resume goes on with a lost run, or tries a failed one again.
func (f *Feature) resume(s *thread.Status) tea.Cmd {
	if s.Run == nil || s.Run.State != string(work.Lost) && s.Run.State != string(work.Failed) && s.Run.Again.IsZero() {
		return f.Notify(thread.LevelInfo, f.Name(s.ID)+" has no run that was lost, has failed or waits for another attempt")
	}
	execution := s.Run.Execution
	if s.Run.State != string(work.Lost) {
		return f.call("retry "+execution, f.Name(s.ID)+": "+execution+" is tried again", func(ctx context.Context) (work.Execution, error) {
			return api.RetryExecution.Do(ctx, f.Server, api.ExecutionRef{Execution: execution})
		})
	}
	return f.call("resume "+execution, f.Name(s.ID)+": "+execution+" goes on", func(ctx context.Context) (work.Execution, error) {
		return api.ResumeExecution.Do(ctx, f.Server, api.ExecutionRef{Execution: execution})
	})
}

// fallBack has the fallback of a failed run go on.
func (f *Feature) fallBack(s *thread.Status) tea.Cmd {
	if s.Run == nil || s.Run.Fallback == "" {
		return f.Notify(thread.LevelInfo, f.Name(s.ID)+" has no failed run with a fallback; [runs.fallback] in your configuration names one")
	}
	execution, to := s.Run.Execution, s.Run.Fallback
	return f.call("fall back from "+execution, f.Name(s.ID)+": "+to+" goes on with "+execution, func(ctx context.Context) (work.Execution, error) {
		return api.FallBackExecution.Do(ctx, f.Server, api.ExecutionRef{Execution: execution})
	})
}

// call makes a call that changes an execution. The thread's events show what it became.
func (f *Feature) call(task, done string, do func(context.Context) (work.Execution, error)) tea.Cmd {
	return host.Call(f.Host, host.Slow, do, func(_ work.Execution, err error) tea.Cmd {
		if err != nil {
			return f.Fail(task, err)
		}
		return f.Notify(thread.LevelInfo, done)
	})
}
