package masking

import (
	"log/slog"
	"time"

	"orchestrator/contextmgr/masks"
	"orchestrator/contextmgr/models"
	"orchestrator/contextmgr/policy"
	"orchestrator/contextmgr/summaries"
	"orchestrator/thread"
)

// Counts knows how many tokens contents have.
type Counts interface {
	// Known returns the tokens of a content by an encoding and its hash, if they have been counted.
	Known(encoding string, sum [32]byte) (tokens int64, ok bool)
	// Queue has a text counted in the background.
	Queue(encoding string, sum [32]byte, text string)
	// Estimate returns the likely tokens of so many bytes.
	Estimate(bytes int) int64
}

// Calibration corrects counts by what providers counted.
type Calibration interface {
	// Factor returns by what the count of a tool's results is multiplied for a model, "" for other text.
	Factor(model, tool string) (factor, margin float64, observations int)
	// Observe learns from a request that had so many tokens more than the one before, made of parts by tool as counted.
	Observe(model string, growth int64, parts map[string]int64)
}

// Threads is what is known about threads.
type Threads interface {
	// Lineage returns the thread that a thread was forked from, "" if there is none, and when its last answer came.
	Lineage(id thread.ID) (parent thread.ID, last time.Time)
}

// Config configures a Masker. All fields are required but Log.
type Config struct {
	Masks       *masks.Store
	Counts      Counts
	Calibration Calibration
	Threads     Threads
	Models      models.Table
	// Settings returns the settings for a thread's requests; login is set if they are paid by a subscription.
	Settings func(id thread.ID, login bool) policy.Settings
	// Summaries returns how older turns are summarised; nil is for not at all.
	Summaries func() summaries.Settings
	// Keep reports whether results and inputs of a tool are never masked; nil is for none.
	Keep func(tool string) bool
	// Once reports whether a file of instructions that an agent sends again is replaced by a reference to the copy before it;
	// nil is for no.
	Once func() bool
	// Pictures keeps what fills contexts beyond the life of this process; nil for not at all.
	Pictures Pictures
	// WayOut tells an agent, and with it the person, what to do when a thread's context is full and a request with a prompt
	// is not sent: GoesOn or WaysOut. If it is nil or returns "", the request is sent all the same.
	WayOut func(id thread.ID, prompt string) string
	Now    func() time.Time
	Log    *slog.Logger
}

// inputPrice returns the price of a token of input that goes past the cache in USD, 0 if it is unknown.
func (c *Config) inputPrice(model string) float64 {
	const n = 1000
	usd, _ := c.Models.Cost(model, models.Tokens{Input: n})
	return usd / n
}
