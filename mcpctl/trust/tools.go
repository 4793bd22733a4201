package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"orchestrator/mcpctl/definition"
	"orchestrator/mcpctl/hidden"
	"orchestrator/thread/private"
)

const (
	pinsFolder = "mcp-pins"
	maxPins    = 16 << 20
	// maxTools is how many tools of a server are pinned; more are withheld.
	maxTools = 5000
	// maxText and maxTexts limit what is kept of a tool and of all tools of a server for a later diff.
	maxText, maxTexts = 16 << 10, 4 << 20
	// maxDescription is the length of a description in bytes from which it is flagged.
	maxDescription = 2 << 10
)

// ToolState is what is known of a tool's definition.
type ToolState string

// The states.
const (
	ToolKnown   ToolState = "known"   // as it was pinned
	ToolNew     ToolState = "new"     // not seen before
	ToolChanged ToolState = "changed" // it differs from its pin
	ToolInvalid ToolState = "invalid" // no definition that can be pinned, or a name that is there twice
)

// Lists are definitions of a server.
type Lists struct {
	Tools, Prompts, Resources, Templates []json.RawMessage
}

// each calls do with every definition, kind by kind.
func (l Lists) each(do func(Kind, json.RawMessage)) {
	for _, list := range []struct {
		kind Kind
		all  []json.RawMessage
	}{{OfTool, l.Tools}, {OfPrompt, l.Prompts}, {OfResource, l.Resources}, {OfTemplate, l.Templates}} {
		for _, raw := range list.all {
			do(list.kind, raw)
		}
	}
}

// Tool is the result for one tool, prompt, resource or template of resources.
type Tool struct {
	Kind     Kind
	Name     string
	State    ToolState
	Withheld bool // no agent may see it until the person has accepted it
	Pin      string
	Diff     []string         // for ToolChanged
	Hidden   []hidden.Finding // in its name, title and description
	Long     bool             // its description is over 2 KB
	Problem  string           // for ToolInvalid
}

// Review is the result for the definitions of a server.
type Review struct {
	First bool     // nothing was pinned before: all tools are pinned now
	Tools []Tool   // in the order of the list
	Gone  []string // pinned tools that are not in the list; they stay pinned
	// Prompts, Resources and Templates are as Tools.
	Prompts, Resources, Templates []Tool
}

// of returns the results of a kind.
func (r *Review) of(k Kind) *[]Tool {
	switch k {
	case OfPrompt:
		return &r.Prompts
	case OfResource:
		return &r.Resources
	case OfTemplate:
		return &r.Templates
	default:
		return &r.Tools
	}
}

// pins is the record for a server.
type pins struct {
	Version int            `json:"version"`
	ID      string         `json:"id"`
	Tools   map[string]pin `json:"tools"`
	// More are prompts, resources and templates, by kind and name; nil in a record of a build that pinned tools only.
	More map[string]pin `json:"more,omitempty"`

	kept int // the length of all texts
}

type pin struct {
	// Sum is the hash of the keys of a tool that earlier builds pinned, All that of all keys. All is empty in a record of
	// such a build: what it did not pin is pinned when it is seen next, if Sum is still the same.
	Sum  string `json:"sum,omitempty"`
	All  string `json:"all,omitempty"`
	Text string `json:"text,omitempty"` // what was pinned, if it is not too long
}

// at returns where definitions of a kind are pinned, and under which key.
func (p *pins) at(t Tool) (map[string]pin, string) {
	if t.Kind == OfTool {
		return p.Tools, t.Name
	}
	return p.More, string(t.Kind) + " " + t.Name
}

// Check compares the lists of an accepted server with what is pinned for its launch hash. The first lists are pinned as
// they are. Later, what has changed is withheld, and what is new too if a repository configured the server; what is new
// of the person's own server is pinned. Definitions are judged one by one: what is withheld does not affect others.
func (s *Store) Check(d definition.Definition, hash string, lists Lists) (Review, error) {
	var review Review
	err := s.withPins(hash, func(p *pins) bool {
		review = Review{First: p.Tools == nil}
		if review.First {
			p.ID, p.Tools = d.ID, make(map[string]pin)
		}
		more := p.More == nil
		if more {
			p.More = make(map[string]pin)
		}
		changed := review.First || more
		listed := make(map[string]bool)
		lists.each(func(k Kind, raw json.RawMessage) {
			mayPin := review.First || d.Trusted() || more && k != OfTool
			t, pinned := p.check(k, raw, listed, mayPin)
			changed = changed || pinned
			into := review.of(k)
			*into = append(*into, t)
		})
		for _, name := range slices.Sorted(maps.Keys(p.Tools)) {
			if !listed[string(OfTool)+" "+name] {
				review.Gone = append(review.Gone, name)
			}
		}
		return changed
	})
	if err != nil {
		return Review{}, fmt.Errorf("check the tools of %s: %w", d.ID, err)
	}
	return review, nil
}

