package archive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/failpoint"
)

// Target is the store that an archive is read into.
type Target interface {
	thread.Threads
	thread.Checkpoints
	thread.Intents
}

// Summary describes the content of an archive.
type Summary struct {
	Name        string    `json:"name"` // of the thread
	Agent       string    `json:"agent"`
	Program     string    `json:"program"` // program version that wrote it
	Created     time.Time `json:"created"`
	Checkpoints int       `json:"checkpoints"`
	Bytes       int64     `json:"bytes"` // unpacked
	Snapshots   bool      `json:"snapshots"`
	Redacted    bool      `json:"redacted"` // secrets were redacted
}

// check reads a whole archive, with what the parts of an import check, and summarises it. It writes nothing.
func check(name string, in io.Reader, i Import) (Summary, error) {
	var s Summary
	m, err := read(in, visitor{
		about:     func(a about) error { s.Name, s.Agent, s.Redacted = a.Name, a.Agent, a.Redacted; return nil },
		snapshots: func([]byte) error { s.Snapshots = true; return nil },
		staged:    i.Staged.Check,
		masks:     i.Masks.Check,
		work:      i.Work.Check,
	})
	if err != nil {
		return Summary{}, fmt.Errorf("%s: %w", name, err)
	}
	s.Program, s.Created, s.Checkpoints = clip(m.Program), m.Created, m.Records
	for _, e := range m.Entries {
		s.Bytes += e.Size
	}
	return s, nil
}

// Import describes how to import an archive.
type Import struct {
	File string // its name, for errors
	Dir  string // where the new thread's agent will run
	Now  time.Time
	// Agent returns the replacement for an unknown agent; nil keeps the archive's.
	Agent func(name string) string
	// Snapshots imports the git bundle of an archive for the new thread; nil ignores it. It is called once, after all
	// checkpoints, and must accept a bundle that it has imported before.
	Snapshots func(thread.ID, io.Reader) error
	// Staged and Masks import what Export's functions of these names wrote, in this order; the zero values ignore it.
	Staged, Masks Part
	// Work imports what Export's function of this name wrote, after these.
	Work Part
	// Undo removes what they stored for a thread whose import failed; nil for nothing.
	Undo func(thread.ID) error
}

// Part imports a stream of an archive that its caller wrote.
type Part struct {
	// Check reads all of it and writes nothing. It is called before anything is written.
	Check func(io.Reader) error
	// Read imports it for the new thread. It returns the tokens that are in use here, with those that stand for them
	// instead.
	Read func(thread.ID, io.Reader) (others map[thread.Token]thread.Token, err error)
}

// Read creates a new thread from an archive. Nothing is written before all of it was checked, and the thread is not
// visible before all of it is written.
func (i Import) Read(ctx context.Context, to Target, in io.ReadSeeker) (thread.Thread, error) {
	sum, err := check(i.File, in, i)
	if err != nil {
		return thread.Thread{}, fmt.Errorf("import %w", err)
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return thread.Thread{}, fmt.Errorf("import %s: %w", i.File, err)
	}
	m := &importer{
		Import: i, ctx: ctx, to: to, files: sum.Snapshots && i.Snapshots != nil,
		ids: map[thread.CheckpointID]thread.Checkpoint{}, others: Tokens{},
	}
	t, err := m.all(in)
	if err != nil {
		err = fmt.Errorf("import %s: %w", i.File, err)
		if m.thread.ID != "" { // roll back what was written, also after a cancellation
			err = errors.Join(err, m.undo())
		}
		return thread.Thread{}, err
	}
	return t, nil
}

// importer writes an archive into a store.
type importer struct {
	Import
	ctx    context.Context // lives for one call of Read
	to     Target
	files  bool // the snapshots of checkpoints are imported too
	about  about
	thread thread.Thread
	// ids maps the archive's checkpoints to ours: an archive may be imported many times.
	ids map[thread.CheckpointID]thread.Checkpoint
	// others are the tokens that are in use here, with those that stand for them instead.
	others Tokens
	// servers is the list of MCP servers of the head, and base what its agent left out.
	servers []string
	base    thread.Base
}

