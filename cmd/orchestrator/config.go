package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/knadh/koanf/parsers/toml/v2"
	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/v2"

	"orchestrator/checkpoint/git"
	"orchestrator/contextmgr/models"
	"orchestrator/contextmgr/policy"
	"orchestrator/thread"
	"orchestrator/thread/private"
)

// Config is the configuration: the user's file, then the project's if it is trusted, then ORCHESTRATOR_ variables.
// Flags override all of them. Only this file reads them.
type Config struct {
	// Agent is the agent of new threads if none is named.
	Agent string
	// Store is "" for SQLite in the state folder, or a postgres:// URL.
	Store string
	// Project is the project's name in a shared store, by default its first commit. Host is this machine's name there, by
	// default its host name.
	Project string
	Host    string
	// Models are the user's own windows and prices.
	Models []models.Row
	// Theme is "auto", "dark", "light" or "none".
	Theme string
	// Keys overrides key bindings: the keys of each action.
	Keys map[string]string
	// Notify is how to notify that a thread is waiting: "bell", "osc9", "osc777" or "off".
	Notify string
	// Offers is "suggest", "auto" or "off".
	Offers  string
	OnLimit string
	// NewWorktree is when a new thread gets its own worktree: "shared", "always" or "never".
	NewWorktree string
	// MergeNote is "ask", "always" or "never".
	MergeNote string
	// Scrollback is the number of lines that a terminal keeps.
	Scrollback int
	// MaxDepth and MaxRunning limit forks of forks and running agents.
	MaxDepth   int
	MaxRunning int
	MaxPrimer  int
	// Worktrees is the folder for the worktrees of forks, by default one in the state.
	Worktrees string
	// Limits: MaxProcesses of a thread, MaxRequests of a thread to the model a minute, MaxUSD that a thread costs over its
	// life, MaxTotalUSD that all threads cost together, MaxMemory in bytes that the gateway holds. 0 is no limit, or for
	// MaxMemory the gateway's default.
	MaxProcesses        int
	MaxRequests         int
	MaxUSD, MaxTotalUSD float64
	MaxMemory           int64
	// MaxFile is the size in bytes of the largest file in a snapshot.
	MaxFile int64
	// StageTTL is how long staged data is kept by default. MaxStaged is the maximum size of such data in bytes,
	// MaxStagedThread what all of a thread may take, MaxStagedTotal what all of the project may; 0 is no limit.
	StageTTL                                   time.Duration
	MaxStaged, MaxStagedThread, MaxStagedTotal int64
	// TokenDigits is how many digits the token of new staged data has.
	TokenDigits int
	// Masking is how much is masked of conversations by default: "safe", "lean", "observe" or "off"; MaskingLogin is the
	// same for agents with a subscription login. MaskingTokens is the context in tokens from which on masking may cost a
	// cache write; 0 is the policy's own.
	Masking, MaskingLogin string
	MaskingTokens         int
	// MCP is set if agents get their MCP servers from us.
	MCP bool
	// MaskingKeep are the tools whose results are never masked; * in a name stands for any text.
	MaskingKeep []string
	// MaskingTools are rules by tool, which keep more: the user's and the project's, of which all hold.
	MaskingTools []policy.Rule
	// Summaries is who writes summaries of older turns when a context is large: "model", "extract", "program"; "offer"
	// tells people what one would mean, "off" does nothing. "" follows Offers.
	Summaries string
	// SummaryUSD is the most that one by the model may cost, 0 is no limit. SummaryLogin allows that with a subscription
	// login. SummaryProgram is the command that writes them, and SummaryAlso what they keep besides.
	SummaryUSD                  float64
	SummaryLogin                bool
	SummaryProgram, SummaryAlso string
	// Setup and Teardown are the commands for new worktrees and for worktrees about to be removed. SetupLimit is how long
	// either may run.
	Setup, Teardown string
	SetupLimit      time.Duration
	// IdleStop is how long a server without agents and clients waits before it exits.
	IdleStop time.Duration
	// KeepDays, KeepThreads and KeepMB limit which archived threads are kept. KeepDeleted is for how many days deleted
	// threads are kept. 0 is no limit.
	KeepDays    int
	KeepDeleted int
	KeepThreads int
	KeepMB      int
	// Files are the files that were read, in order. Untrusted is the project's file if it was not read because it is not
	// trusted. Warnings says what was ignored.
	Files     []string
	Untrusted string
	Warnings  []string
}

// kind is the type of a setting's value.
type kind int

const (
	text kind = iota
	number
	amount // of money
	span
	table
	address // of a database: may contain a password, so no message shows it
)

