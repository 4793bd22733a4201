package thread

import (
	"context"
	"log/slog"
	"time"
)

// Limits bound what a project may hold at once. Zero is no limit.
type Limits struct {
	Depth   int // forks below forks
	Running int // agents at once
	// Primer is the most that a handoff may cost, in tokens; 0 means 12,000.
	Primer int
	// Keep is how long a deleted thread can be brought back; 0 means 30 days.
	Keep time.Duration
}

// OfferMode says what becomes of a fork suggestion.
type OfferMode string

// The modes.
const (
	OffersSuggest OfferMode = "suggest" // tell the clients, the default
	OffersAuto    OfferMode = "auto"    // fork by ourselves
	OffersOff     OfferMode = "off"
)

// ManagerConfig is what a Manager is made of. Project, StateDir, Store, Agents and Sessions are
// needed; the others may be nil.
type ManagerConfig struct {
	Project  string // the project's folder, absolute
	StateDir string // ours, 0700
	Store    Store
	Agents   Agents
	Sessions Sessions

	Worktrees Worktrees
	Reader    Reader
	Differ    Differ
	Finder    Finder
	Merges    Merges

	// Tokens counts the tokens of a text; four bytes a token when nil.
	Tokens func(text string) int
	Clock  func() time.Time // time.Now when nil
	Env    []string         // the environment agents start from; os.Environ's form
	Limits Limits
	Offers OfferMode
	// EnabledMCPs names the MCP servers that are on for a thread; none when nil.
	EnabledMCPs func(ID) []string
	Log         *slog.Logger // discarded when nil
}

// Manager is the use cases. Create it with New, set Gateway, Open it, Close it.
type Manager struct {
	// Gateway carries the model requests; set before Open, because a gateway wants its Observer,
	// which the Manager is. Nil means that agents speak to their providers themselves.
	Gateway Gateway

	cfg ManagerConfig
}

// NewManager returns a Manager that does nothing until Open.
func NewManager(cfg ManagerConfig) *Manager {
	return &Manager{cfg: cfg}
}

// Open reads the store, repairs what a crash left and marks runs that never ended as interrupted.
func (m *Manager) Open(ctx context.Context) error { return ErrUnsupported }

// Close stops all agents, ends their executions and waits for what is under way.
func (m *Manager) Close(ctx context.Context) error { return nil }
