package thread

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Quota is a limit that a provider reported: numbers and times, nothing about who asked.
type Quota struct {
	Upstream string `json:"upstream"` // host
	// Window names the limit in the provider's words, such as "requests", "input-tokens", "unified-5h"; "retry" is how
	// long it asked to wait.
	Window string `json:"window"`
	// Minutes is how long the window is, 0 if the provider did not report it.
	Minutes int64 `json:"minutes,omitempty"`
	// Limit and Remaining are counts, Used is a share from 0 to 1; nil if not reported.
	Limit     *int64    `json:"limit,omitempty"`
	Remaining *int64    `json:"remaining,omitempty"`
	Used      *float64  `json:"used,omitempty"`
	Resets    time.Time `json:"resets,omitzero"`
	At        time.Time `json:"at"`     // when it was reported
	Thread    ID        `json:"thread"` // the thread that asked
}

// heldFor is how long a limit is believed of which no end was reported.
const heldFor = time.Hour

// Share returns how much of the limit is used, in percent, and false if that was not reported.
func (q Quota) Share() (percent float64, known bool) {
	switch {
	case q.Used != nil:
		return max(*q.Used*100, 0), true
	case q.Limit != nil && q.Remaining != nil && *q.Limit > 0:
		return min(max(100-float64(*q.Remaining)*100/float64(*q.Limit), 0), 100), true
	default:
		return 0, false
	}
}

// Holds reports whether what was reported still says something: its window has not begun anew since.
func (q Quota) Holds(now time.Time) bool {
	if q.Resets.IsZero() {
		return now.Sub(q.At) < heldFor
	}
	return now.Before(q.Resets)
}

// Label is the window in short: 5h, 7d, or the provider's word.
func (q Quota) Label() string {
	const hour, day = 60, 24 * 60
	switch {
	case q.Minutes >= day && q.Minutes%day == 0:
		return fmt.Sprintf("%dd", q.Minutes/day)
	case q.Minutes >= hour && q.Minutes%hour == 0:
		return fmt.Sprintf("%dh", q.Minutes/hour)
	case q.Minutes > 0:
		return fmt.Sprintf("%dm", q.Minutes)
	}
	return strings.ReplaceAll(strings.TrimPrefix(q.Window, "unified-"), "_", " ")
}

// Tightest returns the limits that hold, those of which most is used first, and last those of which that is not known.
func Tightest(all []Quota, now time.Time) []Quota {
	var out []Quota
	for _, q := range all {
		if q.Holds(now) {
			out = append(out, q)
		}
	}
	slices.SortStableFunc(out, func(a, b Quota) int {
		x, xKnown := a.Share()
		y, yKnown := b.Share()
		switch {
		case xKnown != yKnown && xKnown:
			return -1
		case xKnown != yKnown:
			return 1
		}
		return cmp.Or(cmp.Compare(y, x), cmp.Compare(a.Upstream, b.Upstream), cmp.Compare(a.Window, b.Window))
	})
	return out
}