// setting is a configuration setting.
type setting struct {
	kind    kind
	allowed []string // for text with a fixed set of values
	// projectMay is set if a project may set it: only settings that run, connect and spend nothing.
	projectMay bool
	about      string
}

// settings returns all settings. A test checks `orchestrator help settings` against it.
func settings() map[string]setting {
	return map[string]setting{
		"agent":   {kind: text, projectMay: true, about: "agent of new threads"},
		"store":   {kind: address, about: "postgres:// URL instead of SQLite in the state folder"},
		"project": {kind: text, about: "the project's name in a shared store"},
		"host":    {kind: text, about: "this machine's name in a shared store"},
		"theme":   {kind: text, allowed: []string{"auto", "dark", "light", "none"}, about: "colours"},
		"keys":    {kind: table, about: "action = \"key key\""},
		"models": {kind: table,
			about: "windows and prices: models.\"name-*\" = { window = …, input = …, output = … }"},
		"notify": {kind: text, allowed: []string{"bell", "osc9", "osc777", "off"},
			about: "how to notify that a thread is waiting"},
		"merge_note": {kind: text,
			allowed: []string{string(thread.NoteAsk), string(thread.NoteAlways), string(thread.NoteNever)},
			about:   "whether to tell an agent about a merge into its branch"},
		"on_limit": {kind: text, allowed: []string{"ask", "continue"},
			about: "what happens to a prompt refused by a rate limit"},
		"offers": {kind: text, allowed: []string{"suggest", "auto", "off"}, projectMay: true,
			about: "fork offers"},
		"scrollback":   {kind: number, about: "lines that a terminal keeps"},
		"limits.depth": {kind: number, projectMay: true, about: "forks of forks"},
		"limits.primer": {kind: number,
			about: "tokens of the summary that replaces a conversation"},
		"limits.running":             {kind: number, projectMay: true, about: "agents running at the same time"},
		"limits.file_mb":             {kind: number, projectMay: true, about: "largest file in a snapshot"},
		"limits.processes":           {kind: number, about: "processes of a thread"},
		"limits.requests_per_minute": {kind: number, about: "model requests of a thread per minute"},
		"limits.usd":                 {kind: amount, about: "cost limit of a thread"},
		"limits.total_usd":           {kind: amount, about: "cost limit of all threads together"},
		"limits.memory_mb":           {kind: number, about: "memory for unstored requests and answers"},
		"limits.stage_mb":            {kind: number, about: "largest staged data"},
		"limits.stage_thread_mb":     {kind: number, about: "all staged data of a thread"},
		"limits.stage_total_mb":      {kind: number, about: "all staged data of a project"},
		"setup":                      {kind: text, projectMay: true, about: "setup command of new worktrees, once accepted"},
		"teardown": {kind: text, projectMay: true,
			about: "command to run before a worktree is removed, once accepted"},
		"setup_timeout": {kind: span, projectMay: true, about: "how long either may run"},
		"stage_ttl":     {kind: span, projectMay: true, about: "how long staged data is kept"},
		"stage.token_length": {kind: number, projectMay: true,
			about: "hex digits in the token of new staged data: 8, 10, 12, 14 or 16"},
		"masking": {kind: text, allowed: maskModes(), projectMay: true,
			about: "how much is masked of contexts: safe, lean, observe or off"},
		"masking_login": {kind: text, allowed: maskModes(),
			about: "the same for agents with a subscription login"},
		"masking_keep": {kind: text, projectMay: true,
			about: "tools whose results are never masked: \"Read, mcp__docs__*\""},
		"masking_tools": {kind: table, projectMay: true,
			about: "rules by tool: masking_tools.\"mcp__docs__*\" = { keep = true, keep_last = …, min_tokens = … }"},
		"mcp": {kind: text, allowed: []string{"on", "off"},
			about: "whether agents get MCP servers from us, or start their own"},
		"summaries": {kind: text, allowed: []string{"offer", "model", "extract", "program", "off"},
			about: "who summarises old turns from 60% of the window on"},
		"summary_usd":            {kind: amount, about: "most that a summary by the model may cost"},
		"summary_login":          {kind: text, allowed: []string{"ask", "allow"}, about: "summaries with a subscription login"},
		"summary_program":        {kind: text, about: "command that reads a conversation and writes its summary"},
		"summary_also":           {kind: text, projectMay: true, about: "what summaries keep besides: \"ticket numbers\""},
		"masking_tokens":         {kind: number, projectMay: true, about: "context from which on masking may cost something"},
		"idle_stop":              {kind: span, about: "when a server without agents and clients exits"},
		"retention.days":         {kind: number, about: "age at which archived threads are deleted"},
		"retention.deleted_days": {kind: number, about: "how long deleted threads can be restored"},
		"retention.threads":      {kind: number, about: "archived threads to keep"},
		"retention.size_mb":      {kind: number, about: "total size above which archived threads are deleted"},
		"new_worktree": {kind: text, allowed: []string{"shared", "always", "never"}, projectMay: true,
			about: "when a new thread gets its own worktree"},
		"worktrees": {kind: text,
			about: "folder for the worktrees of forks of all projects; by default in the state"},
	}
}

