package replay

import (
	"cmp"
	"context"
	"maps"
	"slices"
)

// Sessions describes which sessions of an agent a group has.
type Sessions string

// The groups of sessions, in the order of a report.
const (
	// AllSessions are all sessions of an agent.
	AllSessions Sessions = "all"
	// CleanSessions are the parts of sessions that began with less than 30 % of the window: nothing was resumed there.
	CleanSessions Sessions = "clean start"
	// LargeSessions are those whose context passed 100,000 tokens in a window of up to 300,000.
	LargeSessions Sessions = "over 100k"
	// LongSessions are those in larger windows.
	LongSessions Sessions = "long window"
)

const (
	largeContext = 100_000
	usualWindow  = 300_000
	cleanShare   = 30 // of the window, in percent
)

// Compared is what is compared: each policy with each base and each cache.
type Compared struct {
	Policies []Policy
	Bases    []Base // none is for the one that was recorded
	Caches   []Cache
	// Definitions are added to what was recorded.
	Definitions Definitions
}

// Comparison replays sessions in several ways and adds up what became of them.
type Comparison struct {
	compared Compared
	models   Models
	groups   map[group][]Tally // by policy, base and cache
	sessions map[group]int
}

// Models is what is known about models.
type Models struct {
	// Window returns the window of a model in a session that used so many tokens, 0 if it is unknown.
	Window func(model string, used int64) int64
	// Price returns the price in USD of a token of input that goes past the cache; nil or false if it is unknown.
	Price func(model string) (usd float64, known bool)
	// Factor returns how many tokens the provider of a model counts for one of ours; nil is for as many.
	Factor func(model string) float64
}

// price adds what a segment costs in USD.
func (m Models) price(seg Segment, t *Tally) {
	if m.Price == nil {
		return
	}
	if usd, known := m.Price(seg.Model); known {
		t.Priced, t.RawUSD, t.USD = t.Requests, t.RawCost*usd, t.Cost*usd
	}
}

type group struct {
	agent    string
	sessions Sessions
}

// NewComparison returns a comparison.
func NewComparison(c Compared, m Models) *Comparison {
	if len(c.Bases) == 0 {
		c.Bases = []Base{{}}
	}
	return &Comparison{compared: c, models: m, groups: make(map[group][]Tally), sessions: make(map[group]int)}
}

// Add replays a session.
func (c *Comparison) Add(ctx context.Context, s Session) error {
	largest := s.Largest()
	counted := make(map[group]bool)
	for _, seg := range s.Segments {
		window := c.models.Window(seg.Model, largest)
		in := []Sessions{AllSessions}
		if seg.Begins && (window <= 0 || seg.Requests[0].Context*100 < window*cleanShare) {
			in = append(in, CleanSessions)
		}
		switch {
		case window > usualWindow:
			in = append(in, LongSessions)
		case largest > largeContext:
			in = append(in, LargeSessions)
		}
		tallies, err := c.replay(ctx, s, seg, window)
		if err != nil {
			return err
		}
		for _, sessions := range in {
			g := group{s.Agent, sessions}
			counted[g] = true
			if c.groups[g] == nil {
				c.groups[g] = make([]Tally, len(tallies))
			}
			for i, t := range tallies {
				c.groups[g][i].Add(t)
			}
		}
	}
	for g := range counted {
		c.sessions[g]++
	}
	return nil
}

// replay replays a segment in each way.
func (c *Comparison) replay(ctx context.Context, s Session, seg Segment, window int64) ([]Tally, error) {
	var out []Tally
	for _, p := range c.compared.Policies {
		for _, b := range c.compared.Bases {
			front := c.front(s, seg, b, window)
			for _, cache := range c.compared.Caches {
				t, err := Simulate(ctx, seg, p, cache, front, window)
				if err != nil {
					return nil, err
				}
				c.models.price(seg, &t)
				out = append(out, t)
			}
		}
	}
	return out, nil
}

// front returns what stands before the items of a session's segment with a base. A share is of a base that is known: not of
// one that is the beginning of a conversation that was resumed.
func (c *Comparison) front(s Session, seg Segment, b Base, window int64) Front {
	d := c.compared.Definitions
	f := Front{Raw: c.models.counted(seg.Model, d.All), Sent: c.models.counted(seg.Model, d.On)}
	if b.Saving == nil {
		return f
	}
	had, saving := s.Base(), b.Saving(s.Agent)
	less := c.models.counted(seg.Model, saving.Tokens)
	if window <= 0 || had*100 < window*cleanShare {
		less += int64(float64(had) * saving.Percent / 100)
	}
	f.Sent -= min(max(0, less), had)
	return f
}

