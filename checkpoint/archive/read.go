package archive

import (
	"archive/tar"
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"

	"orchestrator/checkpoint"
	"orchestrator/thread"
)

// visitor is called with what a reader finds, in the file's order. Each field may be nil.
type visitor struct {
	about func(about) error
	// staged, masks and work read a stream to its end.
	staged    func(io.Reader) error
	masks     func(io.Reader) error
	work      func(io.Reader) error
	record    func(recordHead, thread.Delta) error
	snapshots func([]byte) error
}

// reader reads an archive once and checks all of it.
type reader struct {
	visit visitor
	in    *counter
	tar   *tar.Reader

	entries []entry
	total   int64     // sizes of the entries so far
	read    int64     // bytes of them that were read
	sum     hash.Hash // of the entry being read
	layout  int       // of the file
	stage   stage     // of the last entry
	feed    feed      // of the current stage
	part    int       // the last one of the current folder
	about   about
	known   map[thread.CheckpointID]point
	records int
	cells   int // sizes kept in known
}

// point is what later records need to know about an earlier one.
type point struct {
	items int
	sizes map[string]int64
}

// counter counts the bytes read from the compressed file.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	return n, err
}

// read checks a whole archive and reports its content.
func read(in io.Reader, v visitor) (manifest, error) {
	r := &reader{visit: v, in: &counter{r: in}, known: map[thread.CheckpointID]point{}}
	z, err := zstd.NewReader(bufio.NewReader(r.in), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderMaxMemory(maxTotal+(64<<20)))
	if err != nil {
		return manifest{}, fmt.Errorf("%w: %w", err, thread.ErrInvalid)
	}
	defer z.Close()
	r.tar = tar.NewReader(z)
	m, err := r.all()
	err = errors.Join(err, r.feed.end(err))
	if err != nil {
		return m, invalid(err)
	}
	return m, nil
}

// invalid turns errors of the underlying formats into errors of the input.
func invalid(err error) error {
	if errors.Is(err, thread.ErrInvalid) || errors.Is(err, errVisit) {
		return err
	}
	return fmt.Errorf("%w: %w", err, thread.ErrInvalid)
}

// errVisit marks an error of a visitor: it is not the archive's fault.
var errVisit = errors.New("write")

func visited(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", errVisit, err)
}

func (r *reader) all() (manifest, error) {
	stream := &stream{r: r}
	for {
		h, err := r.tar.Next()
		if errors.Is(err, io.EOF) {
			return manifest{}, thread.Kindf(thread.ErrInvalid, "no %s: the file is truncated", nameManifest)
		}
		if err != nil && len(r.entries) == 0 {
			if errors.Is(err, io.ErrUnexpectedEOF) {
				return manifest{}, thread.Kindf(thread.ErrInvalid, "an orchestrator export that is cut off, or none")
			}
			return manifest{}, thread.Kindf(thread.ErrInvalid, "not an orchestrator export")
		}
		if err != nil {
			return manifest{}, fmt.Errorf("after %d entries: %w", len(r.entries), err)
		}
		if err := r.header(h); err != nil {
			return manifest{}, err
		}
		if h.Name == nameManifest {
			if err := stream.end(); err != nil {
				return manifest{}, err
			}
			return r.manifest(h)
		}
		if err := r.body(h, stream); err != nil {
			return manifest{}, fmt.Errorf("entry %q: %w", clip(h.Name), err)
		}
	}
}

// stage is a place in the fixed order of entries.
type stage int

const (
	stageNone stage = iota
	stageFormat
	stageThread
	stageStaged
	stageMasks
	stageWork
	stageCheckpoints
	stageSnapshots
	stageManifest
)

// stageOf is the stage of an entry: it may follow those of its own stage or an earlier one.
func stageOf(name string) stage {
	switch {
	case name == nameFormat:
		return stageFormat
	case name == nameThread:
		return stageThread
	case strings.HasPrefix(name, dirStaged):
		return stageStaged
	case strings.HasPrefix(name, dirMasks):
		return stageMasks
	case strings.HasPrefix(name, dirWork):
		return stageWork
	case strings.HasPrefix(name, dirCheckpoints):
		return stageCheckpoints
	case strings.HasPrefix(name, dirSnapshots):
		return stageSnapshots
	case name == nameManifest:
		return stageManifest
	default:
		return stageNone
	}
}

// parted reports whether the entries of the stage are numbered parts.
func (s stage) parted() bool { return s > stageThread && s < stageManifest }

// in reports whether files of a layout have the stage.
func (s stage) in(layout int) bool {
	return s != stageNone && (layout > plain || s != stageStaged && s != stageMasks) && (layout > carried || s != stageWork)
}

