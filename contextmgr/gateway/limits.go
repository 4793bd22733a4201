package gateway

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"orchestrator/thread"
)

// farthest is the latest end of a limit that is accepted: providers' longest windows are a month.
const farthest = 32 * 24 * time.Hour

// limitEnds reads from an answer's header when a limit ends; zero if it does not say so. The result is a wall clock
// time.
func limitEnds(status int, h http.Header, now time.Time) time.Time {
	switch status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusPaymentRequired, 529:
	default:
		return time.Time{}
	}
	names := []string{"Retry-After-Ms", "Retry-After"}
	if status == http.StatusTooManyRequests { // of an overload it says nothing: a window that is not used up ends too
		names = append(names, "Anthropic-Ratelimit-Unified-Reset")
	}
	for _, name := range names {
		if at := moment(name, h.Get(name), now); !at.IsZero() {
			return at
		}
	}
	// Of several windows, those that are used up count, and of these the one that ends last.
	var end time.Time
	for name, values := range h {
		window, ok := strings.CutSuffix(name, "-Reset")
		if !ok || !strings.Contains(name, "Ratelimit") || len(values) == 0 {
			continue
		}
		if h.Get(window+"-Remaining") == "0" {
			if at := moment(name, values[0], now); at.After(end) {
				end = at
			}
		}
	}
	for _, of := range []string{"Requests", "Tokens"} { // OpenAI has the words in reverse order
		if h.Get("X-Ratelimit-Remaining-"+of) == "0" {
			if at := moment("", h.Get("X-Ratelimit-Reset-"+of), now); at.After(end) {
				end = at
			}
		}
	}
	return end
}

// moment reads one header: seconds from now or since 1970, a duration, or a date.
func moment(name, value string, now time.Time) time.Time {
	value = strings.TrimSpace(value)
	if value == "" {
		return time.Time{}
	}
	var at time.Time
	if n, err := strconv.ParseFloat(value, 64); err == nil {
		switch {
		case name == "Retry-After-Ms":
			at = after(now, n/1000)
		case n > 1e9 && n < 1e11: // seconds since 1970
			at = time.Unix(int64(n), 0)
		default:
			at = after(now, n)
		}
	} else if d, err := time.ParseDuration(value); err == nil {
		at = now.Add(d)
	} else if t, err := http.ParseTime(value); err == nil {
		at = t
	} else if t, err := time.Parse(time.RFC3339, value); err == nil {
		at = t
	}
	return believed(at, now)
}

// after adds seconds to a time; zero if they are not a valid duration.
func after(now time.Time, seconds float64) time.Time {
	if !(seconds >= 0 && seconds <= farthest.Seconds()) {
		return time.Time{}
	}
	return now.Add(time.Duration(seconds * float64(time.Second)))
}

// believed returns a wall clock time, or zero for one that is past or too far away.
func believed(at, now time.Time) time.Time {
	if at.IsZero() || !at.After(now) || at.Sub(now) > farthest {
		return time.Time{}
	}
	return at.Round(0).UTC()
}

// named matches the end of a limit in an error's text: "Please try again in 1m2.5s", "Please retry in 34.07s", "resets
// in 3 hours".
var named = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:(?:re)?try(?: again)?|resets?|available|wait)\b(?: again)?` +
		`(?: (?:in|after|for|within))? (\d+(?:\.\d+)?) ?` +
		`((?:ms|h|m|s)(?:\d[\dhms.]*)?\b|milliseconds?\b|seconds?\b|minutes?\b|hours?\b|days?\b)`)
})

// limitNamed reads from an error's text when a limit ends; zero if it does not say so.
func limitNamed(text string, now time.Time) time.Time {
	m := named().FindStringSubmatch(text)
	if m == nil {
		return time.Time{}
	}
	n, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return time.Time{}
	}
	units := map[string]float64{"millisecond": 0.001, "second": 1, "minute": 60, "hour": 3600, "day": 86400}
	if unit, ok := units[strings.TrimSuffix(strings.ToLower(m[2]), "s")]; ok {
		return believed(after(now, n*unit), now)
	}
	d, err := time.ParseDuration(m[1] + strings.ToLower(m[2]))
	if err != nil {
		return time.Time{}
	}
	return believed(now.Add(d), now)
}

// errorKind returns the kind of the error that came in place of an answer, from its text: "overloaded_error: …".
func errorKind(text string) thread.Fault {
	kind, _, _ := strings.Cut(text, ":")
	if strings.ContainsAny(kind, " \t") {
		return thread.FaultNone
	}
	kind = strings.ToLower(kind)
	for _, k := range []struct {
		fault thread.Fault
		words []string
	}{
		{thread.FaultLimited, []string{
			"rate_limit", "ratelimit", "overloaded", "quota", "resource_exhausted", "too_many_requests", "slow_down",
			"usage_limit", "billing",
		}},
		{thread.FaultUnauthorised, []string{
			"authenticat", "unauthorized", "unauthenticated", "permission", "invalid_api_key", "forbidden",
		}},
		{thread.FaultNoAnswer, []string{
			"api_error", "server_error", "internal", "unavailable", "timeout", "deadline_exceeded",
		}},
		{thread.FaultError, []string{"error", "invalid", "not_found", "failed", "context_length"}},
	} {
		for _, w := range k.words {
			if strings.Contains(kind, w) {
				return k.fault
			}
		}
	}
	return thread.FaultNone
}
