package discovery

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"orchestrator/mcpctl/definition"
)

// collection is what all files have, in order of precedence.
type collection struct {
	drafts   []*draft
	overlays []*draft // options of ours for servers of others
	toggles  []*draft // "enabled" for a server that another file of the agent configures
	readers  []*reader
}

// server is a definition with its launch hash.
type server struct {
	definition.Definition
	hash string
	base string // where it is started if threads share it
}

// startedBy returns what hashes a server by where it is started: for each thread in the folder of its agent, once for all
// where its file configures it.
func startedBy(share definition.Share, files definition.FileHasher, base string) definition.FileHasher {
	if share == definition.ByProject {
		files.Dir = base
	}
	return files
}

func (c *collection) add(r *reader) {
	c.readers = append(c.readers, r)
	for _, d := range r.drafts {
		partial := d.Problem == missingBoth
		switch {
		case partial && r.agent == ours:
			c.overlays = append(c.overlays, d)
		case partial && d.enabled != nil && (r.agent == codex || r.agent == openCodeAgent):
			c.toggles = append(c.toggles, d)
		case partial:
			r.problems.add(d.line, d.Name, missingBoth)
			fallthrough
		default:
			c.drafts = append(c.drafts, d)
		}
	}
}

// toggle applies what agents' files say about servers of other files. A repository can only disable.
func (c *collection) toggle() {
	for _, t := range c.toggles {
		from := t.Sources[0]
		for _, d := range c.drafts {
			if d.Name == t.Name && d.agent() == from.Agent && (!*t.enabled || from.Scope != definition.Project) {
				d.Enabled = *t.enabled
			}
		}
	}
	for _, r := range c.readers {
		for _, d := range c.drafts {
			if d.agent() != r.agent {
				continue
			}
			inProject := d.Sources[0].Scope == definition.Project
			switch {
			case r.agent == claude && inProject:
				d.Enabled = d.Enabled && !slices.Contains(r.mcpjson, d.Name)
			case slices.Contains(r.disabled, d.Name), len(r.allowed) > 0 && !slices.Contains(r.allowed, d.Name):
				d.Enabled = false
			}
		}
	}
}

func (d *draft) agent() string { return d.Sources[0].Agent }

// hide leaves out what a CLI does not use of a repository: of those with one name, it takes the first file's.
func (c *collection) hide() {
	first := make(map[[2]string]string)
	c.drafts = slices.DeleteFunc(c.drafts, func(d *draft) bool {
		from := d.Sources[0]
		if from.Scope != definition.Project || d.Problem == missingBoth {
			return false
		}
		key := [2]string{from.Agent, d.Name}
		if first[key] == "" {
			first[key] = from.File
		}
		return first[key] != from.File
	})
}

// merge makes one server of those with the same name and hash, gives each an ID, and applies our options.
func (c *collection) merge(files definition.FileHasher) []*server {
	var all []*server
	known := make(map[[2]string]*server)
	for _, d := range c.drafts {
		s := &server{Definition: d.Definition, base: d.base}
		if s.Problem == "" {
			hash, err := s.Hash(startedBy(s.Options.Share, files, d.base))
			if err != nil {
				s.Problem = err.Error()
				d.problems.add(d.line, d.Name, "%s", err)
			}
			s.hash = hash
		}
		key := [2]string{d.Name, s.hash}
		if first := known[key]; first != nil && s.hash != "" {
			first.join(s.Definition)
			continue
		}
		known[key] = s
		all = append(all, s)
	}
	identify(all)
	byID := make(map[string]*server, len(all))
	for _, s := range all {
		byID[s.ID] = s
	}
	for _, d := range c.overlays {
		s := byID[d.Name]
		if s == nil {
			d.problems.add(d.line, d.Name, "no such server is configured")
			continue
		}
		s.overlay(d)
		if (len(d.Options.Files) > 0 || d.Options.Share != "") && s.Problem == "" {
			hash, err := s.Hash(startedBy(s.Options.Share, files, s.base))
			if err != nil {
				s.Problem = err.Error()
			}
			s.hash = hash
		}
	}
	return all
}

// join adds another place that configures the same.
func (s *server) join(other definition.Definition) {
	s.Sources = append(s.Sources, other.Sources...)
	if len(s.Patterns) == 0 {
		s.Patterns = other.Patterns
	}
	if reflect.ValueOf(s.Options).IsZero() {
		s.Options = other.Options
	}
}

// overlay takes over what our own file says.
func (s *server) overlay(d *draft) {
	if d.enabled != nil {
		s.Enabled = *d.enabled
	}
	if d.Patterns != nil {
		s.Patterns = d.Patterns
	}
	to, from := reflect.ValueOf(&s.Options).Elem(), reflect.ValueOf(d.Options)
	for i := range from.NumField() {
		if !from.Field(i).IsZero() {
			to.Field(i).Set(from.Field(i))
		}
	}
	s.Sources = append(s.Sources, d.Sources...)
	s.Warnings = append(s.Warnings, d.Warnings...)
}

// maxID is the length of an ID.
const maxID = 64

// reserved are names of servers that are ours.
func reserved() map[string]bool { return map[string]bool{"orch": true} }

// identify gives each server an ID. Servers of the person come before those of a repository, and a name that is an ID as
// it stands before one that has to be changed: what a repository configures changes no ID of the person's servers.
func identify(all []*server) {
	taken := reserved()
	for _, trusted := range []bool{true, false} {
		for _, exact := range []bool{true, false} {
			for _, s := range all {
				base := clean(s.Name)
				if s.Trusted() == trusted && (base == s.Name) == exact {
					s.ID = free(taken, base, s.Sources[0])
					taken[strings.ToLower(s.ID)] = true
				}
			}
		}
	}
}

// free returns an ID that is not taken. Case does not make a difference: people do not see it.
func free(taken map[string]bool, base string, from definition.Source) string {
	suffixes := []string{"", "-" + from.Agent}
	if from.Scope == definition.Project {
		suffixes = []string{"", "-project", "-project-" + from.Agent}
	}
	last := suffixes[len(suffixes)-1]
	for n := 1; ; n++ {
		if n > 1 {
			suffixes = []string{last + "-" + strconv.Itoa(n)}
		}
		for _, suffix := range suffixes {
			id := cut(base, maxID-len(suffix)) + suffix
			if !taken[strings.ToLower(id)] {
				return id
			}
		}
	}
}

func cut(s string, n int) string { return s[:min(len(s), n)] }

// clean returns a name in the form of an ID: without "__", which separates a server from its tool, and not like a flag or
// a folder.
func clean(name string) string {
	var out []byte
	for _, r := range name {
		ok := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.'
		switch {
		case ok:
			out = append(out, byte(r))
		case len(out) > 0 && out[len(out)-1] != '_':
			out = append(out, '_')
		}
		if len(out) >= maxID {
			break
		}
	}
	id := strings.TrimLeft(strings.TrimRight(string(out), "_"), "_-.")
	if id == "" {
		return "server"
	}
	return id
}
