package thread

import (
	"time"
)

// Quota is a limit that a provider reported: numbers and times, nothing about who asked.
type Quota struct {
	Upstream string `json:"upstream"` // host
	// Window names the limit in the provider's words, such as "requests", "input-tokens", "unified-5h"; "retry" is how
	// long it asked to wait.
	Window string `json:"window"`
	// Limit and Remaining are counts, Used is a share from 0 to 1; nil if not reported.
	Limit     *int64    `json:"limit,omitempty"`
	Remaining *int64    `json:"remaining,omitempty"`
	Used      *float64  `json:"used,omitempty"`
	Resets    time.Time `json:"resets,omitzero"`
	At        time.Time `json:"at"`     // when it was reported
	Thread    ID        `json:"thread"` // the thread that asked
}