// counted returns how many tokens a model's provider counts for so many of ours.
func (m Models) counted(model string, ours int64) int64 {
	if m.Factor == nil {
		return ours
	}
	return int64(float64(ours) * m.Factor(model))
}

// Group is the result of a comparison for some sessions of an agent. Contexts are in tokens, means over requests, and
// shares in percent.
type Group struct {
	Agent    string    `json:"agent"`
	Sessions Sessions  `json:"sessions"`
	Count    int       `json:"count"` // of the sessions that have any of it
	Segments int       `json:"segments"`
	Requests int       `json:"requests"`
	Context  float64   `json:"meanContext"` // as the agent itself sent it
	History  float64   `json:"meanHistory"`
	Small    float64   `json:"below60"`
	Results  []Outcome `json:"results"`
}

// Outcome is what a policy made of a group with a base and a cache. Cuts and the change of the cost are relative to what the agent
// itself sent: a cut of 40 is a context that is 40 % smaller, a cost of -10 is 10 % lower.
type Outcome struct {
	Policy     string  `json:"policy"`
	Base       string  `json:"base,omitempty"`
	Cache      string  `json:"cache"`
	Context    float64 `json:"meanContext"`
	History    float64 `json:"meanHistory"`
	ContextCut float64 `json:"contextCut"`
	HistoryCut float64 `json:"historyCut"`
	Cost       float64 `json:"cost"`
	// USD is the cost of the input, and RawUSD of what the agent itself sent, of the Priced requests with a known price.
	USD       float64 `json:"usd"`
	RawUSD    float64 `json:"rawUSD"`
	Priced    int     `json:"pricedRequests"`
	Small     float64 `json:"below60"`
	Edits     int     `json:"edits"`
	EditsRead int     `json:"editsOfReadFiles"`
	EditsHit  int     `json:"editsHit"`
	HitShare  float64 `json:"editsHitShare"` // of edits of read files
	Masks     float64 `json:"masksPerSegment"`
	Summaries int     `json:"summaries"`
	Warnings  int     `json:"warnings"`
	Forks     int     `json:"forks"`
}

// Groups returns the results, by agent and group of sessions.
func (c *Comparison) Groups() []Group {
	order := []Sessions{AllSessions, CleanSessions, LargeSessions, LongSessions}
	keys := slices.SortedFunc(maps.Keys(c.groups), func(a, b group) int {
		return cmp.Or(cmp.Compare(a.agent, b.agent),
			cmp.Compare(slices.Index(order, a.sessions), slices.Index(order, b.sessions)))
	})
	out := make([]Group, 0, len(keys))
	for _, key := range keys {
		out = append(out, c.result(key))
	}
	return out
}

func (c *Comparison) result(key group) Group {
	g := Group{Agent: key.agent, Sessions: key.sessions, Count: c.sessions[key]}
	policies, bases, caches := c.compared.Policies, c.compared.Bases, c.compared.Caches
	for i, t := range c.groups[key] {
		n := float64(t.Requests)
		g.Segments, g.Requests = t.Segments, t.Requests
		g.Context, g.History = ratio(float64(t.RawContext), n), ratio(float64(t.RawHistory), n)
		g.Small = 100 * ratio(float64(t.RawSmall), float64(t.Windowed))
		g.Results = append(g.Results, Outcome{
			Policy: policies[i/len(caches)/len(bases)].Name, Base: bases[i/len(caches)%len(bases)].Name, Cache: caches[i%len(caches)].Name,
			Context: ratio(float64(t.Context), n), History: ratio(float64(t.History), n),
			ContextCut: 100 * ratio(float64(t.RawContext-t.Context), float64(t.RawContext)),
			HistoryCut: 100 * ratio(float64(t.RawHistory-t.History), float64(t.RawHistory)),
			Cost:       100 * ratio(t.Cost-t.RawCost, t.RawCost),
			USD:        t.USD, RawUSD: t.RawUSD, Priced: t.Priced,
			Small: 100 * ratio(float64(t.Small), float64(t.Windowed)),
			Edits: t.Edits, EditsRead: t.EditsRead, EditsHit: t.EditsHit,
			HitShare:  100 * ratio(float64(t.EditsHit), float64(t.EditsRead)),
			Masks:     ratio(float64(t.Masks), float64(t.Segments)),
			Summaries: t.Summaries, Warnings: t.Warnings, Forks: t.Forks,
		})
	}
	return g
}

// ratio returns 0 for a ratio to nothing.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
