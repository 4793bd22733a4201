package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"orchestrator/contextmgr/models"
	"orchestrator/contextmgr/replay"
	"orchestrator/thread"
	"orchestrator/thread/lines"
	"orchestrator/thread/plaintext"
)

// contextReplayVerb replays recorded sessions. It needs no project and no server.
func contextReplayVerb(c *cli) *cobra.Command {
	var names []string
	cmd := &cobra.Command{
		Use: "replay <files...>", Short: "Compare masking policies on recorded sessions",
		Long: "Replays recorded sessions with each masking policy and compares the requests and their cost with what\n" +
			"the agent itself sent. Takes files, folders and patterns. Nothing is sent or changed.\n\n" +
			"Policies: raw sends everything, observe only counts, safe masks old tool results but keeps the files being\n" +
			"worked on, lean masks those too, sliding keeps the last 10 results of every request.\n\n" +
			"CONTEXT is the mean request in tokens, HISTORY the same without what the first request had. COST is the\n" +
			"change of the input cost with a prompt cache of 5 minutes or 1 hour. <60% is the share of requests below\n" +
			"60% of the window. EDITS HIT are edits of files whose last read was masked. MASKS is how often something\n" +
			"was masked in a segment; a segment ends where the agent itself compacted or went back.",
		Example: "  orchestrator context replay sessions/ --policy safe,lean\n" +
			"  orchestrator context replay '*.jsonl' --json",
		Args:              between(1, math.MaxInt, "<files...>"),
		PersistentPreRunE: func(*cobra.Command, []string) error { return nil },
	}
	cmd.Flags().StringSliceVar(&names, "policy", nil, "policies: raw, observe, safe, lean, sliding (default all)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		policies, err := policiesNamed(names)
		if err != nil {
			return err
		}
		files, err := sessionFiles(args)
		if err != nil {
			return err
		}
		r, err := replayFiles(cmd.Context(), files, policies)
		if err != nil {
			return err
		}
		for _, p := range r.Problems {
			fmt.Fprintf(c.stderr, "orchestrator: %s\n", p)
		}
		if len(r.Groups) == 0 {
			return fmt.Errorf("no requests with the provider's token counts in %s", plaintext.Count(len(files), "file"))
		}
		return c.show(r, r.print)
	}
	return cmd
}

// policiesNamed returns the policies with these names, or all.
func policiesNamed(names []string) ([]replay.Policy, error) {
	all := replay.Policies()
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

// sessionFiles returns the files that arguments name: files, folders with files that end in .jsonl, or patterns.
func sessionFiles(args []string) ([]string, error) {
	var out []string
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
		return nil, fmt.Errorf("%w: no file that ends in .jsonl in %s", thread.ErrNotFound, strings.Join(args, ", "))
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// filesBelow returns a file, or the sessions in a folder.
func filesBelow(path string) ([]string, error) {
	var out []string
	err := filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && (name == path || strings.HasSuffix(name, ".jsonl") && d.Type().IsRegular()) {
			out = append(out, name)
		}
		return err
	})
	return out, err
}

// replayed is the result of a replay.
type replayed struct {
	Files int `json:"files"`
	// Uncounted are files without the provider's counts, which are left out.
	Uncounted int             `json:"filesWithoutCounts"`
	Groups    []replay.Group  `json:"groups"`
	Problems  []replayProblem `json:"problems"`
}

// replayProblem is what could not be read of a file: the first broken line, and how many there are.
type replayProblem struct {
	File   string `json:"file"`
	Error  string `json:"error"`
	Broken int    `json:"brokenLines"`
}

func (p replayProblem) String() string {
	if p.Broken > 1 {
		return fmt.Sprintf("%s: %s (and %s more)", p.File, p.Error, plaintext.Count(p.Broken-1, "broken line"))
	}
	return p.File + ": " + p.Error
}

