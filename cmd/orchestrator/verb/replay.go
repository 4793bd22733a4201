package verb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"orchestrator/cmd/orchestrator/agents"
	"orchestrator/cmd/orchestrator/config"
	"orchestrator/cmd/orchestrator/verb/page"
	"orchestrator/contextmgr/models"
	"orchestrator/contextmgr/policy"
	"orchestrator/contextmgr/replay"
	"orchestrator/contextmgr/tokens"
	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

// contextReplayVerb replays recorded sessions. It needs no project and no server.
func contextReplayVerb(c *cli) *cobra.Command {
	var names, bases []string
	var mcp []int
	cmd := &cobra.Command{
		Use: "replay <files...>", Short: "Compare masking policies on recorded sessions",
		Long: "Replays recorded sessions with each masking policy and compares the requests and their cost with what\n" +
			"the agent itself sent. Takes files, folders and patterns: the session files of Claude Code, Codex, Gemini CLI\n" +
			"and opencode, as these wrote them or as `opencode export` does. Without files it says where each agent keeps\n" +
			"them. Nothing is sent or changed.\n\n" +
			"Policies: raw sends everything, observe only counts, safe masks old tool results but keeps the files being\n" +
			"worked on, lean masks those too, sliding keeps the last 10 results of every request. If rules by tool are\n" +
			"configured, yours is your mode with them.\n\n" +
			"CONTEXT is the mean request in tokens, HISTORY the same without what the first request had. COST is the\n" +
			"change of the input cost with a prompt cache of 5 minutes or 1 hour. <60% is the share of requests below\n" +
			"60% of the window. EDITS HIT are edits of files whose last read was masked. MASKS is how often something\n" +
			"was masked in a segment; a segment ends where the agent itself compacted or went back.\n\n" +
			"With --base, each policy is replayed with each profile of the base too: what the agent sends before a word is\n" +
			"said is smaller by what the profile leaves out of it, as measured with the CLI that is installed, or by the\n" +
			"figure you give, in tokens or in percent of a session's own base. It is in each request, and read from the\n" +
			"cache from the second on. Masks are decided again for the smaller requests.\n\n" +
			"With --mcp-tokens ALL,ON, the agent itself would have sent ALL tokens of definitions of MCP tools with each\n" +
			"request, and only ON of them are sent in the replay: those of the servers that the task needs. \"mcp list\"\n" +
			"has the figures of your servers.",
		Example: "  orchestrator context replay ~/.claude/projects/*/*.jsonl\n" +
			"  orchestrator context replay ~/.codex/sessions/ --policy safe,lean\n" +
			"  orchestrator context replay ~/.local/share/opencode/opencode.db --json\n" +
			"  orchestrator context replay ~/.claude/projects/ --policy lean --base slim,minimal --mcp-tokens 17400,1200",
		PersistentPreRunE: func(*cobra.Command, []string) error {
			if err := c.prepare(); err != nil {
				fmt.Fprintf(c.out.stderr, "orchestrator: your configuration is not applied: %v\n", err)
			}
			return nil
		},
	}
	cmd.Flags().StringSliceVar(&names, "policy", nil, "policies: raw, observe, safe, lean, sliding, yours (default all)")
	cmd.Flags().StringSliceVar(&bases, "base", nil, "profiles of the base: slim, read-only, minimal, your own, or NAME=TOKENS, NAME=PERCENT%")
	cmd.Flags().IntSliceVar(&mcp, "mcp-tokens", nil, "tokens of the definitions of all MCP tools, and of those that are on: ALL,ON")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		known := agents.New("", c.environ, "", "")
		if len(args) == 0 {
			var places strings.Builder
			printPlaces(&places, known, c.environ)
			return usagef("context replay needs recorded sessions: orchestrator context replay FILE. The agents keep theirs in\n%s",
				strings.TrimRight(places.String(), "\n"))
		}
		policies, err := policiesNamed(names, append(replay.Policies(), replayPolicies(c.config)...))
		if err != nil {
			return err
		}
		here, err := os.Getwd()
		if err != nil {
			return fmt.Errorf("find this folder: %w", err)
		}
		left := &leftOut{agents: known, config: c.config.Base, spec: thread.WorldSpec{Dir: here, Origin: here, Env: c.environ}}
		compared := replay.Compared{Policies: policies, Caches: replay.Caches()}
		if compared.Bases, err = left.bases(cmd.Context(), bases); err != nil {
			return err
		}
		if compared.Definitions, err = definitionsOf(mcp); err != nil {
			return err
		}
		files, err := sessionFiles(args)
		if err != nil {
			return err
		}
		r, err := replayFiles(cmd.Context(), files, formats(known), compared, c.config.Models)
		if err != nil {
			return err
		}
		if r.Sessions == 0 && len(r.Problems) == 1 {
			return errors.New(r.Problems[0].String())
		}
		r.Saved = left.said
		r.printProblems(c.out.stderr)
		if len(r.Groups) == 0 {
			return fmt.Errorf("no requests with the provider's token counts in %s", plaintext.Count(len(files), "file"))
		}
		return c.out.show(r, r.print)
	}
	return cmd
}

