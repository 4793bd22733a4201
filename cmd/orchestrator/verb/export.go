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
		return c.out.show(done, func(w io.Writer) {
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

func importVerb(c *cli) *cobra.Command {
	var r thread.TransferRequest
	cmd := &cobra.Command{Use: "import <file>", Short: "Import a thread from a file written by export",
		Args: exactly("<file>")}
	cmd.Flags().BoolVar(&r.NoFiles, "no-files", false, "leave out the files")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		var err error
		if r.File, err = filepath.Abs(args[0]); err != nil {
			return fmt.Errorf("import: %w", err)
		}
		s, err := api.Import.Do(ctx, cl, r)
		if err != nil {
			return err
		}
		return c.out.show(s, func(w io.Writer) {
			fmt.Fprintf(w, "%s at turn %d, %s\n", s.Name, s.Turn, s.Agent)
			printLeftOut(w, s.LeftOut)
			for _, n := range s.Notes {
				fmt.Fprintln(w, n)
			}
		})
	})
	return cmd
}

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
			fmt.Fprintln(w, exported{Secrets: kept.Secrets, Files: kept.Files}.about())
			printLeftOut(w, kept.LeftOut)
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
