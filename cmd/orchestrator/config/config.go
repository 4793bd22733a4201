// Package config reads the configuration: the person's file, then the project's if it is trusted, then ORCHESTRATOR_
// variables. What comes later wins; flags override all of them. Each setting is written once, in settings.go. What is
// wrong is said with its file, line and column, or its variable, and with what it must be.
package config

import (
	"time"

	"orchestrator/contextmgr/models"
	"orchestrator/contextmgr/policy"
	"orchestrator/thread"
	"orchestrator/thread/work"
)

// Runs is how agents work without a terminal. The texts are a work.Policy and a work.Disposal, in which "keep" is none.
type Runs struct {
	Parallel      int            // at the same time; 0 for what the machine carries
	Agents        map[string]int // the same of an agent
	Accounts      map[string]int // the same of an account, as in work.Execution
	Deadline      time.Duration
	Lost, Dispose string
	OnFail        string            // a work.OnFail
	Fallback      map[string]string // by agent, as in work.Execution
	Retries       int               // attempts while the way to a model fails
	// Caps are what a run may call and say, as in work.Capped.
	Caps thread.Caps
	// Tiers are which model a tier is, by agent.
	Tiers work.Models
	Asks  string
}

// Config is the configuration. Sizes are in bytes; a limit of 0 is none, where nothing else is said.
type Config struct {
	// Agent is the agent of new threads if none is named.
	Agent string
	// Profiles are the person's named ways to start a thread, in the order of their file.
	Profiles []thread.Profile
	// Store is "" for SQLite in the state folder, or a postgres:// URL.
	Store string
	// Project is the project's name in a shared store, by default its first commit. Host is this machine's name there, by
	// default its host name.
	Project, Host string
	// Models are the person's own windows and prices.
	Models []models.Row
	// Theme is "auto", "dark", "light", "contrast", "terminal" or "none"; Glyphs is "auto", "unicode" or "ascii".
	Theme, Glyphs string
	// Keys overrides key bindings: the keys of each action.
	Keys map[string][]string
	// Notify is how the screen calls the person: "bell", "osc9", "osc777", "osc99"; none for not at all. NotifyFocused is
	// set if other threads than the one shown call while the window has the focus.
	Notify        []string
	NotifyFocused bool
	// NotifyCommand is run by the server on events of the kinds in NotifyOn, and Hooks on those of theirs: words of a
	// command line each, none for no command. NotifyOn is nil for the usual kinds, see Calls.
	NotifyCommand []string
	NotifyOn      []thread.HappeningKind
	Hooks         []Hook
	// Offers is "suggest", "auto" or "off".
	Offers  string
	OnLimit string
	// NewWorktree is when a new thread gets its own worktree: "shared", "always" or "never".
	NewWorktree string
	// MergeNote is "ask", "always" or "never".
	MergeNote string
	// Scrollback is the number of lines that a terminal keeps.
	Scrollback int
	// MaxDepth and MaxRunning limit forks of forks and running agents; MaxPrimer is in tokens.
	MaxDepth, MaxRunning, MaxPrimer int
	// Worktrees is the folder for the worktrees of forks, by default one in the state.
	Worktrees string
	// Limits: MaxProcesses of a thread, MaxRequests of a thread to the model a minute, MaxUSD that a thread costs over its
	// life, MaxTotalUSD that all threads cost together, MaxTokens
	// and MaxTotalTokens the same in tokens, MaxMemory that the gateway holds: 0 is the gateway's default.
	MaxProcesses, MaxRequests int
	MaxUSD, MaxTotalUSD       float64
	MaxTokens, MaxTotalTokens int64
	MaxMemory                 int64
	// MaxFile is the size of the largest file in a snapshot, MaxRunOutput how much a run may print, 0 the session's default.
	MaxFile, MaxRunOutput int64
	// StageTTL is how long staged data is kept by default. MaxStaged is the maximum size of such data, MaxStagedThread what
	// all of a thread may take, MaxStagedTotal what all of the project may.
	StageTTL                                   time.Duration
	MaxStaged, MaxStagedThread, MaxStagedTotal int64
	// TokenDigits is how many digits the token of new staged data has.
	TokenDigits int
	// Masking is how much is masked of conversations by default: "safe", "lean", "observe" or "off"; MaskingLogin is the
	// same for agents with a subscription login. MaskingTokens is the context in tokens from which on masking may cost a
	// cache write; 0 is the policy's own.
	Masking, MaskingLogin string
	MaskingTokens         int
	// Base is what agents leave out of what they send before a word is said.
	Base thread.BaseConfig
	// InstructionsOnce is set if a file of instructions that an agent sends again is replaced by a reference to the copy
	// before it.
	InstructionsOnce bool
	// Runs is how agents work without a terminal.
	Runs Runs
	// MCP is set if agents get their MCP servers from us.
	MCP bool
	// MaskingKeep are the tools whose results are never masked; * in a name stands for any text.
	MaskingKeep []string
	// MaskingTools are rules by tool, which keep more: the person's and the project's, of which all hold.
	MaskingTools []policy.Rule
	// Summaries is who writes summaries of older turns when a context is large: "model", "extract", "program"; "offer"
	// tells people what one would mean, "off" does nothing. "" follows Offers.
	Summaries string
	// SummaryUSD is the most that one by the model may cost. SummaryLogin allows that with a subscription login.
	// SummaryProgram is the command that writes them, and SummaryAlso what they keep besides.
	SummaryUSD                  float64
	SummaryLogin                bool
	SummaryProgram, SummaryAlso string
	// Checks are the commands of checks by their names, and CheckLimit is how long each may run.
	Checks     map[string]string
	CheckLimit time.Duration
	// Setup and Teardown are the commands for new worktrees and for worktrees about to be removed. SetupLimit is how long
	// either may run.
	Setup, Teardown string
	SetupLimit      time.Duration
	// IdleStop is how long a server without agents and clients waits before it exits.
	IdleStop time.Duration
	// KeepDays, KeepThreads and KeepMB limit which archived threads are kept. KeepDeleted is for how many days deleted
	// threads are kept.
	KeepDays, KeepDeleted, KeepThreads, KeepMB int
	// KeepRecord is for how many days what is recorded of work is kept after it ended.
	KeepRecord int
	// KeepRuns is for how many days after its last change the thread of a run is in use; then it is archived.
	KeepRuns int
	// Files are the files that were read, in order. Untrusted is the project's file if it was not read because it is not
	// trusted. Warnings says what was ignored.
	Files     []string
	Untrusted string
	Warnings  []string
}

// Hook is a command that the server runs on events of some kinds.
type Hook struct {
	Name  string // as it is configured: "hooks.done"
	Words []string
	Kinds []thread.HappeningKind
}
