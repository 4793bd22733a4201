package verb

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"orchestrator/agent/session"
	"orchestrator/cmd/orchestrator/client"
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/plan"
	"orchestrator/thread/wave"
)

// deliverableOptions are what is handed over.
type deliverableOptions struct {
	r     wave.PutRequest
	kind  string
	files []string
}

func deliverablePut(c *cli) *cobra.Command {
	var o deliverableOptions
	cmd := &cobra.Command{
		Use: "put [task agent] [-]", Short: "Hand over for an agent of a plan, or correct what it has handed over",
		Args: between(0, 3, "[task agent] [-]"),
		Long: "Hand over for an agent of a plan, or correct what it has handed over: another content is a new version, and agents that\n" +
			"were given an older one are shown as stale; none of them begins again by itself. The same again stores nothing. With -\n" +
			"output_data is read from standard input: one JSON value, or a text where the agent hands over no JSON. An agent of a\n" +
			"plan names neither a task nor an agent: it hands over its own, as often as it likes, while it is at work.",
		Example: "  orchestrator deliverable put task-001 vision - < vision.json\n  orchestrator deliverable put task-001 pixel --type image --file hero.png --summary \"the hero\"",
	}
	types := names([]plan.OutputType{plan.OutputJSON, plan.OutputDoc, plan.OutputSheet, plan.OutputImage, plan.OutputText})
	cmd.Flags().StringVar(&o.kind, "type", "", choices(types)+" (default: what the plan says)")
	cmd.Flags().StringVar(&o.r.Summary, "summary", "", "what it says, in a few sentences")
	cmd.Flags().StringArrayVar(&o.files, "file", nil, "a file to hand over by its content; may be given again")
	offer(cmd, "type", cobra.FixedCompletions(types, cobra.ShellCompDirectiveNoFileComp))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := o.read(c, args, types); err != nil {
			return err
		}
		return c.with(func(ctx context.Context, cl *client.Client, _ []string) error { return o.put(ctx, c, cl) })(cmd, args)
	}
	return cmd
}

// read takes over the command line, and standard input.
func (o *deliverableOptions) read(c *cli, args, types []string) error {
	input := len(args) > 0 && args[len(args)-1] == "-"
	if input {
		args = args[:len(args)-1]
	}
	switch len(args) {
	case 0:
	case 2:
		o.r.Task, o.r.Agent = args[0], args[1]
	default:
		return usagef("name both the task and the agent, such as: deliverable put task-001 vision -")
	}
	if o.kind != "" && !strings.Contains(" "+strings.Join(types, " ")+" ", " "+o.kind+" ") {
		return usagef("--type %s: use %s", o.kind, choices(types))
	}
	o.r.Type = plan.OutputType(o.kind)
	if !input && len(o.files) == 0 {
		return usagef("nothing to hand over: give - to read output_data from standard input, or --file")
	}
	if !input {
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(c.stdin, plan.MaxData+1)) // of more, the rest is not read
	if err != nil {
		return fmt.Errorf("read standard input: %w", err)
	}
	if len(data) > plan.MaxData {
		return thread.Hint(thread.Kindf(thread.ErrInvalid, "standard input has more than %s, the limit of output_data", thread.Bytes(plan.MaxData)),
			"hand it over as a file: --file")
	}
	o.r.Data = string(data)
	return nil
}

// put hands over.
func (o *deliverableOptions) put(ctx context.Context, c *cli, cl *client.Client) error {
	for _, path := range o.files {
		f, err := o.file(ctx, c, cl, path)
		if err != nil {
			return err
		}
		o.r.Files = append(o.r.Files, f)
	}
	a, err := api.PutDeliverable.Do(ctx, cl, o.r)
	if err != nil {
		return err
	}
	if a.Same {
		fmt.Fprintf(c.out.stderr, "orchestrator: warning: version %d is the same: nothing was stored\n", a.Version)
	}
	if len(a.Stale) > 0 {
		fmt.Fprintf(c.out.stderr, "orchestrator: given an older version, and stale now: %s. `orchestrator wave retry %s --agent NAME` has one begin again\n",
			strings.Join(a.Stale, ", "), a.Task)
	}
	return c.out.show(a, func(w io.Writer) { fmt.Fprintf(w, "%s/%s version %d\n", a.Task, a.Agent, a.Version) })
}

// file names a file for the server, which reads it in the folder of an agent that asks; a person's is staged.
func (o *deliverableOptions) file(ctx context.Context, c *cli, cl *client.Client, path string) (plan.File, error) {
	whole, err := filepath.Abs(path)
	if err != nil {
		return plan.File{}, fmt.Errorf("file %s: %w", path, err)
	}
	if session.Thread(c.environ) != "" {
		return plan.File{Path: whole}, nil
	}
	info, err := os.Stat(whole)
	if err != nil {
		return plan.File{}, fmt.Errorf("file %s: %w", path, err)
	}
	if !info.Mode().IsRegular() {
		return plan.File{}, usagef("--file %s: it is not a file", path)
	}
	if info.Size() > plan.MaxFile {
		return plan.File{}, thread.Kindf(thread.ErrInvalid, "%s has %s: a file that is handed over has at most %s", path, thread.Bytes(info.Size()), thread.Bytes(plan.MaxFile))
	}
	data, err := os.Open(whole)
	if err != nil {
		return plan.File{}, fmt.Errorf("file %s: %w", path, err)
	}
	defer data.Close()
	d, err := api.Stage.Do(ctx, cl, thread.StageRequest{Size: info.Size()}, data)
	return plan.File{Path: filepath.Base(whole), Token: d.Token}, err
}
