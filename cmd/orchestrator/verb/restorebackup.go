package verb

import (
	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread"
	"orchestrator/thread/api"
)

func restoreBackupVerb(c *cli) *cobra.Command {
	cmd := fileVerb(c, "restore-backup", "Restore the threads of a backup that do not exist here", api.RestoreBackup,
		new(thread.TransferRequest), page.Restored)
	cmd.Long = "Restore the threads of a backup that do not exist here; existing threads are not changed. Only restore\n" +
		"backups that you trust: the program that a `command` thread runs when it is resumed comes from the file.\n" +
		"Agents do not get their grants back."
	return cmd
}
