package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread"
)

func (c *cli) runVerb() *cobra.Command {
	var r thread.NewRequest
	cmd := &cobra.Command{
		Use: "run [flags] <task> [-- agent arguments]", Short: "Start a new thread with a task and follow its answer",
		Long: "Start a new thread with a task and print the answer when the turn has ended. Exit code 0: answered;\n4: it waits for you; 5: the agent did not finish.",
	}
	c.newFlags(cmd, &r)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		words, rest := split(cmd, args)
		r.Prompt = strings.TrimSpace(strings.Join(words, " "))
		if r.Prompt == "" {
			return usagef("expected <task>")
		}
		c.agentArgs(&r, rest)
		return c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
			return c.follow(ctx, cl, func() (thread.Status, error) { return cl.New(ctx, r) })
		})(cmd, args)
	}
	return cmd
}

func (c *cli) sendVerb() *cobra.Command {
	var detach bool
	cmd := &cobra.Command{
		Use: "send <thread> <text>", Short: "Send a prompt to a thread and follow its answer",
		Args: exactly("<thread>", "<text>"), ValidArgsFunction: c.completeThreads,
	}
	cmd.Flags().BoolVarP(&detach, "detach", "d", false, "do not wait for the answer")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		if detach {
			return cl.Send(ctx, args[0], args[1])
		}
		return c.follow(ctx, cl, func() (thread.Status, error) {
			s, err := find(ctx, cl, args[0])
			if err != nil {
				return s, err
			}
			return s, cl.Send(ctx, string(s.ID), args[1])
		})
	})
	return cmd
}

// find resolves a thread's name to its status.
func find(ctx context.Context, cl *client.Client, ref string) (thread.Status, error) {
	list, err := cl.List(ctx)
	if err != nil {
		return thread.Status{}, err
	}
	var near []thread.Status
	for _, s := range list {
		if s.Name == ref || string(s.ID) == ref {
			return s, nil
		}
		if strings.HasPrefix(s.Name, ref) {
			near = append(near, s)
		}
	}
	if len(near) == 1 {
		return near[0], nil
	}
	_, err = cl.Why(ctx, ref) // the server says what is wrong with the name
	if err == nil {
		err = &thread.UnknownThreadError{Name: ref}
	}
	return thread.Status{}, err
}

// answer is what follow prints with --json.
type answer struct {
	Thread     string            `json:"thread"`
	Outcome    string            `json:"outcome"` // "answered", "waits", "failed"
	Answer     string            `json:"answer"`
	State      thread.State      `json:"state"`
	Checkpoint thread.Checkpoint `json:"checkpoint"`
}

// settleTime is how long follow waits after a turn's checkpoint for the thread to show that it no
// longer works, so that the next verb finds it so.
const settleTime = 5 * time.Second

// follow begins a turn and prints what the agent answers, response by response, until the turn
// ends, the agent waits for the person, or its process ends.
func (c *cli) follow(ctx context.Context, cl *client.Client, begin func() (thread.Status, error)) error {
	events, err := cl.Events(ctx)
	if err != nil {
		return err
	}
	s, err := begin()
	if err != nil {
		return err
	}
	a := answer{Thread: s.Name, Outcome: "failed"}
	turn, live := s.Turn, false
	var settled <-chan time.Time // set once the turn has ended
	if !c.json {
		fmt.Fprintf(c.stderr, "%s\n", s.Name)
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-settled:
			return c.outcome(a)
		case e, ok := <-events:
			if !ok {
				return errors.New("the server went away while the agent answered; `orchestrator threads` says where the thread stands")
			}
			if e.ThreadID != s.ID {
				continue
			}
			if e.Checkpoint != nil && e.Checkpoint.Turn > turn {
				a.Checkpoint = *e.Checkpoint
				c.printAnswer(ctx, cl, s, e.Checkpoint, &a)
				if e.Checkpoint.Kind == thread.KindTurn {
					a.Outcome, a.State = "answered", thread.StateDone
					if e.Checkpoint.Interrupted {
						a.Outcome = "failed"
						return c.outcome(a)
					}
					settled = time.After(settleTime)
					continue
				}
			}
			if e.Status != nil && settled != nil {
				if e.Status.State.State != thread.StateWorking {
					return c.outcome(a)
				}
				continue
			}
			if e.Status != nil {
				a.State = e.Status.State.State
				switch {
				case a.State.NeedsPerson():
					a.Outcome = "waits"
					return c.outcome(a)
				case a.State.Live():
					live = true
				case live: // before, it was not started yet
					return c.outcome(a)
				}
			}
		}
	}
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
	default:
		fmt.Fprintf(c.stderr, "orchestrator: %s did not finish (%s): `orchestrator why %s` says more\n", a.Thread, a.State, a.Thread)
		return &silentError{code: exitAgent}
	}
}

func (c *cli) findVerb() *cobra.Command {
	var limit int
	cmd := &cobra.Command{Use: "find <words>", Short: "Search names, prompts and answers of all threads", Args: cobra.MinimumNArgs(1)}
	cmd.Flags().IntVar(&limit, "limit", 20, "most hits")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
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