// header refuses an entry before any of it is read.
func (r *reader) header(h *tar.Header) error {
	bad := func(f string, args ...any) error {
		return fmt.Errorf("entry %q: "+f+": %w", append(append([]any{clip(h.Name)}, args...), thread.ErrInvalid)...)
	}
	if len(r.entries) >= maxEntries {
		return bad("more than %d entries", maxEntries)
	}
	if h.Typeflag != tar.TypeReg {
		return bad("is not a regular file (type %q)", h.Typeflag)
	}
	if h.Linkname != "" || len(h.PAXRecords) > 0 {
		return bad("has attributes that our archives do not have")
	}
	at := stageOf(h.Name)
	switch {
	case !at.in(r.layout):
		return bad("unknown name")
	case at < r.stage || at == r.stage && !at.parted():
		return bad("is out of order or duplicate")
	case at > stageThread && r.stage < stageThread || at == stageThread && r.stage != stageFormat:
		return bad("comes before %q and %q", nameFormat, nameThread)
	}
	if at != r.stage {
		if err := r.feed.end(nil); err != nil {
			return fmt.Errorf("before entry %q: %w", clip(h.Name), err)
		}
		r.begin(at)
	}
	limit := int64(maxSmall)
	switch {
	case at.parted():
		r.part++
		dir, num, _ := strings.Cut(h.Name, "/")
		if num != fmt.Sprintf("%05d", r.part) {
			return bad("is not part %d of %s", r.part, dir)
		}
		limit = maxPart
	case at == stageManifest:
		limit = maxList
	}
	if h.Size < 0 || h.Size > limit {
		return bad("has %d bytes, the limit is %d", h.Size, limit)
	}
	if r.total += h.Size; r.total > maxTotal {
		return bad("the archive unpacks to more than %d bytes", int64(maxTotal))
	}
	return nil
}

// begin begins a stage.
func (r *reader) begin(at stage) {
	r.stage, r.part, r.feed = at, 0, feed{}
	switch at {
	case stageStaged:
		r.feed.read = r.visit.staged
	case stageMasks:
		r.feed.read = r.visit.masks
	case stageWork:
		r.feed.read = r.visit.work
	default:
	}
}

// Read reads the current entry: it hashes it, and checks the compression ratio.
func (r *reader) Read(b []byte) (int, error) {
	n, err := r.tar.Read(b)
	r.sum.Write(b[:n])
	if r.read += int64(n); r.read > ratioFree && r.read > r.in.n*maxRatio {
		return n, thread.Kindf(thread.ErrInvalid, "%d bytes unpack to more than %d", r.in.n, r.read)
	}
	return n, err
}

func (r *reader) body(h *tar.Header, s *stream) error {
	r.sum = sha256.New()
	var err error
	switch stageOf(h.Name) {
	case stageFormat:
		err = r.format()
	case stageThread:
		err = r.thread()
	case stageStaged, stageMasks, stageWork:
		err = r.stream()
	case stageCheckpoints:
		err = s.entry()
	case stageSnapshots:
		if err = s.end(); err == nil {
			err = r.snapshots()
		}
	default:
	}
	if err != nil {
		return err
	}
	r.entries = append(r.entries, entry{Name: h.Name, Size: h.Size, SHA256: hex.EncodeToString(r.sum.Sum(nil))})
	return nil
}

func (r *reader) format() error {
	b, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(string(b))
	if err != nil || n < oldest || n > format {
		return thread.Kindf(thread.ErrInvalid, "format %q is not supported, this program reads %d to %d", clip(string(b)), oldest, format)
	}
	r.layout = n
	return nil
}

func (r *reader) thread() error {
	b, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if err := decodeStrict(b, &r.about); err != nil {
		return err
	}
	if err := r.about.check(); err != nil {
		return err
	}
	if r.visit.about != nil {
		return visited(r.visit.about(r.about))
	}
	return nil
}

func (r *reader) stream() error {
	b, err := io.ReadAll(r)
	if err == nil {
		err = r.feed.take(b)
	}
	return err
}

func (r *reader) snapshots() error {
	b, err := io.ReadAll(r)
	if err == nil && r.visit.snapshots != nil {
		err = visited(r.visit.snapshots(b))
	}
	return err
}

