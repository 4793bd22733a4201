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

// Tool is the result for one tool.
type Tool struct {
	Name     string
	State    ToolState
	Withheld bool // no agent may see it until the person has accepted it
	Pin      string
	Diff     []string         // for ToolChanged
	Hidden   []hidden.Finding // in its name, title and description
	Long     bool             // its description is over 2 KB
	Problem  string           // for ToolInvalid
}

// Review is the result for the tools of a server.
type Review struct {
	First bool     // nothing was pinned before: all tools are pinned now
	Tools []Tool   // in the order of the list
	Gone  []string // pinned, but not in the list; they stay pinned
}

// Withheld returns the names of the tools that no agent may see.
func (r Review) Withheld() []string {
	var names []string
	for _, t := range r.Tools {
		if t.Withheld {
			names = append(names, t.Name)
		}
	}
	return names
}

// pins is the record for a server.
type pins struct {
	Version int            `json:"version"`
	ID      string         `json:"id"`
	Tools   map[string]pin `json:"tools"`

	kept int // the length of all texts
}

type pin struct {
	Sum  string `json:"sum"`
	Text string `json:"text,omitempty"` // what was pinned, if it is not too long
}

// Check compares the tool list of an accepted server with what is pinned for its launch hash. The first list is pinned
// as it is. Later, a changed tool is withheld, and a new one too if a repository configured the server; a new tool of
// the person's own server is pinned. Tools are judged one by one: what is withheld does not affect others.
func (s *Store) Check(d definition.Definition, hash string, tools []json.RawMessage) (Review, error) {
	var review Review
	err := s.withPins(hash, func(p *pins) bool {
		review = Review{First: p.Tools == nil}
		before := len(p.Tools)
		if review.First {
			p.ID, p.Tools = d.ID, make(map[string]pin)
		}
		listed := make(map[string]bool)
		for _, raw := range tools {
			review.Tools = append(review.Tools, p.check(raw, listed, review.First || d.Trusted()))
		}
		for _, name := range slices.Sorted(maps.Keys(p.Tools)) {
			if !listed[name] {
				review.Gone = append(review.Gone, name)
			}
		}
		return review.First || len(p.Tools) != before
	})
	if err != nil {
		return Review{}, fmt.Errorf("check the tools of %s: %w", d.ID, err)
	}
	return review, nil
}

// check judges one tool, and pins it if it is new and may be.
func (p *pins) check(raw json.RawMessage, listed map[string]bool, mayPin bool) Tool {
	t, text := describe(raw)
	switch {
	case t.State == ToolInvalid:
		return t
	case listed[t.Name]:
		t.State, t.Withheld, t.Problem = ToolInvalid, true, "another tool has this name"
		return t
	}
	listed[t.Name] = true
	known, ok := p.Tools[t.Name]
	switch {
	case ok && known.Sum == t.Pin:
		t.State = ToolKnown
	case ok:
		t.State, t.Withheld, t.Diff = ToolChanged, true, diff(known, text)
	case len(p.Tools) >= maxTools:
		t.State, t.Withheld, t.Problem = ToolInvalid, true, fmt.Sprintf("more than %d tools", maxTools)
	case mayPin:
		t.State = ToolNew
		p.set(t, text)
	default:
		t.State, t.Withheld = ToolNew, true
	}
	return t
}

func (p *pins) set(t Tool, text string) {
	p.kept -= len(p.Tools[t.Name].Text)
	if len(text) > maxText || p.kept+len(text) > maxTexts {
		text = ""
	}
	p.kept += len(text)
	p.Tools[t.Name] = pin{Sum: t.Pin, Text: text}
}

// AcceptTools pins tools of a server exactly as the person has seen them. What the server says meanwhile is judged by
// the next Check.
func (s *Store) AcceptTools(d definition.Definition, hash string, tools []json.RawMessage) error {
	var problem error
	err := s.withPins(hash, func(p *pins) bool {
		if p.Tools == nil {
			p.ID, p.Tools = d.ID, make(map[string]pin)
		}
		for _, raw := range tools {
			t, text := describe(raw)
			if t.State == ToolInvalid {
				problem = fmt.Errorf("a tool cannot be accepted: %s", t.Problem)
				return false
			}
			p.set(t, text)
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

// Pins returns the pinned tools of a launch hash: name and pin. It is empty if there are none.
func (s *Store) Pins(hash string) (map[string]string, error) {
	out := make(map[string]string)
	err := s.withPins(hash, func(p *pins) bool {
		for name, pinned := range p.Tools {
			out[name] = pinned.Sum
		}
		return false
	})
	if err != nil {
		return nil, fmt.Errorf("read the pins of a server: %w", err)
	}
	return out, nil
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
		for _, known := range p.Tools {
			p.kept += len(known.Text)
		}
		if !use(p) {
			return nil
		}
		return writeJSON(sub, name, maxPins, p)
	})
}

// describe returns the pin of a definition, and the text that it is the hash of.
func describe(raw json.RawMessage) (Tool, string) {
	text, name, shown, err := canonical(raw)
	t := Tool{Name: name}
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

// diff shows a changed definition by its lines.
func diff(was pin, now string) []string {
	if was.Text == "" {
		return []string{" what was accepted was too long to be kept; now:", "+" + hidden.Visible(now)}
	}
	return definition.Diff(pretty(was.Text), pretty(now))
}
