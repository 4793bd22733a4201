package work_test

import (
	"errors"
	"strings"
	"testing"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

func TestChoose(t *testing.T) {
	models := work.Models{"claude": {thread.TierFast: "small", thread.TierStandard: "middle"}}
	for _, c := range []struct {
		agent, model string
		tier         thread.Tier
		want         work.Choice
	}{
		{"claude", "", "", work.Choice{Tier: "standard", Model: "middle", Why: "standard; tiers.claude.standard"}},
		{"claude", "", "standard", work.Choice{Tier: "standard", Model: "middle", Why: "standard by --tier; tiers.claude.standard"}},
		{"claude", "", "fast", work.Choice{Tier: "fast", Model: "small", Why: "fast by --tier; tiers.claude.fast"}},
		{"claude", "own", "fast", work.Choice{Tier: "fast", Model: "own", Why: "model by --model"}},
		{"claude", "own", "frontier", work.Choice{Tier: "frontier", Model: "own", Why: "model by --model"}},
		{"claude", "own", "", work.Choice{Tier: "standard", Model: "own", Why: "model by --model"}},
		{"codex", "", "", work.Choice{Tier: "standard", Why: "standard: the agent's own model"}},
		{"codex", "", "standard", work.Choice{Tier: "standard", Why: "standard by --tier: the agent's own model"}},
	} {
		if got, err := models.Choose(c.agent, c.model, c.tier); got != c.want || err != nil {
			t.Errorf("%s, %q, %q: %+v, %v", c.agent, c.model, c.tier, got, err)
		}
	}
	for tier, says := range map[thread.Tier]string{"strong": "no strong model of claude", "cheap": `tier "cheap" is not known`} {
		if _, err := models.Choose("claude", "", tier); !errors.Is(err, thread.ErrInvalid) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", tier, err)
		}
	}
	if _, err := (work.Models)(nil).Choose("codex", "", "fast"); !errors.Is(err, thread.ErrInvalid) {
		t.Errorf("nothing is configured: %v", err)
	}
}

func TestAbove(t *testing.T) {
	for _, c := range []struct {
		a, b thread.Tier
		want bool
	}{{"fast", "", false}, {"strong", "", true}, {"", "fast", true}, {"", "standard", false}, {"frontier", "strong", true}, {"strong", "strong", false}} {
		if got := work.Above(c.a, c.b); got != c.want {
			t.Errorf("%q above %q: %v", c.a, c.b, got)
		}
	}
}
