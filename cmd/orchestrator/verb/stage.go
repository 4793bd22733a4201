package verb

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"orchestrator/agent/session"
	"orchestrator/cmd/orchestrator/api"
	"orchestrator/cmd/orchestrator/client"
	"orchestrator/contextmgr/staging"
	"orchestrator/contextmgr/staging/drop"
	"orchestrator/thread"
	"orchestrator/thread/private"
)

// ofThread prepares a verb that, if an agent runs it, uses the project of the agent's thread in any folder.
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
		Use: "stage", Short: "Stage standard input and print its token", Args: noVerb,
		Long: "Store standard input for a while and print a token. `retrieve` prints the data again, in every thread and\n" +
			"folder of this project. Each use restarts the time for which it is kept.",
		PersistentPreRunE: c.ofThread,
	}
	cmd.Flags().StringVar(&r.Source, "source", "", "where the data comes from, such as hubspot/contact")
	cmd.Flags().StringVar(&kind, "type", "", "ndjson, json, text or binary; by default detected from the data")
	cmd.Flags().DurationVar(&r.TTL, "ttl", 0, "how long to keep it, such as 30m; by default the setting stage_ttl")
	cmd.Flags().StringArrayVar(&r.Labels, "label", nil, "a label for it; can be repeated")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		r.Kind = thread.DataKind(kind)
		if err := r.Check(); err != nil {
			return err
		}
		staged := func(d thread.Staged) error {
			fmt.Fprintf(c.out.stderr, "orchestrator: %s\n", stagedNote(d))
			return c.out.show(d, func(w io.Writer) { fmt.Fprintln(w, d.Token) })
		}
		err := c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
			d, err := api.Stage.Do(ctx, cl, r, c.stdin)
			if err != nil {
				return err
			}
			return staged(d)
		})(cmd, args)
		if !errors.Is(err, fs.ErrPermission) {
			return err
		}
		d, err := c.stageByFile(cmd.Context(), r, thread.Hint(
			fmt.Errorf("stage: the server cannot be reached from this sandbox: the socket %s: %w", c.socket(), fs.ErrPermission),
			"write the data to a file in your folder and pass on its path instead"))
		if err != nil {
			return err
		}
		return staged(d)
	}
	cmd.AddCommand(stageListVerb(c), stageInfoVerb(c), stageTouchVerb(c))
	return cmd
}

// stagedNote says how much was staged and until when it is kept.
func stagedNote(d thread.Staged) string {
	amount := thread.Bytes(d.Bytes)
	switch {
	case d.Bytes == 0:
		amount = "nothing, because standard input was empty"
	case d.Kind == thread.DataText:
		amount = fmt.Sprintf("%s, %s", counted(d.Records, "line"), amount)
	case d.Records > 0:
		amount = fmt.Sprintf("%s, %s", counted(d.Records, "record"), amount)
	}
	return fmt.Sprintf("staged %s; kept until %s, and longer if it is used", amount, d.Expires.Local().Format(time.DateTime))
}

func stageListVerb(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List staged data, newest first", Args: exactly(),
		RunE: c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
			list, err := api.StageList.Do(ctx, cl, api.None{})
			if err != nil {
				return err
			}
			return c.out.show(list, func(w io.Writer) { printStaged(w, list, time.Now()) })
		}),
	}
}

func printStaged(w io.Writer, list []thread.Staged, now time.Time) {
	if len(list) == 0 {
		fmt.Fprintln(w, "no staged data; `… | orchestrator stage` adds some")
		return
	}
	var t columns
	t.row("TOKEN", "RECORDS", "SIZE", "TYPE", "SOURCE", "AGE", "EXPIRES", "LABELS")
	for _, d := range list {
		t.row(string(d.Token), strconv.FormatInt(d.Records, 10), thread.Bytes(d.Bytes), string(d.Kind), dash(d.Source),
			thread.Age(now.Sub(d.Created)), expiry(d, now), strings.Join(d.Labels, ", "))
	}
	t.print(w)
}

