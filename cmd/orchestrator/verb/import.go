package verb

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/api"
	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread"
)

func importVerb(c *cli) *cobra.Command {
	var r thread.TransferRequest
	cmd := &cobra.Command{Use: "import <file>", Short: "Import a thread from a file written by export",
		Args: exactly("<file>")}
	cmd.Flags().BoolVar(&r.NoFiles, "no-files", false, "leave out the files")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		var err error
		if r.File, err = filepath.Abs(args[0]); err != nil {
			return fmt.Errorf("import: %w", err)
		}
		s, err := api.Import.Do(ctx, cl, r)
		if err != nil {
			return err
		}
		return c.out.show(s, func(w io.Writer) {
			fmt.Fprintf(w, "%s at turn %d, %s\n", s.Name, s.Turn, s.Agent)
			page.LeftOut(w, s.LeftOut)
			for _, n := range s.Notes {
				fmt.Fprintln(w, n)
			}
		})
	})
	return cmd
}
