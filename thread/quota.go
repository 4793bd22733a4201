package thread

import (
	"time"
)

// Quota is what a provider said of one of its limits: numbers and times, nothing of who asked.
type Quota struct {
	Upstream string `json:"upstream"` // host
	// Window names the limit in the provider's words, such as "requests", "input-tokens", "unified-5h"; "retry" is how
	// long it asked to wait.
	Window string `json:"window"`
	// Limit and Remaining are counts, Used is a share from 0 to 1; nil where it did not say.
	Limit     *int64    `json:"limit,omitempty"`
	Remaining *int64    `json:"remaining,omitempty"`
	Used      *float64  `json:"used,omitempty"`
	Resets    time.Time `json:"resets,omitzero"`
	At        time.Time `json:"at"`     // it said so
	Thread    ID        `json:"thread"` // that it was said to
}
