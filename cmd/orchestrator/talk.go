package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread"
)

func (c *cli) runVerb() *cobra.Command {
	var r thread.NewRequest
	var limit time.Duration
	cmd := &cobra.Command{
		Use: "run [flags] <task> [-- agent arguments]", Short: "Start a new thread with a task and follow its answer",
		Long: "Start a new thread with a task and print the answer when the turn has ended. Exit code 0: answered;\n4: it waits for you; 5: the agent did not finish, or not within --timeout.",
	}
	c.newFlags(cmd, &r)
	timeoutFlag(cmd, &limit)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		words, rest := split(cmd, args)
		r.Prompt = strings.TrimSpace(strings.Join(words, " "))
		if r.Prompt == "" {
			return usagef("expected <task>")
		}
		if err := c.agentArgs(&r, rest); err != nil {
			return err
		}
		return c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
			if err := cl.May(ctx, "new", ""); err != nil {
				return err // before it asks for what following needs
			}
			return c.follow(ctx, cl, limit, func() (thread.Status, error) {
				s, err := cl.New(ctx, r)
				s.Turn = 0 // it may have answered by now
				return s, err
			})
		})(cmd, args)
	}
	return cmd
}

// timeoutFlag bounds how long follow follows.
func timeoutFlag(cmd *cobra.Command, limit *time.Duration) {
	cmd.Flags().DurationVar(limit, "timeout", 0, "stop waiting for the answer after this time, such as 10m; the agent goes on")
}

func (c *cli) sendVerb() *cobra.Command {
	var detach bool
	var limit time.Duration
	cmd := &cobra.Command{
		Use: "send <thread> <text>", Short: "Send a prompt to a thread and follow its answer",
		Args: exactly("<thread>", "<text>"), ValidArgsFunction: c.completeThreads,
	}
	cmd.Flags().BoolVarP(&detach, "detach", "d", false, "do not wait for the answer")
	timeoutFlag(cmd, &limit)
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		if detach {
			return cl.Send(ctx, args[0], args[1])
		}
		if err := cl.May(ctx, "send", args[0]); err != nil {
			return err // before it asks for what following needs
		}
		return c.follow(ctx, cl, limit, func() (thread.Status, error) {
			s, err := cl.Status(ctx, args[0])
			if err != nil {
				return s, err
			}
			return s, cl.Send(ctx, string(s.ID), args[1])
		})
	})
	return cmd
}

// answer is what follow prints with --json.
type answer struct {
	Thread     string            `json:"thread"`
	Outcome    string            `json:"outcome"` // "answered", "waits", "failed", "timeout"
	Answer     string            `json:"answer"`
	State      thread.State      `json:"state"`
	Checkpoint thread.Checkpoint `json:"checkpoint"`
}

// settleTime is how long follow waits after a turn's checkpoint for the thread to show that it no
// longer works, so that the next verb finds it so.
const settleTime = 5 * time.Second

// follow begins a turn and prints what the agent answers, response by response, until the turn
// ends, the agent waits for the person, its process ends, or the limit is over; 0 is no limit. begin
// returns the thread as it was before the turn.
func (c *cli) follow(ctx context.Context, cl *client.Client, limit time.Duration, begin func() (thread.Status, error)) error {
	var late <-chan time.Time
	if limit > 0 {
		late = time.After(limit)
	}
	events, err := cl.Events(ctx)
	if err != nil {
		return err
	}
	s, err := begin()
	if err != nil {
		return err
	}
	if !c.json {
		fmt.Fprintf(c.stderr, "%s\n", s.Name)
	}
	f := &follower{cli: c, client: cl, thread: s, answer: answer{Thread: s.Name, Outcome: "failed", State: s.State.State}}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-f.settled:
			return c.outcome(f.answer)
		case <-late:
			if f.settled == nil {
				f.answer.Outcome = "timeout"
			}
			return c.outcome(f.answer)
		case e, ok := <-events:
			if !ok {
				return errors.New("the server went away while the agent answered; `orchestrator threads` says where the thread stands")
			}
			if f.take(ctx, e) {
				return c.outcome(f.answer)
			}
		}
	}
}

// follower is one turn of a thread as its events tell of it.
type follower struct {
	*cli
	client  *client.Client
	thread  thread.Status // as it was before the turn
	answer  answer
	seq     int64            // of the newest event
	live    bool             // the agent was seen running
	settled <-chan time.Time // set once the turn has ended
}