// yours is the name of the policy of a person's own configuration.
const yours = "yours"

// replayPolicies returns the policy as configured, if it is more than a mode.
func replayPolicies(c config.Config) []replay.Policy {
	rules := c.Rules()
	if len(rules) == 0 && c.MaskingTokens == 0 {
		return nil
	}
	s := c.Mode(policy.Mode(c.Masking))
	s.Rules = rules
	return []replay.Policy{{Name: yours, Settings: s}}
}

// policiesNamed returns the policies with these names, or all.
func policiesNamed(names []string, all []replay.Policy) ([]replay.Policy, error) {
	if len(names) == 0 {
		return all, nil
	}
	known := make([]string, 0, len(all))
	for _, p := range all {
		known = append(known, p.Name)
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, usagef("--policy %q: must be among %s", name, strings.Join(known, ", "))
		}
	}
	return slices.DeleteFunc(all, func(p replay.Policy) bool { return !slices.Contains(names, p.Name) }), nil
}

// sessionFile is a file to be replayed. One that was found in a folder may be something else.
type sessionFile struct {
	path  string
	found bool
}

// sessionFiles returns the files that arguments name: files, what can be sessions in folders, or patterns.
func sessionFiles(args []string) ([]sessionFile, error) {
	var out []sessionFile
	for _, arg := range args {
		paths := []string{arg}
		if _, err := os.Stat(arg); errors.Is(err, fs.ErrNotExist) {
			if paths, err = filepath.Glob(arg); err != nil {
				return nil, usagef("%q: %w", arg, err)
			}
			if len(paths) == 0 {
				return nil, fmt.Errorf("%w: no file or folder matches %q", thread.ErrNotFound, arg)
			}
		}
		for _, path := range paths {
			below, err := filesBelow(path)
			if err != nil {
				return nil, fmt.Errorf("find the sessions: %w", err)
			}
			out = append(out, below...)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%w: no file that ends in .jsonl, .json or .db in %s", thread.ErrNotFound, strings.Join(args, ", "))
	}
	slices.SortStableFunc(out, func(a, b sessionFile) int { return strings.Compare(a.path, b.path) })
	return slices.CompactFunc(out, func(a, b sessionFile) bool { return a.path == b.path }), nil
}

// filesBelow returns a file, or what can be sessions in a folder.
func filesBelow(path string) ([]sessionFile, error) {
	var out []sessionFile
	err := filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || d.IsDir():
		case name == path:
			out = append(out, sessionFile{name, false})
		case slices.Contains([]string{".jsonl", ".json", ".db"}, filepath.Ext(name)) && d.Type().IsRegular():
			out = append(out, sessionFile{name, true})
		}
		return err
	})
	return out, err
}

