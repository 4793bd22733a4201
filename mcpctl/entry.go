package mcpctl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"orchestrator/mcpctl/definition"
	"orchestrator/mcpctl/discovery"
	"orchestrator/mcpctl/hub"
	"orchestrator/mcpctl/manifest"
	"orchestrator/mcpctl/match"
	"orchestrator/mcpctl/trust"
	"orchestrator/thread"
)

// entry is a configured server with what the person said about it.
type entry struct {
	definition.Definition
	hash     string
	verdict  trust.Verdict
	unread   string   // why it is not known what was accepted, "" if it is
	at       spot     // where it stands, if that is not the project's folder
	base     string   // where it is started if threads share it
	values   []string // variables that have other values there
	patterns match.Patterns
}

// accepted reports whether exactly this may be started.
func (e *entry) accepted() bool { return e.verdict.State == trust.Accepted && e.Problem == "" }

// changed returns what is not accepted, in words that follow its name.
func (e *entry) changed() string {
	if len(e.values) > 0 {
		return "takes other values from this thread's environment than you accepted (" + strings.Join(e.values, ", ") + ")"
	}
	if e.at.dir != "" {
		return "has changed in " + e.at.dir + " since you accepted it"
	}
	return "has changed since you accepted it"
}

// shareOf returns which threads share a server's process.
func shareOf(d definition.Definition) definition.Share {
	if d.Options.Share == "" {
		return definition.ByThread
	}
	return d.Options.Share
}

// server is the entry as the hub takes it.
func (e *entry) server() hub.Server {
	return hub.Server{ID: e.ID, Hash: e.hash, Definition: e.Definition, Dir: e.base, Trusted: e.Trusted()}
}

// isFor reports whether a server is on for an agent unless something else is decided: it is configured for that agent or
// for the project as a whole, is enabled there, and has no patterns that would switch it on when it is needed.
func (e *entry) isFor(agent string) bool {
	if !e.Enabled || len(e.Patterns) > 0 {
		return false
	}
	return slices.ContainsFunc(e.Sources, func(s definition.Source) bool {
		return s.Agent == agent || s.Agent == "orchestrator" || strings.HasSuffix(s.File, "/.mcp.json")
	})
}

// catalog is what is configured, at one moment.
type catalog struct {
	entries  []*entry // by ID
	problems []discovery.Problem
	at       time.Time // when it was looked at
	read     time.Time
	stamp    string    // of the files then
	base     time.Time // for the folder of a thread: when that of the project's same folder was read
}

// of reports whether the catalog of a thread's folder was made of the project's as it is now.
func (c *catalog) of(project *catalog) bool {
	return c.base.Equal(project.read) && c.stamp == project.stamp
}

// find returns a server by its ID.
func (c *catalog) find(id string) (*entry, bool) {
	i, ok := slices.BinarySearchFunc(c.entries, id, func(e *entry, id string) int { return strings.Compare(e.ID, id) })
	if !ok {
		return nil, false
	}
	return c.entries[i], true
}

func same(a, b *catalog) bool {
	return slices.EqualFunc(a.entries, b.entries, func(x, y *entry) bool {
		return x.ID == y.ID && x.hash == y.hash && x.verdict.State == y.verdict.State && x.Problem == y.Problem &&
			x.Enabled == y.Enabled && slices.Equal(x.Patterns, y.Patterns) && reflect.DeepEqual(x.Options, y.Options)
	})
}

// usable returns why a server cannot be switched on.
func usable(e *entry) error {
	switch {
	case e.Problem != "":
		return fmt.Errorf("%s: %w", e.Problem, thread.ErrInvalid)
	case !e.accepted() && e.at.dir != "" && e.verdict.State != trust.Changed:
		return thread.Hint(thread.Kindf(thread.ErrRefused, "you have not accepted what it starts"),
			"read it and accept it: `orchestrator mcp approve "+e.ID+" --thread THREAD`, or m and a on the screen")
	case !e.accepted() && e.at.dir != "":
		return thread.Hint(thread.Kindf(thread.ErrRefused, "it %s", e.changed()),
			"read it and accept it: `orchestrator mcp approve "+e.ID+" --thread THREAD`, or m and a on the screen")
	case !e.accepted():
		return thread.Hint(thread.Kindf(thread.ErrRefused, "you have not accepted what it starts"),
			"read it and accept it: `orchestrator mcp approve "+e.ID+"`, or m and a on the screen")
	}
	return nil
}

var (
	errNobody  = errors.New("nobody can answer a question of the server now")
	errNoLogin = errors.New("it is not a remote server that people sign in to")
)

// nobody is the client of what is done for no call of an agent: it takes no questions.
type nobody struct {
	id  thread.ID
	dir string
}

func (n nobody) Thread() thread.ID { return n.id }

func (n nobody) Dir() string { return n.dir }

func (n nobody) Progress(json.RawMessage) {}

func (n nobody) Ask(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return nil, errNobody
}

// reading is a manifest with the judgement of its tools, and of its prompts, resources and templates.
type reading struct {
	manifest manifest.Manifest
	tools    []tool
	others   []other
}

// other is a prompt, a resource or a template of resources, with what speaks against showing it.
type other struct {
	raw      json.RawMessage
	review   trust.Tool
	withheld string // why no agent gets it
}

// shown returns those of a kind that agents may see.
func (r reading) shown(k trust.Kind) []json.RawMessage {
	var all []json.RawMessage
	for _, o := range r.others {
		if o.review.Kind == k && o.withheld == "" {
			all = append(all, o.raw)
		}
	}
	return all
}

// tool is a tool of a server, with what speaks against showing it.
type tool struct {
	manifest.Tool
	review   trust.Tool
	withheld string // why no agent gets it
}

// withheld returns why a tool is withheld by what the person has accepted.
func withheld(t trust.Tool) string {
	switch {
	case !t.Withheld:
		return ""
	case t.State == trust.ToolChanged:
		return "its definition has changed since you accepted it"
	case t.State == trust.ToolNew:
		return "it is new, and the server is from the repository"
	default:
		return t.Problem
	}
}

// allows reports whether the configuration of a server lets a tool through.
func allows(d definition.Definition, tool string) bool {
	if slices.Contains(d.Options.Deny, tool) {
		return false
	}
	return len(d.Options.Allow) == 0 || slices.Contains(d.Options.Allow, tool)
}

// description returns that of a tool.
func description(raw json.RawMessage) string {
	var t struct{ Description string }
	_ = json.Unmarshal(raw, &t) // it was checked
	return t.Description
}
