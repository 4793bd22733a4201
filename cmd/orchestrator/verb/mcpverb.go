package verb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/api"
	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/mcpctl"
	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

// mcpVerb sees and changes the MCP servers of threads.
func mcpVerb(c *cli) *cobra.Command {
	cmd := &cobra.Command{
		Use: "mcp", Short: "See and switch the MCP servers of threads",
		Long: "See and switch the MCP servers of threads. Agents get one server, which passes on those that are switched on\n" +
			"for their thread. Servers are read from .mcp.json and from the agents' own files; what a repository brings is\n" +
			"not started before you accept it.",
	}
	cmd.AddCommand(mcpListVerb(c), mcpShowVerb(c), mcpSwitchVerb(c, true), mcpSwitchVerb(c, false),
		mcpActVerb(c, "restart", mcpctl.ActRestart, "Restart a server"), mcpHealthVerb(c), mcpWhyVerb(c),
		mcpApproveVerb(c), mcpActVerb(c, "reject", mcpctl.ActReject, "Do not ask about a server again"),
		mcpActVerb(c, "revoke", mcpctl.ActRevoke, "Take back what you said about a server, and stop it"),
		mcpActVerb(c, "login", mcpctl.ActSignIn, "Sign in to a remote server in the browser"),
		mcpLogsVerb(c), mcpCallVerb(c))
	return cmd
}

func mcpListVerb(c *cli) *cobra.Command {
	var ref string
	cmd := &cobra.Command{
		Use: "list", Short: "List the servers with what they cost", Args: exactly(),
		Long: "List the servers with what they cost: tools, tokens of their definitions, memory. With --thread, say which are\n" +
			"on for it, why, and when a switch takes effect.",
	}
	cmd.Flags().StringVar(&ref, "thread", "", "the thread")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
		r, err := api.MCP.Do(ctx, cl, thread.MCPQuery{Thread: ref, Dir: c.here()})
		if err != nil {
			return err
		}
		return c.out.show(r, func(w io.Writer) { printMCP(w, r, ref) })
	})
	return cmd
}

// printMCP prints the list of servers, of a thread if one is named.
func printMCP(w io.Writer, r thread.MCPReport, of string) {
	ofThread := of != ""
	if len(r.Servers) == 0 {
		fmt.Fprintln(w, "no MCP servers are configured; .mcp.json of the project or an agent's own file adds one")
	} else {
		var t columns
		if ofThread {
			t.row("", "SERVER", "STATE", "SHARE", "TOOLS", "TOKENS", "MEMORY", "STARTS", "LAST CALL", "WHY")
		} else {
			t.row("SERVER", "STATE", "SHARE", "TOOLS", "TOKENS", "MEMORY", "STARTS", "LAST CALL", "FROM")
		}
		for _, s := range r.Servers {
			row := []string{s.ID, s.State, s.Share, mcpTools(s), mcpTokens(s), dash(mcpMemory(s)), fmt.Sprint(s.Starts), mcpCalled(s)}
			if ofThread {
				t.row(append(append([]string{s.Box()}, row...), mcpReason(s, of))...)
			} else {
				t.row(append(row, mcpFrom(s))...)
			}
		}
		t.print(w)
	}
	for _, s := range r.Servers {
		if s.Reason != "" {
			fmt.Fprintf(w, "%s: %s\n", s.ID, s.Reason)
		}
		if s.Kept != "" {
			fmt.Fprintf(w, "%s: %s\n", s.ID, s.Kept)
		}
		for _, warning := range s.Warnings {
			fmt.Fprintf(w, "%s: %s\n", s.ID, warning)
		}
	}
	for _, p := range r.Problems {
		fmt.Fprintf(w, "%s: %s\n", mcpPlace(p), p.Text)
	}
	if !ofThread {
		return
	}
	if r.None {
		fmt.Fprintln(w, "this agent takes no MCP servers from us: nothing is started for it, and switches are kept for forks")
		return
	}
	fmt.Fprintf(w, "definitions in the context: ~%s of ~%s tokens\n", thousands(r.Tokens), thousands(r.All))
	if r.Takes != "" {
		fmt.Fprintf(w, "a switch takes effect %s\n", r.Takes)
	}
	if r.CacheTokens > 0 {
		cost := ""
		if r.CacheUSD > 0 {
			cost = fmt.Sprintf(" ($%.2f)", r.CacheUSD)
		}
		fmt.Fprintf(w, "a switch costs the prompt cache: ~%s tokens are read again%s\n", thousands(r.CacheTokens), cost)
	}
	for _, o := range r.Outside {
		fmt.Fprintf(w, "outside our control: %s\n", o)
	}
}

