package gateway

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"orchestrator/thread"
)

func TestWhenALimitEnds(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	unix := "1795354200" // 13:30:00
	for _, c := range []struct {
		name   string
		status int
		header string // "Name: value", one a line
		want   time.Duration
	}{
		{"seconds", 429, "Retry-After: 30", 30 * time.Second},
		{"part of a second", 429, "retry-after-ms: 1500\nRetry-After: 2", 1500 * time.Millisecond},
		{"a date", 503, "Retry-After: Sun, 22 Nov 2026 12:05:00 GMT", 5 * time.Minute},
		{"overload", 529, "Retry-After: 7", 7 * time.Second},
		{"subscription", 429, "anthropic-ratelimit-unified-reset: " + unix, 90 * time.Minute},
		{"overload of a provider that tells of the subscription", 529, "anthropic-ratelimit-unified-reset: " + unix, 0},
		{"a failure that tells of it", 503, "anthropic-ratelimit-unified-reset: " + unix, 0},
		{"the window that is used up", 429,
			"anthropic-ratelimit-requests-remaining: 12\nanthropic-ratelimit-requests-reset: 2026-11-22T18:00:00Z\n" +
				"anthropic-ratelimit-input-tokens-remaining: 0\nanthropic-ratelimit-input-tokens-reset: 2026-11-22T12:00:40Z",
			40 * time.Second},
		{"openai", 429, "x-ratelimit-remaining-tokens: 0\nx-ratelimit-reset-tokens: 6m0s\n" +
			"x-ratelimit-remaining-requests: 9\nx-ratelimit-reset-requests: 1h", 6 * time.Minute},
		{"no limit", 500, "Retry-After: 30", 0},
		{"nothing said", 429, "", 0},
		{"over already", 429, "Retry-After: 0", 0},
		{"nonsense", 429, "Retry-After: soon", 0},
		{"not a number", 429, "Retry-After: NaN", 0},
		{"for ever", 429, "Retry-After: 1e300", 0},
		{"a year", 429, "Retry-After: Mon, 22 Nov 2027 12:05:00 GMT", 0},
		{"the past", 429, "Retry-After: Sun, 22 Nov 2020 12:05:00 GMT", 0},
		{"below zero", 429, "Retry-After: -5", 0},
	} {
		h := http.Header{}
		for line := range strings.Lines(c.header) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			h.Set(name, value)
		}
		want := time.Time{}
		if c.want != 0 {
			want = now.Add(c.want)
		}
		if got := limitEnds(c.status, h, now); !got.Equal(want) {
			t.Errorf("%s: %v, want %v", c.name, got, want)
		}
	}
}

func TestLimitInWords(t *testing.T) {
	now := time.Now()
	for text, want := range map[string]time.Duration{
		"rate_limit_exceeded: Rate limit reached for gpt. Please try again in 1m2.5s. Visit …": 62500 * time.Millisecond,
		"RESOURCE_EXHAUSTED: You exceeded your quota. Please retry in 34.07s.":                 34070 * time.Millisecond,
		"try again in 20 ms":                           20 * time.Millisecond,
		"usage limit reached, resets in 3 hours":       3 * time.Hour,
		"Try again in 2 days.":                         48 * time.Hour,
		"please wait 15 seconds":                       15 * time.Second,
		"please try again later":                       0,
		"try again in 99999999999999999999999999 days": 0,
		"":                             0,
		"in 20s the model will answer": 0,
	} {
		got := limitNamed(text, now)
		if want == 0 && !got.IsZero() || want != 0 && !got.Equal(now.Add(want)) {
			t.Errorf("%q: %v, want %v", text, got.Sub(now), want)
		}
	}
}

func TestErrorKinds(t *testing.T) {
	for text, want := range map[string]thread.Fault{
		"overloaded_error: Overloaded":                  thread.FaultLimited,
		"rate_limit_exceeded: slow":                     thread.FaultLimited,
		"insufficient_quota: You exceeded your quota":   thread.FaultLimited,
		"RESOURCE_EXHAUSTED: quota":                     thread.FaultLimited,
		"authentication_error: bad key":                 thread.FaultUnauthorised,
		"PERMISSION_DENIED: no":                         thread.FaultUnauthorised,
		"api_error: Internal server error":              thread.FaultNoAnswer,
		"server_error: sorry":                           thread.FaultNoAnswer,
		"UNAVAILABLE: later":                            thread.FaultNoAnswer,
		"invalid_request_error: too long":               thread.FaultError,
		"INVALID_ARGUMENT: what":                        thread.FaultError,
		"the answer ended before message_stop":          thread.FaultNone,
		"the provider reported an error in the stream:": thread.FaultNone,
		"": thread.FaultNone,
	} {
		if got := errorKind(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// FuzzLimits: whatever a provider says, what is believed lies between now and a month from now.
func FuzzLimits(f *testing.F) {
	for _, s := range []string{"30", "1.5", "Sun, 22 Nov 2026 12:05:00 GMT", "6m0s", "try again in 1m2.5s",
		"resets in 3 hours", "NaN", "-Inf", "1e308"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		now := time.Now()
		h := http.Header{}
		h.Set("Retry-After", s)
		h.Set("X-Ratelimit-Remaining-Tokens", "0")
		h.Set("X-Ratelimit-Reset-Tokens", s)
		for _, at := range []time.Time{limitEnds(429, h, now), limitNamed(s, now)} {
			if !at.IsZero() && (!at.After(now) || at.After(now.Add(farthest+time.Second))) {
				t.Fatalf("%q ends %v from now", s, at.Sub(now))
			}
		}
		_ = errorKind(s)
	})
}
