package discovery

import (
	"errors"
	"fmt"

	"orchestrator/mcpctl/definition"
	"orchestrator/mcpctl/jsonc"
)

// maxServers and maxProjectServers are how many servers a file of the person and of the repository may have.
const maxServers, maxProjectServers = 1000, 100

// reader collects what one file has.
type reader struct {
	file
	project  string
	base     string // where relative paths start from
	problems *problems
	drafts   []*draft
	// disabled are names of servers of this agent that the file disables, wherever they are configured. In Claude's file
	// mcpjson are those of the repository.
	disabled, mcpjson []string
	// allowed are the only names that Gemini uses, if there are any.
	allowed []string
}

func newReader(f file, project, base string) *reader {
	return &reader{file: f, project: project, base: base, problems: &problems{file: f.path}}
}

// parse reads a JSON file whose value is an object.
func (r *reader) parse(content []byte) (jsonc.Value, bool) {
	v, err := jsonc.Parse(content)
	var syntax *jsonc.Error
	switch {
	case errors.As(err, &syntax):
		r.problems.add(syntax.Line, "", "%s", syntax.Text)
	case err != nil:
		r.problems.add(0, "", "%s", err)
	case v.Kind != jsonc.Object:
		r.problems.add(v.Line, "", "expected an object, found a %s", v.Kind)
	}
	return v, err == nil && v.Kind == jsonc.Object
}

// object returns the object of a key. A missing one, and null, is none; a value of another kind is a problem.
func (r *reader) object(v jsonc.Value, key string) (jsonc.Value, bool) {
	found, ok := v.Member(key)
	if !ok || found.Kind == jsonc.Null {
		return jsonc.Value{}, false
	}
	if found.Kind != jsonc.Object {
		r.problems.add(found.Line, "", "%s must be an object, not a %s", key, found.Kind)
		return jsonc.Value{}, false
	}
	return found, true
}

// names returns the list of texts of a key.
func (r *reader) names(v jsonc.Value, key string) []string {
	found, ok := v.Member(key)
	if !ok || found.Kind == jsonc.Null {
		return nil
	}
	list, ok := texts(found)
	if !ok {
		r.problems.add(found.Line, "", "%s must be a list of names", key)
	}
	return list
}

// servers reads an object of servers.
func (r *reader) servers(v jsonc.Value, scope definition.Scope, set setter) {
	if r.scope == definition.Project { // whatever the file says
		scope = definition.Project
	}
	seen := make(map[string]*draft)
	limit := maxServers
	if scope == definition.Project {
		limit = maxProjectServers
	}
	for i, m := range v.Members() {
		if i == limit {
			r.problems.add(m.Line, "", "more than %d servers: the others are not used", limit)
			return
		}
		d := newDraft(m, scope, r.file, r.base, r.problems)
		if first := seen[m.Key]; first != nil {
			// Parsers differ in which one they take: neither is used.
			r.problems.add(m.Line, m.Key, "configured twice, also in line %d", first.line)
			first.Problem = fmt.Sprintf("configured twice, in lines %d and %d", first.line, m.Line)
			continue
		}
		seen[m.Key] = d
		if m.Value.Kind != jsonc.Object {
			d.fail(m.Line, "must be an object, not a %s", m.Value.Kind)
		} else {
			d.read(m.Value, set)
			d.finish()
		}
		r.drafts = append(r.drafts, d)
	}
}
