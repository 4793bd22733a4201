package budget

import (
	"fmt"

	"orchestrator/thread"
)

// UsedUp says that a budget is used up, and what raises it: the reason why work of it ends or waits.
func UsedUp(a Account) string {
	return fmt.Sprintf("%s is used up (%s). %s", a.title(), Used(a.Limit, a.Spent), Raise(a.Payer))
}

// Says tells people that a level was reached.
func (c Crossing) Says() string {
	switch {
	case c.Level == Over && c.Refused != nil:
		return c.Refused.Error()
	case c.Level == Over:
		return UsedUp(Account{Payer: c.Payer, Spent: c.Spent})
	case c.Level == Fine:
		return fmt.Sprintf("%s does not hold for the model %q, whose price is unknown: what it costs is not counted. "+
			"Set a price for it in [models] of the configuration, or a budget in tokens", c.title(), thread.Excerpt(c.Model))
	default:
		from := float64(c.Level)
		if c.Level == Warned {
			from = c.warnAt()
		}
		return fmt.Sprintf("%s is %.0f %% used: %s", c.title(), from, Used(c.Limit, c.Spent))
	}
}
