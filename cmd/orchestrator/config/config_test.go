package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/contextmgr/models"
	"orchestrator/contextmgr/policy"
	"orchestrator/thread"
)

func never(string, []byte) bool { return false }

func always(string, []byte) bool { return true }

func TestLoad(t *testing.T) {
	tests := []struct {
		name, user, project string
		env                 []string
		trusted             func(string, []byte) bool
		check               func(Config) bool
		err                 []string // what the message holds
	}{
		{name: "nothing", check: func(c Config) bool {
			return c.Theme == "auto" && c.Offers == "suggest" && c.IdleStop == 30*time.Minute && c.Scrollback == 10_000
		}},
		{name: "the user's file", user: "theme = \"dark\"\n[limits]\ndepth = 3\n[keys]\nfork = \"ctrl+y\"\n",
			check: func(c Config) bool {
				return c.Theme == "dark" && c.MaxDepth == 3 && slices.Equal(c.Keys["fork"], []string{"ctrl+y"})
			}},
		{name: "variables win", user: "theme = \"dark\"\n", env: []string{"ORCHESTRATOR_THEME=light", "ORCHESTRATOR_LIMITS_DEPTH=4", "ORCHESTRATOR_REAL_AGENTS=1"},
			check: func(c Config) bool { return c.Theme == "light" && c.MaxDepth == 4 }},
		{name: "a project that is trusted", user: "agent = \"claude\"\n", project: "agent = \"codex\"\n", trusted: always,
			check: func(c Config) bool { return c.Agent == "codex" && c.Untrusted == "" }},
		{name: "a project that is not", user: "agent = \"claude\"\n", project: "agent = \"codex\"\n",
			check: func(c Config) bool { return c.Agent == "claude" && c.Untrusted != "" }},
		{name: "a project that reaches for the store", project: "store = \"postgres://evil/\"\n", trusted: always, err: []string{".orchestrator.toml:1", "store", "your own configuration"}},
		{name: "a project that joins another one", project: "project = \"theirs\"\n", trusted: always, err: []string{".orchestrator.toml:1", "project", "your own configuration"}},
		{name: "caps", user: "[limits]\nprocesses = 40\nusd = 2.5\ntotal_usd = 10\n", env: []string{"ORCHESTRATOR_LIMITS_REQUESTS_PER_MINUTE=30"},
			check: func(c Config) bool {
				return c.MaxProcesses == 40 && c.MaxUSD == 2.5 && c.MaxTotalUSD == 10 && c.MaxRequests == 30 && c.MaxMemory == 256<<20
			}},
		{name: "without caps", check: func(c Config) bool {
			return c.MaxProcesses == 512 && c.MaxUSD == 0 && c.MaxTotalUSD == 0 && c.MaxRequests == 0
		}},
		{name: "a cap below nothing", user: "[limits]\nusd = -1\n", err: []string{"config.toml:2", "limits.usd", "US dollars"}},
		{name: "a line in its own table", user: "[retention]\ndays = 5\n[models.\"x-*\"]\nusd = 1\n[limits]\nusd = -1\n",
			err: []string{"config.toml:6", "limits.usd"}},
		{name: "a cap that is no number", user: "[limits]\nusd = \"much\"\n", err: []string{"config.toml:2", "limits.usd", "2.50"}},
		{name: "an endless cap", env: []string{"ORCHESTRATOR_LIMITS_USD=inf"}, err: []string{"ORCHESTRATOR_LIMITS_USD"}},
		{name: "a project that raises a cap", project: "[limits]\nprocesses = 100000\n", trusted: always, err: []string{".orchestrator.toml:2", "limits.processes", "your own configuration"}},
		{name: "no TOML", user: "theme = dark\n", err: []string{"config.toml"}},
		{name: "an unknown key", user: "\n\ncolour = \"dark\"\n", err: []string{"config.toml:3", "no setting \"colour\". All: `orchestrator help settings`"}},
		{name: "a value that is not allowed", user: "theme = \"pink\"\n", err: []string{"config.toml:1", "pink", "auto, dark, light, contrast, terminal, none"}},
		{name: "no number", user: "[limits]\ndepth = \"many\"\n", err: []string{"config.toml:2", "limits.depth", "whole number"}},
		{name: "no time", user: "idle_stop = \"soon\"\n", err: []string{"config.toml:1", "soon", "30m"}},
		{name: "staged data", project: "stage_ttl = \"90m\"\n", trusted: always, env: []string{"ORCHESTRATOR_LIMITS_STAGE_MB=2"},
			check: func(c Config) bool { return c.StageTTL == 90*time.Minute && c.MaxStaged == 2<<20 }},
		{name: "staged data, by default", check: func(c Config) bool {
			return c.StageTTL == time.Hour && c.MaxStaged == 10<<30
		}},
		{name: "masking", project: "masking = \"lean\"\nmasking_keep = \"Read, mcp__*\"\n", trusted: always, check: func(c Config) bool {
			return c.Masking == "lean" && c.MaskingLogin == "observe" && strings.Join(c.MaskingKeep, "|") == "Read|mcp__*"
		}},
		{name: "Rules by tool", user: "[masking_tools.Bash]\nkeep_last = 10\nmin_tokens = 500\n[masking_tools.\"mcp__a.b__*\"]\nkeep = true\n",
			project: "masking_tools.Bash = { keep_last = 2 }\n", trusted: always, check: func(c Config) bool {
				return slices.Equal(c.MaskingTools, []policy.Rule{{Tool: "Bash", MinTokens: 500, KeepLast: 10}, {Tool: "mcp__a.b__*", Keep: true}, {Tool: "Bash", KeepLast: 2}})
			}},
		{name: "rules by tool of a stranger", project: "masking_tools.Bash = { keep_last = 2 }\n", trusted: never, check: func(c Config) bool {
			return len(c.MaskingTools) == 0 && c.Untrusted != ""
		}},
		{name: "rules in force", user: "masking_keep = \"Read\"\nmasking_tokens = 7\n[masking_tools.Bash]\nkeep_last = 1\n", check: func(c Config) bool {
			s := c.Mode(policy.ModeLean)
			return s.TriggerTokens == 7 && len(s.Rules) == 1 && slices.Equal(c.Rules(), []policy.Rule{{Tool: "Read", Keep: true}, {Tool: "Bash", KeepLast: 1}})
		}},
		{name: "a rule that keeps nothing", user: "# mine\n[masking_tools.Read]\nkeep = true\n[masking_tools.Bash]\nkeep = false\n",
			err: []string{"config.toml:4:16: masking_tools.\"Bash\": keeps nothing"}},
		{name: "rules with errors", user: "[masking_tools.Bash]\nkeep = true\n[masking_tools.\"mcp__*\"]\nkeep_last = 3\nkeep = \"yes\"\n[masking_tools.\"[\"]\nkeep = true\n",
			err: []string{"config.toml:5:1: masking_tools.\"mcp__*\": \"keep\" is yes, but must be true or false", "config.toml:6:16: masking_tools.\"[\": is not a name"}},
		{name: "a rule with a negative number", project: "\nmasking_tools.Bash.min_tokens = -1\n", trusted: always,
			err: []string{".orchestrator.toml:2:20: masking_tools.\"Bash\": \"min_tokens\" is -1, but must be a whole number, 0 to 1000000000"}},
		{name: "a rule with an unknown key", user: "[masking_tools]\nRead = { keep = true }\nBash = { mask = true }\n",
			err: []string{"config.toml:3:10: masking_tools.\"Bash\": unknown key \"mask\"; known keys: keep, keep_last, min_tokens"}},
		{name: "a rule that is no table", user: "[masking_tools]\nBash = true\n", err: []string{"config.toml:2:1: masking_tools.\"Bash\": must be a table"}},
		{name: "rules that are no table", user: "agent = \"x\"\nmasking_tools = \"Bash\"\n", err: []string{"config.toml:2:1: \"masking_tools\" must be a table"}},
		{name: "rules in the wrong table", user: "[masking.tools.Bash]\nkeep = true\n", err: []string{"config.toml:2:1: no setting", "[masking_tools.\"NAME\"]"}},
		{name: "commands on events", user: "notify_command = \"say hello\"\nnotify_on = \"asks\"\n[hooks]\ndone = [\"~/bin/x\", \"a b\"]\n\"stuck, limited\" = \"y\"\nnew = \"\"\n",
			check: func(c Config) bool {
				return fmt.Sprint(c.Commands()) == "[{notify_command [/bin/sh -c say hello] [asks]} {hooks.done [~/bin/x a b] [done]} {hooks.stuck, limited [/bin/sh -c y] [stuck limited]}]"
			}},
		{name: "a command on the usual events", env: []string{"ORCHESTRATOR_NOTIFY_COMMAND=x"}, check: func(c Config) bool {
			return fmt.Sprint(c.Commands()) == "[{notify_command [/bin/sh -c x] [asks done stuck]}]"
		}},
		{name: "called on nothing", user: "notify_on = \"\"\nnotify_command = \"x\"\n", check: func(c Config) bool { return len(c.Calls()) == 0 && len(c.Commands()) == 0 }},
		{name: "no command on events", user: "notify_command = []\n", check: func(c Config) bool { return len(c.Commands()) == 0 }},
		{name: "a project that calls", project: "notify_command = \"curl evil\"\n", trusted: always, err: []string{".orchestrator.toml:1", "notify_command", "your own configuration"}},
		{name: "a project that is called on more", project: "notify_on = \"sent\"\n", trusted: always, err: []string{".orchestrator.toml:1", "notify_on", "your own configuration"}},
		{name: "a project with hooks", project: "[hooks]\ndone = \"curl evil\"\n", trusted: always, err: []string{".orchestrator.toml:", "hooks", "your own configuration"}},
		{name: "a project with hooks in a line", project: "hooks.done = \"curl evil\"\n", trusted: always, err: []string{".orchestrator.toml:1", "hooks", "your own configuration"}},
		{name: "a project that is not trusted and calls", project: "notify_command = \"curl evil\"\n", trusted: never, check: func(c Config) bool {
			return len(c.Commands()) == 0 && c.Untrusted != ""
		}},
		{name: "a command that is none", user: "notify_command = [1]\n", err: []string{"config.toml:1", "notify_command", "notify-send"}},
		{name: "a command without a program", user: "notify_command = [\"\", \"x\"]\n", err: []string{"config.toml:1", "a command for the shell"}},
		{name: "no such event", user: "\nnotify_on = \"asks, call\"\n", err: []string{"config.toml:2", "notify_on", "asks, done, stuck"}},
		{name: "a hook on no event", user: "[hooks]\nend = \"x\"\n", err: []string{"config.toml:2", "\"end\" in \"hooks\"", "asks, done, stuck"}},
		{name: "a hook that is no command", user: "[hooks]\ndone = 1\n", err: []string{"config.toml:2", "hooks.done", "a command"}},
		{name: "hooks that are no table", user: "hooks = \"x\"\n", err: []string{"config.toml:1", "must be a table"}},
		{name: "masking as it is", check: func(c Config) bool { return c.Masking == "safe" && c.MaskingTokens == 0 }},
		{name: "a login's requests are the user's", project: "masking_login = \"lean\"\n", trusted: always, err: []string{"your own configuration"}},
		{name: "no such mode", user: "masking = \"more\"\n", err: []string{"safe, lean, observe, off"}},
		{name: "no such tool", user: "masking_keep = \"[\"\n", err: []string{"masking_keep"}},
		{name: "runs by agent and account", user: "[runs.agents]\ndemo = 4\n[runs.accounts]\nlogin-1a2b3c4d = 2\n", check: func(c Config) bool {
			return len(c.Runs.Agents) == 1 && c.Runs.Agents["demo"] == 4 && len(c.Runs.Accounts) == 1 && c.Runs.Accounts["login-1a2b3c4d"] == 2
		}},
		{name: "failures of runs", user: "[runs]\non_fail = \"fallback\"\nretries = 3\n[runs.fallback]\nclaude = \"model:haiku\"\ndemo = \"claude\"\n", check: func(c Config) bool {
			return c.Runs.OnFail == "fallback" && c.Runs.Retries == 3 && c.Runs.Fallback["claude"] == "model:haiku" && c.Runs.Fallback["demo"] == "claude"
		}},
		{name: "failures of runs as they are", check: func(c Config) bool {
			return c.Runs.OnFail == "wait" && c.Runs.Retries == 5 && len(c.Runs.Fallback) == 0
		}},
		{name: "no such policy", user: "runs.on_fail = \"hope\"\n", err: []string{"runs.on_fail", "ask, retry, wait, fallback"}},
		{name: "no attempt", user: "runs.retries = 0\n", err: []string{"runs.retries", "from 1 to 20"}},
		{name: "too many attempts", user: "runs.retries = 21\n", err: []string{"runs.retries", "from 1 to 20"}},
		{name: "a fallback that is itself", user: "[runs.fallback]\nclaude = \"claude\"\n", err: []string{"config.toml:2", "\"claude\" in \"runs.fallback\"", "another agent"}},
		{name: "a fallback of no model", user: "[runs.fallback]\nclaude = \"model:\"\n", err: []string{"config.toml:2", "model:NAME"}},
		{name: "a fallback that is no text", user: "[runs.fallback]\nclaude = 1\n", err: []string{"config.toml:2", "another agent"}},
		{name: "fallbacks that are no table", user: "runs.fallback = 2\n", err: []string{"config.toml:1", "[runs.fallback] with claude"}},
		{name: "a project that passes runs on", project: "[runs.fallback]\nclaude = \"demo\"\n", trusted: always, err: []string{".orchestrator.toml:", "runs.fallback", "your own configuration"}},
		{name: "runs of an account below one", user: "[runs.accounts]\nlogin-1a2b3c4d = 0\n", err: []string{"config.toml:2", "\"login-1a2b3c4d\" in \"runs.accounts\" is 0", "1 to 1000"}},
		{name: "runs of accounts that are no table", user: "runs.accounts = 2\n", err: []string{"config.toml:1", "[runs.accounts] with login-1a2b3c4d = 2"}},
		{name: "a project that raises an account's limit", project: "[runs.accounts]\nlogin-1a2b3c4d = 9\n", trusted: always, err: []string{".orchestrator.toml:", "runs.accounts", "your own configuration"}},
		{name: "tiers", user: "[tiers.claude]\nfast = \"haiku\"\nfrontier = \"opus\"\n[tiers.codex]\nstandard = \"mini\"\n", check: func(c Config) bool {
			return fmt.Sprint(c.Runs.Tiers) == "map[claude:map[fast:haiku frontier:opus] codex:map[standard:mini]]"
		}},
		{name: "no such tier", user: "[tiers.claude]\ncheap = \"haiku\"\n", err: []string{"config.toml:2", "tiers.claude", "\"cheap\"", "fast, standard, strong, frontier"}},
		{name: "a tier without a model", user: "[tiers.claude]\nfast = \"\"\n", err: []string{"config.toml:2", "tiers.claude.fast", "in quotes"}},
		{name: "tiers that are no table", user: "[tiers]\nclaude = \"haiku\"\n", err: []string{"config.toml:2", "[tiers.claude] with fast"}},
		{name: "a project that chooses models", project: "[tiers.claude]\nfast = \"opus\"\n", trusted: always, err: []string{".orchestrator.toml:", "tiers", "your own configuration"}},
		{name: "bounds of runs", user: "[runs]\ncalls = 40\nwords = \"off\"\n", check: func(c Config) bool {
			return c.Runs.Caps == thread.Caps{Calls: 40, Words: -1}
		}},
		{name: "bounds of runs as they are", check: func(c Config) bool { return c.Runs.Caps == thread.Caps{} && len(c.Runs.Tiers) == 0 }},
		{name: "no calls", user: "[runs]\ncalls = 0\n", err: []string{"config.toml:2", "runs.calls", "1 or more, or off"}},
		{name: "a project that lifts a bound", project: "[runs]\ncalls = \"off\"\n", trusted: always, err: []string{".orchestrator.toml:", "runs.calls", "your own configuration"}},
		{name: "long tokens", project: "[stage]\ntoken_length = 12\n", trusted: always,
			check: func(c Config) bool { return c.TokenDigits == 12 }},
		{name: "tokens of the usual length", check: func(c Config) bool { return c.TokenDigits == 8 }},
		{name: "tokens that are too short", user: "stage.token_length = 6\n", err: []string{"stage.token_length", "is 6, but must be 8, 10"}},
		{name: "staged for no time", user: "stage_ttl = \"0s\"\n", err: []string{"stage_ttl\" is \"0s\"", "8760h"}},
		{name: "a project that stages more", project: "[limits]\nstage_mb = 0\n", trusted: always,
			err: []string{".orchestrator.toml:2", "limits.stage_mb", "your own configuration"}},
		{name: "an unknown action", user: "[keys]\nfork = \"f\"\nfrok = \"F\"\n", err: []string{"config.toml:3", "no action \"frok\". Did you mean fork?"}},
		{name: "keys that clash", user: "[keys]\nfork = \"ctrl+y\"\nnew = \"ctrl+y\"\n", err: []string{"config.toml:", "\"ctrl+y\" is", "\"new\"", "\"fork\""}},
		{name: "a key of another action", user: "theme = \"dark\"\n[keys]\nnew = \"f\"\n", err: []string{"config.toml:3", "\"f\" is"}},
		{name: "keys changed round", user: "[keys]\nnew = \"f\"\nfork = \"n\"\n", check: func(c Config) bool { return slices.Equal(c.Keys["new"], []string{"f"}) }},
		{name: "keys without quotes", user: "[keys]\nnew = [\"f\"]\n", err: []string{"config.toml:2", "keys.new", "in quotes"}},
		{name: "a bad variable", env: []string{"ORCHESTRATOR_THEME=pink"}, err: []string{"ORCHESTRATOR_THEME", "pink"}},
		{name: "an odd store", user: "\nstore = \"mysql://ann:hunter2@x\"\n", err: []string{"config.toml:2", "store", "postgres://"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			home, root := t.TempDir(), t.TempDir()
			e2e.Put(t, filepath.Join(home, "orchestrator", "config.toml"), test.user)
			e2e.Put(t, filepath.Join(root, ".orchestrator.toml"), test.project)
			if test.trusted == nil {
				test.trusted = never
			}
			c, err := Load(root, test.env, home, test.trusted)
			if (err != nil) != (test.err != nil) {
				t.Fatalf("error %v", err)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%q shows a password", err)
			}
			for _, want := range test.err {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
			if test.check != nil && !test.check(c) {
				t.Errorf("got %+v", c)
			}
		})
	}
}

// TestOddProjectFiles: what is no regular file of a bounded size is named and ignored, without waiting for it, and
// without it being accepted.
func TestOddProjectFiles(t *testing.T) {
	for name, plant := range map[string]func(file string) error{
		"a link": func(f string) error {
			return errors.Join(os.WriteFile(f+".real", []byte("agent = \"x\""), 0o600), os.Symlink(f+".real", f))
		},
		"a link to /dev/zero": func(f string) error { return os.Symlink("/dev/zero", f) },
		"a pipe":              func(f string) error { return syscall.Mkfifo(f, 0o600) },
		"a folder":            func(f string) error { return os.Mkdir(f, 0o700) },
		"too large":           func(f string) error { return os.WriteFile(f, make([]byte, maxProjectFile+1), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			file := filepath.Join(root, ".orchestrator.toml")
			if err := plant(file); err != nil {
				t.Fatal(err)
			}
			c, err := Load(root, nil, t.TempDir(), func(string, []byte) bool { return true })
			if err != nil || c.Agent != "" || c.Untrusted != "" || len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], file) {
				t.Errorf("got %+v, %v", c, err)
			}
		})
	}
}

