package verb

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/api"
	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread"
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
		done := exported{Thread: s.Name, File: r.File, Secrets: r.WithSecrets, Files: !r.NoFiles, Notes: said.Notes}
		return c.show(done, func(w io.Writer) {
			fmt.Fprintf(w, "%s → %s\n%s\n", done.Thread, done.File, done.about())
			for _, n := range done.Notes {
				fmt.Fprintln(w, n)
			}
		})
	})
	return cmd
}

// exported is the result of export.
type exported struct {
	Thread  string   `json:"thread"`
	File    string   `json:"file"`
	Secrets bool     `json:"secrets"` // included
	Files   bool     `json:"files"`
	Notes   []string `json:"notes,omitempty"` // what was left out
}

// about says what is in the file that the user may not want to share.
func (e exported) about() string {
	said := "keys and passwords of known formats are left out of the conversation (--with-secrets includes them)"
	if e.Secrets {
		said = "the conversation is included with all keys and passwords in it"
	}
	if e.Files {
		said += "; the project's files are included unchanged (--no-files leaves them out)"
	}
	return said
}
