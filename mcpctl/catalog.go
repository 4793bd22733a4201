package mcpctl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"orchestrator/mcpctl/definition"
	"orchestrator/mcpctl/hub"
	"orchestrator/mcpctl/match"
	"orchestrator/mcpctl/process"
	"orchestrator/mcpctl/trust"
	"orchestrator/thread"
	"orchestrator/thread/frozen"
	"orchestrator/thread/ground/near"
)

// current returns the catalog of a folder of the project, read at most watchPause ago.
func (c *Controller) current(folder string) *catalog {
	c.mu.Lock()
	now := c.catalogs[folder]
	c.mu.Unlock()
	if now != nil && time.Since(now.at) < 2*watchPause {
		return now
	}
	return c.look(folder)
}

// look reads the configuration files again if they, or what is accepted, seem to have changed, or after a while.
func (c *Controller) look(folder string) *catalog {
	stamp := c.stamp(folder)
	c.mu.Lock()
	now := c.catalogs[folder]
	if now != nil && now.stamp == stamp && time.Since(now.read) < readPause {
		same := *now
		same.at = time.Now()
		c.catalogs[folder] = &same
		c.mu.Unlock()
		return &same
	}
	c.mu.Unlock()
	return c.refresh(folder)
}

// lookAll looks at the folders of which somebody asked.
func (c *Controller) lookAll() {
	c.mu.Lock()
	folders := slices.Collect(maps.Keys(c.catalogs))
	c.mu.Unlock()
	for _, folder := range folders {
		c.look(folder)
	}
}

// readPause is how often the configuration files are read even if they do not seem to have changed, since files that
// they name may have; watchedPause the same while somebody looks at the servers.
const (
	readPause    = 5 * time.Minute
	watchedPause = 5 * time.Second
)

// watched returns the catalog of a spot for somebody who looks at it.
func (c *Controller) watched(at spot) *catalog {
	now := c.in(at)
	if time.Since(now.read) <= watchedPause {
		return now
	}
	c.refresh(c.spots.folder(at))
	return c.judge(at)
}

// in returns the catalog as it stands at a spot: the same servers, of which some may start something else there.
func (c *Controller) in(at spot) *catalog {
	now := c.current(c.spots.folder(at))
	if c.spots.isProject(at) {
		return now
	}
	c.mu.Lock()
	there := c.inside[at.key()]
	c.mu.Unlock()
	if there != nil && there.of(now) {
		return there
	}
	return c.judge(at)
}

// of returns the catalog in which a thread's servers are looked up.
func (c *Controller) of(b *switchboard) *catalog {
	return c.in(c.spotOf(b))
}

// judge reads again what the servers would start at a spot, and tells if that has changed.
func (c *Controller) judge(at spot) *catalog {
	now := c.current(c.spots.folder(at))
	if c.spots.isProject(at) {
		return now
	}
	next := &catalog{problems: now.problems, at: now.at, read: time.Now(), base: now.read, stamp: now.stamp}
	for _, e := range now.entries {
		next.entries = append(next.entries, c.entryIn(e, at))
	}
	c.mu.Lock()
	before := c.inside[at.key()]
	if len(c.inside) >= maxInside {
		clear(c.inside)
	}
	c.inside[at.key()] = next
	c.mu.Unlock()
	if before != nil && !same(before, next) {
		c.tellAll()
	}
	return next
}

// maxInside is how many spots of threads are remembered.
const maxInside = 1000

// entryIn returns a server as it is started at a spot.
func (c *Controller) entryIn(e *entry, at spot) *entry {
	if e.hash == "" || shareOf(e.Definition) == definition.ByProject {
		return e
	}
	hash, err := e.Hash(c.spots.places(at).Hasher(at.dir))
	return c.judged(e, at, hash, err)
}

// judged returns a server as it is started at a spot where it has a hash.
func (c *Controller) judged(e *entry, at spot, hash string, err error) *entry {
	if err == nil && hash == e.hash {
		return e
	}
	there := *e
	there.hash, there.verdict, there.unread = hash, trust.Verdict{State: trust.New}, ""
	if !c.spots.isProject(at) {
		there.at = at
	}
	if at.env != nil {
		there.values = e.Differing(c.cfg.Places.Hasher(at.dir), c.spots.places(at).Hasher(at.dir))
	}
	if err != nil {
		there.Problem = err.Error()
		return &there
	}
	there.verdict, there.unread = c.verdict(e.Definition, hash)
	return &there
}

// verdict looks up what was accepted; unread says why that could not be read.
func (c *Controller) verdict(d definition.Definition, hash string) (v trust.Verdict, unread string) {
	v, err := c.cfg.Trust.Verdict(c.cfg.Project, d, hash)
	if err != nil {
		c.cfg.Log.Warn("look up what is accepted", "server", d.ID, "err", err)
		return v, err.Error()
	}
	return v, ""
}

// stamp tells apart the states of the files.
func (c *Controller) stamp(folder string) string {
	return c.cfg.Places.In(folder).Stamp() + c.cfg.Trust.Stamp()
}

// refresh reads the configuration files of a folder again, and tells agents and screens if something has changed.
func (c *Controller) refresh(folder string) *catalog {
	stamp := c.stamp(folder) // before they are read: what changes meanwhile is read again
	next := c.read(folder)
	next.stamp = stamp
	c.mu.Lock()
	before := c.catalogs[folder]
	if before == nil && len(c.catalogs) >= maxInside {
		clear(c.catalogs)
	}
	c.catalogs[folder] = next
	changed := before != nil && !same(before, next)
	if before == nil || changed {
		clear(c.indexes)
		c.lists.forgetAllLists() // which tools are left out may have changed
	}
	c.mu.Unlock()
	if changed {
		c.tellAll()
	}
	return next
}

