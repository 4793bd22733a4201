package mcp

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/ui/intent"
	"orchestrator/ui/plain"
)

// most is how much of a text from outside is read for a list, in bytes.
const most = 400

// start returns the start of a text.
func start(s string) string { return plain.Start(s, most) }

// clean returns the start of a text as a safe line.
func clean(s string) string { return plain.Line(start(s)) }

// Name returns the name of a server as it is shown.
func Name(s *thread.MCPServer) string {
	if name := clean(s.Name); strings.TrimSpace(name) != "" {
		return name
	}
	return clean(s.ID)
}

// tokens formats tokens of definitions, which are our count.
func tokens(n int64) string { return "~" + thread.Tokens(max(n, 0)) }

// price returns the tokens of a server's definitions, "" if they are not known.
func price(s *thread.MCPServer) string {
	if !s.Known {
		return ""
	}
	return tokens(s.Tokens)
}

// size formats bytes of memory.
func size(n int64) string {
	const mib = 1 << 20
	switch {
	case n <= 0:
		return ""
	case n < mib:
		return fmt.Sprintf("%d KiB", max(n>>10, 1))
	case n < 10_000*mib:
		return fmt.Sprintf("%d MiB", n/mib)
	default:
		return fmt.Sprintf("%d GiB", n>>30)
	}
}

// took formats how long a call took.
func took(ms float64) string {
	switch {
	case !(ms >= 0):
		return ""
	case ms < 10:
		return fmt.Sprintf("%.1fms", ms)
	case ms < 1000:
		return fmt.Sprintf("%.0fms", ms)
	case ms < 10_000:
		return fmt.Sprintf("%.1fs", ms/1000)
	default:
		return fmt.Sprintf("%.0fs", ms/1000)
	}
}

// ago formats how long ago something was.
func ago(d time.Duration) string {
	if d < time.Minute {
		return "now"
	}
	return thread.Age(d) + " ago"
}

// called formats the last call of a server.
func called(s *thread.MCPServer, now time.Time) string {
	if s.Called.IsZero() {
		return ""
	}
	return took(s.CallMS) + " " + ago(now.Sub(s.Called))
}

// why returns who or what switched a server on, or why it is not as it should be.
func why(s *thread.MCPServer) string {
	if s.Problem != "" {
		return clean(s.Problem)
	}
	switch {
	case s.On:
		return clean(s.SwitchedBy())
	case !s.Accepted:
		return clean(s.Kept) // its state says the rest
	}
	return clean(cmp.Or(s.Reason, s.Kept))
}

// isNew reports whether a server waits for the person to accept or reject it for the first time.
func isNew(s *thread.MCPServer) bool {
	return !s.Accepted && !s.Changed && !s.Rejected && s.Problem == ""
}

// facts returns what a person should know of a server, the most important first.
func facts(s *thread.MCPServer, keys *intent.Table, now time.Time) []string {
	var out []string
	add := func(is bool, text string) {
		if is && text != "" {
			out = append(out, text)
		}
	}
	key := func(a intent.Action) string { return label(keys, intent.Servers, a) }
	add(s.Ending, "off at the end of the turn; "+key(intent.SwitchNow)+" switches it off at once")
	add(s.Problem != "", clean(s.Problem))
	add(s.Changed && !s.Accepted, "changed since you accepted it: "+key(intent.Approve)+" to review")
	add(isNew(s), key(intent.Approve)+" to review; nothing of it runs before")
	add(s.State == "needs-auth", key(intent.SignIn)+" signs in")
	add(s.Accepted || s.Problem != "", clean(s.Reason))
	add(s.Kept != "", clean(s.Kept))
	if left := s.Retry.Sub(now); left > 0 && !s.Retry.IsZero() {
		add(true, "cannot start, next try in "+thread.Elapsed(left))
	}
	add(s.Withheld > 0, plain.Count(s.Withheld, "tool")+" withheld: "+key(intent.Tool)+" shows why")
	add(s.On, clean("on: "+s.SwitchedBy()))
	for _, w := range s.Warnings {
		add(true, clean(w))
	}
	return out
}

// label returns the label of an action's key in a scope.
func label(keys *intent.Table, s intent.Scope, a intent.Action) string {
	for _, b := range keys.Bindings(s) {
		if b.Action == a {
			return b.Label()
		}
	}
	return ""
}
