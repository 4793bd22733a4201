package e2e

import "orchestrator/thread/plan"

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