// expiry returns how long staged data is still kept.
func expiry(d thread.Staged, now time.Time) string {
	if len(d.Pins) > 0 {
		return "pinned"
	}
	return thread.Age(d.Expires.Sub(now).Round(time.Minute)) // what is kept for three hours is not said to be for two
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func stageInfoVerb(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "info <token>", Short: "Describe staged data and show its first lines", Args: exactly("<token>"),
		ValidArgsFunction: c.completeTokens,
		RunE: c.with(func(ctx context.Context, cl *client.Client, args []string) error {
			info, err := api.StageInfo.Do(ctx, cl, api.StagedRef{Token: args[0]})
			if err != nil {
				return err
			}
			return c.out.show(info, func(w io.Writer) { printInfo(w, info, time.Now()) })
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
	row("Created", thread.Age(now.Sub(d.Created))+" ago")
	row("Expires", expiry(d.Staged, now))
	row("Kept because of", strings.Join(d.Pins, ", "))
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

// counted formats a number of things.
func counted(n int64, what string) string {
	if n != 1 {
		what += "s"
	}
	return thousands(n) + " " + what
}

// thousands formats a number with commas.
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
		Use: "touch <token>", Short: "Keep staged data longer: restart its time to live", Args: exactly("<token>"),
		ValidArgsFunction: c.completeTokens,
	}
	cmd.Flags().DurationVar(&ttl, "ttl", 0, "how long to keep it from now; by default as long as when it was staged")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		d, err := api.StageTouch.Do(ctx, cl, api.TouchRequest{Token: args[0], TTL: ttl})
		if err != nil {
			return err
		}
		return c.out.show(d, func(w io.Writer) {
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
			return c.out.show(map[string]string{"token": string(d.Token), "done": "unstaged"},
				func(w io.Writer) { fmt.Fprintf(w, "%s: unstaged\n", d.Token) })
		}),
	}
}

// maxJSON is the maximum size of data that is printed as a JSON string.
const maxJSON = 16 << 20

func retrieveVerb(c *cli) *cobra.Command {
	var part thread.Selection
	var lines string
	cmd := &cobra.Command{
		Use: "retrieve <token>", Short: "Print staged data", Args: exactly("<token>"),
		Long: "Print staged data: byte for byte to a file or pipe, with control characters shown as marks on a terminal.\n" +
			"--range selects lines, --grep those of them that match, and --head the first of those.",
		ValidArgsFunction: c.completeTokens, PersistentPreRunE: c.ofThread,
	}
	cmd.Flags().Int64Var(&part.Head, "head", 0, "only the first N lines")
	cmd.Flags().StringVar(&lines, "range", "", "only these lines: 10-20, 10- or -20; the first is 1")
	cmd.Flags().StringVar(&part.Grep, "grep", "", "only lines that match this regular expression")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if cmd.Flags().Changed("head") && part.Head < 1 {
			return usagef("--head %d: it must be 1 or more", part.Head)
		}
		if err := parseRange(lines, &part); err != nil {
			return err
		}
		r := api.RetrieveRequest{Token: args[0], Part: part}
		if c.out.json {
			return c.showData(cmd.Context(), r)
		}
		return c.retrieve(cmd.Context(), r, c.out.data())
	}
	return cmd
}

// retrieve writes staged data: from the server or, in a sandbox that forbids connections to it, from its file.
func (c *cli) retrieve(ctx context.Context, r api.RetrieveRequest, out io.Writer) error {
	cl, err := c.connect(ctx)
	if errors.Is(err, fs.ErrPermission) {
		return c.retrieveFile(r, out)
	}
	if err != nil {
		return err
	}
	defer cl.Close()
	data, err := api.Retrieve.Open(ctx, cl, r)
	if err != nil {
		return err
	}
	defer data.Close()
	if _, err := io.Copy(out, data); err != nil {
		return fmt.Errorf("retrieve %s: %w", r.Token, err)
	}
	return nil
}