// take takes one event and reports whether there is nothing more to follow. Events that the server
// could not keep for a client that was busy are made up for by asking where the thread stands.
func (f *follower) take(ctx context.Context, e thread.Event) (over bool) {
	missed := f.seq != 0 && e.Seq != f.seq+1
	f.seq = e.Seq
	if missed && f.catchUp(ctx) {
		return true
	}
	if e.ThreadID != f.thread.ID {
		return false
	}
	if e.Notice != nil && e.Notice.Level != thread.LevelInfo {
		fmt.Fprintln(f.stderr, "orchestrator:", e.Notice.Text)
	}
	return e.Checkpoint != nil && f.checkpoint(ctx, *e.Checkpoint) || e.Status != nil && f.status(*e.Status)
}

func (f *follower) catchUp(ctx context.Context) (over bool) {
	id := string(f.thread.ID)
	newest, err := f.client.Timeline(ctx, id, thread.Page{Turns: true, Limit: 1})
	if err == nil && len(newest) > 0 && newest[0].Kind == thread.KindTurn && f.checkpoint(ctx, newest[0]) {
		return true
	}
	s, err := f.client.Status(ctx, id)
	return err == nil && f.status(s)
}

// checkpoint takes what a response or the turn came to.
func (f *follower) checkpoint(ctx context.Context, cp thread.Checkpoint) (over bool) {
	if cp.Turn <= f.thread.Turn || f.settled != nil {
		return false
	}
	f.answer.Checkpoint = cp
	f.printAnswer(ctx, f.client, f.thread, &cp, &f.answer)
	if cp.Kind != thread.KindTurn {
		return false
	}
	f.answer.Outcome, f.answer.State = "answered", thread.StateDone
	if cp.Interrupted {
		f.answer.Outcome = "failed"
		return true
	}
	f.settled = time.After(settleTime)
	return false
}

// status takes what the agent does.
func (f *follower) status(s thread.Status) (over bool) {
	state := s.State.State
	if f.settled != nil {
		return state != thread.StateWorking
	}
	f.answer.State = state
	switch {
	case state.NeedsPerson():
		f.answer.Outcome = "waits"
		return true
	case state.Live():
		f.live = true
	case f.live: // before, it was not started yet
		return true
	}
	return false
}

// printAnswer prints what one response said.
func (c *cli) printAnswer(ctx context.Context, cl *client.Client, s thread.Status, cp *thread.Checkpoint, a *answer) {
	text := cp.Answer
	if entries, err := cl.Turn(ctx, string(s.ID), string(cp.ID)); err == nil {
		for _, e := range entries { // the last answer, whole
			if e.Kind == thread.EntryAnswer {
				text = e.Text
			}
		}
	}
	said := a.Answer
	a.Answer = text
	if !c.json && text != said && strings.TrimSpace(text) != "" { // a turn's end repeats its last response
		fmt.Fprintln(c.stdout, strings.TrimRight(text, "\n"))
	}
}

// outcome ends follow: the exit code tells how.
func (c *cli) outcome(a answer) error {
	if c.json {
		if err := c.show(a, nil); err != nil {
			return err
		}
	}
	switch a.Outcome {
	case "answered":
		return nil
	case "waits":
		fmt.Fprintf(c.stderr, "orchestrator: %s waits for you (%s): `orchestrator attach %s`\n", a.Thread, a.State, a.Thread)
		return &silentError{code: exitRefused}
	case "timeout":
		fmt.Fprintf(c.stderr, "orchestrator: %s has not finished in time (%s) and goes on: `orchestrator attach %s` shows it\n", a.Thread, a.State, a.Thread)
		return &silentError{code: exitAgent}
	default:
		fmt.Fprintf(c.stderr, "orchestrator: %s did not finish (%s): `orchestrator why %s` says more\n", a.Thread, a.State, a.Thread)
		return &silentError{code: exitAgent}
	}
}

func (c *cli) findVerb() *cobra.Command {
	var limit int
	cmd := &cobra.Command{Use: "find <words>", Short: "Search names, prompts and answers of all threads", Args: between(1, math.MaxInt, "<words>")}
	cmd.Flags().IntVar(&limit, "limit", 20, "most hits")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		if limit < 0 {
			return usagef("--limit %d: give a number of hits", limit)
		}
		hits, err := cl.Find(ctx, strings.Join(args, " "), limit)
		if err != nil {
			return err
		}
		return c.show(hits, func(w io.Writer) {
			if len(hits) == 0 {
				fmt.Fprintln(w, "nothing found")
			}
			for _, h := range hits {
				where := h.Where
				if h.Turn > 0 {
					where = fmt.Sprintf("%s of turn %d", h.Where, h.Turn)
				}
				fmt.Fprintf(w, "%s  %s, %s\n    %s\n", h.Name, where, h.At.Local().Format(time.DateTime), strings.Join(strings.Fields(h.Snippet), " "))
			}
		})
	})
	return cmd
}
