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
	warned []string // warnings by agent that people have been told, the newest last; nil until read
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
	start := thread.BaseStart{Levers: levers, Left: s.left, Resumed: s.resumed, With: startedWith(s.spec)}
	r.Texts = s.agent.BaseParts(r.Texts)
	found, size := start.Check(r), start.Size(r, m.cfg.Tokens)
	for _, f := range m.learn(ctx, start, found, size) {
		version := strings.TrimSpace(levers.Agent + " " + levers.Version)
		follows := fmt.Sprintf("If another start shows that, new threads with %s no longer leave it out", version)
		if f.Dropped {
			follows = fmt.Sprintf("New threads with %s no longer leave it out", version)
		}
		m.notices.tell(l.id, thread.Notice{Level: thread.LevelWarn, Kind: thread.HappenedContext, Text: fmt.Sprintf(
			"%s: %s. Its base leaves out %s. %s; see `orchestrator context base %s`",
			l.thread().DisplayName(), plaintext.OneLine(f.What, 200), strings.Join(f.Levers, ", "), follows, l.thread().Name)})
	}
}

// startedWith stands for the flags of a start that may change what an agent sends.
func startedWith(spec thread.WorldSpec) string {
	var names []string
	for _, kv := range spec.Flags.Env {
		name, _, _ := strings.Cut(kv, "=")
		names = append(names, name)
	}
	return fmt.Sprintf("%q %q %q %q", spec.Model, spec.Flags.PermissionMode, spec.Flags.Args, names)
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
	now, news := was.Learn(s, found)
	if len(found) == 0 && !s.Resumed {
		now = now.Know(size)
	}
	if err := m.write(ctx, key, now); err != nil { // known until the server ends
		m.cfg.Log.Warn("store what an agent cannot leave out", "agent", s.Levers.Agent, "err", err)
	}
	return news
}

// forget forgets what is known of a version of a CLI, and returns the levers that new threads leave out again.
func (m *baseChecker) forget(ctx context.Context, l thread.Levers) ([]string, error) {
	m.saving.Lock()
	defer m.saving.Unlock()
	key := m.key(l)
	was := m.read(ctx, key)
	return slices.Sorted(maps.Keys(was.Dropped)), m.write(ctx, key, thread.BaseFacts{})
}

// write stores facts. saving is held.
func (m *baseChecker) write(ctx context.Context, key string, f thread.BaseFacts) error {
	if m.facts == nil {
		m.facts = map[string]thread.BaseFacts{}
	}
	m.facts[key] = f
	raw, err := json.Marshal(f)
	if err != nil {
		return err
	}
	return m.cfg.Store.SetSetting(ctx, key, string(raw))
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
		if m.news(ctx, agent, w, m.roots(l.thread(), s.spec)) {
			m.notices.tell(l.id, thread.Notice{Level: thread.LevelInfo, Kind: thread.HappenedContext,
				Text: fmt.Sprintf("%s: %s", l.thread().DisplayName(), w.Line())})
		}
	}
}

// maxWarned is how many warnings are remembered.
const maxWarned = 200

// roots are the folders that are the same one for people wherever a thread works: the project and its copies.
func (m *baseChecker) roots(t thread.Thread, spec thread.WorldSpec) []string {
	all := slices.DeleteFunc([]string{t.Worktree.Path, spec.Origin, m.cfg.Project, spec.Dir}, func(dir string) bool {
		return dir == "" || dir == "/"
	})
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) })
	return all
}

// news reports whether people have not been told of a warning yet, and remembers it. Its figures may change, and each copy
// of the repository has the same files.
func (m *baseChecker) news(ctx context.Context, agent string, w thread.BaseWarning, roots []string) bool {
	what := w.What
	for _, root := range roots {
		what = strings.ReplaceAll(what, root+"/", "./")
	}
	what = agent + ": " + strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) || r == '.' {
			return -1
		}
		return r
	}, plaintext.OneLine(what, 200))
	m.saving.Lock()
	defer m.saving.Unlock()
	if m.warned == nil {
		raw, err := m.cfg.Store.Setting(ctx, warnedKey)
		if err == nil && raw != "" {
			err = json.Unmarshal([]byte(raw), &m.warned)
		}
		if err != nil {
			m.cfg.Log.Warn("read what was told of surroundings", "err", err)
		}
	}
	if slices.Contains(m.warned, what) {
		return false
	}
	m.warned = append(m.warned[max(0, len(m.warned)-maxWarned+1):], what)
	raw, err := json.Marshal(m.warned)
	if err == nil {
		err = m.cfg.Store.SetSetting(ctx, warnedKey, string(raw))
	}
	if err != nil {
		m.cfg.Log.Warn("store what was told of surroundings", "err", err)
	}
	return true
}