// retrieveFile writes staged data from its file. It changes nothing, so it does not count as a use.
func (c *cli) retrieveFile(r api.RetrieveRequest, out io.Writer) error {
	t, whole, err := thread.ParseToken(r.Token)
	if err == nil && !whole {
		err = fmt.Errorf("%s: in a sandbox without the server, give the complete token: %w", r.Token, thread.ErrInvalid)
	}
	if err != nil {
		return err
	}
	folder, err := private.Open(c.project.StateDir(), "staging")
	if err != nil {
		return fmt.Errorf("retrieve %s without the server: %w", t, err)
	}
	// The server removes what has expired: what exists can be read.
	store := staging.New(folder, staging.Config{Since: func(time.Time) time.Duration { return 0 }})
	defer func() { _ = store.Close() }() // it was only read
	data, err := store.Retrieve(t, r.Part)
	if err != nil {
		return err
	}
	defer data.Close()
	if _, err := data.WriteTo(out); err != nil {
		return fmt.Errorf("retrieve %s: %w", t, err)
	}
	return nil
}

// parseRange parses the value of --range.
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
	Encoding string `json:"encoding"` // of Data: utf-8, or base64 if it is not text
	Data     string `json:"data"`
}

// showData prints staged data as a JSON string.
func (c *cli) showData(ctx context.Context, r api.RetrieveRequest) error {
	var data jsonData
	if err := c.retrieve(ctx, r, &data); err != nil {
		return err
	}
	show := retrieved{Token: r.Token, Encoding: "utf-8", Data: string(data.bytes)}
	if !utf8.Valid(data.bytes) {
		show.Encoding, show.Data = "base64", base64.StdEncoding.EncodeToString(data.bytes)
	}
	return c.out.show(show, nil)
}

// jsonData collects data of at most maxJSON.
type jsonData struct{ bytes []byte }

// Write implements io.Writer.
func (d *jsonData) Write(b []byte) (int, error) {
	if len(d.bytes)+len(b) > maxJSON {
		return 0, thread.Hint(fmt.Errorf("it is larger than %s, the limit of --json: %w", thread.Bytes(maxJSON),
			thread.ErrUnsupported), "retrieve it without --json, or only a part of it")
	}
	d.bytes = append(d.bytes, b...)
	return len(b), nil
}

// completeTokens completes tokens of staged data.
func (c *cli) completeTokens(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return c.complete(cmd, prefix, func(ctx context.Context, cl *client.Client) ([]string, error) {
		list, err := api.StageList.Do(ctx, cl, api.None{})
		var tokens []string
		for _, d := range list {
			tokens = append(tokens, fmt.Sprintf("%s\t%s of %s, %s", d.Token, counted(d.Records, "record"), dash(d.Source),
				thread.Bytes(d.Bytes)))
		}
		return tokens, err
	})
}

// dropWait is how long a sandboxed agent's verb waits for the server.
const dropWait = 30 * time.Second

// stageByFile stages standard input through the folder of the agent's own thread, for a sandbox that forbids
// connections to the server. The error is refused if there is no such folder or the sandbox does not let it be written
// to.
func (c *cli) stageByFile(ctx context.Context, r thread.StageRequest, refused error) (thread.Staged, error) {
	id := session.Thread(c.environ)
	if id == "" {
		return thread.Staged{}, refused
	}
	ctx, cancel := context.WithTimeoutCause(ctx, dropWait, fmt.Errorf("waited %s", dropWait))
	defer cancel()
	d, err := drop.Put(ctx, c.project.ThreadHome(id), r, c.stdin)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, drop.ErrClosed) {
		return d, refused
	}
	if err != nil {
		return d, fmt.Errorf("stage: %w", err)
	}
	return d, nil
}
