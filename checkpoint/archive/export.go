package archive

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/klauspost/compress/zstd"

	"orchestrator/checkpoint"
	"orchestrator/thread"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/secret"
)

// Source is the store that an archive is written from.
type Source interface {
	Thread(context.Context, thread.ID) (thread.Thread, error)
	thread.Checkpoints
	checkpoint.Deltas
}

// Export describes what to export.
type Export struct {
	Thread  thread.ID
	Program string    // program version, for people
	Now     time.Time // when
	// Staged and Masks write the staged data that the thread names, and what is masked of its conversation; nil for none.
	// They leave out secrets themselves.
	Staged, Masks func(io.Writer) error
	// Work writes the thread's executions, and leaves out secrets itself; nil for none.
	Work func(io.Writer) error
	// Snapshots is a git bundle of the thread's snapshots; nil for none.
	Snapshots io.Reader
	// Secrets keeps secrets in prompts, answers and tool results.
	Secrets bool
	// Lost is called with checkpoints that are left out because they cannot be read; may be nil.
	Lost func([]thread.Checkpoint)
}

// Write writes a thread as an archive. The output before an error is not an archive: it has no manifest.
func (e Export) Write(ctx context.Context, from Source, w io.Writer) (err error) {
	t, err := from.Thread(ctx, e.Thread)
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	z, err := zstd.NewWriter(w,
		zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithWindowSize(window), zstd.WithEncoderConcurrency(1),
		zstd.WithLowerEncoderMem(true))
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	defer func() {
		if cerr := z.Close(); err == nil && cerr != nil {
			err = fmt.Errorf("export %s: %w", t.Name, cerr)
		}
	}()
	x := &exporter{tar: tar.NewWriter(z), now: e.Now.UTC().Truncate(time.Second), redact: !e.Secrets}
	if err := x.all(ctx, from, t, e); err != nil {
		return fmt.Errorf("export %s: %w", t.Name, err)
	}
	return nil
}

type exporter struct {
	tar     *tar.Writer
	now     time.Time
	redact  bool
	total   int64
	entries []entry
	records int
}

func (x *exporter) all(ctx context.Context, from Source, t thread.Thread, e Export) error {
	layout := plain
	switch {
	case e.Work != nil:
		layout = format
	case e.Staged != nil || e.Masks != nil:
		layout = carried
	}
	if err := x.entry(nameFormat, []byte(fmt.Sprint(layout))); err != nil {
		return err
	}
	list, err := lineage(ctx, from, t)
	if err != nil {
		return err
	}
	sound := &Sound{From: from}
	if t.Head, err = newestSound(ctx, from, list, t.Head); err != nil {
		return err
	}
	a := about{ID: t.ID, Name: t.Name, Title: cleaned(secret.Redact(t.Title), 1000),
		Label: cleaned(secret.Redact(t.Label), 1000), Agent: only(reName, t.Agent), Model: only(reWord, t.Model),
		Session: only(reSession, t.Session), Head: t.Head, Created: t.Created.UTC(), Redacted: x.redact}
	if !reName().MatchString(a.Name) {
		a.Name = thread.NewName(a.Name)
	}
	if err := a.check(); err != nil {
		return err
	}
	if err := x.json(nameThread, a); err != nil {
		return err
	}
	for dir, write := range e.streams() {
		part := &parts{x: x, dir: dir}
		if err := errors.Join(write(part), part.flush()); err != nil {
			return fmt.Errorf("%s: %w", strings.TrimSuffix(dir, "/"), err)
		}
	}
	records := &parts{x: x, dir: dirCheckpoints}
	for _, c := range list {
		c, d, ok, err := sound.Read(ctx, c)
		if c.ID == t.Head && t.Base.Chosen {
			c.Base = t.Base.Recorded() // the thread may have another since
		}
		if err == nil && ok {
			err = x.record(c, d, records)
		}
		if err != nil {
			return fmt.Errorf("checkpoint %s: %w", c.ID, err)
		}
	}
	if e.Lost != nil && len(sound.Lost) > 0 {
		e.Lost(sound.Lost)
	}
	if err := records.flush(); err != nil {
		return err
	}
	if e.Snapshots != nil {
		bundle := &parts{x: x, dir: dirSnapshots}
		_, err := io.Copy(bundle, e.Snapshots)
		if err := errors.Join(err, bundle.flush()); err != nil {
			return fmt.Errorf("snapshots: %w", err)
		}
	}
	m := manifest{Format: layout, Program: e.Program, Created: x.now, Entries: x.entries, Records: x.records}
	if err := x.json(nameManifest, m); err != nil {
		return err
	}
	return x.tar.Close()
}

