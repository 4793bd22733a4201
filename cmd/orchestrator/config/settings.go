package config

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"orchestrator/thread"
)

// former are the settings of earlier builds, with what became of them.
func former() map[string]string {
	return map[string]string{"mcp_transport": "agents always reach our MCP server by the socket"}
}

func byKey() map[string]setting {
	all := map[string]setting{}
	for _, s := range settings() {
		all[s.key] = s
	}
	return all
}

// settings returns all settings in the order of `orchestrator help settings`.
func settings() []setting { return slices.Concat(general(), checks(), bases(), runs(), limits()) }

// general are the settings outside of tables.
func general() []setting {
	masks := []string{string(thread.MaskSafe), string(thread.MaskLean), string(thread.MaskObserve), string(thread.MaskOff)}
	return []setting{
		text("agent", "agent of new threads", func(c *Config) *string { return &c.Agent }).or("you are asked").ofProjects(),
		choice("theme", "auto", "auto, dark, light, contrast, terminal (its own 16 colours), none",
			func(c *Config) *string { return &c.Theme }, "auto", "dark", "light", "contrast", "terminal", "none"),
		choice("glyphs", "auto", "unicode, ascii, or auto: ascii on a Linux console and where the locale is not UTF-8",
			func(c *Config) *string { return &c.Glyphs }, "auto", "unicode", "ascii"),
		{key: profilesTable, about: "table of remembered ways to start a thread, see below; only in your own file", none: "none", table: setProfiles},
		{key: "keys", about: "table: action = \"keys\"", table: setKeys},
		{key: "models", about: "windows and prices, see below; only in your own file", none: "built in", table: setModels},
		words("notify", "bell", "how the screen calls you: bell, osc9, osc777, osc99, several of them, or off; see "+
			"`orchestrator help notifications`", setNotify),
		either("notify_focused", "off", "on: also for other threads while the window has the focus",
			func(c *Config) *bool { return &c.NotifyFocused }, "on", "off"),
		{key: "notify_command", about: "command that the server runs on events, also without a screen; this and the next two only in your own file", set: setNotifyCommand},
		words("notify_on", "", "the kinds of events that call you, by either: asks, done, stuck unless set", setNotifyOn).or("these three"),
		{key: "hooks", about: "table of commands for single kinds of events: done = \"command\"", table: setHooks},
		choice("merge_note", string(thread.NoteAsk), "tell an agent about a merge into its branch, which costs a turn: "+
			"ask, always, never; only in your own file", func(c *Config) *string { return &c.MergeNote },
			string(thread.NoteAsk), string(thread.NoteAlways), string(thread.NoteNever)),
		choice("offers", "suggest", "fork offers: suggest, auto, off; until set on the screen",
			func(c *Config) *string { return &c.Offers }, "suggest", "auto", "off").ofProjects(),
		count("scrollback", "10000", "lines that a terminal keeps", func(c *Config) *int { return &c.Scrollback }),
		words("store", "", "postgres://…, see `orchestrator help postgres`", setStore).or("SQLite"),
		text("project", "the project's name in a shared store", func(c *Config) *string { return &c.Project }).or("first commit"),
		text("host", "this machine's name in a shared store", func(c *Config) *string { return &c.Host }).or("host name"),
		choice("on_limit", "ask", "what to do after a rate limit, once the agent has given up: ask, or continue "+
			"to send the prompt again when the limit ends", func(c *Config) *string { return &c.OnLimit }, "ask", "continue"),
		choice("new_worktree", "shared", "when a new thread gets a worktree: always, never, or shared: if another active thread "+
			"uses the folder", func(c *Config) *string { return &c.NewWorktree }, "shared", "always", "never").ofProjects(),
		text("worktrees", "folder for the worktrees of forks, with a folder for each project; only in your own file",
			func(c *Config) *string { return &c.Worktrees }).or("state folder"),
		text("setup", "command for a new worktree, once accepted; see `orchestrator help worktrees`",
			func(c *Config) *string { return &c.Setup }).ofProjects(),
		text("teardown", "command before a worktree is removed, once accepted",
			func(c *Config) *string { return &c.Teardown }).ofProjects(),
		span("setup_timeout", "10m", "how long either may run", func(c *Config) *time.Duration { return &c.SetupLimit },
			func(d time.Duration) error {
				if d <= 0 {
					return errors.New("more than 0")
				}
				return nil
			}).ofProjects(),
		span("stage_ttl", "1h", "how long staged data is kept by default: 1s to 8760h",
			func(c *Config) *time.Duration { return &c.StageTTL }, func(d time.Duration) error {
				if thread.CheckTTL(d) != nil || d == 0 {
					return errors.New("between 1s and 8760h")
				}
				return nil
			}).ofProjects(),
		words("stage.token_length", fmt.Sprint(thread.TokenDigits), "hex digits in the token of new staged data (8 to 16, even); "+
			"longer ones for a project with very many entries", setTokenDigits).ofProjects(),
		choice("masking", string(thread.MaskSafe), "how much of a context is masked: safe, lean, observe or off; `context policy` "+
			"sets it for a thread", func(c *Config) *string { return &c.Masking }, masks...).ofProjects(),
		choice("masking_login", string(thread.MaskObserve), "the same for agents with a subscription login; only in your own file",
			func(c *Config) *string { return &c.MaskingLogin }, masks...),
		choice("summaries", "", "who summarises older turns once a context is over 60% full: offer, model, extract, "+
			"program, off; see `orchestrator help contexts`; this and the next three only in your own file",
			func(c *Config) *string { return &c.Summaries }, "offer", "model", "extract", "program", "off").or("as offers"),
		dollars("summary_usd", "0.50", "the most that a summary by the model may cost", func(c *Config) *float64 { return &c.SummaryUSD }),
		either("summary_login", "ask", "ask or allow: whether the model may write summaries with a subscription login",
			func(c *Config) *bool { return &c.SummaryLogin }, "allow", "ask"),
		words("summary_program", "", "shell command that writes summaries", func(c *Config, v string) error {
			c.SummaryProgram = strings.TrimSpace(v)
			return nil
		}),
		text("summary_also", "what summaries keep as well, such as \"ticket numbers\"", func(c *Config) *string { return &c.SummaryAlso }).ofProjects(),
		words("masking_keep", "", "tools whose results are never masked, such as \"Read, mcp__docs__*\"", setMaskingKeep).ofProjects(),
		setting{key: "masking_tools", about: "table of rules for single tools, which mask less; see `orchestrator help contexts`",
			table: setMaskingTools}.ofProjects(),
		count("masking_tokens", "", "tokens in a context above which masking may cost a cache write; 30% of the window if that is less",
			func(c *Config) *int { return &c.MaskingTokens }).or("60000").ofProjects(),
		either("mcp", "on", "on: agents get MCP servers from us, see `orchestrator help servers`; off: their own",
			func(c *Config) *bool { return &c.MCP }, "on", "off"),
		span("idle_stop", "30m", "when a server without agents and clients exits", func(c *Config) *time.Duration { return &c.IdleStop },
			func(time.Duration) error { return nil }),
	}
}