// manifest compares the content with the manifest, and makes sure that nothing follows.
func (r *reader) manifest(h *tar.Header) (manifest, error) {
	var m manifest
	r.sum = sha256.New()
	b, err := io.ReadAll(r)
	if err != nil {
		return m, fmt.Errorf("entry %q: %w", h.Name, err)
	}
	if err := decodeStrict(b, &m); err != nil {
		return m, fmt.Errorf("entry %q: %w", h.Name, err)
	}
	if m.Format != r.layout || len(m.Entries) != len(r.entries) || m.Records != r.records {
		return m, thread.Kindf(thread.ErrInvalid, "entry %q: does not match the content of the file", h.Name)
	}
	for i, e := range r.entries {
		if m.Entries[i] != e {
			return m, thread.Kindf(thread.ErrInvalid, "entry %q: content does not match its hash", e.Name)
		}
	}
	if _, there := r.known[r.about.Head]; !there && r.about.Head != "" {
		return m, thread.Kindf(thread.ErrInvalid, "entry %q: head %s is not in the file", nameThread, r.about.Head)
	}
	if _, err := r.tar.Next(); !errors.Is(err, io.EOF) {
		return m, fmt.Errorf("unexpected data after the %s: %w", nameManifest, thread.ErrInvalid)
	}
	return m, nil
}

// stream joins the parts of "checkpoints/" and splits them into records.
type stream struct {
	r    *reader
	left bytes.Buffer // an incomplete record
	head *recordHead  // its head, once that is read
	from int          // where its body begins
	need int          // its length
}

// entry reads one part, record by record, to keep little in memory.
func (s *stream) entry() error {
	buf := make([]byte, 256<<10)
	for {
		n, err := s.r.Read(buf)
		s.left.Write(buf[:n])
		if perr := s.records(); perr != nil {
			return perr
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// end makes sure that no incomplete record is left.
func (s *stream) end() error {
	if s.left.Len() > 0 {
		return fmt.Errorf("incomplete record of %d bytes: %w", s.left.Len(), thread.ErrInvalid)
	}
	return nil
}

// records removes the complete records from the front.
func (s *stream) records() error {
	for s.left.Len() > 0 {
		if err := s.begin(); err != nil {
			return fmt.Errorf("record %d: %w", s.r.records+1, err)
		}
		if s.head == nil || s.left.Len() < s.need {
			return nil
		}
		h := *s.head
		if err := s.r.record(h, s.left.Bytes()[s.from:s.need]); err != nil {
			return fmt.Errorf("record %d, checkpoint %s: %w", s.r.records+1, h.Checkpoint.ID, err)
		}
		s.left.Next(s.need)
		s.head = nil
	}
	s.left.Reset()
	return nil
}

// begin reads the head of the first record, once there is enough of it.
func (s *stream) begin() error {
	if s.head != nil {
		return nil
	}
	b := s.left.Bytes()
	size, n := binary.Uvarint(b)
	if n < 0 || size > maxHead {
		return thread.Kindf(thread.ErrInvalid, "head has more than %d bytes", maxHead)
	}
	if n == 0 || len(b)-n < int(size) {
		return nil
	}
	var h recordHead
	if err := decodeStrict(b[n:n+int(size)], &h); err != nil {
		return err
	}
	if err := h.check(); err != nil {
		return err
	}
	body, err := h.size()
	if err != nil {
		return err
	}
	s.head, s.from, s.need = &h, n+int(size), n+int(size)+body
	return nil
}

// record checks that a record fits into the tree.
func (r *reader) record(h recordHead, body []byte) error {
	c := h.Checkpoint
	if _, twice := r.known[c.ID]; twice {
		return thread.Kindf(thread.ErrInvalid, "duplicate")
	}
	parent, there := r.known[c.Parent]
	if c.Parent != "" && !there {
		return thread.Kindf(thread.ErrInvalid, "parent %s does not come before it", c.Parent)
	}
	d := h.delta(body)
	if err := checkpoint.Check(c, d); err != nil {
		return err
	}
	if err := checkpoint.CheckKeep(c, d, parent.items); err != nil {
		return err
	}
	if c.Items != d.Keep+len(d.Items) {
		return thread.Kindf(thread.ErrInvalid, "has %d items instead of %d", d.Keep+len(d.Items), c.Items)
	}
	for i, it := range d.Items {
		if err := checkDepth(it.Raw); err != nil {
			return fmt.Errorf("item %d: %w", i, err)
		}
		if !json.Valid(it.Raw) {
			return thread.Kindf(thread.ErrInvalid, "item %d is not JSON", i)
		}
	}
	splices, err := checkpoint.Splices(parent.sizes, d.Transcript)
	if err != nil {
		return err
	}
	next := point{items: c.Items, sizes: parent.sizes}
	if len(splices) > 0 {
		next.sizes = make(map[string]int64, len(parent.sizes)+1)
		for name, n := range parent.sizes {
			next.sizes[name] = n
		}
		for _, s := range splices {
			next.sizes[s.File] = s.From + int64(len(s.Data))
		}
		if r.cells += len(next.sizes); r.cells > maxCells {
			return thread.Kindf(thread.ErrInvalid, "too many transcript files")
		}
	}
	r.known[c.ID] = next
	r.records++
	if r.visit.record != nil {
		return visited(r.visit.record(h, d))
	}
	return nil
}