// undo takes back what was written. The parts go first: while the intent exists, a crash does not make the rest visible.
func (m *importer) undo() error {
	var err error
	if m.Undo != nil {
		err = m.Undo(m.thread.ID)
	}
	return errors.Join(err, rollBack(context.WithoutCancel(m.ctx), m.to, m.intent()))
}

// part returns what imports a stream, nil if it is ignored.
func (m *importer) part(p Part) func(io.Reader) error {
	if p.Read == nil {
		return nil
	}
	return func(r io.Reader) error {
		others, err := p.Read(m.thread.ID, r)
		err = errors.Join(err, m.others.Add(others))
		failpoint.Hit("archive.import.part")
		return visited(err)
	}
}

func (m *importer) intent() thread.Intent { return Unfinished(m.thread.ID, "import", m.File, m.Now) }

// Unfinished is the intent that marks a hidden thread as being read from a file by a verb such as import. While it
// exists, Repair rolls the thread back.
func Unfinished(id thread.ID, verb, file string, now time.Time) thread.Intent {
	data, err := json.Marshal(unfinished{File: file, Verb: verb})
	if err != nil {
		data = nil // a name that JSON cannot hold is not worth failing for
	}
	return thread.Intent{ID: "import-" + string(id), Kind: intentKind, Thread: id, Data: data, Created: now}
}

// unfinished is the data of such an intent.
type unfinished struct {
	File string `json:"file"`
	Verb string `json:"verb,omitempty"`
}

// about describes for people what was interrupted.
func (u unfinished) about() string {
	if u.Verb == "" || u.Verb == "import" {
		return fmt.Sprintf("the import of %q was interrupted and rolled back; import it again", u.File)
	}
	return fmt.Sprintf("%s %q was interrupted: incomplete threads were rolled back; run it again", u.Verb, u.File)
}

func (m *importer) all(in io.Reader) (thread.Thread, error) {
	var bundle feed
	if m.Snapshots != nil {
		bundle.read = func(r io.Reader) error { return m.Snapshots(m.thread.ID, r) }
	}
	_, err := read(in, visitor{
		about: m.begin, staged: m.part(m.Staged), masks: m.part(m.Masks), work: m.part(m.Work), record: m.record, snapshots: bundle.take,
	})
	if bundleErr := bundle.end(err); bundleErr != nil {
		err = errors.Join(err, fmt.Errorf("snapshots: %w", bundleErr))
	}
	if err != nil {
		return thread.Thread{}, err
	}
	failpoint.Hit("archive.import.written")
	t, err := m.finish()
	if err != nil {
		return thread.Thread{}, err
	}
	failpoint.Hit("archive.import.visible")
	return t, m.to.DropIntent(m.ctx, m.intent().ID)
}

// begin creates the hidden thread.
func (m *importer) begin(a about) error {
	m.about = a
	agent := a.Agent
	if m.Agent != nil {
		agent = m.Agent(agent)
	}
	t := thread.Thread{ID: thread.NewID[thread.ID](), Name: a.Name, Title: a.Title, Label: a.Label, Agent: agent,
		Model: a.Model, Dir: m.Dir, Created: m.Now, Updated: m.Now, Deleted: m.Now}
	if t.Deleted.IsZero() {
		t.Deleted = time.Unix(0, 0)
	}
	m.thread = t
	if err := m.to.PutIntent(m.ctx, m.intent()); err != nil {
		return err
	}
	failpoint.Hit("archive.import.intended")
	err := m.to.CreateThread(m.ctx, t)
	for range 8 {
		if !errors.Is(err, thread.ErrNameTaken) {
			break
		}
		m.thread.Name = thread.NewName(a.Name[:max(0, len(a.Name)-len("-0000"))])
		err = m.to.CreateThread(m.ctx, m.thread)
	}
	failpoint.Hit("archive.import.created")
	return err
}

// record writes one checkpoint under one of our ids.
func (m *importer) record(h recordHead, d thread.Delta) error {
	c := h.Checkpoint
	old := c.ID
	c.ID, c.Thread, c.Parent = thread.NewID[thread.CheckpointID](), m.thread.ID, m.ids[c.Parent].ID
	c.Base = c.Base.Elsewhere()
	m.others.Replace(&c, &d)
	if !m.files {
		c.Snapshot = nil // it names a commit that is not here
	}
	put, err := m.to.PutCheckpoint(m.ctx, c, d)
	if err != nil {
		return err
	}
	if old == m.about.Head {
		m.servers, m.base = put.MCP, put.Base
	}
	put.Prompt, put.Answer, put.MCP, put.Base = "", "", nil, thread.Base{} // keep only what finish needs
	m.ids[old] = put
	failpoint.Hit("archive.import.record")
	return nil
}