// read reads the configuration files that count in a folder of the project, and judges what is there. The person's own
// files are accepted as they stand the first time that they are seen.
func (c *Controller) read(folder string) *catalog {
	places := c.cfg.Places.In(folder)
	found := places.Definitions()
	hasher := places.Hasher(folder)
	for _, file := range found.Own {
		var servers []trust.Server
		for _, d := range found.Definitions {
			if hash := found.Hashes[d.ID]; hash != "" && d.Trusted() && d.Sources[0].File == file {
				servers = append(servers, trust.Server{Definition: d, Hash: hash, Shown: d.Shown(hasher)})
			}
		}
		if _, err := c.cfg.Trust.FirstSight(file, servers); err != nil {
			c.cfg.Log.Warn("accept the person's own MCP servers", "file", file, "err", err)
		}
	}
	cat := &catalog{problems: found.Problems, at: time.Now(), read: time.Now()}
	for _, d := range found.Definitions {
		e := &entry{Definition: d, hash: found.Hashes[d.ID], base: places.Base(d.Sources[0].File)}
		if folder != c.cfg.Project {
			e.at.dir = folder
		}
		if e.hash != "" {
			e.verdict, e.unread = c.verdict(d, e.hash)
		}
		var wrong []error
		e.patterns, wrong = match.Compile(d.Patterns)
		for _, err := range wrong {
			e.Warnings = append(e.Warnings, err.Error())
		}
		cat.entries = append(cat.entries, e)
	}
	slices.SortFunc(cat.entries, func(a, b *entry) int { return strings.Compare(a.ID, b.ID) })
	return cat
}

// launch is asked by the hub right before each start: it reads the configuration again, and the files in the folder in
// which the server starts, so that nothing is started that was changed meanwhile or is not accepted any more.
func (c *Controller) launch(_ context.Context, s hub.Server, id thread.ID, dir string) (definition.Launch, []string, error) {
	at := c.spots.spotIn(id, dir)
	e, ok := c.read(c.spots.folder(at)).find(s.ID)
	if !ok {
		return definition.Launch{}, nil, fmt.Errorf("%s is not configured any more: %w", s.ID, hub.ErrUnapproved)
	}
	e, plan := c.planned(e, at)
	switch {
	case e.Problem != "":
		return definition.Launch{}, nil, fmt.Errorf("%s: %s: %w", s.ID, e.Problem, hub.ErrUnapproved)
	case e.hash != s.Hash || !e.accepted():
		c.background(func() { c.refresh(c.spots.folder(at)); c.judge(at) }) // so that people see it
		return definition.Launch{}, nil, fmt.Errorf("%s %s: %w", s.ID, e.changed(), hub.ErrUnapproved)
	}
	if missing := definition.Missing(e.Definition, c.spots.environ(at)); missing != "" {
		return definition.Launch{}, nil, fmt.Errorf("%s: %w", missing, process.ErrNoProgram)
	}
	top := ""
	if plan.Copied() {
		var err error
		switch top, err = c.cfg.Copies.Keep(plan.Entries); {
		case errors.Is(err, frozen.ErrChanged):
			return definition.Launch{}, nil, fmt.Errorf("%s: its files changed while they were read: %w", s.ID, hub.ErrUnapproved)
		case err != nil:
			return definition.Launch{}, nil, err
		}
	}
	l, err := plan.Definition(e.Definition).Expand(c.spots.lookup(at))
	var input *definition.NeedsInput
	var unset *definition.Unset
	if errors.As(err, &input) || errors.As(err, &unset) {
		return definition.Launch{}, nil, fmt.Errorf("%w: %w", err, hub.ErrNeedsInput)
	}
	if err != nil {
		return definition.Launch{}, nil, err
	}
	if l.Dir == "" {
		l.Dir = dir
	}
	if plan.Copied() {
		l = plan.In(l, top)
	}
	base := plan.Base(definition.BaseEnv(c.spots.environ(at)), top)
	return l, environment(append(base, "CLAUDE_PROJECT_DIR="+c.cfg.Project), l.Env), nil
}

// environment returns variables with others that take their places.
func environment(base, more []string) []string {
	named := func(name string) bool {
		return slices.ContainsFunc(more, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
	}
	env := slices.DeleteFunc(base, func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return named(name)
	})
	return append(env, more...)
}

// planned returns a server as it is started at a spot now, and how.
func (c *Controller) planned(e *entry, at spot) (*entry, definition.Plan) {
	if e.Problem != "" {
		return e, definition.Plan{}
	}
	hash, plan, err := e.Planned(c.spots.places(at).Hasher(at.dir))
	now := c.judged(e, at, hash, err)
	return now, plan
}

// get returns a configured server, as it is started at a spot.
func (c *Controller) get(at spot, id string) (*entry, error) {
	cat := c.in(at)
	e, ok := cat.find(id)
	if !ok {
		var names []string
		for _, e := range cat.entries {
			names = append(names, e.ID)
		}
		if len(names) == 0 {
			return nil, thread.Hint(thread.Kindf(thread.ErrNotFound, "no MCP servers are configured"), "add them to .mcp.json")
		}
		return nil, thread.Hint(thread.Kindf(thread.ErrNotFound, "no MCP server %q", id),
			cmp.Or(thread.Meant(near.Names(id, names), ""), "there are: "+strings.Join(names, ", ")))
	}
	return e, nil
}

// watchPause is how often the configuration files are looked at.
const watchPause = 3 * time.Second
