package bundle

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"orchestrator/thread"
	"orchestrator/thread/secret"
	"orchestrator/thread/work"
)

// UsualBudget is what a bundle is counted against if neither a budget nor its model's window is known.
const UsualBudget = 200_000

// Target is for what a bundle is counted.
type Target struct {
	// Count returns how many tokens a text has for the model.
	Count func(text string) int64
	// Margin is by how much that may be too low, relatively; larger as long as nothing was measured.
	Margin float64
	// Measured is from how many answers of the provider the counts were learned, 0 for none.
	Measured int
	// Window is the model's, 0 if it is not known, and Base what the agent sends before a word is said.
	Window, Base int64
}

// worst returns how many tokens a count may stand for.
func (to Target) worst(n int64) int64 { return int64(float64(n)*(1+to.Margin)) + 1 }

// Fits refuses a prompt that there is no room for.
func Fits(prompt string, to Target) error {
	free := max(0, to.Window-to.Base)
	n := to.Count(prompt)
	if to.Window == 0 || to.worst(n) <= free {
		return nil
	}
	return thread.Hint(thread.Kindf(thread.ErrLimit, "the prompt has %s tokens, and as counts go up to %s must be reckoned with: the agent has room for %s",
		thread.Tokens(n), thread.Tokens(to.worst(n)), thread.Tokens(free)), "Prepare the bundle for this agent and model: it says what has no room")
}

// Item is what goes into a bundle, with the content of its file.
type Item struct {
	Type     work.ItemType `json:"type"`
	Source   string        `json:"source"`
	Priority work.Priority `json:"priority"`
	Sections []string      `json:"sections,omitempty"`
	// SharedWith is kept of a bundle that was written by hand.
	SharedWith []string `json:"shared_with,omitempty"`
	// Content is that of the whole file, and Missing why there is none: it is an error unless claims are taken.
	Content []byte `json:"content,omitempty"`
	Missing string `json:"missing,omitempty"`
	// Claimed is how many tokens somebody says it has.
	Claimed int64 `json:"claimed,omitempty"`
}

// Order is what a bundle is made of.
type Order struct {
	ID        string    `json:"bundle_id,omitempty"`
	AgentType string    `json:"agent_type"`
	Scope     string    `json:"scope"`
	Agent     string    `json:"agent,omitempty"` // for which it is counted, with Model
	Model     string    `json:"model,omitempty"`
	Session   string    `json:"session_id,omitempty"`
	Budget    int64     `json:"budget,omitempty"` // 0 for what the model has room for
	Items     []Item    `json:"context_items"`
	By        thread.ID `json:"-"`
	// Claims takes the counts of items without content, and does not refuse what is over the budget.
	Claims bool `json:"claims,omitempty"`
}

// Dropped is an item that was left out, and why.
type Dropped struct {
	Source string `json:"source"`
	Tokens int64  `json:"token_count"`
	Why    string `json:"why"`
}

// Made is a bundle as it was made.
type Made struct {
	Kept    work.KeptBundle   `json:"kept"`
	Pieces  map[string][]byte `json:"-"`
	Dropped []Dropped         `json:"dropped,omitempty"`
	// Redacted are the sources of which an agent is given something without the secrets in it.
	Redacted []string `json:"redacted,omitempty"`
	// Most is how many tokens an agent may be given with it at most, with the words around its items, and Room how many it
	// has room for.
	Most int64 `json:"most"`
	Room int64 `json:"room"`
	// Measured is as in Target; Window and Base too.
	Measured int   `json:"measured"`
	Window   int64 `json:"window,omitempty"`
	Base     int64 `json:"base,omitempty"`
}

// piece is an item with its part of the content.
type piece struct {
	item   work.BundleItem
	text   string
	sum    string // "" if its content is not known
	source string
	// redacted is set if it had secrets, which no agent is given and nothing keeps.
	redacted bool
}

// Make makes a bundle. Required items that have no room are an error; of recommended ones those are left out that have
// none, in their order.
func Make(o Order, to Target, at time.Time) (Made, error) {
	room := room(o.Budget, to)
	made := Made{Room: room.limit, Measured: to.Measured, Window: to.Window, Base: to.Base, Pieces: map[string][]byte{}}
	form := work.Bundle{ID: o.ID, AgentType: o.AgentType, Scope: secret.Redact(strings.TrimSpace(o.Scope)), Created: at.UTC().Truncate(time.Second)}
	total := 0
	var all []piece
	for _, in := range o.Items {
		p, err := cutPiece(in, o.Claims, to)
		if err != nil {
			return Made{}, err
		}
		if total += len(in.Content); total > MostContent {
			return Made{}, thread.Kindf(thread.ErrLimit, "the files of a bundle have more than %s together. Take sections, or pass on paths instead",
				thread.Bytes(MostContent))
		}
		if twice := slices.ContainsFunc(all, func(q piece) bool {
			return q.item.Source == p.item.Source && slices.Equal(q.item.Sections, p.item.Sections)
		}); twice {
			made.Dropped = append(made.Dropped, Dropped{p.item.Source, p.item.Tokens, "it is named twice"})
			continue
		}
		if p.redacted {
			made.Redacted = append(made.Redacted, p.item.Source)
		}
		all = append(all, p)
		form.Items = append(form.Items, p.item)
	}
	if err := check(form); err != nil {
		return Made{}, err
	}
	kept, most, err := fit(form, all, o.Claims, room.limit, to, &made)
	if err != nil {
		return Made{}, err
	}
	form.Items, made.Most = nil, most
	k := work.KeptBundle{Agent: o.Agent, Model: o.Model, Budget: room.budget, Session: o.Session, By: o.By, Left: made.Kept.Left}
	for _, p := range kept {
		form.Items = append(form.Items, p.item)
		form.Total += p.item.Tokens
		k.Pieces, k.Sources = append(k.Pieces, p.sum), append(k.Sources, p.source)
		if p.sum != "" {
			made.Pieces[p.sum] = []byte(p.text)
		}
	}
	form.Remaining = room.budget - form.Total
	k.Bundle = form
	k.Hash = Hash(k)
	made.Kept = k
	return made, nil
}