// maskModes returns the modes of masking.
func maskModes() []string {
	return []string{string(thread.MaskSafe), string(thread.MaskLean), string(thread.MaskObserve), string(thread.MaskOff)}
}

// maxProjectFile is the maximum size of a project's configuration file.
const maxProjectFile = 1 << 20

// projectFile returns the path of the configuration file in a project.
func projectFile(root string) string { return filepath.Join(root, ".orchestrator.toml") }

// readProjectFile reads the configuration file in a project, which may come from a stranger.
func readProjectFile(root string) ([]byte, error) {
	return private.ReadRegular(projectFile(root), maxProjectFile)
}

// loadConfig reads the configuration. trusted reports whether a project's file with this content was accepted.
func loadConfig(root string, environ []string, configHome string,
	trusted func(file string, content []byte) bool) (Config, error) {
	k := koanf.New(".")
	c := Config{}
	user := filepath.Join(configHome, "orchestrator", "config.toml")
	content, err := os.ReadFile(user)
	if err == nil {
		err = c.merge(k, user, content, nil)
	} else if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	if err != nil {
		return Config{}, fmt.Errorf("read the configuration: %w", err)
	}
	file := projectFile(root)
	content, err = readProjectFile(root)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		c.Warnings = append(c.Warnings, fmt.Sprintf("the project's configuration is ignored: %v", err))
	case !trusted(file, content):
		c.Untrusted = file
	default:
		if err := c.merge(k, file, content, projectMay); err != nil {
			return Config{Warnings: c.Warnings}, err
		}
	}
	if err := loadEnv(k, environ); err != nil {
		return Config{}, err
	}
	return c.fill(k)
}

func projectMay(s setting) bool { return s.projectMay }

// checkProject validates a project's file before it is accepted.
func checkProject(file string, content []byte) error {
	k := koanf.New(".")
	c := Config{}
	if err := c.merge(k, file, content, projectMay); err != nil {
		return err
	}
	_, err := c.fill(k)
	return err
}

// merge adds the settings of a TOML file. may limits which.
func (c *Config) merge(k *koanf.Koanf, file string, content []byte, may func(setting) bool) error {
	tree, err := toml.Parser().Unmarshal(content)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	one := koanf.New(".")
	if err := one.Load(mapProvider(tree), nil); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if err := check(one, func(key string) string { return fmt.Sprintf("%s:%d", file, lineOf(content, key)) },
		may); err != nil {
		return err
	}
	if err := checkKeys(tree["keys"],
		func(action string) string { return fmt.Sprintf("%s:%d", file, lineOf(content, "keys."+action)) }); err != nil {
		return err
	}
	rows, err := modelRows(tree["models"])
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	rules, err := maskRules(tree["masking_tools"], func(tool, key string) string {
		return fmt.Sprintf("%s:%d", file, lineOfRule(content, tool, key))
	})
	if err != nil {
		return err
	}
	c.MaskingTools = append(c.MaskingTools, rules...)
	c.Models = append(rows, c.Models...)
	c.Files = append(c.Files, file)
	return k.Merge(one)
}

// loadEnv merges ORCHESTRATOR_ variables: ORCHESTRATOR_LIMITS_DEPTH is limits.depth. Other variables are ignored.
func loadEnv(k *koanf.Koanf, environ []string) error {
	names := map[string]string{}
	variable := func(key string) string { return "ORCHESTRATOR_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_")) }
	for key, s := range settings() {
		if s.kind != table {
			names[variable(key)] = key
		}
	}
	for key := range formerSettings() {
		names[variable(key)] = key
	}
	one := koanf.New(".")
	err := one.Load(env.Provider(".", env.Opt{
		Prefix:        "ORCHESTRATOR_",
		EnvironFunc:   func() []string { return environ },
		TransformFunc: func(name, value string) (string, any) { return names[name], value },
	}), nil)
	if err != nil {
		return fmt.Errorf("read ORCHESTRATOR_ variables: %w", err)
	}
	if err := check(one, variable, nil); err != nil {
		return err
	}
	return k.Merge(one)
}