func mcpTools(s thread.MCPServer) string {
	if !s.Known {
		return "?"
	}
	return fmt.Sprintf("%d/%d", s.ToolsOn, s.Tools)
}

func mcpTokens(s thread.MCPServer) string {
	if !s.Known {
		return "?"
	}
	return "~" + thousands(s.Tokens)
}

func mcpMemory(s thread.MCPServer) string {
	if s.Memory == 0 {
		return ""
	}
	return thread.Bytes(s.Memory)
}

func mcpCalled(s thread.MCPServer) string {
	if s.Called.IsZero() {
		return "-"
	}
	return fmt.Sprintf("%.0f ms", s.CallMS)
}

func mcpReason(s thread.MCPServer, of string) string {
	switch {
	case s.ChangedIn != "":
		return "changed in " + s.ChangedIn + ": orchestrator mcp approve " + s.ID + " --thread " + of
	case !s.Accepted && s.Problem == "":
		return "accept it first: orchestrator mcp approve " + s.ID + " --thread " + of
	case s.On:
		return dash(s.SwitchedBy())
	default:
		return "-"
	}
}

func mcpFrom(s thread.MCPServer) string {
	var from []string
	for _, f := range s.Sources {
		from = append(from, mcpPlace(thread.MCPProblem{File: f.File, Line: f.Line}))
	}
	return strings.Join(from, ", ")
}

// mcpPlace is a place in a file.
func mcpPlace(p thread.MCPProblem) string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}

func mcpShowVerb(c *cli) *cobra.Command {
	var ref string
	cmd := &cobra.Command{
		Use: "show <server>", Short: "Show what a server starts, its tools and patterns", Args: exactly("<server>"),
	}
	cmd.Flags().StringVar(&ref, "thread", "", "say what is on for this thread")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		d, err := api.MCPDetail.Do(ctx, cl, thread.MCPAct{Server: args[0], Dir: c.here(), Thread: ref})
		if err != nil {
			return err
		}
		return c.out.show(d, func(w io.Writer) { printMCPDetail(w, d) })
	})
	return cmd
}

// printMCPDetail prints everything about a server but its log.
func printMCPDetail(w io.Writer, d thread.MCPDetail) {
	printLaunch(w, d)
	if len(d.List) > 0 {
		var t columns
		t.row("", "TOOL", "TOKENS", "ABOUT")
		for _, tool := range d.List {
			box := "[ ]"
			switch {
			case tool.Withheld != "":
				box = "[!]"
			case tool.On:
				box = "[x]"
			}
			about, _, _ := strings.Cut(tool.Description, "\n")
			switch {
			case tool.Withheld != "":
				about = "withheld: " + tool.Withheld
			case tool.Unusable != "":
				about = "not usable: " + tool.Unusable
			}
			t.row(box, tool.Name, "~"+thousands(tool.Tokens), plaintext.Cut(about, 80))
		}
		t.print(w)
	}
	for _, tool := range d.List {
		for _, h := range tool.Hidden {
			fmt.Fprintf(w, "%s has hidden characters: %s\n", tool.Name, h)
		}
		for _, line := range tool.Diff {
			fmt.Fprintf(w, "  %s\n", line)
		}
	}
	for _, r := range d.Rates {
		fmt.Fprintf(w, "pattern %s would have fired on %d of the last %d prompts\n", r.Pattern, r.Fired, r.Of)
	}
}

// printLaunch prints exactly what a server starts, and how that differs from what was accepted.
func printLaunch(w io.Writer, d thread.MCPDetail) {
	fmt.Fprintf(w, "%s, from %s\n", d.ID, mcpFrom(d.MCPServer))
	for _, line := range d.Launch {
		fmt.Fprintf(w, "  %s\n", line)
	}
	if len(d.Diff) > 0 {
		fmt.Fprintln(w, "changed since you accepted it:")
		for _, line := range d.Diff {
			fmt.Fprintf(w, "  %s\n", line)
		}
	}
	for _, warning := range d.Warnings {
		fmt.Fprintf(w, "warning: %s\n", warning)
	}
	if d.Reason != "" {
		fmt.Fprintf(w, "%s: %s\n", d.State, d.Reason)
	}
	fmt.Fprintf(w, "hash %s\n", d.Hash)
	if d.ToolsHash != "" {
		fmt.Fprintf(w, "hash of the tools that are withheld %s\n", d.ToolsHash)
	}
}

