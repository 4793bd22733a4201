package verb

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread"
	"orchestrator/thread/api"
)

func backupVerb(c *cli) *cobra.Command {
	var r thread.TransferRequest
	cmd := fileVerb(c, "backup", "Back up all threads, with their conversations and files, to a file", api.Backup, &r,
		func(w io.Writer, kept thread.BackupReport) {
			fmt.Fprintf(w, "%d thread(s), %d checkpoint(s) → %s, %s\n", kept.Threads, kept.Checkpoints, kept.File,
				thread.Bytes(kept.Bytes))
			page.Recorded(w, kept)
			fmt.Fprintln(w, page.Exported{Secrets: kept.Secrets, Files: kept.Files}.About())
			page.LeftOut(w, kept.LeftOut)
			page.Notes(w, kept.Notes)
		})
	cmd.Flags().BoolVar(&r.WithSecrets, "with-secrets", false, "include keys and passwords in conversations")
	return cmd
}
