package archive

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"time"
	"unicode"

	"orchestrator/checkpoint"
	"orchestrator/thread"
	"orchestrator/thread/pattern"
	"orchestrator/thread/plaintext"
)

// manifest is the last entry.
type manifest struct {
	Format  int       `json:"format"`
	Program string    `json:"program"` // program version that wrote it
	Created time.Time `json:"created"`
	Entries []entry   `json:"entries"` // in the file's order, without the manifest itself
	Records int       `json:"records"`
}

type entry struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// about is what an archive records about its thread: no folder, no environment, nothing to run.
type about struct {
	ID      thread.ID           `json:"id"`
	Name    string              `json:"name"`
	Title   string              `json:"title,omitempty"`
	Label   string              `json:"label"`
	Agent   string              `json:"agent"`
	Model   string              `json:"model"`
	Session string              `json:"session"`
	Head    thread.CheckpointID `json:"head"`
	Created time.Time           `json:"created"`
	// Redacted is set if secrets were redacted.
	Redacted bool `json:"redacted,omitempty"`
}

// recordHead precedes a record's body: the bytes of the items and then of the chunks, concatenated.
type recordHead struct {
	Checkpoint thread.Checkpoint `json:"checkpoint"`
	Keep       int               `json:"keep"`
	Items      []itemHead        `json:"items"`
	Chunks     []chunkHead       `json:"chunks"`
}

type itemHead struct {
	Wire string `json:"wire"`
	Size int    `json:"size"`
}

type chunkHead struct {
	File   string `json:"file"`
	Offset int64  `json:"offset"`
	Size   int    `json:"size"`
}

// decodeStrict refuses unknown fields, a second value, and JSON that is nested too deeply.
func decodeStrict(b []byte, v any) error {
	if err := checkDepth(b); err != nil {
		return err
	}
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("%w: %w", err, thread.ErrInvalid)
	}
	if d.More() {
		return thread.Kindf(thread.ErrInvalid, "more than one value")
	}
	return nil
}

