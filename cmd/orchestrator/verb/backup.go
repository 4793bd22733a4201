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

func backupVerb(c *cli) *cobra.Command {
	var r thread.TransferRequest
	cmd := &cobra.Command{
		Use: "backup <file>", Short: "Back up all threads, with their conversations and files, to a file",
		Args: exactly("<file>"),
	}
	cmd.Flags().BoolVar(&r.NoFiles, "no-files", false, "leave out the files")
	cmd.Flags().BoolVar(&r.WithSecrets, "with-secrets", false, "include keys and passwords in conversations")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		var err error
		if r.File, err = filepath.Abs(args[0]); err != nil {
			return fmt.Errorf("back up: %w", err)
		}
		kept, err := api.Backup.Do(ctx, cl, r)
		if err != nil {
			return err
		}
		return c.out.show(kept, func(w io.Writer) {
			fmt.Fprintf(w, "%d thread(s), %d checkpoint(s) → %s, %s\n", kept.Threads, kept.Checkpoints, kept.File,
				thread.Bytes(kept.Bytes))
			fmt.Fprintln(w, page.Exported{Secrets: kept.Secrets, Files: kept.Files}.About())
			page.LeftOut(w, kept.LeftOut)
			for _, n := range kept.Notes {
				fmt.Fprintln(w, n)
			}
		})
	})
	return cmd
}
