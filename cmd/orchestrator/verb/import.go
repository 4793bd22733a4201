package verb

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread"
	"orchestrator/thread/api"
)

func importVerb(c *cli) *cobra.Command {
	return fileVerb(c, "import", "Import a thread from a file written by export", api.Import, new(thread.TransferRequest),
		func(w io.Writer, s thread.Imported) {
			fmt.Fprintf(w, "%s at turn %d, %s\n", s.Name, s.Turn, s.Agent)
			page.LeftOut(w, s.LeftOut)
			page.Notes(w, s.Notes)
		})
}