// replayed is the result of a replay.
type replayed struct {
	Files    int `json:"files"`
	Sessions int `json:"sessions"`
	// Uncounted are sessions without the provider's counts, which are left out, and Others the files in folders that are
	// no sessions.
	Uncounted int             `json:"sessionsWithoutCounts"`
	Others    int             `json:"otherFiles"`
	Groups    []replay.Group  `json:"groups"`
	Saved     []savedBase     `json:"saved,omitempty"` // what the profiles' figures stand on
	Problems  []replayProblem `json:"problems"`
}

// replayFiles replays one file after the other.
func replayFiles(ctx context.Context, files []sessionFile, formats []replay.Format, compared replay.Compared,
	own []models.Row) (replayed, error) {
	table, err := models.Builtin()
	if err == nil {
		table, err = table.With(own)
	}
	if err != nil {
		return replayed{}, err
	}
	comparison := replay.NewComparison(compared, replay.Models{
		Window: func(model string, used int64) int64 { return table.Window(model, false, used, nil) },
		Price: func(model string) (float64, bool) {
			const n = 1000
			usd, known := table.Cost(model, models.Tokens{Input: n})
			return usd / n, known
		},
		Factor: func(model string) float64 { return tokens.UsualFactor(model, "") },
	})
	out := replayed{Problems: []replayProblem{}}
	reader := sessionReader{formats: formats, add: func(s replay.Session) error {
		out.Sessions++
		if len(s.Segments) == 0 {
			out.Uncounted++
		}
		if err := comparison.Add(ctx, s); err != nil {
			return fmt.Errorf("replay %s: %w", s.Name, err)
		}
		return nil
	}}
	for _, file := range files {
		problem, err := reader.read(ctx, file.path)
		unknown := errors.Is(err, replay.ErrFormat)
		switch {
		case unknown && file.found:
			out.Others++
			continue
		case err != nil && !unknown:
			return replayed{}, err
		case problem.Error != "":
			out.Problems = append(out.Problems, problem)
		}
		if !unknown {
			out.Files++
		}
	}
	if out.Sessions == 0 && len(out.Problems) == 0 {
		return replayed{}, fmt.Errorf("%w: none of %s is a recorded session", thread.ErrNotFound, plaintext.Count(len(files), "file"))
	}
	out.Groups = comparison.Groups()
	return out, nil
}

// mostProblems is how many files with problems are named to people.
const mostProblems = 10

// printProblems prints what could not be read.
func (r replayed) printProblems(w io.Writer) {
	for _, p := range r.Problems[:min(len(r.Problems), mostProblems)] {
		fmt.Fprintf(w, "orchestrator: %s\n", p)
	}
	if more := len(r.Problems) - mostProblems; more > 0 {
		fmt.Fprintf(w, "orchestrator: problems with %s more; --json lists all\n", plaintext.Count(more, "file"))
	}
}

// print prints a table for each group of sessions.
func (r replayed) print(w io.Writer) {
	for i, g := range r.Groups {
		if i > 0 && sameSessions(r.Groups[i-1], g) {
			continue
		}
		names := []string{g.Agent, string(g.Sessions)}
		for _, more := range r.Groups[i+1:] {
			if !sameSessions(g, more) {
				break
			}
			names = append(names, string(more.Sessions))
		}
		fmt.Fprintf(w, "%s: %s in %s, mean context %s (history %s), %.1f%% below 60%%\n", strings.Join(names, ", "),
			plaintext.Count(g.Requests, "request"), plaintext.Count(g.Segments, "segment"),
			thread.Tokens(int64(g.Context)), thread.Tokens(int64(g.History)), g.Small)
		printSaved(w, r.Saved, g.Agent)
		based := slices.ContainsFunc(g.Results, func(o replay.Outcome) bool { return o.Base != "" })
		var t page.Columns
		row := func(policy, base string, more ...string) {
			if based {
				policy += "\x00" + base
			}
			t.Row(append(strings.Split(policy, "\x00"), more...)...)
		}
		row("  POLICY", "BASE", "CACHE", "CONTEXT", "", "HISTORY", "", "COST", "<60%", "EDITS HIT", "", "MASKS")
		for _, o := range sameForAll(g.Results) {
			hit := ""
			if o.EditsRead > 0 {
				hit = fmt.Sprintf("%.1f%%", o.HitShare)
			}
			row("  "+o.Policy, o.Base, o.Cache, thread.Tokens(int64(o.Context)), change(-o.ContextCut),
				thread.Tokens(int64(o.History)), change(-o.HistoryCut), change(o.Cost), fmt.Sprintf("%.1f%%", o.Small),
				fmt.Sprintf("%d of %d", o.EditsHit, o.EditsRead), hit, fmt.Sprintf("%.1f", o.Masks))
		}
		t.Print(w)
		fmt.Fprintln(w)
	}
	fmt.Fprint(w, plaintext.Count(r.Files, "file"))
	if r.Sessions != r.Files {
		fmt.Fprintf(w, " with %s", plaintext.Count(r.Sessions, "session"))
	}
	if r.Uncounted > 0 {
		fmt.Fprintf(w, ", of which %d without the provider's token counts left out", r.Uncounted)
	}
	if broken := r.broken(); broken > 0 {
		fmt.Fprintf(w, "; %s skipped", plaintext.Count(broken, "broken line"))
	}
	if r.Others > 0 {
		fmt.Fprintf(w, "; %s no session", others(r.Others))
	}
	fmt.Fprintln(w)
	if summary := r.summary(); summary != "" {
		fmt.Fprintln(w, summary)
	}
}

