package verb

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/thread"
	"orchestrator/thread/api"
)

func exportVerb(c *cli) *cobra.Command {
	var r thread.TransferRequest
	cmd := &cobra.Command{
		Use: "export <thread>", Short: "Export a thread, with its conversation and files, to a file",
		Args: exactly("<thread>"), ValidArgsFunction: c.completeThreads,
	}
	cmd.Flags().StringVarP(&r.File, "output", "o", "", "file to write (default NAME.orchestrator)")
	cmd.Flags().BoolVar(&r.NoFiles, "no-files", false, "leave out the files")
	cmd.Flags().BoolVar(&r.WithSecrets, "with-secrets", false, "include keys and passwords in the conversation")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		s, err := api.Status.Do(ctx, cl, api.Ref{Thread: args[0]})
		if err != nil {
			return err
		}
		r.Thread = string(s.ID)
		if r.File == "" {
			r.File = s.Name + ".orchestrator"
		}
		if r.File, err = filepath.Abs(r.File); err != nil {
			return fmt.Errorf("export: %w", err)
		}
		said, err := api.Export.Do(ctx, cl, r)
		if err != nil {
			return err
		}
		done := page.Exported{Thread: s.Name, File: r.File, Secrets: r.WithSecrets, Files: !r.NoFiles, Notes: said.Notes}
		return c.out.show(done, func(w io.Writer) {
			fmt.Fprintf(w, "%s → %s\n%s\n", done.Thread, done.File, done.About())
			page.Notes(w, done.Notes)
		})
	})
	return cmd
}
