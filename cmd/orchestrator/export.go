package main

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
)

func exportVerb(c *cli) *cobra.Command {
	var r thread.TransferRequest
	cmd := &cobra.Command{
		Use: "export <thread>", Short: "Write a thread, with its conversation and files, to one file",
		Args: exactly("<thread>"), ValidArgsFunction: c.completeThreads,
	}
	cmd.Flags().StringVarP(&r.File, "output", "o", "", "file to write; NAME.orchestrator without it")
	cmd.Flags().BoolVar(&r.NoFiles, "no-files", false, "leave the files out")
	cmd.Flags().BoolVar(&r.WithSecrets, "with-secrets", false, "keep the keys and passwords that the conversation holds")
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
		if _, err := api.Export.Do(ctx, cl, r); err != nil {
			return err
		}
		done := exported{Thread: s.Name, File: r.File, Secrets: r.WithSecrets, Files: !r.NoFiles}
		return c.show(done, func(w io.Writer) { fmt.Fprintf(w, "%s → %s\n%s\n", done.Thread, done.File, done.about()) })
	})
	return cmd
}

// exported is what export prints.
type exported struct {
	Thread  string `json:"thread"`
	File    string `json:"file"`
	Secrets bool   `json:"secrets"` // are in it
	Files   bool   `json:"files"`
}

// about says what is in the file that a person may not want to hand on.
func (e exported) about() string {
	said := "keys and passwords of known shapes are left out of the conversation (--with-secrets keeps them)"
	if e.Secrets {
		said = "it holds the conversation with all keys and passwords in it"
	}
	if e.Files {
		said += "; the project's files are in it as they are (--no-files leaves them out)"
	}
	return said
}

func importVerb(c *cli) *cobra.Command {
	var r thread.TransferRequest
	cmd := &cobra.Command{Use: "import <file>", Short: "Take a thread from a file that export wrote",
		Args: exactly("<file>")}
	cmd.Flags().BoolVar(&r.NoFiles, "no-files", false, "leave the files out")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		var err error
		if r.File, err = filepath.Abs(args[0]); err != nil {
			return fmt.Errorf("import: %w", err)
		}
		s, err := api.Import.Do(ctx, cl, r)
		if err != nil {
			return err
		}
		return c.show(s, func(w io.Writer) { fmt.Fprintf(w, "%s at turn %d, %s\n", s.Name, s.Turn, s.Agent) })
	})
	return cmd
}

func backupVerb(c *cli) *cobra.Command {
	var r thread.TransferRequest
	cmd := &cobra.Command{
		Use: "backup <file>", Short: "Write all threads, with their conversations and files, to one file; restore-backup takes them back",
		Args: exactly("<file>"),
	}
	cmd.Flags().BoolVar(&r.NoFiles, "no-files", false, "leave the files out")
	cmd.Flags().BoolVar(&r.WithSecrets, "with-secrets", false, "keep the keys and passwords that conversations hold")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		var err error
		if r.File, err = filepath.Abs(args[0]); err != nil {
			return fmt.Errorf("back up: %w", err)
		}
		kept, err := api.Backup.Do(ctx, cl, r)
		if err != nil {
			return err
		}
		return c.show(kept, func(w io.Writer) {
			fmt.Fprintf(w, "%d thread(s), %d checkpoint(s) → %s, %s\n", kept.Threads, kept.Checkpoints, kept.File,
				thread.Bytes(kept.Bytes))
			fmt.Fprintln(w, exported{Secrets: kept.Secrets, Files: kept.Files}.about())
			for _, n := range kept.Notes {
				fmt.Fprintln(w, n)
			}
		})
	})
	return cmd
}

func restoreBackupVerb(c *cli) *cobra.Command {
	var r thread.TransferRequest
	cmd := &cobra.Command{
		Use: "restore-backup <file>", Short: "Take back the threads of a backup that are not here",
		Long: "Take back the threads of a backup that are not here. Those that are stay as they are. It is for a backup of your own:\n" +
			"what a `command` thread runs when it is resumed is in the file. Agents get no grants back.",
		Args: exactly("<file>"),
	}
	cmd.Flags().BoolVar(&r.NoFiles, "no-files", false, "leave the files out")
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
			fmt.Fprintf(w, "%d thread(s), %d checkpoint(s) are back\n", kept.Threads, kept.Checkpoints)
			if len(kept.Existing) > 0 {
				fmt.Fprintf(w, "%d are here already and stay as they are: %s\n", len(kept.Existing), strings.Join(kept.Existing, ", "))
			}
			for _, n := range kept.Notes {
				fmt.Fprintln(w, n)
			}
		})
	})
	return cmd
}