// bases are the settings of the table context.base; none of them is a project's.
func bases() []setting {
	return []setting{
		text("context.base.profile", "profile of threads that you open by hand: full, slim, read-only, minimal, or one of yours",
			func(c *Config) *string { return &c.Base.Profile }).or("full"),
		text("context.base.started", "the same of threads that another verb or an agent starts",
			func(c *Config) *string { return &c.Base.Started }).or("slim"),
		{key: baseAgents, about: "table by agent, which goes before both: claude = \"slim\"", table: setBaseAgents},
		{key: baseProfiles, about: "table of profiles of your own: from, keep, leave_out", table: setBaseProfiles},
		either("context.base.repeated_instructions", "send", "send or once: whether a fork's copies of files of instructions are sent; see "+
			"`orchestrator help contexts`", func(c *Config) *bool { return &c.InstructionsOnce }, "once", "send"),
	}
}

// runs are the settings of the table runs.
func runs() []setting {
	return []setting{
		count("runs.parallel", "0", "runs at the same time; 0 for what cores and memory carry", func(c *Config) *int { return &c.Runs.Parallel }),
		{key: runsAgents, about: "table of the same by agent: claude = 2", table: setRunsAgents},
		{key: runsAccounts, about: "the same by account, as `exec show` names it: login-1a2b3c4d = 2", table: setRunsAccounts},
		span("runs.deadline", "10m", "time of a run, from its start", func(c *Config) *time.Duration { return &c.Runs.Deadline },
			func(d time.Duration) error {
				if d <= 0 || d > 7*24*time.Hour {
					return errors.New("a duration of at most a week, such as 10m")
				}
				return nil
			}),
		choice("runs.lost", "ask", "what follows if the server dies meanwhile: ask, resume, retry, fail",
			func(c *Config) *string { return &c.Runs.Lost }, "ask", "resume", "retry", "fail"),
		choice("runs.on_fail", "wait", "what follows if a run fails: ask, retry, wait, fallback; see `orchestrator help runs`",
			func(c *Config) *string { return &c.Runs.OnFail }, "ask", "retry", "wait", "fallback"),
		words("runs.retries", "5", "attempts of a run while its provider or the network fails, 1 to 20", setRunsRetries),
		{key: runsFallback, about: "table of what takes an agent's place, or its model's: claude = \"model:NAME\", or another agent", table: setRunsFallback},
		choice("runs.asks", "wait", "when an agent would ask you: wait for your answer, or refuse (it goes on without)",
			func(c *Config) *string { return &c.Runs.Asks }, "wait", "refuse"),
		choice("runs.dispose", "keep", "what becomes of a run's own worktree: keep, branch (committed there), merge, drop",
			func(c *Config) *string { return &c.Runs.Dispose }, "keep", "branch", "merge", "drop"),
		capped("runs.calls", "calls of tools that a run may make, or off; 10 if it only reads",
			func(c *Config) *int { return &c.Runs.Caps.Calls }).or("20"),
		capped("runs.words", "words that a run's answer may have, or off; 100 in tier fast, off above standard",
			func(c *Config) *int { return &c.Runs.Caps.Words }).or("500"),
		{key: tiersTable, about: "table of which model a tier is, by agent: [tiers.claude] fast = \"haiku\"", table: setTiers},
	}
}