// Tokens are those of a file that are in use here, each with the one that stands for it instead.
type Tokens map[thread.Token]thread.Token

// Add takes over what a part has replaced.
func (all Tokens) Add(others map[thread.Token]thread.Token) error {
	for old, other := range others {
		if len(old) != len(other) {
			return thread.Kindf(thread.ErrInvalid, "%s would become %s, which is not as long", old, other)
		}
		all[old] = other
	}
	return nil
}

// Replace replaces them. Nothing changes its length: transcripts are addressed by offset.
func (all Tokens) Replace(c *thread.Checkpoint, d *thread.Delta) {
	if len(all) == 0 {
		return
	}
	c.Prompt = string(thread.ReplaceTokens([]byte(c.Prompt), all))
	c.Answer = string(thread.ReplaceTokens([]byte(c.Answer), all))
	for i := range d.Items {
		d.Items[i].Raw = thread.ReplaceTokens(d.Items[i].Raw, all)
	}
	for i := range d.Transcript {
		d.Transcript[i].Data = thread.ReplaceTokens(d.Transcript[i].Data, all)
	}
}

// finish stores a last checkpoint that says where the thread comes from, and makes the thread visible.
func (m *importer) finish() (thread.Thread, error) {
	head := m.ids[m.about.Head]
	c := thread.Checkpoint{ID: thread.NewID[thread.CheckpointID](), Thread: m.thread.ID, Parent: head.ID, Turn: head.Turn,
		Kind: thread.KindImport, Created: m.Now, Model: head.Model, Gauge: head.Gauge, Session: m.about.Session,
		Snapshot: head.Snapshot, MCP: m.servers, Base: m.base,
		Note: fmt.Sprintf(noteImported, m.about.Name)}
	if m.about.Redacted {
		c.Note += noteRedacted
	}
	c, err := m.to.PutCheckpoint(m.ctx, c, thread.Delta{Keep: head.Items})
	if err != nil {
		return thread.Thread{}, err
	}
	return m.to.UpdateThread(m.ctx, m.thread.ID, func(t *thread.Thread) error {
		// No session: the original one may still belong to another thread here. The first start creates its own.
		t.Deleted, t.Head, t.Turn, t.Session, t.Displaced = time.Time{}, c.ID, head.Turn, "", true
		// Names only: a server of that name is used if it is configured and accepted here.
		t.MCP = t.MCP.At(m.servers, "on where it was exported")
		t.Base = m.base.Clone()
		return nil
	})
}

// Repair rolls back interrupted imports and says so, for people. It must run at start, before any import.
func Repair(ctx context.Context, to Target) ([]string, error) {
	intents, err := to.Intents(ctx)
	if err != nil {
		return nil, fmt.Errorf("repair imports: %w", err)
	}
	var said []string
	var errs []error
	for _, i := range intents {
		if i.Kind != intentKind {
			continue
		}
		t, err := to.Thread(ctx, i.Thread)
		if err == nil && t.Deleted.IsZero() {
			err = to.DropIntent(ctx, i.ID) // it was complete; only the intent was left
		} else if err == nil || errors.Is(err, thread.ErrNotFound) {
			var of unfinished
			_ = json.Unmarshal(i.Data, &of) // without it the file has no name
			if about := of.about(); !slices.Contains(said, about) {
				said = append(said, about)
			}
			err = rollBack(ctx, to, i)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("repair import %s: %w", i.ID, err))
		}
	}
	return said, errors.Join(errs...)
}

func rollBack(ctx context.Context, to Target, i thread.Intent) error {
	if err := to.PurgeThread(ctx, i.Thread); err != nil && !errors.Is(err, thread.ErrNotFound) {
		return fmt.Errorf("roll back the import: %w", err)
	}
	return to.DropIntent(ctx, i.ID)
}
