package masks

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"

	"orchestrator/contextmgr/carried"
	"orchestrator/contextmgr/policy"
	"orchestrator/thread"
	"orchestrator/thread/failpoint"
)

// A batch of masks is stored at a time.
const batchBytes, batchMasks = 8 << 20, 500

// CheckImport reads a whole export and reports what is wrong with it. It stores nothing.
func CheckImport(r io.Reader, beside Beside) error {
	return readEntries(r, beside, func(exported, []byte) error { return nil })
}

// Imported is what an import did.
type Imported struct {
	// Others has the tokens that were in use here, each with the one that was given in its place.
	Others map[thread.Token]thread.Token
	// Lost is how many masks were left out, as the thread that has their content has it no longer.
	Lost int
}

// Import gives a thread that has no masks those of an export. Their texts are made again, for good, with the paths of
// this store, as no provider has a cache of an imported conversation. A token that is in use here is replaced. Whatever there is, the thread begins with nothing of a parent. After an error the thread
// has a part of it: Drop removes that.
//
// With other exports beside it, which come before if it names them, the thread may have masks, as after a restore that
// was killed: they stay, and the rest is added. A mask whose content none of them has is left out.
func (s *Store) Import(id thread.ID, r io.Reader, beside Beside) (Imported, error) {
	set, err := s.Thread(id, "")
	if err == nil && beside == nil && !set.Empty() {
		err = thread.Kindf(thread.ErrInvalid, "it has masks already")
	}
	if err == nil {
		err = set.begin("", nil)
	}
	if err != nil {
		return Imported{}, fmt.Errorf("import the masks of thread %s: %w", id, err)
	}
	m := importing{store: s, merge: beside != nil, set: set, others: map[thread.Token]thread.Token{}, paths: map[string]string{}}
	if m.merge { // tokens of threads that are gone since come back with these
		s.Settle()
		s.shelf.tokens.again()
	}
	if err = readEntries(r, beside, m.take); err == nil {
		err = m.flush()
	}
	if err != nil {
		return Imported{}, fmt.Errorf("import the masks of thread %s: %w", id, err)
	}
	s.Settle() // the conversation names the copies
	return Imported{m.others, m.lost}, nil
}

// Drop removes what a thread has that was not imported completely. No other thread may have been forked from it.
func (s *Store) Drop(id thread.ID) error {
	if err := id.Check(); err != nil {
		return err
	}
	s.shelf.writer.sweeping.Lock()
	defer s.shelf.writer.sweeping.Unlock()
	s.forget(id)
	if err := s.shelf.copies.folder.RemoveAll(string(id)); err != nil {
		return fmt.Errorf("remove the masks of thread %s: %w", id, err)
	}
	return nil
}

// importing is an import in progress.
type importing struct {
	store  *Store
	merge  bool // what is there stays
	set    *Set
	batch  []New
	bytes  int
	others map[thread.Token]thread.Token // tokens that were in use here
	paths  map[string]string             // of copies: here, by those in the export
	taken  []taken                       // of the batch
	from   []Mask                        // to be inherited
	lost   int
}

// taken is what a mask of the batch was called in the export.
type taken struct {
	id    policy.ID
	token thread.Token
	path  string
}

func (m *importing) take(e exported, content []byte) error {
	if e.Home != "" {
		return m.inherit(e)
	}
	if e.Mask != nil {
		m.add(e, content)
		if m.bytes < batchBytes && len(m.batch) < batchMasks {
			return nil
		}
		return m.flush()
	}
	if err := m.flush(); err != nil {
		return err
	}
	switch {
	case m.merge && m.set.hasAlready(e):
		return nil
	case e.Summary != nil:
		sum := *e.Summary
		if here := m.paths[e.Path]; here != "" {
			sum.Text = strings.Replace(sum.Text, e.Path, here, 1)
		}
		sum.Text = string(thread.ReplaceTokens([]byte(sum.Text), m.others))
		return m.set.AddSummary(sum)
	case e.Pin != "":
		return m.set.Pin(e.Pin)
	default:
		return m.set.SetMode(string(e.Mode))
	}
}

// inherit takes over a mask from the thread that has the content.
func (m *importing) inherit(e exported) error {
	m.store.shelf.writer.sweeping.RLock()
	defer m.store.shelf.writer.sweeping.RUnlock()
	home, err := m.store.load(e.Home)
	if err != nil {
		return err
	}
	var here Mask
	if home != nil {
		here, _ = home.Mask(e.Mask.ID)
	}
	if here.ID == "" {
		m.lost++
		return nil
	}
	if here.Token != e.Mask.Token {
		m.others[e.Mask.Token] = here.Token
	}
	if e.Path != "" {
		m.paths[e.Path] = here.File
	}
	m.from = append(m.from, here)
	return nil
}

// add adds a mask to the batch.
func (m *importing) add(e exported, content []byte) {
	old := *e.Mask
	n := New{Mask: old, Content: bytes.Clone(content)}
	n.Text = func(file string, token thread.Token) string {
		text := old.Stub
		if e.Path != "" {
			text = strings.Replace(text, e.Path, file, 1)
		}
		others := map[thread.Token]thread.Token{old.Token: token}
		return string(thread.ReplaceTokens([]byte(text), others))
	}
	m.batch, m.bytes = append(m.batch, n), m.bytes+len(content)
	m.taken = append(m.taken, taken{old.ID, old.Token, e.Path})
}

// flush stores the batch.
func (m *importing) flush() error {
	if err := m.set.inherit(m.from); err != nil {
		return err
	}
	m.from = nil
	if err := m.set.Add(m.batch); err != nil {
		return err
	}
	for _, t := range m.taken {
		here, _ := m.set.Mask(t.id)
		if here.Token != t.token {
			m.others[t.token] = here.Token
		}
		if t.path != "" {
			m.paths[t.path] = here.File
		}
	}
	if len(m.batch) > 0 {
		failpoint.Hit("masks.import.batch")
	}
	m.batch, m.bytes, m.taken = nil, 0, nil
	return nil
}

// readEntries checks an export and calls each for its entries. The content is valid during the call only.
func readEntries(r io.Reader, beside Beside, each func(exported, []byte) error) error {
	in := bufio.NewReaderSize(r, 64<<10)
	c := newChecking(beside)
	var content []byte
	for n := 1; ; n++ {
		e, err := carried.ReadDescription[exported](in, maxHead)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = c.entry(e)
		}
		content = content[:0]
		if err == nil && e.Mask != nil && e.Home == "" {
			content, err = readContent(in, content, *e.Mask)
		}
		if err == nil {
			err = each(e, content)
		}
		if err != nil {
			return fmt.Errorf("entry %d of the masks: %w", n, err)
		}
	}
}

// readContent reads the content of a mask.
func readContent(in io.Reader, buf []byte, m Mask) ([]byte, error) {
	content, err := readSome(in, buf, m.Bytes)
	if err == nil && sha256.Sum256(content) != m.Sum {
		err = fmt.Errorf("%s: wrong SHA-256: %w", m.Token, thread.ErrInvalid)
	}
	return content, err
}

// readSome reads bytes. It takes memory only for what is there.
func readSome(in io.Reader, buf []byte, size int64) ([]byte, error) {
	b := bytes.NewBuffer(buf)
	n, err := io.Copy(b, io.LimitReader(in, size))
	if err == nil && n < size {
		err = thread.Kindf(thread.ErrInvalid, "it ends after %d of %d bytes", n, size)
	}
	return b.Bytes(), err
}
