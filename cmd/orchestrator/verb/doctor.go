package verb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"orchestrator/checkpoint/postgres"
	"orchestrator/cmd/orchestrator/agents"
	"orchestrator/cmd/orchestrator/buildinfo"
	"orchestrator/cmd/orchestrator/config"
	"orchestrator/cmd/orchestrator/exitcode"
	"orchestrator/cmd/orchestrator/project"
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/outward"
	"orchestrator/ui/plain"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"
)

// finding is one line of the doctor's report.
type finding struct {
	About  string `json:"about"`
	OK     bool   `json:"ok"`
	Found  string `json:"found"`
	Remedy string `json:"remedy,omitempty"` // what to do if it is not OK
}

func doctorVerb(c *cli) *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Check the installation and suggest fixes", Args: exactly(),
		// An unreadable configuration is a finding here, not a failure.
		PersistentPreRunE: func(*cobra.Command, []string) error {
			err := c.prepare()
			if c.project.Root == "" {
				return err
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			findings := examine(cmd.Context(), c)
			err := c.out.show(findings, func(w io.Writer) {
				for _, f := range findings {
					mark := "✓"
					if !f.OK {
						mark = "×"
					}
					fmt.Fprintf(w, "%s %-13s %s\n", mark, f.About, f.Found)
					if !f.OK && f.Remedy != "" {
						fmt.Fprintf(w, "  %-13s → %s\n", "", f.Remedy)
					}
				}
			})
			if err != nil {
				return err
			}
			for _, f := range findings {
				if !f.OK && essential(f.About) {
					return &silentError{code: exitcode.Error}
				}
			}
			return nil
		},
	}
}

// essential reports whether the program cannot work without what a finding is about.
func essential(about string) bool {
	switch about {
	case "configuration", "state folder", "socket", "server", "store":
		return true
	default:
		return false
	}
}

func examine(ctx context.Context, c *cli) []finding {
	out := []finding{
		{About: "version", OK: true, Found: buildinfo.Version()},
		{About: "project", OK: true, Found: c.project.Root},
		examineConfig(c), examineCaps(c.config), examineGit(ctx, c.project), examineState(c), examineTerminal(c), examineNetwork(c.environ),
	}
	out = append(out, examineServer(ctx, c)...)
	return append(out, examineAgents(ctx, c)...)
}

func examineConfig(c *cli) finding {
	f := finding{About: "configuration", OK: true}
	cfg, err := config.Load(c.project.Root, c.environ, c.configHome(), c.trust().accepted)
	switch {
	case err != nil:
		return finding{About: f.About, Found: err.Error(),
			Remedy: "fix that line; see `orchestrator help settings`"}
	case len(cfg.Files) == 0:
		f.Found = "none (" + config.PersonFile(c.configHome()) + " does not exist)"
	default:
		f.Found = strings.Join(cfg.Files, ", ")
	}
	if cfg.Untrusted != "" {
		f.Found += "; " + cfg.Untrusted + " is not trusted yet (read it, then run `orchestrator trust`)"
	}
	return f
}

// examineNetwork names the proxies and the certificates of the environment, without passwords.
func examineNetwork(environ []string) finding {
	n := outward.Of(environ)
	f := finding{About: "proxy", OK: true, Found: "none"}
	var parts []string
	for _, one := range []struct{ kind, address string }{{"https", n.HTTPS}, {"http", n.HTTP}} {
		if one.address == "" {
			continue
		}
		u, err := outward.Address(one.address)
		if err != nil {
			f.OK, f.Remedy = false, "correct the variable, such as HTTPS_PROXY=http://host:port"
			parts = append(parts, one.kind+" through an address that cannot be read")
			continue
		}
		parts = append(parts, fmt.Sprintf("%s through %s://%s", one.kind, u.Scheme, u.Host))
	}
	if len(parts) > 0 {
		f.Found = strings.Join(parts, ", ") + "; this machine, and with it the gateway, without"
	}
	if _, err := outward.TLS(n); err != nil {
		f.OK, f.Remedy = false, "correct the variable that names the file, such as NODE_EXTRA_CA_CERTS"
		f.Found += "; " + err.Error()
	} else if len(n.Roots) > 0 {
		f.Found += "; certificates in " + strings.Join(n.Roots, ", ")
	}
	return f
}

