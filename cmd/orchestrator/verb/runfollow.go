package verb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/work"
)

// runCodes says with which codes verbs end that follow an execution.
const runCodes = "Exit codes: 0 completed; 4 it is lost, or waits for you; 5 it failed, or not within --timeout; 6 cancelled."

// startTime is how long an execution may take to start before people are told why it waits.
const startTime = 700 * time.Millisecond

// cancelTime is how long a verb that is interrupted waits for its execution to end.
const cancelTime = 10 * time.Second

// runFollower follows one execution to its end and prints what it reports.
type runFollower struct {
	cli    *cli
	client *client.Client
	print  runPrinter
	x      work.Execution // as last known
	told   thread.RunPiece
	late   <-chan time.Time // fires at the timeout
	// cancels is set if Ctrl+C cancels the execution, and does not only leave it.
	cancels bool
}

// followRun follows an execution until it has ended, and returns the error with the exit code.
func followRun(ctx context.Context, c *cli, cl *client.Client, t followOptions, x work.Execution, cancels bool) error {
	f := &runFollower{cli: c, client: cl, print: newRunPrinter(c, t), x: x, cancels: cancels}
	if t.limit > 0 {
		f.late = time.After(t.limit)
	}
	f.print.begin(x, cancels)
	return f.follow(ctx)
}

// follow handles what the execution reports until it has ended, the time is up, or the server is gone.
func (f *runFollower) follow(ctx context.Context) error {
	listening, stop := context.WithCancel(context.WithoutCancel(ctx)) // what it reports while it is cancelled is printed, too
	defer stop()
	events, err := api.FollowExecution.Open(listening, f.client, f.ref())
	if err != nil {
		return err
	}
	interrupted, moment := ctx.Done(), time.After(startTime)
	var cancelled <-chan error
	again := make(chan os.Signal, 1)
	defer signal.Stop(again)
	for {
		select {
		case <-interrupted:
			if !f.cancels {
				return f.left(nil)
			}
			interrupted = nil
			signal.Notify(again, os.Interrupt, syscall.SIGTERM)
			f.print.notice(fmt.Sprintf("cancelling %s; Ctrl+C again leaves it", f.x.Name))
			cancelled = f.cancel(listening)
		case <-again:
			return f.left(nil)
		case err := <-cancelled:
			if cancelled = nil; err != nil && !errors.Is(err, thread.ErrNotRunning) {
				return f.left(err)
			}
		case <-moment:
			f.print.waits()
		case <-f.late:
			return f.leave(exitcode.Agent, fmt.Sprintf("%s has not finished in time (%s) and goes on. See it: "+
				"`orchestrator exec logs -f %s`; end it: `orchestrator exec cancel %s`", f.x.Name, f.x.State, f.x.Name, f.x.Name))
		case e, ok := <-events:
			if ok {
				f.take(e)
				continue
			}
			if events, err = f.closed(listening); err != nil || events == nil {
				return f.over(err)
			}
		}
	}
}

func (f *runFollower) ref() api.ExecutionRef { return api.ExecutionRef{Execution: string(f.x.ID)} }

// take prints a piece. A state that is known already is not printed again.
func (f *runFollower) take(e thread.Event) {
	if e.Run == nil {
		return
	}
	p := *e.Run
	if p.Event == nil {
		now := thread.RunPiece{Attempt: p.Attempt, State: p.State, Reason: p.Reason}
		if now == f.told && p.Missed == 0 {
			return
		}
		f.told, f.x.State = now, work.State(p.State)
	}
	f.print.piece(p)
}

// cancel cancels the execution.
func (f *runFollower) cancel(ctx context.Context) <-chan error {
	done := make(chan error, 1)
	go func() {
		ctx, stop := context.WithTimeout(ctx, cancelTime)
		defer stop()
		_, err := api.CancelExecution.Do(ctx, f.client, api.CancelRequest{Execution: string(f.x.ID), Reason: "Ctrl+C"})
		done <- err
	}()
	return done
}

// closed looks why the stream has ended: nil if the execution has; else it is followed again once the server is back.
func (f *runFollower) closed(ctx context.Context) (<-chan thread.Event, error) {
	told := false
	for gone := time.After(returnTime); ; {
		cl, _, err := f.cli.reach(ctx)
		if err == nil {
			f.client = cl // closed when the process exits
			var x work.Execution
			if x, err = api.Execution.Do(ctx, cl, f.ref()); err == nil {
				if f.x = x; x.State.Final() {
					return nil, nil
				}
				return api.FollowExecution.Open(ctx, cl, f.ref())
			}
			if !client.Gone(err) {
				return nil, err
			}
		}
		if !told {
			told = true
			f.print.notice("lost the connection to the server; waiting for it to come back")
		}
		select {
		case <-time.After(returnPause):
		case <-gone:
			return nil, fmt.Errorf("lost track of %s: %w", f.x.Name, err)
		}
	}
}

// over prints the end of the execution.
func (f *runFollower) over(err error) error {
	if err != nil {
		return err
	}
	if err := f.print.end(f.x); err != nil {
		return err
	}
	return f.leave(runExit(f.x), runWords(f.x))
}

// left is the end of a verb that was interrupted.
func (f *runFollower) left(err error) error {
	text := fmt.Sprintf("left %s, which goes on. See it: `orchestrator exec logs -f %s`; end it: `orchestrator exec cancel %s`",
		f.x.Name, f.x.Name, f.x.Name)
	if err != nil {
		return fmt.Errorf("cancel %s: %w", f.x.Name, err)
	}
	return f.leave(exitcode.Error, text)
}

// leave ends the verb with a code and a text for people.
func (f *runFollower) leave(code int, text string) error {
	if text != "" {
		fmt.Fprintln(f.cli.out.stderr, "orchestrator:", text)
	}
	if code == exitcode.OK {
		return nil
	}
	return &silentError{code: code}
}

// runExit returns the exit code for how an execution stands.
func runExit(x work.Execution) int {
	switch x.State {
	case work.Completed:
		return exitcode.OK
	case work.Failed:
		return exitcode.Agent
	case work.Cancelled:
		return exitcode.Cancelled
	default: // a person decides what follows
		return exitcode.Refused
	}
}

// runWords says for people how an execution ended, "" if its answer says it all.
func runWords(x work.Execution) string {
	why := ""
	if x.Reason != "" {
		why = ": " + x.Reason
	}
	switch x.State {
	case work.Completed:
		return ""
	case work.Lost:
		return fmt.Sprintf("%s is lost%s. Go on with it: `orchestrator exec resume %s`", x.Name, why, x.Name)
	case work.Cancelled:
		return fmt.Sprintf("%s was cancelled%s", x.Name, why)
	case work.Failed:
		words := fmt.Sprintf("%s has failed%s", x.Name, why)
		if x.Failure.Do != "" {
			words += fmt.Sprintf(". What you can do: %s", x.Failure.Do)
		}
		words += fmt.Sprintf(". Try it again: `orchestrator exec retry %s`", x.Name)
		if x.Offers() {
			words += fmt.Sprintf(", or with its fallback %s: `orchestrator exec fallback %s`", x.Fallback, x.Name)
		}
		return words
	default:
		return fmt.Sprintf("%s has %s%s. Ask again: `orchestrator exec send %s TEXT`", x.Name, x.State, why, x.Name)
	}
}