// checkDepth scans the bytes without building anything, so that depth costs no memory.
func checkDepth(b []byte) error {
	depth, quoted, escaped := 0, false, false
	for _, c := range b {
		switch {
		case escaped:
			escaped = false
		case quoted:
			escaped, quoted = c == '\\', c != '"'
		case c == '"':
			quoted = true
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return thread.Kindf(thread.ErrInvalid, "JSON nested deeper than %d", maxDepth)
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return nil
}

var (
	reID      = pattern.Lazy(`^[0-9A-Za-z_-]{1,64}$`)
	reName    = pattern.Lazy(`^[a-z0-9][a-z0-9-]{0,63}$`)
	reWord    = pattern.Lazy(`^[0-9A-Za-z][0-9A-Za-z ._:/@+()\[\]-]{0,127}$`)
	reSession = pattern.Lazy(`^[0-9A-Za-z][0-9A-Za-z._-]{0,127}$`)
	reObject  = pattern.Lazy(`^[0-9a-f]{40}([0-9a-f]{24})?$`)
)

// checks collects the first problem.
type checks struct{ err error }

func (c *checks) that(ok bool, format string, args ...any) {
	if !ok && c.err == nil {
		c.err = fmt.Errorf(format+": %w", append(args, thread.ErrInvalid)...)
	}
}

func (c *checks) match(re func() *regexp.Regexp, what, s string, empty bool) {
	c.that(s == "" && empty || re().MatchString(s), "%s %q", what, clip(s))
}

func (c *checks) text(what, s string, limit int) {
	c.that(len(s) <= limit, "%s has %d bytes, the limit is %d", what, len(s), limit)
	control := func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }
	c.that(!strings.ContainsFunc(s, control), "%s contains control characters", what)
}

func clip(s string) string {
	if len(s) > 80 {
		return plaintext.Cut(s, 80) + "…"
	}
	return s
}

func (a about) check() error {
	var c checks
	c.match(reID, "thread id", string(a.ID), false)
	c.match(reName, "thread name", a.Name, false)
	c.text("title", a.Title, 1000)
	c.text("label", a.Label, 1000)
	c.match(reName, "agent", a.Agent, true)
	c.match(reWord, "model", a.Model, true)
	c.match(reSession, "session", a.Session, true)
	c.match(reID, "head", string(a.Head), true)
	return c.err
}

// check checks a record by itself; the reader checks the tree.
func (h recordHead) check() error {
	var c checks
	p := h.Checkpoint
	c.match(reID, "checkpoint id", string(p.ID), false)
	c.match(reID, "thread id", string(p.Thread), false)
	c.match(reID, "parent id", string(p.Parent), true)
	c.that(p.Turn >= 0 && p.Turn < 1<<31, "turn %d", p.Turn)
	c.that(knownKind(p.Kind), "kind %q", clip(string(p.Kind)))
	c.that(len(p.Prompt) <= checkpoint.MaxText && len(p.Answer) <= checkpoint.MaxText, "prompt or answer is too long")
	c.match(reWord, "model", p.Model, true)
	c.match(reWord, "model of the gauge", p.Gauge.Model, true)
	c.match(reWord, "source of the gauge", p.Gauge.Source, true)
	c.match(reWord, "stop reason", p.Stop, true)
	c.match(reSession, "session", p.Session, true)
	c.text("note", p.Note, 1000)
	c.that(len(p.MCP) <= 1000, "%d MCP servers", len(p.MCP))
	for _, m := range p.MCP {
		c.text("MCP server", m, 200)
	}
	c.text("base", p.Base.Profile, maxBase)
	c.text("version of the base", p.Base.Version, maxBase)
	c.that(len(p.Base.Left)+len(p.Base.Keep) <= 1000, "%d parts left out", len(p.Base.Left)+len(p.Base.Keep))
	for _, part := range p.Base.Left {
		c.match(reWord, "part left out", part, false)
	}
	for _, part := range p.Base.Keep {
		c.text("part that stays", part, maxBase)
	}
	if s := p.Snapshot; s != nil {
		c.match(reObject, "commit", s.Commit, true)
		c.match(reObject, "tree", s.Tree, true)
		c.match(reObject, "base", s.Base, true)
		c.that(len(s.Skipped) <= 100_000, "%d skipped files", len(s.Skipped))
		for _, k := range s.Skipped {
			c.text("skipped file", k.Path, 4096)
			c.text("reason", k.Reason, 1000)
		}
	}
	for _, i := range h.Items {
		c.match(reWord, "wire format", i.Wire, true)
	}
	for _, k := range h.Chunks {
		c.that(filepath.IsLocal(k.File) && !strings.ContainsAny(k.File, `\:`) &&
			filepath.ToSlash(filepath.Clean(k.File)) == k.File,
			"transcript file %q", clip(k.File))
		c.text("transcript file", k.File, checkpoint.MaxName)
	}
	return c.err
}

// maxBase is the most bytes of the name of a base, and of a version.
const maxBase = 200

func knownKind(k thread.CheckpointKind) bool {
	switch k {
	case thread.KindResponse, thread.KindTurn, thread.KindSafety, thread.KindRewind, thread.KindImport:
		return true
	default:
		return false
	}
}

// size returns the length of the body; an error if a part is negative or the total is too large.
func (h recordHead) size() (int, error) {
	total := 0
	add := func(n int) {
		if n < 0 || total < 0 || n > maxBody {
			total = -1
			return
		}
		if total += n; total > maxBody {
			total = -1
		}
	}
	for _, i := range h.Items {
		add(i.Size)
	}
	for _, c := range h.Chunks {
		add(c.Size)
	}
	if total < 0 {
		return 0, thread.Kindf(thread.ErrInvalid, "checkpoint %q: sizes are out of bounds", clip(string(h.Checkpoint.ID)))
	}
	return total, nil
}

// delta splits the body.
func (h recordHead) delta(body []byte) thread.Delta {
	d := thread.Delta{Keep: h.Keep}
	for _, i := range h.Items {
		d.Items = append(d.Items, thread.Item{Wire: i.Wire, Raw: body[:i.Size:i.Size]})
		body = body[i.Size:]
	}
	for _, c := range h.Chunks {
		d.Transcript = append(d.Transcript, thread.Chunk{File: c.File, Offset: c.Offset, Data: body[:c.Size:c.Size]})
		body = body[c.Size:]
	}
	return d
}
