package verb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/spf13/cobra"

	"orchestrator/agent/session"
	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/contextmgr/staging/drop"
	"orchestrator/thread"
	"orchestrator/thread/api"
)

func stageVerb(c *cli) *cobra.Command {
	var r thread.StageRequest
	var kind string
	cmd := &cobra.Command{
		Use: "stage", Short: "Stage standard input and print its token", Args: noVerb,
		Long: "Store standard input for a while and print a token. `retrieve` prints the data again, in every thread and\n" +
			"folder of this project. Each use restarts the time for which it is kept.",
		PersistentPreRunE: c.ofThread,
	}
	cmd.Flags().StringVar(&r.Source, "source", "", "where the data comes from, such as hubspot/contact")
	cmd.Flags().StringVar(&kind, "type", "", "ndjson, json, text or binary; by default detected from the data")
	cmd.Flags().DurationVar(&r.TTL, "ttl", 0, "how long to keep it, such as 30m; by default the setting stage_ttl")
	cmd.Flags().StringArrayVar(&r.Labels, "label", nil, "a label for it; can be repeated")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		r.Kind = thread.DataKind(kind)
		if err := r.Check(); err != nil {
			return err
		}
		staged := func(d thread.Staged) error {
			fmt.Fprintf(c.out.stderr, "orchestrator: %s\n", stagedNote(d))
			return c.out.show(d, func(w io.Writer) { fmt.Fprintln(w, d.Token) })
		}
		err := c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
			d, err := api.Stage.Do(ctx, cl, r, c.stdin)
			if err != nil {
				return err
			}
			return staged(d)
		})(cmd, args)
		if !errors.Is(err, fs.ErrPermission) {
			return err
		}
		d, err := c.stageByFile(cmd.Context(), r, thread.Hint(
			fmt.Errorf("stage: the server cannot be reached from this sandbox: the socket %s: %w", c.socket(), fs.ErrPermission),
			"write the data to a file in your folder and pass on its path instead"))
		if err != nil {
			return err
		}
		return staged(d)
	}
	cmd.AddCommand(stageListVerb(c), stageInfoVerb(c), stageTouchVerb(c))
	return cmd
}

// stagedNote returns how much was staged and until when it is kept.
func stagedNote(d thread.Staged) string {
	amount := thread.Bytes(d.Bytes)
	switch {
	case d.Bytes == 0:
		amount = "nothing, because standard input was empty"
	case d.Kind == thread.DataText:
		amount = fmt.Sprintf("%s, %s", page.Counted(d.Records, "line"), amount)
	case d.Records > 0:
		amount = fmt.Sprintf("%s, %s", page.Counted(d.Records, "record"), amount)
	}
	return fmt.Sprintf("staged %s; kept until %s, and longer if it is used", amount, d.Expires.Local().Format(time.DateTime))
}

// dropWait is how long a sandboxed agent's verb waits for the server.
const dropWait = 30 * time.Second

// stageByFile stages standard input through the folder of the agent's own thread, for a sandbox that forbids
// connections to the server. The error is refused if there is no such folder or the sandbox does not let it be written
// to.
func (c *cli) stageByFile(ctx context.Context, r thread.StageRequest, refused error) (thread.Staged, error) {
	id := session.Thread(c.environ)
	if id == "" {
		return thread.Staged{}, refused
	}
	ctx, cancel := context.WithTimeoutCause(ctx, dropWait, fmt.Errorf("waited %s", dropWait))
	defer cancel()
	d, err := drop.Put(ctx, c.project.ThreadHome(id), r, c.stdin)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, drop.ErrClosed) {
		return d, refused
	}
	if err != nil {
		return d, fmt.Errorf("stage: %w", err)
	}
	return d, nil
}