// forAgents returns the environment for agents: without the store's address, which is none of their business, and
// without variables that point git to a repository, since each thread's git must find its own.
func forAgents(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(kv string) bool {
		key, _, _ := strings.Cut(kv, "=")
		return key == "ORCHESTRATOR_STORE" || git.Locates(key)
	})
}

// formerSettings are the settings of earlier builds, with what became of them.
func formerSettings() map[string]string {
	return map[string]string{"mcp_transport": "agents always reach our MCP server by the socket"}
}

// check validates settings: unknown ones, those that a project may not set, and invalid values.
func check(k *koanf.Koanf, at func(key string) string, may func(setting) bool) error {
	all := settings()
	for _, key := range k.Keys() {
		s, ok := all[key]
		if !ok {
			if s, ok = all[strings.SplitN(key, ".", 2)[0]]; !ok || s.kind != table {
				if why := formerSettings()[key]; why != "" {
					return fmt.Errorf("%s: %q is no setting any more: %s; remove it", at(key), key, why)
				}
				hint := ""
				if strings.HasPrefix(key, "masking.") {
					hint = " (rules by tool are set in [masking_tools.\"NAME\"])"
				}
				return fmt.Errorf("%s: unknown setting %q%s; known settings: %s", at(key), key, hint, strings.Join(settingNames(), ", "))
			}
		}
		if may != nil && !may(s) {
			return fmt.Errorf("%s: %q can only be set in your own configuration, not by a project", at(key), key)
		}
		switch s.kind {
		case number:
			if v := k.Int64(key); v < 0 || fmt.Sprint(k.Get(key)) != fmt.Sprint(v) {
				return fmt.Errorf("%s: %q is %v, but must be a whole number, 0 or more", at(key), key, k.Get(key))
			}
		case amount:
			v, err := strconv.ParseFloat(fmt.Sprint(k.Get(key)), 64)
			if err != nil || v < 0 || math.IsInf(v, 0) || math.IsNaN(v) {
				return fmt.Errorf("%s: %q is %v, but must be an amount in US dollars, such as 5 or 2.50", at(key), key, k.Get(key))
			}
		case span:
			if _, err := time.ParseDuration(k.String(key)); err != nil {
				return fmt.Errorf("%s: %q is %q, but must be a duration, such as 30m or 2h", at(key), key, k.String(key))
			}
		case text:
			if len(s.allowed) > 0 && !contains(s.allowed, k.String(key)) {
				return fmt.Errorf("%s: %q is %q, but must be one of %s", at(key), key, k.String(key),
					strings.Join(s.allowed, ", "))
			}
		case address:
			if v := k.String(key); v != "" && !strings.HasPrefix(v, "postgres://") && !strings.HasPrefix(v, "postgresql://") {
				return fmt.Errorf("%s: %q must be a postgres:// URL, or empty for SQLite", at(key), key)
			}
		case table:
		}
	}
	return nil
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

func settingNames() []string {
	var names []string
	for key := range settings() {
		names = append(names, key)
	}
	sort.Strings(names)
	return names
}

// fill returns the configuration with the settings that were read, and defaults for the others.
func (c Config) fill(k *koanf.Koanf) (Config, error) {
	str := func(key, def string) string {
		if k.Exists(key) {
			return k.String(key)
		}
		return def
	}
	num := func(key string, def int) int {
		if k.Exists(key) {
			return k.Int(key)
		}
		return def
	}
	c.Agent = str("agent", "")
	c.Store = str("store", "")
	c.Project = str("project", "")
	c.Worktrees = str("worktrees", "")
	c.NewWorktree = str("new_worktree", "shared")
	c.Host = str("host", "")
	c.Theme = str("theme", "auto")
	c.Notify = str("notify", "bell")
	c.Offers = str("offers", "suggest")
	c.OnLimit = str("on_limit", "ask")
	c.MergeNote = str("merge_note", string(thread.NoteAsk))
	c.Scrollback = num("scrollback", 10_000)
	c.MaxDepth = num("limits.depth", 16)
	c.MaxRunning = num("limits.running", 120)
	c.MaxPrimer = num("limits.primer", 12_000)
	c.MaxFile = int64(num("limits.file_mb", 50)) << 20
	c.MaxStaged = int64(num("limits.stage_mb", 10_240)) << 20
	c.MaxStagedThread = int64(num("limits.stage_thread_mb", 10_240)) << 20
	c.MaxStagedTotal = int64(num("limits.stage_total_mb", 20_480)) << 20
	c.MaxProcesses = num("limits.processes", 512)
	c.MaxRequests = num("limits.requests_per_minute", 0)
	c.MaxUSD = k.Float64("limits.usd")
	c.MaxTotalUSD = k.Float64("limits.total_usd")
	c.MaxMemory = int64(num("limits.memory_mb", 256)) << 20
	c.KeepDays = num("retention.days", 90)
	c.KeepDeleted = num("retention.deleted_days", 7)
	c.KeepThreads = num("retention.threads", 0)
	c.KeepMB = num("retention.size_mb", 0)
	c.Keys = k.StringMap("keys")
	idle, err := time.ParseDuration(str("idle_stop", "30m"))
	if err != nil {
		return Config{}, fmt.Errorf("idle_stop: %w", err)
	}
	c.IdleStop = idle
	c.Setup, c.Teardown = str("setup", ""), str("teardown", "")
	if c.SetupLimit, err = time.ParseDuration(str("setup_timeout", "10m")); err != nil {
		return Config{}, fmt.Errorf("setup_timeout: %w", err)
	}
	if c.StageTTL, err = time.ParseDuration(str("stage_ttl", "1h")); err != nil {
		return Config{}, fmt.Errorf("stage_ttl: %w", err)
	}
	if err := thread.CheckTTL(c.StageTTL); err != nil || c.StageTTL == 0 {
		return Config{}, fmt.Errorf("stage_ttl is %s, but must be between 1s and 8760h", c.StageTTL)
	}
	c.TokenDigits = num("stage.token_length", thread.TokenDigits)
	if err := thread.CheckTokenDigits(c.TokenDigits); err != nil {
		return Config{}, fmt.Errorf("stage.token_length: %w", err)
	}
	c.Masking, c.MaskingLogin = str("masking", string(thread.MaskSafe)), str("masking_login", string(thread.MaskObserve))
	c.MCP = str("mcp", "on") == "on"
	c.MaskingTokens, c.Summaries = k.Int("masking_tokens"), str("summaries", "")
	c.SummaryUSD, c.SummaryLogin = defaultSummaryUSD, str("summary_login", "ask") == "allow"
	if k.Exists("summary_usd") {
		c.SummaryUSD = k.Float64("summary_usd")
	}
	c.SummaryProgram, c.SummaryAlso = strings.TrimSpace(str("summary_program", "")), str("summary_also", "")
	if c.Summaries == string(thread.ByProgram) && c.SummaryProgram == "" {
		return Config{}, errors.New("summaries is \"program\", but summary_program names none")
	}
	for name := range strings.FieldsFuncSeq(str("masking_keep", ""), func(r rune) bool { return r == ',' || r == ' ' }) {
		if _, err := path.Match(name, ""); err != nil {
			return Config{}, fmt.Errorf("masking_keep: %q is not a name of a tool, with * for any text", name)
		}
		c.MaskingKeep = append(c.MaskingKeep, name)
	}
	if c.SetupLimit <= 0 {
		return Config{}, fmt.Errorf("setup_timeout is %s, but must be more than 0", c.SetupLimit)
	}
	return c, nil
}

// defaultSummaryUSD is the most that a summary by the model may cost if nothing is configured.
const defaultSummaryUSD = 0.50

// lineOf finds the line that sets a key, or returns 1 if it cannot tell.
func lineOf(content []byte, key string) int {
	bare := func(name string) string {
		parts := strings.Split(name, ".")
		for i, part := range parts {
			parts[i] = strings.Trim(strings.TrimSpace(part), `"'`)
		}
		return strings.Join(parts, ".")
	}
	table := ""
	for i, line := range strings.Split(string(content), "\n") {
		line = strings.TrimSpace(line)
		if head, ok := strings.CutPrefix(line, "["); ok {
			head, _, _ = strings.Cut(strings.TrimPrefix(head, "["), "]")
			table = bare(head) + "."
			if bare(head) == key {
				return i + 1
			}
			continue
		}
		if name, _, ok := strings.Cut(line, "="); ok && table+bare(name) == key {
			return i + 1
		}
	}
	return 1
}

// mapProvider gives koanf a tree that is already parsed.
type mapProvider map[string]any

// ReadBytes is not supported by this provider.
func (mapProvider) ReadBytes() ([]byte, error) { return nil, errors.New("not supported") }

// Read returns the tree.
func (m mapProvider) Read() (map[string]any, error) { return m, nil }