// replayFiles replays one file after the other.
func replayFiles(ctx context.Context, files []string, policies []replay.Policy) (replayed, error) {
	table, err := models.Builtin()
	if err != nil {
		return replayed{}, err
	}
	comparison := replay.NewComparison(policies, replay.Caches(), func(model string, used int64) int64 {
		return table.Window(model, false, used, nil)
	})
	out := replayed{Files: len(files), Problems: []replayProblem{}}
	for _, file := range files {
		session, problem, err := readSession(ctx, file)
		if err != nil {
			return replayed{}, err
		}
		if problem.Error != "" {
			out.Problems = append(out.Problems, problem)
		}
		if len(session.Segments) == 0 {
			out.Uncounted++
		}
		if err := comparison.Add(ctx, session); err != nil {
			return replayed{}, fmt.Errorf("replay %s: %w", file, err)
		}
	}
	out.Groups = comparison.Groups()
	return out, nil
}

// readSession reads a session, and says what of it could not be read.
func readSession(ctx context.Context, file string) (replay.Session, replayProblem, error) {
	problem := replayProblem{File: file}
	f, err := os.Open(file)
	if err != nil {
		return replay.Session{}, problem, fmt.Errorf("open session: %w", err)
	}
	defer f.Close()
	b := replay.NewBuilder(file, agentNamed(file))
	for e, err := range replay.Read(f) {
		if ctx.Err() != nil {
			return replay.Session{}, problem, ctx.Err()
		}
		broken := (*lines.Broken)(nil)
		switch {
		case errors.As(err, &broken):
			problem.Broken++
		case err != nil:
			return replay.Session{}, problem, fmt.Errorf("%s: %w", file, err)
		default:
			err = b.Add(e)
		}
		if err != nil && problem.Error == "" {
			problem.Error = err.Error()
		}
		if errors.Is(err, replay.ErrLarge) {
			break
		}
	}
	return b.Session(), problem, nil
}

// agentNamed returns the agent in a name such as project__claude__id.jsonl, "" if there is none.
func agentNamed(file string) string {
	if parts := strings.Split(filepath.Base(file), "__"); len(parts) > 2 {
		return parts[1]
	}
	return ""
}

// print prints a table for each group of sessions.
func (r replayed) print(w io.Writer) {
	for _, g := range r.Groups {
		fmt.Fprintf(w, "%s, %s: %s in %s, mean context %s (history %s), %.1f%% below 60%%\n", g.Agent, g.Sessions,
			plaintext.Count(g.Requests, "request"), plaintext.Count(g.Segments, "segment"),
			thread.Tokens(int64(g.Context)), thread.Tokens(int64(g.History)), g.Small)
		var t columns
		t.row("  POLICY", "CACHE", "CONTEXT", "", "HISTORY", "", "COST", "<60%", "EDITS HIT", "", "MASKS")
		for _, o := range sameForAll(g.Results) {
			hit := ""
			if o.EditsRead > 0 {
				hit = fmt.Sprintf("%.1f%%", o.HitShare)
			}
			t.row("  "+o.Policy, o.Cache, thread.Tokens(int64(o.Context)), change(-o.ContextCut),
				thread.Tokens(int64(o.History)), change(-o.HistoryCut), change(o.Cost), fmt.Sprintf("%.1f%%", o.Small),
				fmt.Sprintf("%d of %d", o.EditsHit, o.EditsRead), hit, fmt.Sprintf("%.1f", o.Masks))
		}
		t.print(w)
		fmt.Fprintln(w)
	}
	fmt.Fprint(w, plaintext.Count(r.Files, "file"))
	if r.Uncounted > 0 {
		fmt.Fprintf(w, ", of which %d without the provider's token counts left out", r.Uncounted)
	}
	fmt.Fprintln(w)
}

// sameForAll joins the outcomes of a policy that are the same with each cache.
func sameForAll(outcomes []replay.Outcome) []replay.Outcome {
	var out []replay.Outcome
	for _, o := range outcomes {
		if n := len(out); n > 0 {
			before := out[n-1]
			before.Cache = o.Cache
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
