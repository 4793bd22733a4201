package budget

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"orchestrator/thread"
)

// Kind is what a scope is.
type Kind string

// The kinds.
const (
	Execution Kind = "execution"
	Group     Kind = "group"
	Session   Kind = "session" // a work session
	Thread    Kind = "thread"
	Project   Kind = "project"
)

// Scope is what a budget holds for. ID is that of the execution or thread, or the name of the group or work session; "" for
// the project.
type Scope struct {
	Kind Kind   `json:"kind"`
	ID   string `json:"id,omitempty"`
}

// All is the project.
func All() Scope { return Scope{Kind: Project} }

// explicit reports whether a limit of the scope was set for this piece of work, so that it is kept or refuses.
func (s Scope) explicit() bool { return s.Kind == Execution || s.Kind == Group || s.Kind == Session }

// Level is how much of a budget is used.
type Level int

// The levels: the shares in percent from which they hold, but that a payer may have its own for Warned.
const (
	Fine   Level = 0
	Warned Level = 75
	Alarm  Level = 90
	Over   Level = 100
)

// Payer is a scope that pays for a request, with its limit.
type Payer struct {
	Scope Scope `json:"scope"`
	// Name is what people call it by, also as an argument: "exec-003", "group:night", "session:search", "project", a thread's
	// name.
	Name  string        `json:"name"`
	Limit thread.Budget `json:"limit,omitzero"`
	// WarnAt is the part of the limit at which people are warned; that of Warned if 0.
	WarnAt float64 `json:"warnAt,omitempty"`
}

// title names it in a sentence.
func (p Payer) title() string {
	switch p.Scope.Kind {
	case Project:
		return "the budget of the project"
	case Group:
		return "the budget of the group " + strings.TrimPrefix(p.Name, GroupPrefix)
	case Session:
		return "the budget of the work session " + strings.TrimPrefix(p.Name, SessionPrefix)
	default:
		return "the budget of " + p.Name
	}
}

// GroupPrefix begins the name of a group where a scope is asked for.
const GroupPrefix = "group:"

// SessionPrefix begins the name of a work session where a scope is asked for.
const SessionPrefix = "session:"

// OfSession returns the scope of a work session.
func OfSession(name string) Scope { return Scope{Kind: Session, ID: name} }

// warnAt is the share in percent from which people are warned.
func (p Payer) warnAt() float64 {
	if p.WarnAt > 0 && p.WarnAt < 1 {
		return p.WarnAt * 100
	}
	return float64(Warned)
}

// Amount is how much something is, or may be.
type Amount struct {
	Tokens int64   `json:"tokens"`
	USD    float64 `json:"usd"`
}

// plus adds without overflowing.
func (a Amount) plus(b Amount) Amount {
	return Amount{Tokens: add(a.Tokens, b.Tokens), USD: a.USD + b.USD}
}

// minus subtracts; what is left is never less than nothing.
func (a Amount) minus(b Amount) Amount {
	return Amount{Tokens: max(0, a.Tokens-b.Tokens), USD: max(0, a.USD-b.USD)}
}

