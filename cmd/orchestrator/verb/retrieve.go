package verb

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"orchestrator/contextmgr/staging"
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/plan"
	"orchestrator/thread/private"
)

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
	d, err := store.Find(string(t), func(thread.Staged) bool { return false })
	if err != nil {
		return err
	}
	if slices.Contains(d.Labels, plan.HandedOver) {
		return thread.Hint(thread.Kindf(thread.ErrNotGranted, "%s is handed over by an agent of a plan: without the server it is not known who may read it", t),
			"read the file that your prompt names, or use the tool retrieve of your MCP server")
	}
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