// streams yields the streams that come before the records, in order.
func (e Export) streams() iter.Seq2[string, func(io.Writer) error] {
	return func(yield func(string, func(io.Writer) error) bool) {
		if e.Staged != nil && !yield(dirStaged, e.Staged) {
			return
		}
		if e.Masks != nil && !yield(dirMasks, e.Masks) {
			return
		}
		if e.Work != nil {
			yield(dirWork, e.Work)
		}
	}
}

// Texts calls each for the texts that an archive of a thread would have: prompts, answers and the conversation.
func Texts(ctx context.Context, from Source, id thread.ID, each func([]byte)) error {
	t, err := from.Thread(ctx, id)
	if err != nil {
		return fmt.Errorf("read %s: %w", id, err)
	}
	list, err := lineage(ctx, from, t)
	if err != nil {
		return fmt.Errorf("read %s: %w", t.Name, err)
	}
	for _, c := range list {
		d, err := from.Delta(ctx, c.ID)
		if err != nil && !errors.Is(err, thread.ErrDamaged) {
			return fmt.Errorf("read checkpoint %s: %w", c.ID, err)
		}
		each([]byte(c.Prompt))
		each([]byte(c.Answer))
		for _, i := range d.Items {
			each(i.Raw)
		}
	}
	return nil
}

// lineage returns a thread's own checkpoints and their ancestors, parents first.
func lineage(ctx context.Context, from Source, t thread.Thread) ([]thread.Checkpoint, error) {
	known := map[thread.CheckpointID]thread.Checkpoint{}
	all := []thread.CheckpointID{}
	add := func(list []thread.Checkpoint) {
		for _, c := range list {
			if _, there := known[c.ID]; !there {
				known[c.ID] = c
				all = append(all, c.ID)
			}
		}
	}
	const page = 1000
	for before := int64(0); ; {
		list, err := from.Checkpoints(ctx, t.ID, thread.Page{Before: before, Limit: page})
		if err != nil {
			return nil, err
		}
		add(list)
		if len(list) < page {
			break
		}
		before = list[len(list)-1].Seq
	}
	missing := []thread.CheckpointID{t.Head}
	for _, id := range all {
		missing = append(missing, known[id].Parent)
	}
	for _, id := range missing {
		if _, there := known[id]; there || id == "" {
			continue
		}
		list, err := from.Lineage(ctx, id, thread.Page{Limit: 1 << 30})
		if err != nil {
			return nil, err
		}
		add(list)
	}
	return parentsFirst(known, all), nil
}

func parentsFirst(known map[thread.CheckpointID]thread.Checkpoint, all []thread.CheckpointID) []thread.Checkpoint {
	slices.Reverse(all) // sorted newest first, so most parents come first already
	out := make([]thread.Checkpoint, 0, len(all))
	done := map[thread.CheckpointID]bool{}
	for _, id := range all {
		var up []thread.Checkpoint
		for c, there := known[id]; there && !done[c.ID]; c, there = known[c.Parent] {
			done[c.ID] = true
			up = append(up, c)
		}
		for _, c := range slices.Backward(up) {
			out = append(out, c)
		}
	}
	return out
}

