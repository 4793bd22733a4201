package verb

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/plaintext"
)

func eventsVerb(c *cli) *cobra.Command {
	var q thread.HappeningQuery
	var kinds []string
	var follow bool
	cmd := &cobra.Command{
		Use: "events", Short: "List what happened in all threads, newest last", Args: exactly(),
		Long: "List what happened in all threads, newest last: who asked what, what is done and what it took, who is stuck.\n" +
			"Each event has a number: --since continues where a script left off, also after a restart of the server.\n\n" +
			"Kinds: " + strings.Join(names(thread.HappeningKinds()), ", ") + ".",
	}
	cmd.Flags().StringVar(&q.Thread, "thread", "", "only of this thread")
	cmd.Flags().StringSliceVar(&kinds, "kind", nil, "only of these kinds, such as asks,done")
	cmd.Flags().Int64Var(&q.Since, "since", 0, "only after the event with this number")
	cmd.Flags().IntVar(&q.Limit, "limit", 100, "maximum number of events")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on as events happen; with --json an event a line")
	_ = cmd.RegisterFlagCompletionFunc("thread", c.completeThreads) // the flag is there
	_ = cmd.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions(names(thread.HappeningKinds()), cobra.ShellCompDirectiveNoFileComp))
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, _ []string) (err error) {
		if q.Kinds, err = kindsOf(kinds); err != nil {
			return err
		}
		if q.Limit < 1 || q.Since < 0 {
			return usagef("--limit must be 1 or more, --since 0 or more")
		}
		t := tail{c: c, cl: cl, query: q, now: time.Now}
		if follow {
			return t.follow(ctx)
		}
		list, err := api.EventLog.Do(ctx, cl, q)
		if err != nil {
			return err
		}
		t.incomplete(list)
		return c.out.show(list, func(w io.Writer) {
			if len(list.Happenings) == 0 {
				fmt.Fprintln(w, "no events")
			}
			page.Events(w, list.Happenings, t.now())
		})
	})
	return cmd
}

// names returns words as strings.
func names[T ~string](words []T) []string {
	var all []string
	for _, w := range words {
		all = append(all, string(w))
	}
	return all
}

// kindsOf reads kinds as people write them.
func kindsOf(words []string) (kinds []thread.HappeningKind, err error) {
	for _, w := range words {
		k := thread.HappeningKind(strings.ToLower(strings.TrimSpace(w)))
		if !slices.Contains(thread.HappeningKinds(), k) {
			return nil, usagef("--kind %s: no such kind. Kinds: %s", w, strings.Join(names(thread.HappeningKinds()), ", "))
		}
		kinds = append(kinds, k)
	}
	return kinds, nil
}

// tail prints the event log as it grows.
type tail struct {
	c     *cli
	cl    *client.Client
	query thread.HappeningQuery // Since is the number of the newest event that was printed or left out
	now   func() time.Time
}

// follow prints what a query asks for, and then what happens until ctx ends. A server that goes away is waited for; one
// that was stopped ends it.
func (t *tail) follow(ctx context.Context) error {
	for {
		events, err := t.listen(ctx) // before the log is read, to miss nothing
		if err == nil {
			err = t.catchUp(ctx)
		}
		if err != nil {
			return err
		}
		last := int64(0)
		for e := range events {
			missed := e.Speech != nil && e.Speech.Missed || t.query.Thread == "" && last > 0 && e.Seq != last+1
			last = e.Seq
			switch h := e.Happening; {
			case missed:
				if err := t.catchUp(ctx); err != nil && !client.Gone(err) {
					return err
				}
			case h != nil && t.query.Matches(*h):
				t.query.Since = h.Seq
				if err := t.print(*h); err != nil {
					return err
				}
			}
		}
		if ctx.Err() != nil {
			return nil
		}
		if err := t.reconnect(ctx); err != nil {
			return err
		}
	}
}

// listen opens the stream that tells when there is something new.
func (t *tail) listen(ctx context.Context) (<-chan thread.Event, error) {
	if t.query.Thread != "" {
		return api.Speech.Open(ctx, t.cl, api.Ref{Thread: t.query.Thread}) // all that an agent may hear of
	}
	return api.Events.Open(ctx, t.cl, api.None{})
}

// catchUp prints what follows the event that was printed last.
func (t *tail) catchUp(ctx context.Context) error {
	for {
		list, err := api.EventLog.Do(ctx, t.cl, t.query)
		if err != nil {
			return err
		}
		t.incomplete(list)
		for _, h := range list.Happenings {
			if err := t.print(h); err != nil {
				return err
			}
		}
		since := t.query.Since
		t.query.Since = list.Newest
		if since == 0 || list.Left == 0 {
			return nil
		}
	}
}

// print prints one event.
func (t *tail) print(h thread.Happening) error {
	if !t.c.out.json {
		page.Events(t.c.out.stdout, []thread.Happening{h}, t.now())
		return nil
	}
	w := plaintext.NewJSONWriter(t.c.out.stdout)
	if err := json.NewEncoder(w).Encode(h); err != nil {
		return fmt.Errorf("print an event: %w", err)
	}
	return w.Flush()
}

// incomplete tells what a list leaves out.
func (t *tail) incomplete(list thread.HappeningList) {
	if list.Lost {
		fmt.Fprintf(t.c.out.stderr, "orchestrator: what happened right after event %d is not kept any more\n", t.query.Since)
	}
	if list.Left > 0 && t.query.Since == 0 {
		fmt.Fprintf(t.c.out.stderr, "orchestrator: showing the %d newest; --limit %d shows all\n", len(list.Happenings), len(list.Happenings)+list.Left)
	}
}

// reconnect waits for the server to come back.
func (t *tail) reconnect(ctx context.Context) error {
	fmt.Fprintln(t.c.out.stderr, "orchestrator: lost the connection to the server; waiting for it to come back")
	gone := time.After(returnTime)
	for {
		cl, _, err := t.c.reach(ctx)
		if err == nil {
			t.cl.Close()
			t.cl = cl // closed when the process exits
			return nil
		}
		select {
		case <-time.After(returnPause):
		case <-gone:
			return err
		case <-ctx.Done():
			return nil
		}
	}
}