// check judges one definition, and pins it if it is new and may be.
func (p *pins) check(k Kind, raw json.RawMessage, listed map[string]bool, mayPin bool) (t Tool, pinned bool) {
	t, text := describe(k, raw)
	if t.State == ToolInvalid {
		return t, false
	}
	name := string(k) + " " + t.Name
	if listed[name] {
		t.State, t.Withheld, t.Problem = ToolInvalid, true, "another one has this name"
		return t, false
	}
	listed[name] = true
	all, key := p.at(t)
	known, ok := all[key]
	switch {
	case ok && known.All == t.Pin:
		t.State = ToolKnown
	case ok && known.All == "" && known.Sum == earlySum(raw):
		t.State, pinned = ToolKnown, true
		p.set(t, text)
	case ok:
		t.State, t.Withheld, t.Diff = ToolChanged, true, diff(known, text)
	case len(all) >= maxTools:
		t.State, t.Withheld, t.Problem = ToolInvalid, true, fmt.Sprintf("more than %d of its kind", maxTools)
	case mayPin:
		t.State, pinned = ToolNew, true
		p.set(t, text)
	default:
		t.State, t.Withheld = ToolNew, true
	}
	return t, pinned
}

func (p *pins) set(t Tool, text string) {
	all, key := p.at(t)
	p.kept -= len(all[key].Text)
	if len(text) > maxText || p.kept+len(text) > maxTexts {
		text = ""
	}
	p.kept += len(text)
	all[key] = pin{All: t.Pin, Text: text}
}

// AcceptTools pins definitions of a server exactly as the person has seen them. What the server says meanwhile is judged
// by the next Check.
func (s *Store) AcceptTools(d definition.Definition, hash string, lists Lists) error {
	var problem error
	err := s.withPins(hash, func(p *pins) bool {
		if p.Tools == nil {
			p.ID, p.Tools = d.ID, make(map[string]pin)
		}
		if p.More == nil && len(lists.Prompts)+len(lists.Resources)+len(lists.Templates) > 0 {
			p.More = make(map[string]pin)
		}
		type seen struct {
			Tool
			text string
		}
		var all []seen
		lists.each(func(k Kind, raw json.RawMessage) {
			t, text := describe(k, raw)
			if t.State == ToolInvalid {
				problem = fmt.Errorf("a definition cannot be accepted: %s", t.Problem)
			}
			all = append(all, seen{t, text})
		})
		if problem != nil {
			return false
		}
		for _, one := range all {
			p.set(one.Tool, one.text)
		}
		return true
	})
	if err == nil {
		err = problem
	}
	if err != nil {
		return fmt.Errorf("accept tools of %s: %w", d.ID, err)
	}
	return nil
}

// withPins reads the pins of a launch hash, and writes them if use changed them, while no other process does.
func (s *Store) withPins(hash string, use func(*pins) bool) error {
	if !isHash(hash) {
		return fmt.Errorf("%q is not a launch hash", hash)
	}
	return s.locked(func(folder *private.Folder) error {
		sub, err := folder.Make(pinsFolder)
		if err != nil {
			return err
		}
		defer sub.Close()
		name := strings.ToLower(hash) + ".json"
		p := &pins{}
		ok, err := readJSON(sub, name, maxPins, p)
		switch {
		case err != nil:
			return err
		case !ok:
			p.Version = version
		case p.Version != version || p.Tools == nil:
			return damaged(sub, name, errors.New("not a record of this version"))
		}
		for _, all := range []map[string]pin{p.Tools, p.More} {
			for _, known := range all {
				p.kept += len(known.Text)
			}
		}
		if !use(p) {
			return nil
		}
		return writeJSON(sub, name, maxPins, p)
	})
}

// describe returns the pin of a definition, and the text that it is the hash of.
func describe(k Kind, raw json.RawMessage) (Tool, string) {
	text, name, shown, err := canonical(k, raw, func(string) bool { return true })
	t := Tool{Kind: k, Name: name}
	if err != nil {
		t.State, t.Withheld, t.Problem = ToolInvalid, true, err.Error()
		return t, ""
	}
	sum := sha256.Sum256([]byte(text))
	t.Pin = hex.EncodeToString(sum[:])
	t.Hidden = hidden.Find(name + "\n" + shown)
	t.Long = len(shown) > maxDescription
	return t, text
}

// earlySum returns the pin of a tool's definition by a build that did not pin all keys.
func earlySum(raw json.RawMessage) string {
	text, _, _, err := canonical(OfTool, raw, early)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// diff shows a changed definition by its lines.
func diff(was pin, now string) []string {
	if was.Text == "" {
		return []string{" what was accepted was too long to be kept; now:", "+" + hidden.Visible(now)}
	}
	return definition.Diff(pretty(was.Text), pretty(now))
}