// TestOwnModels: windows and prices of the person's, by pattern, the longest first; what is wrong is named.
func TestOwnModels(t *testing.T) {
	load := func(t *testing.T, content string) (Config, error) {
		home := t.TempDir()
		e2e.Put(t, filepath.Join(home, "orchestrator", "config.toml"), content)
		return Load(t.TempDir(), nil, home, func(string, []byte) bool { return true })
	}
	c, err := load(t, "[models.\"gpt-5*\"]\nwindow = 100000\n[models.\"openai/gpt-5.5\"]\nwindow = 400000\ninput = 1\noutput = 2.5\ncache_read = 0\n[models.local]\ninput = 0\noutput = 0\n")
	if err != nil || len(c.Models) != 3 {
		t.Fatal(c.Models, err)
	}
	table, err := models.Builtin()
	if err == nil {
		table, err = table.With(c.Models)
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := table.Window("gpt-5.5", false, 0, nil); got != 400_000 {
		t.Errorf("window %d", got)
	}
	if usd, ok := table.Cost("gpt-5.5", models.Tokens{Input: 1e6, CacheRead: 1e6, Output: 1e6}); usd != 3.5 || !ok {
		t.Errorf("cost %v, %v", usd, ok)
	}
	if usd, ok := table.Cost("local", models.Tokens{Input: 1e6}); usd != 0 || !ok {
		t.Errorf("a free model costs %v, %v", usd, ok)
	}
	for content, want := range map[string]string{
		"models = 3":                     "must be a table",
		"models.x = 3":                   "must be a table",
		"[models.x]\nwindow = -1":        "must be a number",
		"[models.x]\nwindow = \"large\"": "must be a number",
		"[models.x]\nwindow = nan":       "must be a number",
		"[models.x]\nspeed = 3":          "unknown key \"speed\"",
		"[models.\"[\"]\nwindow = 3":     "bad pattern",
	} {
		if _, err := load(t, content); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "config.toml") {
			t.Errorf("%q: %v", content, err)
		}
	}
}

// TestHelp: each setting is in one of the tables, which are as wide as a help text.
func TestHelp(t *testing.T) {
	text := Help("") + Help("limits") + Help("retention") + Help("context") + Help("runs") + Help("checks")
	for _, s := range settings() {
		if n := len(regexp.MustCompile(`(?m)^  `+regexp.QuoteMeta(s.key)+` +\S`).FindAllString(text, -1)); n != 1 {
			t.Errorf("help lists %q %d times", s.key, n)
		}
	}
	for line := range strings.Lines(text) {
		if len([]rune(line)) > columns+1 {
			t.Errorf("%d columns: %s", len([]rune(line))-1, line)
		}
	}
}
