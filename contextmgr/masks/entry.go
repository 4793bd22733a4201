package masks

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"orchestrator/contextmgr/policy"
	"orchestrator/thread"
)

// exported is an entry of an export: a mask, a summary, a pin or the mode. In the stream come the size of its JSON, its
// JSON and, of a mask, the content. Masks come first.
type exported struct {
	Mask *Mask `json:"mask,omitempty"`
	// Home is the thread whose export, which lies beside this one, has the content of the mask; "" if it is here.
	Home thread.ID `json:"home,omitempty"`
	// Path is the path of a copy as it stands in the text of the mask or summary, "" if there is none.
	Path    string          `json:"path,omitempty"`
	Summary *Summary        `json:"summary,omitempty"`
	Pin     policy.ID       `json:"pin,omitempty"`
	Mode    thread.MaskMode `json:"mode,omitempty"`
}

// Beside reports whether the export of another thread may lie beside one, so that what both have stands there once. Nil
// is for an export that stands alone.
type Beside func(thread.ID) bool

func (b Beside) has(id thread.ID) bool { return b != nil && b(id) }

// Limits of an import. They are far above what threads have and bound what a hostile stream can cost.
const (
	maxImported = 64 << 20 // a content
	maxEntries  = 50_000
	maxHead     = 4 << 20 // the JSON of an entry
	maxStub     = 1 << 20 // a summary is one too
	maxWord     = 1000    // a tool, a reason, an id
	maxOldPath  = 8 << 10
)

// checking refuses entries that no export has.
type checking struct {
	beside    Beside
	ids       map[policy.ID]bool // of masks
	tokens    map[thread.Token]bool
	summaries map[string]bool
	after     bool // the masks
	entries   int
}

func newChecking(beside Beside) *checking {
	return &checking{beside: beside, ids: map[policy.ID]bool{}, tokens: map[thread.Token]bool{}, summaries: map[string]bool{}}
}

func (c *checking) entry(e exported) error {
	if c.entries++; c.entries > maxEntries {
		return thread.Kindf(thread.ErrInvalid, "more than %d entries", maxEntries)
	}
	kinds := 0
	for _, there := range []bool{e.Mask != nil, e.Summary != nil, e.Pin != "", e.Mode != ""} {
		if there {
			kinds++
		}
	}
	var err error
	switch {
	case kinds != 1 || e.Path != "" && e.Mask == nil && e.Summary == nil || e.Home != "" && e.Mask == nil:
		return thread.Kindf(thread.ErrInvalid, "it is not exactly one kind of entry")
	case e.Home != "" && !c.beside.has(e.Home):
		err = thread.Kindf(thread.ErrInvalid, "the content of %.20q is that of another thread", e.Mask.Token)
	case e.Mask != nil:
		err = c.mask(*e.Mask, e.Path)
	case e.Summary != nil:
		if err = e.Summary.check(); err == nil && (c.summaries[e.Summary.ID] || len(e.Summary.ID) > maxWord) {
			err = fmt.Errorf("the id of a summary: %w", thread.ErrInvalid)
		}
		c.summaries[e.Summary.ID] = true
	case e.Pin != "":
		if len(e.Pin) > maxWord {
			err = fmt.Errorf("the id of a pin: %w", thread.ErrInvalid)
		}
	case !known(e.Mode):
		err = fmt.Errorf("mode %.20q: %w", e.Mode, thread.ErrInvalid)
	}
	c.after = c.after || e.Mask == nil
	return err
}

func (c *checking) mask(m Mask, path string) error {
	if err := m.check(); err != nil {
		return fmt.Errorf("%w: %w", err, thread.ErrInvalid)
	}
	end := "/" + outputsName + "/" + outputName(m.Token)
	switch {
	case c.after:
		return fmt.Errorf("a mask after other entries: %w", thread.ErrInvalid)
	case c.ids[m.ID] || c.tokens[m.Token]:
		return thread.Kindf(thread.ErrInvalid, "%s is there twice", m.Token)
	case m.Home != "" || m.Names != "" || m.Bytes > maxImported || len(m.Stub) > maxStub ||
		len(m.Token.Digits()) != thread.TokenDigits ||
		len(m.ID) > maxWord || len(m.Tool) > maxWord || len(m.Reason) > maxWord:
		return thread.Kindf(thread.ErrInvalid, "%s has a value that no export has", m.Token)
	case path != "" && (len(path) > maxOldPath || !filepath.IsAbs(path) || !strings.HasSuffix(path, end) ||
		!strings.Contains(m.Stub, path)):
		return thread.Kindf(thread.ErrInvalid, "%s has the path %.80q", m.Token, path)
	case !utf8.ValidString(m.Stub):
		return thread.Kindf(thread.ErrInvalid, "%s is no text", m.Token)
	}
	c.ids[m.ID], c.tokens[m.Token] = true, true
	return nil
}

func known(mode thread.MaskMode) bool {
	switch mode {
	case thread.MaskSafe, thread.MaskLean, thread.MaskObserve, thread.MaskOff:
		return true
	default:
		return false
	}
}
