package work

import (
	"cmp"
	"slices"
	"strings"

	"orchestrator/thread"
)

// Models are which model a tier is, by agent.
type Models map[string]map[thread.Tier]string

// Choice is a model with the reason for it.
type Choice struct {
	Tier  thread.Tier
	Model string // "" for the agent's own
	Why   string // for people
}

// Choose returns the model of an agent's runs. A model that is named counts; else the tier decides, which is standard unless
// one is named, too. Nothing is guessed: a tier that no model is configured for is thread.ErrInvalid, but standard, which
// then is the agent's own model.
func (m Models) Choose(agent, model string, tier thread.Tier) (Choice, error) {
	if err := CheckTier(tier); err != nil {
		return Choice{}, err
	}
	named := tier != ""
	c := Choice{Tier: cmp.Or(tier, thread.TierStandard), Model: cmp.Or(model, m[agent][cmp.Or(tier, thread.TierStandard)])}
	setting := "tiers." + agent + "." + string(c.Tier)
	by := ""
	if named {
		by = " by --tier"
	}
	switch {
	case model != "":
		c.Why = "model by --model"
	case c.Model != "":
		c.Why = string(c.Tier) + by + "; " + setting
	case c.Tier == thread.TierStandard:
		c.Why = string(c.Tier) + by + ": the agent's own model"
	default:
		return Choice{}, thread.Hint(thread.Kindf(thread.ErrInvalid, "no %s model of %s is configured", c.Tier, agent),
			"set `"+setting+" = \"MODEL\"` in your configuration, or name one with --model")
	}
	return c, nil
}

// CheckTier refuses a tier that there is not, with thread.ErrInvalid; "" is none.
func CheckTier(t thread.Tier) error {
	if t == "" || slices.Contains(thread.Tiers(), t) {
		return nil
	}
	var names []string
	for _, known := range thread.Tiers() {
		names = append(names, string(known))
	}
	return thread.Hint(thread.Kindf(thread.ErrInvalid, "tier %q is not known", thread.Excerpt(string(t))), "take "+strings.Join(names, ", "))
}

// Above reports whether a tier is more able, and costs more, than another; "" is standard.
func Above(a, b thread.Tier) bool {
	rank := func(t thread.Tier) int { return slices.Index(thread.Tiers(), cmp.Or(t, thread.TierStandard)) }
	return rank(a) > rank(b)
}
