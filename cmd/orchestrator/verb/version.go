package verb

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/buildinfo"
)

// versionVerb prints the version if package buildinfo has not already done so, as when a flag is given. It needs no
// project.
func versionVerb(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: exactly(),
		PersistentPreRunE: func(*cobra.Command, []string) error { return nil },
		RunE: func(*cobra.Command, []string) error {
			return c.out.show(map[string]string{"version": buildinfo.Version()},
				func(w io.Writer) { fmt.Fprintln(w, "orchestrator", buildinfo.Version()) })
		},
	}
}
