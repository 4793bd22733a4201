package verb

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread"
	"orchestrator/thread/api"
)

// fileVerb is a verb whose argument is the file that its call writes or reads.
func fileVerb[T any](c *cli, name, short string, call api.Call[thread.TransferRequest, T], r *thread.TransferRequest,
	print func(io.Writer, T)) *cobra.Command {
	cmd := &cobra.Command{Use: name + " <file>", Short: short, Args: exactly("<file>")}
	cmd.Flags().BoolVar(&r.NoFiles, "no-files", false, "leave out the files")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		var err error
		if r.File, err = filepath.Abs(args[0]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		done, err := call.Do(ctx, cl, *r)
		if err != nil {
			return err
		}
		return c.out.show(done, func(w io.Writer) { print(w, done) })
	})
	return cmd
}
