package tokens

import (
	"cmp"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"orchestrator/thread/private"
)

// AllTools stands for all that is added to a conversation, whatever tool it is from.
const AllTools = "*"

const (
	// usualMargin is the margin of a factor that was not learned.
	usualMargin = 0.3
	// mostModels and mostTools, of each model, bound what is kept: names come from requests.
	mostModels, mostTools = 32, 64
	// longestName is the length in bytes to which names are cut.
	longestName = 100
)

// Calibration learns, by model and tool, how many tokens a provider counts for one that Counter counts.
//
// It is fed with samples: what a provider counted more than for the request before, and what was added in between. Samples
// that cannot be of one conversation that goes on are left out, and of the others a wrong minority does not move a
// factor. Until there are five of a kind, its factor is what was measured for models of that name, or 1.
//
// It is bounded: of 32 models, and 64 tools of each, those that were not heard of for longest are given up. It is in a
// file of the folder, written some minutes after a change and by Close; one that is missing, damaged or not ours is as
// good as empty. It is safe for concurrent use.
type Calibration struct {
	folder *private.Folder
	keeper *keeper

	mu     sync.Mutex // guards all below; held for moments
	models map[string]*model
	clock  uint64 // counts observations: the time of day may jump
}

// model is what was learned of a model.
type model struct {
	all   kind
	tools map[string]*kind
}

// kind is what was learned of one kind of content.
type kind struct {
	samples
	used uint64 // when it was observed last, by the clock
}

// OpenCalibration returns what was learned before, from a folder, which stays the caller's and must outlive it. Stop it
// with Close.
func OpenCalibration(folder *private.Folder, log *slog.Logger) *Calibration {
	c := newCalibration(folder)
	if err := c.read(); err != nil {
		log.Warn("read the calibration of token counts; it is learned again", "err", err)
	}
	c.keeper = newKeeper("the calibration of token counts", log, c.write)
	return c
}

// newCalibration returns one that knows nothing.
func newCalibration(folder *private.Folder) *Calibration {
	return &Calibration{folder: folder, models: map[string]*model{}}
}

// Close stores what was learned.
func (c *Calibration) Close() error { return c.keeper.close() }

// Observe learns from a request that continues the conversation of the one before: growth is how many tokens more the
// provider counted, and parts is our count of what was added in between, by tool, with "" for the text of the person and
// the model. A factor is the better, the less of growth is missing from parts. Of a model's answer much may be missing,
// such as reasoning that only the provider can read: so growth is best counted from the end of the answer before, and
// parts without it.
func (c *Calibration) Observe(name string, growth int64, parts map[string]int64) {
	var ours int64
	most := ""
	for tool, n := range parts {
		if n < 0 || n > mostGrowth {
			return
		}
		if ours += n; n > parts[most] {
			most = tool
		}
	}
	p, ok := sampleOf(growth, ours)
	if name = clip(name); !ok || name == "" {
		return
	}
	c.mu.Lock()
	m := c.model(name)
	c.clock++
	m.all.add(p)
	m.all.used = c.clock
	if tool := clip(most); parts[most]*5 >= ours*4 && tool != AllTools {
		k := m.tool(tool)
		k.add(p)
		k.used = c.clock
	}
	c.mu.Unlock()
	c.keeper.changed()
}

// Factor returns by what our count of a tool's output, of the text of person and model ("") or of everything (AllTools)
// is multiplied to get a model's count; margin is the relative error that was observed with it, at least 0.05; and
// observations is how many samples it was learned from, 0 if it is assumed.
func (c *Calibration) Factor(model, tool string) (factor, margin float64, observations int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.factor(clip(model), clip(tool))
}

// factor is Factor with clipped names. mu is held.
func (c *Calibration) factor(name, tool string) (factor, margin float64, observations int) {
	usual := usualFactor(name, tool)
	m := c.models[name]
	if m == nil {
		return usual, usualMargin, 0
	}
	of := &m.all
	if k := m.tools[tool]; k != nil && k.believed() {
		of, usual = k, 1
	} else {
		usual /= usualFactor(name, AllTools) // what is special about the tool
	}
	if !of.believed() {
		return usualFactor(name, tool), usualMargin, 0
	}
	return min(max(of.samples.factor*usual, leastFactor), mostFactor), max(of.margin, leastMargin), of.n
}

// usualFactor is a factor before anything was learned: Claude's encoding has more tokens than ours, and more so for the
// output of commands; most others are close to ours.
func usualFactor(model, tool string) float64 {
	if !strings.Contains(strings.ToLower(model), "claude") {
		return 1
	}
	switch strings.ToLower(tool) {
	case "read":
		return 1.14
	case "bash":
		return 1.33
	default:
		return 1.17
	}
}

// model returns what was learned of a model. For a new one it gives up the one that was not heard of for longest, if
// there are too many. mu is held.
func (c *Calibration) model(name string) *model {
	m := c.models[name]
	if m == nil {
		if len(c.models) >= mostModels {
			delete(c.models, oldest(c.models, func(m *model) uint64 { return m.all.used }))
		}
		m = &model{tools: map[string]*kind{}}
		c.models[name] = m
	}
	return m
}

// tool returns what was learned of a tool, in the same way.
func (m *model) tool(name string) *kind {
	k := m.tools[name]
	if k == nil {
		if len(m.tools) >= mostTools {
			delete(m.tools, oldest(m.tools, func(k *kind) uint64 { return k.used }))
		}
		k = &kind{}
		m.tools[name] = k
	}
	return k
}

// oldest returns the name whose time is the earliest.
func oldest[V any](all map[string]V, used func(V) uint64) (name string) {
	first := true
	for k, v := range all {
		if first || used(v) < used(all[name]) {
			name, first = k, false
		}
	}
	return name
}

// Row is what is in use for a model and a tool, for people.
type Row struct {
	Model string `json:"model"`
	// Tool is AllTools for everything, and "" for the text of person and model.
	Tool         string  `json:"tool"`
	Factor       float64 `json:"factor"`
	Margin       float64 `json:"margin"`
	Observations int     `json:"observations"` // how many there have been
	// Learned is set if there have been enough of them; otherwise the factor is one that is assumed.
	Learned bool `json:"learned"`
}

// All returns a row for each model and tool that was observed, sorted, with a model's AllTools first.
func (c *Calibration) All() []Row {
	c.mu.Lock()
	defer c.mu.Unlock()
	rows := []Row{}
	add := func(name, tool string, k *kind) {
		factor, margin, _ := c.factor(name, tool)
		rows = append(rows, Row{
			Model: name, Tool: tool, Factor: factor, Margin: margin, Observations: k.n, Learned: k.believed(),
		})
	}
	for name, m := range c.models {
		add(name, AllTools, &m.all)
		for tool, k := range m.tools {
			add(name, tool, k)
		}
	}
	slices.SortFunc(rows, func(a, b Row) int {
		all := func(r Row) int {
			if r.Tool == AllTools {
				return 0
			}
			return 1
		}
		return cmp.Or(strings.Compare(a.Model, b.Model), all(a)-all(b), strings.Compare(a.Tool, b.Tool))
	})
	return rows
}

// clip cuts a name to what is kept of it.
func clip(s string) string { return strings.ToValidUTF8(s[:min(len(s), longestName)], "") }
