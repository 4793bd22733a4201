package verb

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/api"
	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread"
	"orchestrator/thread/plaintext"
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
		return c.show(kept, func(w io.Writer) {
			printRestored(w, kept)
		})
	})
	return cmd
}

// printRestored says what was restored from a backup, and how what exists already comes back if it is out of sight.
func printRestored(w io.Writer, kept thread.BackupReport) {
	fmt.Fprintf(w, "restored %s, %s\n", plaintext.Count(kept.Threads, "thread"),
		plaintext.Count(kept.Checkpoints, "checkpoint"))
	if len(kept.Existing) > 0 {
		fmt.Fprintf(w, "unchanged, since it is here already: %s: %s\n", plaintext.Count(len(kept.Existing), "thread"),
			strings.Join(kept.Existing, ", "))
	}
	for _, of := range []struct {
		names     []string
		are, verb string
	}{{kept.Deleted, "deleted", "undelete"}, {kept.Archived, "archived", "restore"}} {
		if len(of.names) > 0 {
			fmt.Fprintf(w, "of these, %s: %s (`orchestrator %s %s` brings it back)\n", of.are,
				strings.Join(of.names, ", "), of.verb, of.names[0])
		}
	}
	printLeftOut(w, kept.LeftOut)
	for _, n := range kept.Notes {
		fmt.Fprintln(w, n)
	}
}