func (x *exporter) record(c thread.Checkpoint, d thread.Delta, to io.Writer) error {
	c.Model, c.Stop, c.Session, c.Note = only(reWord, c.Model), only(reWord, c.Stop), only(reSession, c.Session),
		cleaned(c.Note, 1000)
	c.Gauge.Model, c.Gauge.Source = only(reWord, c.Gauge.Model), only(reWord, c.Gauge.Source)
	for i := range c.MCP {
		c.MCP[i] = cleaned(c.MCP[i], 200)
	}
	c.Base.Profile, c.Base.Version = cleaned(c.Base.Profile, maxBase), cleaned(c.Base.Version, maxBase)
	if s := c.Snapshot; s != nil {
		for i := range s.Skipped {
			s.Skipped[i].Path, s.Skipped[i].Reason = cleaned(s.Skipped[i].Path, 4096), cleaned(s.Skipped[i].Reason, 1000)
		}
	}
	if x.redact {
		WithoutSecrets(&c, &d)
	}
	h := recordHead{Checkpoint: c, Keep: d.Keep}
	for _, i := range d.Items {
		h.Items = append(h.Items, itemHead{Wire: i.Wire, Size: len(i.Raw)})
	}
	for _, k := range d.Transcript {
		h.Chunks = append(h.Chunks, chunkHead{File: k.File, Offset: k.Offset, Size: len(k.Data)})
	}
	if err := h.check(); err != nil {
		return err
	}
	head, err := json.Marshal(h)
	if err != nil {
		return err
	}
	x.records++
	pieces := [][]byte{binary.AppendUvarint(nil, uint64(len(head))), head}
	for _, i := range d.Items {
		pieces = append(pieces, i.Raw)
	}
	for _, k := range d.Transcript {
		pieces = append(pieces, k.Data)
	}
	for _, b := range pieces {
		if _, err := to.Write(b); err != nil {
			return err
		}
	}
	return nil
}

// WithoutSecrets redacts secrets in the exported parts of a checkpoint; the sizes of items and files stay.
func WithoutSecrets(c *thread.Checkpoint, d *thread.Delta) {
	c.Prompt, c.Answer, c.Note = secret.Redact(c.Prompt), secret.Redact(c.Answer), secret.Redact(c.Note)
	d.Items, d.Transcript = slices.Clone(d.Items), slices.Clone(d.Transcript) // the store may share them
	for i := range d.Items {
		d.Items[i].Raw = secret.Mask(d.Items[i].Raw) // masked like the transcripts, which are compared with them
	}
	for i := range d.Transcript { // whole lines: a secret is never split between two chunks
		d.Transcript[i].Data = secret.Mask(d.Transcript[i].Data)
	}
}

// only returns s if an import accepts it, and "" otherwise.
func only(re func() *regexp.Regexp, s string) string {
	if re().MatchString(s) {
		return s
	}
	return ""
}

// cleaned drops control characters and cuts what is too long.
func cleaned(s string, limit int) string {
	return plaintext.Cut(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "")), limit)
}

func (x *exporter) json(name string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return x.entry(name, b)
}

// entry writes one entry.
func (x *exporter) entry(name string, b []byte) error {
	if x.total += int64(len(b)); x.total > maxTotal {
		return fmt.Errorf("more than %d bytes: %w", int64(maxTotal), thread.ErrLimit)
	}
	h := tar.Header{
		Typeflag: tar.TypeReg, Name: name, Size: int64(len(b)), Mode: 0o600, ModTime: x.now, Format: tar.FormatUSTAR,
	}
	if err := x.tar.WriteHeader(&h); err != nil {
		return err
	}
	if _, err := x.tar.Write(b); err != nil {
		return err
	}
	s := sha256.Sum256(b)
	x.entries = append(x.entries, entry{Name: name, Size: h.Size, SHA256: hex.EncodeToString(s[:])})
	return nil
}

// parts splits a stream into numbered entries, so that its size need not be known in advance.
type parts struct {
	x   *exporter
	dir string
	n   int
	buf []byte
}

func (p *parts) Write(b []byte) (int, error) {
	p.buf = append(p.buf, b...)
	for len(p.buf) >= partSize {
		if err := p.part(p.buf[:partSize]); err != nil {
			return 0, err
		}
		p.buf = append(p.buf[:0], p.buf[partSize:]...)
	}
	return len(b), nil
}

func (p *parts) flush() error {
	if len(p.buf) == 0 {
		return nil
	}
	defer func() { p.buf = nil }()
	return p.part(p.buf)
}

func (p *parts) part(b []byte) error {
	p.n++
	return p.x.entry(fmt.Sprintf(partName, p.dir, p.n), b)
}

// newestSound returns the newest checkpoint, at or before a head, that an archive can have; "" if there is none.
func newestSound(
	ctx context.Context, from Source, list []thread.Checkpoint, head thread.CheckpointID,
) (thread.CheckpointID, error) {
	if !slices.ContainsFunc(list, func(c thread.Checkpoint) bool { return c.Damaged }) {
		return head, nil
	}
	try := &Sound{From: from}
	for _, c := range list {
		if _, _, _, err := try.Read(ctx, c); err != nil {
			return "", err
		}
	}
	return try.at[head].id, nil
}
