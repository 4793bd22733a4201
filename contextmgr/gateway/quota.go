package gateway

import (
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/pattern"
)

// maxQuotas is the number of windows that are read from one answer.
const maxQuotas = 16

// The headers in which providers report their limits: the first group is the window, the second the property. OpenAI
// has them in reverse order.
var (
	quotaHeader  = pattern.Lazy(`^anthropic-ratelimit-([a-z0-9_-]{1,40})-(limit|remaining|reset|utilization)$`)
	quotaSwapped = pattern.Lazy(`^x-ratelimit-(limit|remaining|reset)-([a-z0-9_-]{1,40})$`)
	quotaCodex   = pattern.Lazy(`^x-codex-([a-z0-9_-]{1,40})-(used-percent|reset-after-seconds|reset-at|window-minutes)$`)
)

// windowRetry is the window of a wait that a provider asked for.
const windowRetry = "retry"

// quotas reads the limits in an answer's header: only numbers and times, of windows with known names.
func quotas(upstream string, h http.Header, now time.Time) []thread.Quota {
	byWindow := map[string]*thread.Quota{}
	at := func(window string) *thread.Quota {
		q := byWindow[window]
		if q == nil {
			q = &thread.Quota{Upstream: upstream, Window: window, At: now.Round(0).UTC()}
			byWindow[window] = q
		}
		return q
	}
	for name, values := range h {
		if len(values) == 0 {
			continue
		}
		name, value := strings.ToLower(name), strings.TrimSpace(values[0])
		if m := quotaHeader().FindStringSubmatch(name); m != nil {
			say(at(m[1]), m[2], value, now)
		} else if m := quotaSwapped().FindStringSubmatch(name); m != nil {
			say(at(m[2]), m[1], value, now)
		} else if m := quotaCodex().FindStringSubmatch(name); m != nil {
			say(at(m[1]), m[2], value, now)
		} else if name == "retry-after" || name == "retry-after-ms" {
			header := "Retry-After"
			if name == "retry-after-ms" {
				header = "Retry-After-Ms"
			}
			if end := moment(header, value, now); !end.IsZero() {
				at(windowRetry).Resets = end
			}
		}
	}
	var out []thread.Quota
	for _, q := range byWindow {
		if q.Limit != nil || q.Remaining != nil || q.Used != nil || !q.Resets.IsZero() {
			out = append(out, *q)
		}
	}
	slices.SortFunc(out, func(a, b thread.Quota) int { return strings.Compare(a.Window, b.Window) })
	return out[:min(len(out), maxQuotas)]
}

// say sets one property; a value that is not a number or a time is ignored.
func say(q *thread.Quota, what, value string, now time.Time) {
	switch what {
	case "limit", "remaining":
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < 0 {
			return
		}
		if what == "limit" {
			q.Limit = &n
		} else {
			q.Remaining = &n
		}
	case "window-minutes":
		if n, err := strconv.ParseInt(value, 10, 64); err == nil && n > 0 && n < 1<<20 {
			q.Minutes = n
		}
	case "utilization", "used-percent":
		f, err := strconv.ParseFloat(value, 64)
		if what == "used-percent" {
			f /= 100
		}
		if err != nil || math.IsNaN(f) || f < 0 || f > 1000 {
			return
		}
		q.Used = &f
	default:
		if end := moment("", value, now); !end.IsZero() {
			q.Resets = end
		}
	}
}