// limits are the settings of the tables limits and retention.
func limits() []setting {
	return []setting{
		count("limits.depth", "16", "forks of forks", func(c *Config) *int { return &c.MaxDepth }).ofProjects(),
		count("limits.running", "120", "agents running at the same time", func(c *Config) *int { return &c.MaxRunning }).ofProjects(),
		count("limits.processes", "512", "processes of a thread, and of an MCP server; Linux only",
			func(c *Config) *int { return &c.MaxProcesses }),
		megabytes("limits.run_output_mb", "64", "what a run may print; more ends it", func(c *Config) *int64 { return &c.MaxRunOutput }),
		count("limits.primer", "12000", "tokens of the summary that replaces a conversation", func(c *Config) *int { return &c.MaxPrimer }),
		megabytes("limits.file_mb", "50", "largest file in a snapshot", func(c *Config) *int64 { return &c.MaxFile }).ofProjects(),
		megabytes("limits.stage_mb", "10240", "largest staged data", func(c *Config) *int64 { return &c.MaxStaged }),
		megabytes("limits.stage_thread_mb", "10240", "all staged data of a thread", func(c *Config) *int64 { return &c.MaxStagedThread }),
		megabytes("limits.stage_total_mb", "20480", "all staged data of the project; threads may use three quarters",
			func(c *Config) *int64 { return &c.MaxStagedTotal }),
		count("limits.requests_per_minute", "0", "model requests of a thread", func(c *Config) *int { return &c.MaxRequests }),
		dollars("limits.usd", "0", "budget of each thread over its life", func(c *Config) *float64 { return &c.MaxUSD }),
		dollars("limits.total_usd", "0", "budget of all threads of the project together", func(c *Config) *float64 { return &c.MaxTotalUSD }),
		tokens("limits.tokens", "0", "the same in tokens, all kinds of input and output", func(c *Config) *int64 { return &c.MaxTokens }),
		tokens("limits.total_tokens", "0", "the same for all threads together", func(c *Config) *int64 { return &c.MaxTotalTokens }),
		megabytes("limits.memory_mb", "256", "memory for requests and answers until they are stored",
			func(c *Config) *int64 { return &c.MaxMemory }),

		count("retention.days", "90", "days without changes after which archived threads are deleted, 0 never",
			func(c *Config) *int { return &c.KeepDays }),
		count("retention.runs_days", "30", "days without changes after which threads of finished runs are archived, 0 never",
			func(c *Config) *int { return &c.KeepRuns }),
		count("retention.deleted_days", "7", "days for which deleted threads can be restored, 0 always",
			func(c *Config) *int { return &c.KeepDeleted }),
		count("retention.threads", "0", "archived threads to keep, 0 all", func(c *Config) *int { return &c.KeepThreads }),
		count("retention.size_mb", "0", "total size of all threads above which the oldest archived ones are deleted, 0 any",
			func(c *Config) *int { return &c.KeepMB }),
		count("retention.record_days", "0", "days after their end for which executions, work sessions and bundles are kept, 0 always",
			func(c *Config) *int { return &c.KeepRecord }),
	}
}

