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

	"orchestrator/cmd/orchestrator/api"
	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread"
)

// talk is how a verb that asks an agent something waits for the answer.
type talk struct {
	limit  time.Duration // 0 is none
	format string        // "text" or "ndjson"
}

func (t *talk) flags(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&t.limit, "timeout", 0, "stop waiting for the answer after this time, such as 10m; the agent goes on")
	cmd.Flags().StringVarP(&t.format, "output", "o", "text", "text: the answer as the model says it; ndjson: what happens, one JSON object a line")
}

// check refuses what cannot be printed.
func (t *talk) check(json bool) error {
	switch {
	case t.format != "text" && t.format != "ndjson":
		return usagef("--output %q: give text or ndjson", t.format)
	case json && t.format == "ndjson":
		return usagef("--json prints one object and -o ndjson many: give one of them")
	case t.limit < 0:
		return usagef("--timeout %v: give a time, such as 10m", t.limit)
	}
	return nil
}

func (c *cli) runVerb() *cobra.Command {
	var r thread.NewRequest
	var t talk
	cmd := &cobra.Command{
		Use: "run [flags] <task> [-- agent arguments]", Short: "Start a new thread with a task and follow its answer",
		Long: "Start a new thread with a task and print the answer as the model says it. Exit code 0: answered; 4: it waits\n" +
			"for you, or the task could not be typed yet; 5: the agent did not finish, or not within --timeout.",
	}
	c.newFlags(cmd, &r)
	t.flags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		words, rest := split(cmd, args)
		r.Prompt = strings.TrimSpace(strings.Join(words, " "))
		if r.Prompt == "" {
			return usagef("expected <task>")
		}
		if err := errors.Join(t.check(c.json), c.agentArgs(&r, rest)); err != nil {
			return err
		}
		return c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
			if err := api.May.Do(ctx, cl, api.MayRequest{Op: api.New.Name()}); err != nil {
				return err // before it asks for what following needs
			}
			if err := api.May.Do(ctx, cl, api.MayRequest{Op: api.Speech.Name()}); err != nil {
				return err
			}
			var s thread.Status
			if err := c.heed(ctx, cl, func() (err error) { s, err = api.New.Do(ctx, cl, r); return }); err != nil {
				return err
			}
			if t.format == "text" {
				c.sayApart(s, r)
			}
			return c.follower(cl, t).followFirst(ctx, s)
		})(cmd, args)
	}
	return cmd
}

// mostTyped is how many bytes of a prompt can be typed.
const mostTyped = 1 << 20

func (c *cli) sendVerb() *cobra.Command {
	var detach bool
	var t talk
	cmd := &cobra.Command{
		Use: "send <thread> <text>|-", Short: "Send a prompt to a thread and follow its answer",
		Long: "Send a prompt to a thread, with - what standard input brings, and print the answer to it as the model says\n" +
			"it. A prompt that the agent does not take at once, because it works or because something of yours is in its input, is queued. Exit code 0: answered;\n" +
			"4: it waits for you, or the prompt is still queued after --timeout; 5: the agent did not finish, or not within --timeout.",
		Args: exactly("<thread>", "<text>"), ValidArgsFunction: c.completeThreads,
	}
	cmd.Flags().BoolVarP(&detach, "detach", "d", false, "do not wait for the answer")
	t.flags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := t.check(c.json); err != nil {
			return err
		}
		if len(args) > 1 && args[1] == "-" {
			text, err := io.ReadAll(io.LimitReader(c.stdin, mostTyped+1))
			if err != nil {
				return fmt.Errorf("read the prompt from standard input: %w", err)
			}
			if len(text) > mostTyped {
				return thread.Hint(fmt.Errorf("standard input has more than the %d bytes that can be typed: %w", mostTyped, thread.ErrInvalid),
					"put it in a file, and name the file")
			}
			args[1] = string(text)
		}
		return c.with(func(ctx context.Context, cl *client.Client, args []string) error {
			if detach {
				p, err := api.Ask.Do(ctx, cl, api.AskRequest{Thread: args[0], Text: args[1]})
				if err != nil {
					return err
				}
				return c.show(p, func(io.Writer) {})
			}
			if err := api.May.Do(ctx, cl, api.MayRequest{Op: api.Ask.Name(), Thread: args[0]}); err != nil {
				return err // before it asks for what following needs
			}
			return c.follower(cl, t).ask(ctx, args[0], args[1])
		})(cmd, args)
	}
	return cmd
}

func (c *cli) findVerb() *cobra.Command {
	var limit int
	cmd := &cobra.Command{Use: "find <words>", Short: "Search names, prompts and answers of all threads", Args: between(1, math.MaxInt, "<words>")}
	cmd.Flags().IntVar(&limit, "limit", 20, "most hits; 0 for all")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		if limit < 0 {
			return usagef("--limit %d: give a number of hits, 0 for all", limit)
		}
		if limit == 0 {
			limit = mostRows
		}
		hits, err := api.Find.Do(ctx, cl, api.FindRequest{Query: strings.Join(args, " "), Limit: limit + 1})
		if err != nil {
			return err
		}
		hits = first(c, hits, limit, "the best hits", fmt.Sprintf("find --limit 0 %q", strings.Join(args, " ")))
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