func mcpSwitchVerb(c *cli, on bool) *cobra.Command {
	r := thread.MCPChange{On: on}
	cmd := &cobra.Command{
		Use: "disable <server> [<tool>]", Short: "Switch a server or a tool off for a thread",
		Args: between(1, 2, "<server>", "[<tool>]"),
		Long: "Switch a server or one of its tools off for a thread. While a turn runs, a server stays on until the turn ends;\n" +
			"--now switches it off at once.",
	}
	if on {
		cmd.Use, cmd.Short = "enable <server> [<tool>]", "Switch a server or a tool on for a thread"
		cmd.Long = "Switch a server or one of its tools on for a thread, from the agent's next model request on."
	} else {
		cmd.Flags().BoolVar(&r.Force, "now", false, "do not wait for the end of the turn")
	}
	cmd.Flags().StringVar(&r.Thread, "thread", "", "the thread")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		if r.Thread == "" {
			return usagef("say for which thread: --thread <thread>")
		}
		if r.Server = args[0]; len(args) > 1 {
			r.Tool = args[1]
		}
		report, err := api.SwitchMCP.Do(ctx, cl, r)
		if err != nil {
			return err
		}
		return c.out.show(report, func(w io.Writer) { printMCP(w, report, r.Thread) })
	})
	return cmd
}

// mcpActVerb is a verb that does something to a server.
func mcpActVerb(c *cli, verb, act, short string) *cobra.Command {
	var ref string
	cmd := &cobra.Command{Use: verb + " <server>", Short: short, Args: exactly("<server>")}
	if act == mcpctl.ActReject || act == mcpctl.ActRevoke {
		cmd.Flags().StringVar(&ref, "thread", "", "as it would be started for this thread")
	}
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		d, err := api.MCPDetail.Do(ctx, cl, thread.MCPAct{Server: args[0], Dir: c.here(), Thread: ref})
		if err == nil {
			d, err = api.ActMCP.Do(ctx, cl, thread.MCPAct{Act: act, Server: args[0], Dir: c.here(), Thread: ref, Hash: d.Hash})
		}
		if err != nil {
			return err
		}
		return c.out.show(d, func(w io.Writer) {
			if d.Page != "" {
				fmt.Fprintf(w, "sign in on this page, if the browser has not opened it:\n%s\n", d.Page)
				return
			}
			fmt.Fprintf(w, "%s: %s\n", d.ID, mcpState(d.MCPServer))
		})
	})
	return cmd
}

func mcpState(s thread.MCPServer) string {
	if s.Reason != "" {
		return s.State + ", " + s.Reason
	}
	return s.State
}

func mcpHealthVerb(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "health", Short: "Say how the servers are", Args: exactly(),
		RunE: c.with(func(ctx context.Context, cl *client.Client, _ []string) error {
			r, err := api.MCP.Do(ctx, cl, thread.MCPQuery{Dir: c.here()})
			if err != nil {
				return err
			}
			return c.out.show(r, func(w io.Writer) {
				var t columns
				t.row("SERVER", "STATE", "PROCESS", "MEMORY", "STARTS", "LAST CALL", "REASON")
				for _, s := range r.Servers {
					pid := "-"
					if s.PID > 0 {
						pid = fmt.Sprint(s.PID)
					}
					t.row(s.ID, s.State, pid, dash(mcpMemory(s)), fmt.Sprint(s.Starts), mcpCalled(s), dash(s.Reason))
				}
				t.print(w)
			})
		}),
	}
}

func mcpWhyVerb(c *cli) *cobra.Command {
	var ref string
	cmd := &cobra.Command{
		Use: "why <task>", Short: "Say which servers a task would switch on, and why", Args: exactly("<task>"),
	}
	cmd.Flags().StringVar(&ref, "thread", "", "for this thread")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		list, err := api.MCPWhy.Do(ctx, cl, thread.MCPTask{Thread: ref, Dir: c.here(), Text: args[0]})
		if err != nil {
			return err
		}
		return c.out.show(list, func(w io.Writer) {
			if len(list) == 0 {
				fmt.Fprintln(w, "no server")
			}
			for _, s := range list {
				switch {
				case s.On:
					fmt.Fprintf(w, "%s is switched on: %s\n", s.Server, s.Why)
				case s.Blocked != "":
					fmt.Fprintf(w, "%s is not switched on: %s, but %s\n", s.Server, s.Why, s.Blocked)
				default:
					fmt.Fprintf(w, "%s is suggested: %s\n", s.Server, s.Why)
				}
			}
		})
	})
	return cmd
}

