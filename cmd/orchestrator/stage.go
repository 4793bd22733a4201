package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"orchestrator/agent/session"
	"orchestrator/cmd/orchestrator/api"
	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread"
)

// ofThread has a verb use the project of the thread whose agent calls it, whatever folder it is in.
func (c *cli) ofThread(cmd *cobra.Command, _ []string) error {
	if dir := session.Project(c.environ); dir != "" && !cmd.Flags().Changed("project") {
		c.dir = dir
	}
	return c.prepare()
}

func stageVerb(c *cli) *cobra.Command {
	var r thread.StageRequest
	var kind string
	cmd := &cobra.Command{
		Use: "stage", Short: "Keep what standard input brings and print a token for it", Args: noVerb,
		Long: "Keep what standard input brings for a while, and print a token for it: retrieve reads it back, in this\n" +
			"project's threads and folders. It is kept for an hour, or as --ttl says, and longer while it is used.",
		PersistentPreRunE: c.ofThread,
	}
	cmd.Flags().StringVar(&r.Source, "source", "", "where the data is from, such as hubspot/contact")
	cmd.Flags().StringVar(&kind, "type", "", "ndjson, json, text or binary; by the data itself without it")
	cmd.Flags().DurationVar(&r.TTL, "ttl", 0, "how long to keep it, such as 30m; an hour without it")
	cmd.Flags().StringArrayVar(&r.Labels, "label", nil, "a word or line to find it by; may be given several times")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		r.Kind = thread.DataKind(kind)
		if err := r.Check(); err != nil {
			return err
		}
		return c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
			d, err := api.Stage.Do(ctx, cl, r, c.stdin)
			if err != nil {
				return err
			}
			if d.Bytes == 0 {
				fmt.Fprintf(c.stderr, "orchestrator: standard input brought nothing: %s is empty\n", d.Token)
			}
			return c.show(d, func(w io.Writer) { fmt.Fprintln(w, d.Token) })
		})(cmd, args)
	}
	cmd.AddCommand(stageListVerb(c), stageInfoVerb(c), stageTouchVerb(c))
	return cmd
}

func stageListVerb(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List what is staged, the newest first", Args: exactly(),
		RunE: c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
			list, err := api.StageList.Do(ctx, cl, api.None{})
			if err != nil {
				return err
			}
			return c.show(list, func(w io.Writer) { printStaged(w, list, time.Now()) })
		}),
	}
}

func printStaged(w io.Writer, list []thread.Staged, now time.Time) {
	if len(list) == 0 {
		fmt.Fprintln(w, "nothing is staged: `… | orchestrator stage` does")
		return
	}
	var t columns
	t.row("TOKEN", "RECORDS", "SIZE", "TYPE", "SOURCE", "AGE", "EXPIRES", "LABELS")
	for _, d := range list {
		t.row(string(d.Token), strconv.FormatInt(d.Records, 10), thread.Bytes(d.Bytes), string(d.Kind), dash(d.Source),
			age(now.Sub(d.Created)), expiry(d, now), strings.Join(d.Labels, ", "))
	}
	t.print(w)
}

// expiry says when staged data is removed.
func expiry(d thread.Staged, now time.Time) string {
	if len(d.Pins) > 0 {
		return "pinned"
	}
	return age(d.Expires.Sub(now))
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func stageInfoVerb(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "info <token>", Short: "Show what is known of staged data, and how it begins", Args: exactly("<token>"),
		ValidArgsFunction: c.completeTokens,
		RunE: c.with(func(ctx context.Context, cl *client.Client, args []string) error {
			info, err := api.StageInfo.Do(ctx, cl, api.StagedRef{Token: args[0]})
			if err != nil {
				return err
			}
			return c.show(info, func(w io.Writer) { printInfo(w, info, time.Now()) })
		}),
	}
}

func printInfo(w io.Writer, d thread.StagedInfo, now time.Time) {
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "%-9s %s\n", name+":", value)
		}
	}
	row("Token", string(d.Token))
	row("Records", thousands(d.Records))
	row("Size", thread.Bytes(d.Bytes))
	row("Type", string(d.Kind))
	row("Source", d.Source)
	row("Labels", strings.Join(d.Labels, ", "))
	row("Thread", string(d.Thread))
	row("Created", age(now.Sub(d.Created))+" ago")
	row("Expires", expiry(d.Staged, now))
	row("Pins", strings.Join(d.Pins, ", "))
	row("SHA-256", d.SHA256)
	row("File", d.File)
	name := "Preview:"
	for _, line := range d.Preview {
		fmt.Fprintf(w, "%-9s %s\n", name, line)
		name = ""
	}
	if d.More {
		fmt.Fprintf(w, "%-9s ...\n", "")
	}
}

