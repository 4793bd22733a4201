package gateway

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestQuotas reads what providers tell about their limits, and nothing else of a header.
func TestQuotas(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		header []string
		want   string
	}{
		"nothing": {[]string{"Content-Type: text/html"}, ``},
		"anthropic": {[]string{
			"anthropic-ratelimit-requests-limit: 50", "anthropic-ratelimit-requests-remaining: 49",
			"anthropic-ratelimit-requests-reset: 2026-03-01T12:01:00Z",
			"anthropic-ratelimit-input-tokens-limit: 30000", "anthropic-organization-id: secret", "request-id: secret",
		}, `input-tokens limit=30000; requests limit=50 remaining=49 resets=12:01:00`},
		"claude's plan": {[]string{
			"anthropic-ratelimit-unified-5h-utilization: 0.42", "anthropic-ratelimit-unified-5h-reset: 1772370000",
			"anthropic-ratelimit-unified-status: allowed",
		}, `unified-5h used=0.42 resets=13:00:00`},
		"openai": {[]string{"x-ratelimit-limit-requests: 60", "x-ratelimit-remaining-requests: 0",
			"x-ratelimit-reset-requests: 1m30s"},
			`requests limit=60 remaining=0 resets=12:01:30`},
		"codex": {[]string{"x-codex-primary-used-percent: 12.5", "x-codex-primary-reset-after-seconds: 60",
			"x-codex-plan-type: secret"},
			`primary used=0.125 resets=12:01:00`},
		"retry": {[]string{"Retry-After: 20"}, `retry resets=12:00:20`},
		"bad": {[]string{
			"anthropic-ratelimit-requests-limit: -1", "anthropic-ratelimit-requests-remaining: lots",
			"x-codex-primary-used-percent: NaN", "Retry-After: 1e99",
			"x-ratelimit-limit-" + strings.Repeat("x", 100) + ": 3",
		}, ``},
	} {
		t.Run(name, func(t *testing.T) {
			h := http.Header{}
			for _, line := range tc.header {
				k, v, _ := strings.Cut(line, ": ")
				h.Add(k, v)
			}
			var got []string
			for _, q := range quotas("api.example.com", h, now) {
				s := q.Window
				num := func(what string, v any) {
					if b, err := json.Marshal(v); err == nil && string(b) != "null" {
						s += " " + what + "=" + string(b)
					}
				}
				num("limit", q.Limit)
				num("remaining", q.Remaining)
				num("used", q.Used)
				if !q.Resets.IsZero() {
					s += " resets=" + q.Resets.Format(time.TimeOnly)
				}
				if q.Upstream != "api.example.com" || !q.At.Equal(now) {
					t.Errorf("%+v", q)
				}
				got = append(got, s)
			}
			if s := strings.Join(got, "; "); s != tc.want {
				t.Errorf("it reads %q, want %q", s, tc.want)
			}
		})
	}
	many := http.Header{}
	for _, c := range "abcdefghijklmnopqrstuvwxyz" {
		many.Set("X-Ratelimit-Limit-"+string(c), "1")
	}
	if n := len(quotas("h", many, now)); n != maxQuotas {
		t.Errorf("%d windows of one answer", n)
	}
}
