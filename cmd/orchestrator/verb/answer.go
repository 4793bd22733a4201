package verb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/plaintext"
)

// answering are the flags by which a person says that they have seen the question.
type answering struct {
	yes      bool
	question string
}

func (a *answering) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&a.yes, "yes", "y", false, "do not ask first")
	cmd.Flags().StringVar(&a.question, "question", "", "id of the question, as threads -o json shows it; another one is not answered")
}

const answerLong = "The question is shown, and asked about, before it is answered; --yes or --question leave that out.\n" +
	"The answer goes only to the question that was shown: if the agent asks something else by then, nothing is chosen."

func answerVerb(c *cli) *cobra.Command {
	var a answering
	cmd := &cobra.Command{
		Use: "answer <thread> <number or text>", Short: "Answer the question that a thread's agent asks",
		Long: "Answer the question that a thread's agent asks in a dialog, with the number of one of its answers or in your\n" +
			"own words: the dialog is then left with no, or closed, and the text follows as a prompt. A run, which may be named\n" +
			"by its execution, gets the text as its answer.\n\n" + answerLong,
		Args: exactly("<thread>", "<number or text>"), ValidArgsFunction: c.completeThreads,
	}
	a.flags(cmd)
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		r := thread.AnswerRequest{Text: strings.TrimSpace(args[1])}
		if n, err := strconv.Atoi(r.Text); err == nil {
			r = thread.AnswerRequest{Choice: n}
		} else if r.Text == "" {
			return usagef("the answer is empty; give the number of an answer, or a text")
		}
		return c.answer(ctx, cl, args[0], r, a)
	})
	return cmd
}

// asking returns the thread that is asked for, by its own name or that of its execution.
func asking(ctx context.Context, cl *client.Client, ref string) (thread.Status, error) {
	s, err := api.Status.Do(ctx, cl, api.Ref{Thread: ref})
	if !errors.Is(err, thread.ErrNotFound) {
		return s, err
	}
	x, xerr := api.Execution.Do(ctx, cl, api.ExecutionRef{Execution: ref})
	if xerr != nil {
		return s, err
	}
	return api.Status.Do(ctx, cl, api.Ref{Thread: string(x.Thread)})
}

// answer shows the question that a thread's agent asks, and answers exactly that.
func (c *cli) answer(ctx context.Context, cl *client.Client, ref string, r thread.AnswerRequest, by answering) error {
	s, err := asking(ctx, cl, ref)
	if err != nil {
		return err
	}
	q := s.State.Question
	if q == nil {
		return thread.Kindf(thread.ErrRefused, "%s asks nothing that can be answered from here", s.Name)
	}
	if by.question != "" && by.question != q.ID {
		return thread.Kindf(thread.ErrRefused, "%s asks something else now", s.Name)
	}
	at, err := r.Chosen(*q)
	if err != nil {
		return err
	}
	how := "dismiss it"
	if at != thread.Dismiss {
		how = q.Choices[at].Text
	}
	switch {
	case r.Text != "" && s.Run.Working() && at == thread.Dismiss: // without a terminal the text is the answer
		how = plaintext.Line(r.Text)
	case r.Text != "" && s.Run.Working():
		how += ": " + plaintext.Line(r.Text)
	case r.Text != "":
		how += ", then: " + plaintext.Line(r.Text)
	}
	if !by.yes && by.question == "" {
		page.Question(c.out.stderr, s.Name, *q, time.Now())
		if !c.interactive() {
			return thread.Hint(thread.Kindf(thread.ErrRefused, "no terminal to ask on"), "read it above, then pass --question "+q.ID)
		}
		if yes, err := c.ask(fmt.Sprintf("Answer %q? (y/N)\n", how)); err != nil || !yes {
			return errors.Join(err, thread.Kindf(thread.ErrRefused, "not answered"))
		}
	}
	r.Question = q.ID
	if s, err = api.Answer.Do(ctx, cl, api.AnswerRequest{Thread: string(s.ID), AnswerRequest: r}); err != nil {
		return err
	}
	return c.out.show(s, func(w io.Writer) { fmt.Fprintf(w, "%s: %s\n  %s\n", s.Name, plaintext.Line(q.Line()), how) })
}