// examineCaps lists the limits of agents.
func examineCaps(cfg config.Config) finding {
	var parts []string
	add := func(set bool, format string, n any) {
		if set {
			parts = append(parts, fmt.Sprintf(format, n))
		}
	}
	add(cfg.MaxProcesses > 0, "%d processes a thread", cfg.MaxProcesses)
	add(cfg.MaxRequests > 0, "%d requests a minute a thread", cfg.MaxRequests)
	add(cfg.MaxUSD > 0, "$%.2f a thread", cfg.MaxUSD)
	add(cfg.MaxTotalUSD > 0, "$%.2f in total", cfg.MaxTotalUSD)
	if cfg.MaxUSD <= 0 && cfg.MaxTotalUSD <= 0 {
		parts = append(parts, "no cost limit")
	}
	return finding{About: "limits", OK: true, Found: strings.Join(parts, "; ")}
}

func examineGit(ctx context.Context, p project.Project) finding {
	out, err := exec.CommandContext(ctx, "git", "--version").Output()
	if err != nil {
		return finding{About: "git", Found: "not found",
			Remedy: "install git: without it, threads share one folder and have no file snapshots"}
	}
	f := finding{About: "git", OK: true, Found: strings.TrimSpace(string(out))}
	var hint *thread.HintError
	switch {
	case p.Refused != nil:
		f.OK = false
		said, remedy := p.Refused, ""
		if errors.As(p.Refused, &hint) {
			said, remedy = hint.Err, hint.Hint+"; "
		}
		f.Found += "; " + said.Error()
		f.Remedy = remedy + "until git can use this repository, threads share one folder and have no file snapshots"
	case !p.Repository:
		f.OK = false
		f.Found += "; this folder is not a repository"
		f.Remedy = "run `git init`: without a repository, threads share one folder and have no file snapshots"
	}
	return f
}

func examineState(c *cli) finding {
	f := finding{About: "state folder", OK: true}
	if err := tryState(c); err == nil {
		f.Found = c.project.StateDir()
	} else {
		f.OK, f.Found = false, err.Error()
		if hint := (*thread.HintError)(nil); errors.As(err, &hint) {
			f.Found, f.Remedy = hint.Err.Error(), hint.Hint
		}
	}
	return f
}

// tryState creates the state folder and writes to it.
func tryState(c *cli) error {
	if err := c.claim(); err != nil {
		return err
	}
	return c.project.Probe()
}

func examineTerminal(c *cli) finding {
	f := finding{About: "terminal", OK: true}
	out, ok := c.out.terminal()
	if !ok || !term.IsTerminal(out.Fd()) {
		f.Found = "the output is not a terminal: verbs work, but the screen needs one"
		return f
	}
	cols, rows, err := term.GetSize(out.Fd())
	if err != nil {
		return finding{About: f.About, Found: err.Error(), Remedy: "use another terminal"}
	}
	name := thread.Lookup(c.environ, "TERM")
	f.Found = fmt.Sprintf("%s, %d×%d", name, cols, rows)
	if name == "" || name == "dumb" {
		f.OK, f.Remedy = false, "set TERM to the type of your terminal, such as xterm-256color"
	} else if cols < 60 || rows < 20 {
		f.OK, f.Remedy = false, "enlarge it to 60×20 or more"
	}
	return f
}