type space struct{ budget, limit int64 }

// room returns the budget of a bundle, and how many tokens it may have: no more than its model has room for.
func room(budget int64, to Target) space {
	free := max(0, to.Window-to.Base)
	s := space{budget: budget, limit: budget}
	if budget <= 0 {
		s.budget, s.limit = UsualBudget, UsualBudget
		if to.Window > 0 {
			s.budget, s.limit = free, free
		}
	}
	if to.Window > 0 {
		s.limit = min(s.limit, free)
	}
	return s
}

// cutPiece returns the part of a file that an item has.
func cutPiece(in Item, claims bool, to Target) (piece, error) {
	p := piece{item: work.BundleItem{
		Type: cmp.Or(in.Type, work.ItemFile), Source: in.Source, Priority: cmp.Or(in.Priority, work.Required),
		Sections: in.Sections, SharedWith: in.SharedWith, Tokens: in.Claimed,
	}}
	if in.Missing != "" {
		if claims {
			return p, nil
		}
		return p, thread.Kindf(thread.ErrNotFound, "%s: %s", in.Source, in.Missing)
	}
	text := string(in.Content)
	if !IsText(in.Content) {
		return p, thread.Kindf(thread.ErrInvalid, "%s is not text, so no agent can be given it. Name its path in the task instead", in.Source)
	}
	p.source = Sum(text)
	if len(in.Sections) > 0 {
		var err error
		if text, err = Sections(in.Source, text, in.Sections); err != nil {
			return p, err
		}
	}
	p.text = secret.Redact(text)
	p.redacted = p.text != text
	p.sum, p.item.Tokens = Sum(p.text), to.Count(p.text)
	return p, nil
}

// IsText reports whether a file can be given to an agent as text.
func IsText(content []byte) bool { return utf8.Valid(content) && !bytes.ContainsRune(content, 0) }

// mostLeft is how many items are kept by name that were left out.
const mostLeft = 100

// fit returns the items that have room, in their order, and how many tokens an agent may be given with them at most.
func fit(form work.Bundle, all []piece, claims bool, limit int64, to Target, made *Made) (kept []piece, most int64, err error) {
	worst := to.worst
	used := to.Count(Frame(form))
	for _, p := range all {
		if p.item.Priority == work.Required {
			used += p.item.Tokens
		}
	}
	if worst(used) > limit && !claims {
		return nil, 0, overflow(all, used, worst(used), limit, to)
	}
	for _, p := range all {
		if p.item.Priority != work.Required {
			if !claims && worst(used+p.item.Tokens) > limit {
				made.Dropped = append(made.Dropped, Dropped{p.item.Source, p.item.Tokens, "recommended, and there is no room for it"})
				if len(made.Kept.Left) < mostLeft {
					made.Kept.Left = append(made.Kept.Left, fmt.Sprintf("%s (%s tokens)", p.item.Source, thread.Tokens(p.item.Tokens)))
				}
				continue
			}
			used += p.item.Tokens
		}
		kept = append(kept, p)
	}
	return kept, worst(used), nil
}

// overflow is the error for required items that have no room.
func overflow(all []piece, used, worst, limit int64, to Target) error {
	largest := slices.MaxFunc(all, func(a, b piece) int { return cmp.Compare(need(a), need(b)) })
	why := ""
	switch {
	case used > limit:
	case to.Measured == 0:
		why = fmt.Sprintf(", and until the model's own counts are known up to %s must be reckoned with", thread.Tokens(worst))
	default:
		why = fmt.Sprintf(", and as counts go up to %s must be reckoned with", thread.Tokens(worst))
	}
	return thread.Hint(thread.Kindf(thread.ErrLimit, "the required items have %s tokens%s: there is room for %s", thread.Tokens(used), why, thread.Tokens(limit)),
		fmt.Sprintf("Take sections of %s (%s), or make some recommended", largest.item.Source, thread.Tokens(largest.item.Tokens)))
}

func need(p piece) int64 {
	if p.item.Priority != work.Required {
		return -1
	}
	return p.item.Tokens
}