// add adds two numbers of tokens, neither of them negative.
func add(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// Spent is what was spent.
type Spent struct {
	Amount
	// Answers counts the answers, and Unknown those of them of which the price or the usage is not known: USD, and Tokens
	// maybe too, is the least that was spent then.
	Answers int64 `json:"answers"`
	Unknown int64 `json:"unknown,omitempty"`
}

// Plus adds what else was spent.
func (s Spent) Plus(o Spent) Spent {
	return Spent{Amount: s.plus(o.Amount), Answers: add(s.Answers, o.Answers), Unknown: add(s.Unknown, o.Unknown)}
}

// Beyond returns what of it is more than a part. Its answers are all: those of the part may not have been counted.
func (s Spent) Beyond(part Spent) Spent {
	return Spent{Amount: s.minus(part.Amount), Answers: s.Answers, Unknown: max(0, s.Unknown-part.Unknown)}
}

// spentJSON is Spent for programs: USD is null where nothing of it is known.
type spentJSON struct {
	Tokens  int64    `json:"tokens"`
	USD     *float64 `json:"usd"`
	Answers int64    `json:"answers"`
	Unknown int64    `json:"unknown,omitempty"`
}

// MarshalJSON implements json.Marshaler: a cost that is not known is null, not 0.
func (s Spent) MarshalJSON() ([]byte, error) {
	j := spentJSON{Tokens: s.Tokens, Answers: s.Answers, Unknown: s.Unknown}
	if s.USD != 0 || s.Unknown == 0 {
		j.USD = &s.USD
	}
	return json.Marshal(j)
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *Spent) UnmarshalJSON(b []byte) error {
	var j spentJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	*s = Spent{Amount: Amount{Tokens: j.Tokens}, Answers: j.Answers, Unknown: j.Unknown}
	if j.USD != nil {
		s.USD = *j.USD
	}
	return nil
}

// Money says what was spent in USD: "?" stands for what is not known.
func (s Spent) Money() string { return thread.Money(s.USD, s.Unknown) }

// slack is what sums of prices are wrong by because they are rounded.
const slack = 1e-9

// exceeds reports whether an amount is more than a limit allows.
func exceeds(l thread.Budget, a Amount) bool {
	return l.Tokens != nil && a.Tokens > *l.Tokens || l.USD != nil && a.USD > *l.USD+slack
}

// usedUp reports whether nothing is left of a limit.
func usedUp(l thread.Budget, a Amount) bool {
	return l.Tokens != nil && a.Tokens >= *l.Tokens || l.USD != nil && a.USD >= *l.USD-slack
}

// Share returns how much of a limit is spent, in percent: that of tokens or of USD, whichever is more. 0 without a limit.
func Share(l thread.Budget, a Amount) float64 {
	share := 0.0
	of := func(part, all float64) {
		if all <= 0 {
			share = max(share, 100)
			return
		}
		share = max(share, part/all*100)
	}
	if l.Tokens != nil {
		of(float64(a.Tokens), float64(*l.Tokens))
	}
	if l.USD != nil {
		of(a.USD, *l.USD)
	}
	return share
}

// same reports whether two limits are the same.
func same(a, b thread.Budget) bool {
	return equal(a.Tokens, b.Tokens) && equal(a.USD, b.USD)
}

func equal[T comparable](a, b *T) bool { return a == b || a != nil && b != nil && *a == *b }

// Least returns the lower of two limits, of each kind.
func Least(a, b thread.Budget) thread.Budget {
	if a.Tokens == nil || b.Tokens != nil && *b.Tokens < *a.Tokens {
		a.Tokens = b.Tokens
	}
	if a.USD == nil || b.USD != nil && *b.USD < *a.USD {
		a.USD = b.USD
	}
	return a
}

// The largest limits that are accepted.
const (
	mostTokens = int64(1e15)
	mostUSD    = 1e9
)

// Check returns an error for a limit that makes no sense.
func Check(b thread.Budget) error {
	switch {
	case b.Tokens != nil && (*b.Tokens < 0 || *b.Tokens > mostTokens):
		return thread.Kindf(thread.ErrInvalid, "a budget of %d tokens", *b.Tokens)
	case b.USD != nil && !(*b.USD >= 0 && *b.USD <= mostUSD):
		return thread.Kindf(thread.ErrInvalid, "a budget of %v USD", *b.USD)
	}
	return nil
}

// Parse reads a budget as people write it: "2.50usd" or "$2.50", "200k" or "1.5M" or "200000" tokens, or one of each,
// joined by a comma.
func Parse(text string) (thread.Budget, error) {
	var b thread.Budget
	for part := range strings.SplitSeq(text, ",") {
		part = strings.ToLower(strings.TrimSpace(part))
		digits, dollar := strings.CutPrefix(part, "$")
		if rest, usd := strings.CutSuffix(digits, "usd"); usd && !dollar {
			digits, dollar = strings.TrimSpace(rest), true
		}
		bad := thread.Hint(thread.Kindf(thread.ErrInvalid, "the budget %q is no amount", text),
			"write 2.50usd or $2.50, or tokens as 200k, 1.5M or 200000")
		if dollar {
			usd, err := decimal(digits)
			if err != nil || b.USD != nil {
				return thread.Budget{}, bad
			}
			b.USD = &usd
			continue
		}
		digits, _ = strings.CutSuffix(digits, "tokens")
		digits = strings.TrimSpace(digits)
		unit := 1.0
		for suffix, n := range map[string]float64{"k": 1e3, "m": 1e6} {
			if rest, ok := strings.CutSuffix(digits, suffix); ok {
				digits, unit = rest, n
			}
		}
		n, err := decimal(digits)
		if err != nil || b.Tokens != nil || n*unit > float64(mostTokens) {
			return thread.Budget{}, bad
		}
		tokens := int64(math.Round(n * unit))
		b.Tokens = &tokens
	}
	if err := Check(b); err != nil {
		return thread.Budget{}, err
	}
	return b, nil
}

// decimal reads a number that is written with digits and a point only.
func decimal(s string) (float64, error) {
	if s == "" || strings.Trim(s, "0123456789.") != "" {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseFloat(s, 64)
}

// Format writes a limit as Parse reads it, "" for none.
func Format(b thread.Budget) string {
	var parts []string
	if b.USD != nil {
		parts = append(parts, fmt.Sprintf("$%.2f", *b.USD))
	}
	if b.Tokens != nil {
		parts = append(parts, thread.Tokens(*b.Tokens)+" tokens")
	}
	return strings.Join(parts, ", ")
}
