package verb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/record"
	"orchestrator/thread/record/report"
)

// reportOptions are the flags of what writes a report.
type reportOptions struct {
	session, template, output string
	force                     bool
	format                    *scriptFormat
}

func sessionReport(c *cli) *cobra.Command {
	var o reportOptions
	cmd := &cobra.Command{
		Use: "report [session]", Short: "Write a report of a work session from a template", Args: between(0, 1, "[session]"), ValidArgsFunction: completeSessions(c),
		Long: "Write a report of a work session from all that is recorded of it, at any time: the same record gives the same report.\n" +
			"--format markdown is what came of it by subject, markdown-log all of it in its order, json what templates are made of.\n" +
			"`orchestrator help outputs` has the functions and names of templates.",
		Example: "  orchestrator session report orch-2025-01-17-001 --output report.md",
	}
	f := cmd.Flags()
	f.StringVar(&o.session, "session", "", "the work session, if it is no argument")
	f.StringVar(&o.template, "template", "", "`FILE` of Go's template language; "+report.Synthesis+" is built in, unless there is a file of that name")
	f.StringVarP(&o.output, "output", "o", "", "`FILE` to write it to (default: standard output)")
	f.BoolVar(&o.force, "force", false, "replace a file that is there")
	o.format = formatted(c, cmd, "markdown", "markdown-log", "json")
	offer(cmd, "session", flagSessions(c))
	spelled(cmd, map[string]string{"session-id": "session"})
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if o.session, err = argOr(cmd, args, "session", o.session); err != nil {
			return err
		}
		return o.run(c, cmd, nil)
	}
	return cmd
}

func (o *reportOptions) run(c *cli, cmd *cobra.Command, args []string) error {
	if o.template != "" && o.format.is == "markdown-log" {
		return usagef("--template and --format markdown-log cannot be combined")
	}
	name, text, err := o.chosen(c)
	if err != nil {
		return err
	}
	return c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
		r, err := api.SessionReport.Do(ctx, cl, record.MakeReport{Session: o.session})
		if err != nil {
			return err
		}
		var out bytes.Buffer
		switch {
		case c.out.json && o.output == "":
			return c.out.show(r, nil)
		case c.out.json:
			err = report.JSON(&out, r)
		default:
			err = report.Write(&out, r, name, text)
		}
		if err != nil {
			return err
		}
		if o.output == "" {
			_, err := c.out.stdout.Write(out.Bytes())
			return err //nolint:wrapcheck // of the output
		}
		same := func(was []byte) bool { // the report of this work session as it was
			return plaintext.FirstLine(string(was)) == plaintext.FirstLine(out.String())
		}
		if err := writeOutput(c, o.output, out.Bytes(), o.force, same); err != nil {
			return err
		}
		fmt.Fprintf(c.out.stderr, "%s: %s of %s\n", o.output, thread.Bytes(int64(out.Len())), r.Session.Name)
		return nil
	})(cmd, args)
}

// chosen returns the name and the text of the template: that of a file, or a built-in one.
func (o *reportOptions) chosen(c *cli) (name, text string, err error) {
	name = report.Synthesis
	if o.format.is == "markdown-log" {
		name = report.Log
	}
	if o.template == "" {
		text, _ = report.Builtin(name)
		return name, text, nil
	}
	from, err := sourcesOf(c)
	if err != nil {
		return "", "", err
	}
	content, err := from.read(o.template)
	name = filepath.Base(o.template)
	if errors.Is(err, thread.ErrNotFound) {
		if text, known := report.Builtin(name); known {
			return name, text, nil
		}
	}
	if err != nil {
		return "", "", fmt.Errorf("template %s: %w", o.template, err)
	}
	return name, string(content), nil
}