// checks are the settings of the table checks.
func checks() []setting {
	command := func(name, about string) setting {
		return words("checks."+name, "", about, func(c *Config, v string) error {
			if c.Checks == nil {
				c.Checks = map[string]string{}
			}
			c.Checks[name] = strings.TrimSpace(v)
			return nil
		}).or("none").ofProjects()
	}
	return []setting{
		command("format", "command that `output check` runs, once accepted, as the next four; see `orchestrator help outputs`"),
		command("lint", "likewise"), command("types", "likewise"), command("tests", "likewise"),
		command("coverage", "likewise; the last percentage that it prints counts"),
		span("checks.timeout", "10m", "how long each may run", func(c *Config) *time.Duration { return &c.CheckLimit },
			func(d time.Duration) error {
				if d <= 0 || d > 24*time.Hour {
					return errors.New("a duration of at most a day, such as 10m")
				}
				return nil
			}).ofProjects(),
	}
}

// setStore takes over the address of a database, which may contain a password, so no message shows it.
func setStore(c *Config, v string) error {
	if v != "" && !strings.HasPrefix(v, "postgres://") && !strings.HasPrefix(v, "postgresql://") {
		return secret{errors.New("a postgres:// URL, or empty for SQLite")}
	}
	c.Store = v
	return nil
}

func setTokenDigits(c *Config, v string) error {
	n, err := whole(v, 1<<10)
	if err != nil {
		return err
	}
	if thread.CheckTokenDigits(int(n)) != nil {
		return errors.New("8, 10, 12, 14 or 16")
	}
	c.TokenDigits = int(n)
	return nil
}

func setMaskingKeep(c *Config, v string) error {
	c.MaskingKeep = nil
	for name := range strings.FieldsFuncSeq(v, func(r rune) bool { return r == ',' || r == ' ' }) {
		if _, err := path.Match(name, ""); err != nil {
			return fmt.Errorf("names of tools, with * for any text, but %q is not one", name)
		}
		c.MaskingKeep = append(c.MaskingKeep, name)
	}
	return nil
}