func mcpApproveVerb(c *cli) *cobra.Command {
	var hash, ref string
	var tools bool
	cmd := &cobra.Command{
		Use: "approve <server>", Short: "Accept exactly what a server starts", Args: exactly("<server>"),
		Long: "Show exactly what a server starts and, once you say yes, accept it. A change asks again. Without a terminal,\n" +
			"--hash says what you have seen (`orchestrator mcp show` prints it). --tools accepts the definitions of its tools\n" +
			"that are withheld because they have changed. --thread accepts what is started for that thread, whose folder may\n" +
			"hold other files than the project's.",
	}
	cmd.Flags().StringVar(&ref, "thread", "", "as it would be started for this thread")
	cmd.Flags().StringVar(&hash, "hash", "", "accept it if it has this hash, without asking")
	cmd.Flags().BoolVar(&tools, "tools", false, "accept the definitions of its tools as they are now")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		d, err := api.MCPDetail.Do(ctx, cl, thread.MCPAct{Server: args[0], Dir: c.here(), Thread: ref})
		if err != nil {
			return err
		}
		r := thread.MCPAct{Act: mcpctl.ActApprove, Server: args[0], Dir: c.here(), Thread: ref, Hash: d.Hash}
		switch {
		case tools:
			r.Act = mcpctl.ActApproveTools
			if r.Hash = d.ToolsHash; hash != "" {
				r.Hash = hash
			}
			printMCPDetail(c.out.stderr, d)
		case hash != "":
			r.Hash = hash
		default:
			printLaunch(c.out.stderr, d)
		}
		if hash == "" {
			if !c.interactive() {
				return thread.Hint(fmt.Errorf("nobody can be asked here: %w", thread.ErrRefused),
					"read it with `orchestrator mcp show`, and accept it with --hash")
			}
			yes, err := c.ask("Accept it? (y/n)\n")
			if err != nil || !yes {
				return errors.Join(err, fmt.Errorf("not accepted: %w", thread.ErrRefused))
			}
		}
		d, err = api.ActMCP.Do(ctx, cl, r)
		if err != nil {
			return err
		}
		return c.out.show(d, func(w io.Writer) { fmt.Fprintf(w, "%s is accepted as it is now\n", d.ID) })
	})
	return cmd
}

// interactive reports whether somebody can be asked on a terminal.
func (c *cli) interactive() bool {
	in, isFile := c.stdin.(*os.File)
	return isFile && term.IsTerminal(in.Fd())
}

func mcpLogsVerb(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "logs <server>", Short: "Print the last lines that a server printed", Args: exactly("<server>"),
		RunE: c.with(func(ctx context.Context, cl *client.Client, args []string) error {
			d, err := api.MCPDetail.Do(ctx, cl, thread.MCPAct{Server: args[0], Dir: c.here()})
			if err != nil {
				return err
			}
			return c.out.show(d.Log, func(w io.Writer) {
				for _, line := range d.Log {
					fmt.Fprintln(w, line)
				}
			})
		}),
	}
}

func mcpCallVerb(c *cli) *cobra.Command {
	var r thread.MCPCall
	cmd := &cobra.Command{
		Use: "call <server> <tool> [<arguments>]", Short: "Call a tool of a server and print its result",
		Args: between(2, 3, "<server>", "<tool>", "[<arguments>]"),
		Long: "Call a tool of a server and print its result as JSON. The arguments are a JSON object. A result that says that " +
			"the tool has failed is printed too, and the exit code is 1.",
	}
	cmd.Flags().StringVar(&r.Thread, "thread", "", "use the server of this thread, in its folder")
	cmd.RunE = c.with(func(ctx context.Context, cl *client.Client, args []string) error {
		r.Dir = c.here()
		if r.Server, r.Tool = args[0], args[1]; len(args) > 2 {
			r.Arguments = args[2]
		}
		result, err := api.CallMCP.Do(ctx, cl, r)
		if err != nil {
			return err
		}
		if err := c.out.show(result, func(w io.Writer) { fmt.Fprintln(w, result.Result) }); err != nil || !failed(result) {
			return err
		}
		return &silentError{exitcode.Error}
	})
	return cmd
}

// failed reports whether a tool says that it has failed.
func failed(r thread.MCPResult) bool {
	var said struct {
		IsError bool `json:"isError"`
	}
	return json.Unmarshal([]byte(r.Result), &said) == nil && said.IsError
}