// thousands writes a number with commas.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func stageTouchVerb(c *cli) *cobra.Command {
	var ttl time.Duration
	cmd := &cobra.Command{
		Use: "touch <token>", Short: "Keep staged data longer: its time begins again", Args: exactly("<token>"),
		ValidArgsFunction: c.completeTokens,
	}
	cmd.Flags().DurationVar(&ttl, "ttl", 0, "how long to keep it from now on; as long as before without it")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		d, err := api.StageTouch.Do(ctx, cl, api.TouchRequest{Token: args[0], TTL: ttl})
		if err != nil {
			return err
		}
		return c.show(d, func(w io.Writer) {
			fmt.Fprintf(w, "%s: kept until %s\n", d.Token, d.Expires.Local().Format(time.DateTime))
		})
	})
	return cmd
}

func unstageVerb(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "unstage <token>", Short: "Remove staged data now", Args: exactly("<token>"),
		ValidArgsFunction: c.completeTokens, PersistentPreRunE: c.ofThread,
		RunE: c.with(func(ctx context.Context, cl *client.Client, args []string) error {
			d, err := api.Unstage.Do(ctx, cl, api.StagedRef{Token: args[0]})
			if err != nil {
				return err
			}
			return c.show(map[string]string{"token": string(d.Token), "done": "unstaged"},
				func(w io.Writer) { fmt.Fprintf(w, "%s: unstaged\n", d.Token) })
		}),
	}
}

// mostJSON bounds data that is printed as a JSON string.
const mostJSON = 16 << 20

func retrieveVerb(c *cli) *cobra.Command {
	var part thread.Selection
	var lines string
	cmd := &cobra.Command{
		Use: "retrieve <token>", Short: "Print what was staged, byte for byte", Args: exactly("<token>"),
		Long: "Print what was staged: to a file or pipe byte for byte, to a terminal what cannot act on it. Of the lines\n" +
			"that --range gives, --grep leaves those that match, and --head the first of these.",
		ValidArgsFunction: c.completeTokens, PersistentPreRunE: c.ofThread,
	}
	cmd.Flags().Int64Var(&part.Head, "head", 0, "only the first lines")
	cmd.Flags().StringVar(&lines, "range", "", "only these lines: 10-20, 10- or -20; they count from 1")
	cmd.Flags().StringVar(&part.Grep, "grep", "", "only lines that match a regular expression")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if cmd.Flags().Changed("head") && part.Head < 1 {
			return usagef("--head %d: give a number of lines", part.Head)
		}
		if err := parseRange(lines, &part); err != nil {
			return err
		}
		return c.with(func(ctx context.Context, cl *client.Client, args []string) error {
			data, err := api.Retrieve.Open(ctx, cl, api.RetrieveRequest{Token: args[0], Part: part})
			if err != nil {
				return err
			}
			defer data.Close()
			if c.json {
				return c.showData(args[0], data)
			}
			if _, err := io.Copy(c.data(), data); err != nil {
				return fmt.Errorf("retrieve %s: %w", args[0], err)
			}
			return nil
		})(cmd, args)
	}
	return cmd
}

// parseRange reads lines as people give them.
func parseRange(s string, part *thread.Selection) error {
	if s == "" {
		return nil
	}
	from, to, dashed := strings.Cut(s, "-")
	if !dashed {
		to = from
	}
	for _, end := range []struct {
		text string
		at   *int64
	}{{from, &part.From}, {to, &part.To}} {
		if end.text == "" {
			continue
		}
		n, err := strconv.ParseInt(end.text, 10, 64)
		if err != nil || n < 1 {
			return usagef("--range %q: give lines such as 10-20, 10- or -20", s)
		}
		*end.at = n
	}
	if part.From == 0 && part.To == 0 || part.To > 0 && part.To < part.From {
		return usagef("--range %q: give lines such as 10-20, 10- or -20", s)
	}
	return nil
}

// retrieved is what retrieve prints with --json.
type retrieved struct {
	Token    string `json:"token"`
	Encoding string `json:"encoding"` // of Data: utf-8, or base64 where it is no text
	Data     string `json:"data"`
}

// showData prints data as a JSON string.
func (c *cli) showData(token string, data io.Reader) error {
	b, err := io.ReadAll(io.LimitReader(data, mostJSON+1))
	if err != nil {
		return fmt.Errorf("retrieve %s: %w", token, err)
	}
	if len(b) > mostJSON {
		return thread.Hint(fmt.Errorf("%s is more than the %s that --json prints: %w", token, thread.Bytes(mostJSON),
			thread.ErrUnsupported), "retrieve it without --json, or a part of it")
	}
	r := retrieved{Token: token, Encoding: "utf-8", Data: string(b)}
	if !utf8.Valid(b) {
		r.Encoding, r.Data = "base64", base64.StdEncoding.EncodeToString(b)
	}
	return c.show(r, nil)
}

// completeTokens offers what is staged.
func (c *cli) completeTokens(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return c.complete(cmd, prefix, func(ctx context.Context, cl *client.Client) ([]string, error) {
		list, err := api.StageList.Do(ctx, cl, api.None{})
		var tokens []string
		for _, d := range list {
			tokens = append(tokens, fmt.Sprintf("%s\t%d records of %s, %s", d.Token, d.Records, dash(d.Source),
				thread.Bytes(d.Bytes)))
		}
		return tokens, err
	})
}
