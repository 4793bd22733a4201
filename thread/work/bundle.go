package work

import (
	"time"

	"orchestrator/thread"
)

// ItemType is what a piece of context is.
type ItemType string

// The types of context.
const (
	ItemFile      ItemType = "file"
	ItemBriefing  ItemType = "briefing"
	ItemReference ItemType = "reference"
	ItemShared    ItemType = "shared_context" // several bundles have it
)

// Priority says whether an agent can do without a piece of context.
type Priority string

// The priorities.
const (
	Required    Priority = "required"
	Recommended Priority = "recommended" // what is dropped first
)

// Bundle is the context that an agent is given, in the form in which it is printed: its JSON is stable byte for byte.
type Bundle struct {
	ID        string       `json:"bundle_id"`
	AgentType string       `json:"agent_type"`
	Scope     string       `json:"scope"`
	Created   time.Time    `json:"created_at"` // in UTC, whole seconds
	Items     []BundleItem `json:"context_items"`
	Total     int64        `json:"total_tokens"`     // of all items
	Remaining int64        `json:"budget_remaining"` // tokens of the budget that are left; negative over it
}

// BundleItem is a piece of a bundle.
type BundleItem struct {
	Type     ItemType `json:"type"`
	Source   string   `json:"source"` // the path as the person wrote it, with slashes
	Tokens   int64    `json:"token_count"`
	Priority Priority `json:"priority"`
	// Sections are the headings of those that are included; none for all of it.
	Sections   []string `json:"sections,omitempty"`
	SharedWith []string `json:"shared_with,omitempty"` // ids of the other bundles that have it
}

// KeptBundle is a bundle as a store keeps it, with what it was made of.
type KeptBundle struct {
	Bundle Bundle `json:"bundle"`
	// Hash is over everything that an agent gets of it, and for whom and against what it was counted: the same again has the
	// same hash. Hex.
	Hash string `json:"hash"`
	// Pieces are the hashes (SHA-256, hex) of the content of each item, in the order of its items, "" where it is not known;
	// Sources those of the whole files that they were taken from.
	Pieces  []string `json:"pieces"`
	Sources []string `json:"sources"`
	// Agent and Model are for whom it was counted, Budget and Session what it was counted against.
	Agent  string `json:"agent,omitempty"`
	Model  string `json:"model,omitempty"`
	Budget int64  `json:"budget,omitempty"`
	// Left are the sources of recommended items for which there was no room, each with its tokens, for people.
	Left    []string  `json:"left_out,omitempty"`
	Session string    `json:"session,omitempty"`
	By      thread.ID `json:"by,omitempty"`
}

// BundleQuery selects bundles.
type BundleQuery struct {
	Session   string // "" for all
	AgentType string // "" for all
	By        thread.ID
	Before    string // only older ones than this id
	Limit     int    // 0 means 100; at most 1000
}

// Allocation is a piece of context of an execution. In JSON it has the names of the view "context_allocations", and more.
type Allocation struct {
	N         int64    `json:"allocation_id"` // in the project, set by the store
	Execution string   `json:"execution_id"`
	Type      ItemType `json:"context_type"`
	Source    string   `json:"context_source"`
	Tokens    int64    `json:"token_count"`
	// Included is set if it was sent to the agent.
	Included bool     `json:"included_in_deployment"`
	Bundle   string   `json:"bundle_id,omitempty"`
	Priority Priority `json:"priority,omitempty"`
	Sections []string `json:"sections,omitempty"`
	Hash     string   `json:"content_hash,omitempty"` // of its content, as in KeptBundle.Pieces
	// Claimed is set if somebody said so, and we did not see it.
	Claimed bool `json:"claimed,omitempty"`
}