func examineServer(ctx context.Context, c *cli) []finding {
	cl, info, err := c.reach(ctx)
	if err != nil && gone(err) {
		if pid, _ := c.project.Holder(); pid != 0 {
			return []finding{{About: "server",
				Found:  fmt.Sprintf("process %d serves this project but cannot be reached from here", pid),
				Remedy: killHint}}
		}
		out := []finding{{About: "server", OK: true, Found: "not running; starts when needed"}}
		if c.config.Store != "" {
			about, err := postgres.Check(ctx, c.config.Store)
			out = append(out, storeFinding(about, err, ""))
		}
		return out
	}
	if err != nil {
		return []finding{{About: "server", Found: err.Error(),
			Remedy: "run `orchestrator stop --force`, then see " + c.project.LogFile()}}
	}
	defer cl.Close()
	f := finding{About: "server", OK: true,
		Found: fmt.Sprintf("process %d, version %s, %d agent(s), %s", info.PID, info.Version, info.Running, c.socket())}
	if err := c.sameVersion(info); err != nil {
		f.OK, f.Found, f.Remedy = false, err.Error(), "run `orchestrator restart`"
	}
	sized, err := api.Info.Do(ctx, cl, api.InfoRequest{Sizes: true})
	out := []finding{f, environFinding(info.Differs), storeFinding(info.Store, err,
		"agents keep running, and their answers are stored when the store works again")}
	for _, line := range sized.Sizes {
		out = append(out, finding{About: "size", OK: true, Found: line})
	}
	for _, p := range info.Problems {
		out = append(out, finding{About: "notice", Found: p})
	}
	return out
}

// environFinding says whether the server's environment is that of this shell.
func environFinding(differs []string) finding {
	f := finding{About: "environment", OK: true, Found: "the same for the server and this shell"}
	if len(differs) > 0 {
		f.OK = false
		f.Found = "the server has another " + variables(differs) + " than this shell; agents that you start from here have yours"
		f.Remedy = "run `orchestrator restart` to give it to the server, and to the MCP servers that threads share, too"
	}
	return f
}

// storeFinding describes the store, or what is wrong with it.
func storeFinding(about string, err error, remedy string) finding {
	if err != nil {
		return finding{About: "store", Found: err.Error(), Remedy: remedy}
	}
	return finding{About: "store", OK: true, Found: about}
}

func examineAgents(ctx context.Context, c *cli) []finding {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	exe, err := os.Executable()
	if err != nil {
		return []finding{{About: "agents", Found: "find this program: " + err.Error()}}
	}
	agents := agents.New(exe, c.environ, "", "")
	var out []finding
	for _, a := range agents.Detect(ctx) {
		out = append(out, agentFinding(a))
		if one, err := agents.Agent(a.Name); err == nil && a.Found {
			out = append(out, surroundings(one, thread.WorldSpec{Dir: c.project.Root, Env: c.environ})...)
		}
	}
	return out
}

// surroundings names what makes the base of an agent larger than it needs to be.
func surroundings(a thread.Agent, where thread.WorldSpec) []finding {
	slimmer, ok := a.(thread.Slimmer)
	if !ok {
		return nil
	}
	var out []finding
	for _, w := range slimmer.Surroundings(where) {
		out = append(out, finding{About: a.Name() + " base", Found: plain.Line(w.What), Remedy: plain.Line(w.Do)})
	}
	return out
}

// builtIn returns what an agent is that needs no program of its own.
func builtIn(agent string) string {
	switch agent {
	case "command":
		return "any program after --"
	case "demo":
		return "built in"
	}
	return ""
}

func agentFinding(a thread.AgentInfo) finding {
	f := finding{About: a.Name, OK: a.Found && a.Problem == "", Remedy: a.Hint}
	f.Found = strings.TrimSpace(a.Version + " " + a.Path)
	if f.Found == "" && f.OK {
		f.Found = builtIn(a.Name)
	}
	if a.Problem != "" {
		f.Found = strings.TrimSpace(f.Found + " " + a.Problem)
	}
	if !a.Found && len(a.Looked) > 0 {
		f.Found += fmt.Sprintf("; looked in %d places: PATH and common install locations", len(a.Looked))
	}
	return f
}