// summary returns in a sentence what masking would have meant: your own policy, or else the first of lean, safe and sliding
// that was replayed, with the last base.
func (r replayed) summary() string {
	for _, name := range []string{yours, string(policy.ModeLean), string(policy.ModeSafe), "sliding"} {
		base := ""
		sessions, requests, priced, was, is := 0, 0, 0, 0.0, 0.0
		for _, g := range r.Groups {
			base = g.Results[len(g.Results)-1].Base
			i := slices.IndexFunc(g.Results, func(o replay.Outcome) bool { return o.Policy == name && o.Base == base })
			if g.Sessions != replay.AllSessions || i < 0 {
				continue
			}
			o := g.Results[i]
			sessions, requests, priced = sessions+g.Count, requests+g.Requests, priced+o.Priced
			was, is = was+o.RawUSD, is+o.USD
		}
		if was <= 0 {
			continue
		}
		if name == yours {
			name = "your configuration"
		}
		if base != "" {
			name += " and base " + base
		}
		less := fmt.Sprintf("$%.2f less", was-is)
		if is > was {
			less = fmt.Sprintf("$%.2f more", is-was)
		}
		text := fmt.Sprintf("With %s, the input of your %s would have cost about %s (%s) with a prompt cache of 5 minutes.", name,
			plaintext.Count(sessions, "session"), less, change(100*(is-was)/was))
		if priced < requests {
			text += fmt.Sprintf(" That leaves out %s to models without a known price.", plaintext.Count(requests-priced, "request"))
		}
		return text
	}
	return ""
}

// broken returns how many lines could not be read.
func (r replayed) broken() (n int) {
	for _, p := range r.Problems {
		n += p.Broken
	}
	return n
}

func others(n int) string {
	if n == 1 {
		return "1 other file is"
	}
	return fmt.Sprintf("%d other files are", n)
}

// sameSessions reports whether a group has the sessions of the one before.
func sameSessions(before, g replay.Group) bool {
	before.Sessions = g.Sessions
	return reflect.DeepEqual(before, g)
}

// sameForAll joins the outcomes of a policy that are the same with each cache.
func sameForAll(outcomes []replay.Outcome) []replay.Outcome {
	var out []replay.Outcome
	for _, o := range outcomes {
		if n := len(out); n > 0 {
			before := out[n-1]
			before.Cache, before.USD, before.RawUSD = o.Cache, o.USD, o.RawUSD // which the table does not have
			if before == o {
				out[n-1].Cache += ", " + o.Cache
				continue
			}
		}
		out = append(out, o)
	}
	return out
}

// change formats a relative change in percent, 0 without a sign.
func change(percent float64) string {
	if math.Abs(percent) < 0.05 {
		return "0.0%"
	}
	return fmt.Sprintf("%+.1f%%", percent)
}
