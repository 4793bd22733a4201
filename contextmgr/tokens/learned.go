package tokens

import "strings"

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

// learned is what was learned, by model. It is bounded, and used by one goroutine at a time.
type learned struct {
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

func newLearned() learned { return learned{models: map[string]*model{}} }

// add learns of a model.
func (l *learned) add(name string, s sample) {
	l.clock++
	k := &l.model(name).all
	k.add(s)
	k.used = l.clock
}

// addTool learns of a tool with a model, from a sample that was added to the model.
func (l *learned) addTool(name, tool string, s sample) {
	k := l.model(name).tool(tool)
	k.add(s)
	k.used = l.clock
}

// factor is Factor of a Calibration.
func (l *learned) factor(name, tool string) (factor, margin float64, observations int) {
	usual := UsualFactor(name, tool)
	m := l.models[name]
	if m == nil {
		return usual, usualMargin, 0
	}
	of := &m.all
	if k := m.tools[tool]; k != nil && k.believed() {
		of, usual = k, 1
	} else {
		usual /= UsualFactor(name, AllTools) // what is special about the tool
	}
	if !of.believed() {
		return UsualFactor(name, tool), usualMargin, 0
	}
	return min(max(of.samples.factor*usual, leastFactor), mostFactor), max(of.margin, leastMargin), of.n
}

// UsualFactor is a factor before anything was learned: Claude's encoding has more tokens than ours, and more so for the
// output of commands; most others are close to ours.
func UsualFactor(model, tool string) float64 {
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
// there are too many.
func (l *learned) model(name string) *model {
	m := l.models[name]
	if m == nil {
		if len(l.models) >= mostModels {
			delete(l.models, oldest(l.models, func(m *model) uint64 { return m.all.used }))
		}
		m = &model{tools: map[string]*kind{}}
		l.models[name] = m
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

// clip cuts a name to what is kept of it.
func clip(s string) string { return strings.ToValidUTF8(s[:min(len(s), longestName)], "") }
