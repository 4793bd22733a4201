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

func restoreBackupVerb(c *cli) *cobra.Command {
	var r thread.TransferRequest
	cmd := &cobra.Command{
		Use: "restore-backup <file>", Short: "Restore the threads of a backup that do not exist here",
		Long: "Restore the threads of a backup that do not exist here; existing threads are not changed. Only restore\n" +
			"backups that you trust: the program that a `command` thread runs when it is resumed comes from the file.\n" +
			"Agents do not get their grants back.",
		Args: exactly("<file>"),
	}
	cmd.Flags().BoolVar(&r.NoFiles, "no-files", false, "leave out the files")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		var err error
		if r.File, err = filepath.Abs(args[0]); err != nil {
			return fmt.Errorf("restore: %w", err)
		}
		kept, err := api.RestoreBackup.Do(ctx, cl, r)
		if err != nil {
			return err
		}
		return c.out.show(kept, func(w io.Writer) {
			page.Restored(w, kept)
		})
	})
	return cmd
}
