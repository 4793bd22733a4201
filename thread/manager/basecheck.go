package manager

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
)

// baseChecker compares what agents send before a word is said with what they leave out of it. What does not work with a version
// of a CLI is stored for the project, so that later threads keep it; each is told once.
type baseChecker struct {
	cfg     *Config
	work    *work
	notices *notices

	saving sync.Mutex // guards what follows; held while it is read and stored
	facts  map[string]thread.BaseFacts
	warned map[string]bool // warnings by agent that people have been told; nil until read
}

// The settings that keep the facts of a version, and what people were told of surroundings.
const (
	factsKey  = "base-facts/"
	warnedKey = "base-warned"
)

// key names the facts about a version of an agent's CLI.
func (m *baseChecker) key(l thread.Levers) string { return factsKey + l.Agent + "/" + l.Version }

// started has the first request of a process compared with what it leaves out, and names what makes its base larger.
func (m *baseChecker) started(l *liveThread, agent thread.Agent, where thread.WorldSpec, spec thread.LaunchSpec, launch thread.Launch) {
	slim, ok := agent.(thread.Slimmer)
	if !ok {
		return
	}
	s := &basedStart{agent: slim, spec: where, resumed: spec.Resume}
	for _, name := range spec.Base {
		if launch.Unused[name] == "" {
			s.left = append(s.left, name)
		}
	}
	l.mu.Lock()
	l.based = s
	l.mu.Unlock()
	if m.work.begin() {
		go func() {
			defer m.work.done()
			m.surroundings(m.work.ctx, l, agent.Name(), s)
		}()
	}
}

// first takes the first request of a thread's process. Only one that offers tools counts, and of each process the first.
func (m *baseChecker) first(l *liveThread, r thread.FirstRequest) {
	if !slices.ContainsFunc(r.Texts, func(t thread.BaseText) bool { return t.Kind == thread.BaseTool }) {
		return
	}
	l.mu.Lock()
	s := l.based
	l.based = nil
	l.mu.Unlock()
	if s == nil || !m.work.begin() {
		return
	}
	go func() {
		defer m.work.done()
		m.check(m.work.ctx, l, s, r)
	}()
}

// check compares a first request with what was left out, stores what did not work, and tells it.
func (m *baseChecker) check(ctx context.Context, l *liveThread, s *basedStart, r thread.FirstRequest) {
	levers, err := s.agent.Levers(ctx, s.spec)
	if err != nil {
		m.cfg.Log.Warn("find what an agent can leave out", "thread", string(l.id), "err", err)
		return
	}
	start := thread.BaseStart{Levers: levers, Left: s.left, Resumed: s.resumed}
	found, size := start.Check(r), r.Size(s.left, m.cfg.Tokens)
	for _, f := range m.learn(ctx, start, found, size) {
		name := l.thread().DisplayName()
		m.notices.tell(l.id, thread.Notice{Level: thread.LevelWarn, Kind: thread.HappenedContext, Text: fmt.Sprintf(
			"%s: %s, although its base leaves out %s. New threads with %s keep it; see `orchestrator context base %s`",
			name, plaintext.OneLine(f.What, 200), strings.Join(f.Levers, ", "), strings.TrimSpace(levers.Agent+" "+levers.Version), l.thread().Name)})
	}
}

// learn adds what a first request shows to the facts of its version, and returns what is news.
func (m *baseChecker) learn(ctx context.Context, s thread.BaseStart, found []thread.BaseFinding, size thread.BaseSize) []thread.BaseFinding {
	m.saving.Lock()
	defer m.saving.Unlock()
	key := m.key(s.Levers)
	was := m.read(ctx, key)
	if len(found) == 0 {
		found = s.Grown(size, was.Sizes)
	}
	now, news := was.Drop(found)
	if len(found) == 0 && !s.Resumed {
		now = now.Know(size)
	}
	m.facts[key] = now
	raw, err := json.Marshal(now)
	if err == nil {
		err = m.cfg.Store.SetSetting(ctx, key, string(raw))
	}
	if err != nil { // known until the server ends
		m.cfg.Log.Warn("store what an agent cannot leave out", "agent", s.Levers.Agent, "err", err)
	}
	return news
}

// read returns the facts with a key. saving is held.
func (m *baseChecker) read(ctx context.Context, key string) thread.BaseFacts {
	if f, ok := m.facts[key]; ok {
		return f
	}
	var f thread.BaseFacts
	raw, err := m.cfg.Store.Setting(ctx, key)
	if err == nil && raw != "" {
		err = json.Unmarshal([]byte(raw), &f)
	}
	if err != nil {
		m.cfg.Log.Warn("read what an agent cannot leave out", "key", key, "err", err)
		return f
	}
	if m.facts == nil {
		m.facts = map[string]thread.BaseFacts{}
	}
	m.facts[key] = f
	return f
}

// without returns levers with why those are kept that did not work with their version.
func (m *baseChecker) without(ctx context.Context, l thread.Levers) thread.Levers {
	return m.of(ctx, l).Without(l)
}

// of returns the facts about the version of a CLI.
func (m *baseChecker) of(ctx context.Context, l thread.Levers) thread.BaseFacts {
	m.saving.Lock()
	defer m.saving.Unlock()
	return m.read(ctx, m.key(l))
}

// surroundings tells what makes the base of an agent larger: of each agent once.
func (m *baseChecker) surroundings(ctx context.Context, l *liveThread, agent string, s *basedStart) {
	for _, w := range s.agent.Surroundings(s.spec) {
		if m.news(ctx, agent, w) {
			m.notices.tell(l.id, thread.Notice{Level: thread.LevelInfo, Kind: thread.HappenedContext,
				Text: fmt.Sprintf("%s: %s", l.thread().DisplayName(), w.Line())})
		}
	}
}

// maxWarned is how many warnings are remembered.
const maxWarned = 200

// news reports whether people have not been told of a warning yet, and remembers it. Its figures may change.
func (m *baseChecker) news(ctx context.Context, agent string, w thread.BaseWarning) bool {
	what := agent + ": " + strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) || r == '.' {
			return -1
		}
		return r
	}, plaintext.OneLine(w.What, 200))
	m.saving.Lock()
	defer m.saving.Unlock()
	if m.warned == nil {
		m.warned = map[string]bool{}
		raw, err := m.cfg.Store.Setting(ctx, warnedKey)
		var list []string
		if err == nil && raw != "" {
			err = json.Unmarshal([]byte(raw), &list)
		}
		if err != nil {
			m.cfg.Log.Warn("read what was told of surroundings", "err", err)
		}
		for _, s := range list {
			m.warned[s] = true
		}
	}
	if m.warned[what] || len(m.warned) >= maxWarned {
		return false
	}
	m.warned[what] = true
	raw, err := json.Marshal(slices.Sorted(maps.Keys(m.warned)))
	if err == nil {
		err = m.cfg.Store.SetSetting(ctx, warnedKey, string(raw))
	}
	if err != nil {
		m.cfg.Log.Warn("store what was told of surroundings", "err", err)
	}
	return true
}
