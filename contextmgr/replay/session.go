package replay

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"orchestrator/contextmgr/policy"
)

// Session is a recorded conversation, cut where the agent itself threw something away. It has what its requests were
// made of, and no contents.
type Session struct {
	Name, Agent string
	// Segments are empty if the provider's counts are missing.
	Segments []Segment
}

// Largest returns the largest context of the session.
func (s Session) Largest() int64 {
	most := int64(0)
	for _, seg := range s.Segments {
		most = max(most, seg.largest())
	}
	return most
}

// Segment is a part of a session in which each request has all of the one before.
type Segment struct {
	// Begins is set if the session or what followed the agent's own compaction began with the first request: there was
	// no rewind before it.
	Begins   bool
	Model    string
	Requests []Request
	items    []item
	said     int64 // about how many tokens were said before the first request, and are not of its base
}

func (s Segment) largest() int64 {
	most := int64(0)
	for _, r := range s.Requests {
		most = max(most, r.Context)
	}
	return most
}

// Request is one request of a segment.
type Request struct {
	Context int64         // in tokens, as the provider counted
	Pause   time.Duration // since the request before
	model   string
	items   int    // how many items of the segment it has
	turn    int    // the request with which its turn began
	edits   []edit // what its response changed
}

// edit is a change of a file by a response.
type edit struct {
	file string
	read int // the item with the file's last read, -1 if there is none
}

// item is a piece of a conversation behind the first request of its segment.
type item struct {
	result policy.Result // its Tokens and Request count also where it is not a result
	work   bool          // a result or an input, which may be masked
	part   string        // of the file that was read
	own    bool          // the model wrote it
}

// These tell what the provider counts from what a session holds.
const (
	imageBytes = 4500 // of an image that was dropped
	// mostScale bounds by how much a piece may be larger than estimated. What the provider counted beyond that belongs
	// to what the session does not hold.
	mostScale = 3
	// likely is the factor between estimated and counted output beyond which the count is not believed.
	likely = 2
	// rewound is the share of the context in percent, below the one before, at which a session went back or was cut.
	rewound = 90
	// mostEvents bounds a session: the work of a replay grows with the square of it.
	mostEvents = 100_000
)

// ErrLarge is the error of a session with too many events.
var ErrLarge = fmt.Errorf("more than %d events", mostEvents)

// Builder makes a session from its events.
type Builder struct {
	session Session
	calls   map[string]Event // by id
	pending []item
	sizes   []int64 // of what is pending, in bytes
	reads   map[string]int
	output  int64 // tokens of the last response
	events  int
	works   int  // results and inputs so far
	cut     bool // a boundary stands before the next request
	back    bool // the person went back before it
	spoke   bool // the person spoke since the last request
	at      time.Duration
	timed   bool
}

// NewBuilder returns a builder of a session of an agent. Without one, the agent is that whose models answer.
func NewBuilder(name, agent string) *Builder {
	return &Builder{session: Session{Name: name, Agent: agent}, calls: make(map[string]Event)}
}

// Session returns the session of all events that were added.
func (b *Builder) Session() Session { return b.session }

// Add adds the next event. A session that is too large ends before it.
func (b *Builder) Add(e Event) error {
	if b.events++; b.events > mostEvents {
		return ErrLarge
	}
	if e.Usage != nil && e.Usage.Context() > 0 {
		b.request(e)
	}
	switch e.Kind {
	case KindBoundary:
		b.cut, b.pending, b.sizes = true, nil, nil
	case KindRewind:
		b.back, b.pending, b.sizes = true, nil, nil
	case KindCall:
		b.call(e)
	case KindResult:
		b.result(e)
	case KindText, KindThinking:
		b.spoke = b.spoke || e.Person && !e.Aside
		b.add(item{}, e)
	case KindSession:
	}
	return nil
}

func (b *Builder) add(it item, e Event) {
	it.own = !e.Person
	b.pending = append(b.pending, it)
	b.sizes = append(b.sizes, e.Bytes+int64(e.Images)*imageBytes)
}

func (b *Builder) call(e Event) {
	if e.ID != "" {
		b.calls[e.ID] = e
	}
	it := item{}
	if e.Use.Kind == policy.KindOutput {
		it.work = !b.exact()
		it.result = policy.Result{ID: b.id("input"), Tool: e.Tool, Kind: policy.KindInput, Lines: e.Lines,
			Writes: e.Use.Writes}
	}
	if e.Use.Writes != "" {
		b.edited(e.Use.Writes)
	}
	b.add(it, e)
}

// id returns a new name. Recorded ids may be missing or stand twice.
func (b *Builder) id(kind string) policy.ID {
	b.works++
	return policy.ID(kind + " " + strconv.Itoa(b.works))
}

// exact reports whether the provider wants to have inputs back as the model wrote them.
func (b *Builder) exact() bool {
	seg := b.last()
	return b.session.Agent == codex || seg != nil && agentOf(seg.Model) == codex
}

