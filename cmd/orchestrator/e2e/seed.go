package e2e

import (
	"strings"
	"testing"

	"orchestrator/thread/plan"
)

// SeedAgent is an agent of the plan that waves were first thought of with, and what it hands over, as that was printed.
type SeedAgent struct {
	Name, Work string
	Wave       int
	Data       string
	// Pretty is Data as JavaScript's JSON.stringify(data, null, 2) prints it: how the second wave is to read the first.
	Pretty string
}

// SeedTitle is the task of the plan.
const SeedTitle = "Create Q2 marketing brief for GCG platform"

// SeedAgents returns the seven agents: three that work alone, and four that each read all of those.
func SeedAgents() []SeedAgent {
	return []SeedAgent{
		{
			Name: "vision", Work: "SEO analysis", Wave: 1,
			Data: `{
  "top_keywords": ["AI automation", "CRM integration"],
  "search_volume": 24000,
  "content_opportunities": ["persona-based messaging", "ROI calculator"]
}`,
			Pretty: `{
  "top_keywords": [
    "AI automation",
    "CRM integration"
  ],
  "search_volume": 24000,
  "content_opportunities": [
    "persona-based messaging",
    "ROI calculator"
  ]
}`,
		},
		{
			Name: "apex", Work: "PPC analysis", Wave: 1,
			Data: `{
  "cpc": 2.45,
  "competition": "high",
  "ad_formats": ["text_ads", "performance_max"]
}`,
			Pretty: `{
  "cpc": 2.45,
  "competition": "high",
  "ad_formats": [
    "text_ads",
    "performance_max"
  ]
}`,
		},
		{
			Name: "nova", Work: "GA4 analysis", Wave: 1,
			Data: `{
  "ctr": 3.2,
  "conversion_rate": 4.1,
  "traffic_source": "organic_search"
}`,
			Pretty: `{
  "ctr": 3.2,
  "conversion_rate": 4.1,
  "traffic_source": "organic_search"
}`,
		},
		{
			Name: "echo", Work: "copywriter", Wave: 2,
			Data: `{
  "headlines": [
    "AI Automation That Pays for Itself",
    "Turn CRM Data Into Revenue"
  ],
  "body_copy": "Trusted by 500+ companies..."
}`,
		},
		{
			Name: "pixel", Work: "designer", Wave: 2,
			Data: `{
  "color_scheme": "#0066FF, #FFD700",
  "typography": "Montserrat (bold), Inter (body)",
  "layout": "hero + features + testimonials"
}`,
		},
		{
			Name: "reel", Work: "video", Wave: 2,
			Data: `{
  "script": "In 30 seconds, show ROI from automation",
  "music": "upbeat, tech-forward",
  "scenes": ["dashboard", "success metric", "client quote"]
}`,
		},
		{
			Name: "social", Work: "captions", Wave: 2,
			Data: `{
  "instagram": "#AIAutomation #CRMIntegration",
  "linkedin": "Enterprise-grade automation for...",
  "tiktok": "Turn your CRM into a revenue machine"
}`,
		},
	}
}

// SeedPlan is their plan, where each agent is what as makes of it.
func SeedPlan(as func(SeedAgent, plan.Agent) plan.Agent) plan.Plan {
	p := plan.Plan{Name: "marketing", Description: "A marketing brief by seven agents"}
	for _, s := range SeedAgents() {
		p.Agents = append(p.Agents, as(s, plan.Agent{Name: s.Name, Wave: s.Wave}))
	}
	return p
}

// SeedHandsOn checks that a prompt of the second wave has what each agent of the first one handed over, once, byte for byte, in a
// section of its own.
func SeedHandsOn(t *testing.T, name, prompt string) {
	t.Helper()
	if !strings.Contains(prompt, SeedTitle) {
		t.Errorf("%s was not told the task's title:\n%s", name, prompt)
	}
	for _, s := range SeedAgents() {
		if s.Wave != 1 {
			if strings.Contains(prompt, `agent="`+s.Name+`"`) {
				t.Errorf("%s reads %s, which it has no edge to", name, s.Name)
			}
			continue
		}
		_, section, ok := strings.Cut(prompt, `<handed-over agent="`+s.Name+`"`)
		_, section, _ = strings.Cut(section, ">\n")
		section, _, _ = strings.Cut(section, "\n</handed-over")
		if !ok || section != s.Pretty {
			t.Errorf("%s got of %s:\n%s\nwant, byte for byte:\n%s", name, s.Name, section, s.Pretty)
		}
		if n := strings.Count(prompt, s.Pretty); n != 1 {
			t.Errorf("%s got what %s hands over %d times", name, s.Name, n)
		}
	}
}