// edited notes that the last response changes a file.
func (b *Builder) edited(file string) {
	seg := b.last()
	if seg == nil || len(seg.Requests) == 0 || b.cut || b.back {
		return
	}
	read, ok := b.reads[file]
	if !ok {
		read = -1
	}
	r := &seg.Requests[len(seg.Requests)-1]
	r.edits = append(r.edits, edit{file, read})
}

func (b *Builder) result(e Event) {
	c := b.calls[e.ID]
	delete(b.calls, e.ID)
	kind := c.Use.Kind
	if e.Images > 0 {
		kind = policy.KindImage
	}
	b.add(item{work: true, part: c.Use.Part, result: policy.Result{ID: b.id("output"), Tool: cmp.Or(e.Tool, c.Tool), Kind: kind,
		Lines: e.Lines, Error: e.Error, Reads: c.Use.Reads, Writes: c.Use.Writes}}, e)
}

func (b *Builder) last() *Segment {
	if len(b.session.Segments) == 0 {
		return nil
	}
	return &b.session.Segments[len(b.session.Segments)-1]
}

// request begins the next request: all that is pending belongs to it.
func (b *Builder) request(e Event) {
	r := Request{Context: e.Usage.Context(), model: e.Model}
	if e.Timed && b.timed {
		r.Pause = max(0, e.At-b.at)
	}
	if e.Timed {
		b.at, b.timed = e.At, true
	}
	if b.session.Agent == "" {
		b.session.Agent = agentOf(e.Model)
	}
	if seg := b.last(); seg == nil || b.cut || b.back || seg.leaves(r.Context) {
		b.session.Segments = append(b.session.Segments,
			Segment{Begins: seg == nil || b.cut, Model: e.Model, Requests: []Request{r}, said: b.said(e.Model)})
		b.reads = make(map[string]int)
	} else {
		b.grow(seg, r)
	}
	b.pending, b.sizes, b.output = nil, nil, e.Usage.Output
	b.cut, b.back, b.spoke = false, false, false
}

// said returns about how many tokens are pending.
func (b *Builder) said(model string) int64 {
	var bytes int64
	for _, n := range b.sizes {
		bytes += n
	}
	return int64(float64(bytes) / bytesPerToken(b.session.Agent, model))
}

// leaves reports whether a request does not go on from the last one of the segment.
func (s *Segment) leaves(context int64) bool {
	last := s.Requests[len(s.Requests)-1].Context
	return context*100 < last*rewound
}

// grow adds a request that has all of the one before and what is pending.
func (b *Builder) grow(seg *Segment, r Request) {
	n := len(seg.Requests)
	last := seg.Requests[n-1]
	own, other := b.scales(float64(r.Context-last.Context), bytesPerToken(b.session.Agent, seg.Model))
	for i, it := range b.pending {
		it.result.Request = n
		it.result.Tokens = int64(float64(b.sizes[i]) * other)
		if it.own {
			it.result.Tokens = int64(float64(b.sizes[i]) * own)
		}
		if res := it.result; it.work && res.Reads != "" && res.Kind == policy.KindOutput && !res.Error {
			b.reads[res.Reads] = len(seg.items)
		}
		seg.items = append(seg.items, it)
	}
	r.items, r.turn = len(seg.items), last.turn
	if b.spoke {
		r.turn = n
	}
	seg.Requests = append(seg.Requests, r)
}

// scales returns how many tokens a byte of what is pending makes, of the model's own and of all other, so that the sums
// are what the provider counted: the growth of the context and, of it, the output of the last response. Some sessions
// have an output that cannot be true; of those only the growth counts.
func (b *Builder) scales(growth, density float64) (own, other float64) {
	var mine, others float64
	for i, it := range b.pending {
		if it.own {
			mine += float64(b.sizes[i]) / density
		} else {
			others += float64(b.sizes[i]) / density
		}
	}
	growth = max(0, growth)
	if out := float64(b.output); mine > 0 && out <= growth && out >= mine/likely && out <= mine*likely {
		return out / mine / density, fit(growth-out, others) / density
	}
	all := fit(growth, mine+others) / density
	return all, all
}

// fit returns by what factor an estimate is smaller than what was counted.
func fit(counted, estimate float64) float64 {
	if estimate <= 0 {
		return 1
	}
	return min(mostScale, counted/estimate)
}

// bytesPerToken returns how many bytes make a token, before a session's own counts correct it.
func bytesPerToken(agent, model string) float64 {
	switch {
	case agent == claude:
		return 2.85
	case agent == codex, agentOf(model) == codex:
		return 3.5
	default:
		return 3.2
	}
}

// The agents whose providers count and check in ways of their own.
const (
	claude = "claude"
	codex  = "codex"
)

// agentOf returns the agent that is usual for a model.
func agentOf(model string) string {
	switch {
	case strings.HasPrefix(model, "claude"):
		return claude
	case strings.HasPrefix(model, "gpt-"):
		return codex
	case strings.HasPrefix(model, "gemini"):
		return "gemini"
	default:
		return "other"
	}
}
