package masks

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"orchestrator/contextmgr/carried"
	"orchestrator/thread"
)

// Export writes what is masked of the thread, with the contents, and its summaries, pins and mode, so that Import has
// them in another store. redact is applied to contents and texts. It returns how many entries are left out because
// their contents are lost or too large. there returns the thread whose export, which lies beside it, has the content of a
// mask, "" for none: it is only named; nil is for an export that stands alone.
func (s *Set) Export(w io.Writer, redact func([]byte) []byte, there func(Mask) thread.ID) (leftOut int, err error) {
	s.mu.Lock()
	x := s.index
	all, pins, mode := slices.Clone(x.masks), slices.Sorted(maps.Keys(x.pinned)), thread.MaskMode(x.mode)
	summaries := slices.Clone(x.summaries)
	s.mu.Unlock()
	out := exporting{w: bufio.NewWriter(w), check: newChecking(func(thread.ID) bool { return there != nil })}
	paths := make([]string, 0, len(all))
	for _, m := range all {
		e := exported{Mask: &m, Path: m.pathIn(m.Stub)}
		var content []byte
		if there != nil {
			e.Home = there(m)
		}
		if e.Home == "" {
			if content, err = s.content(m); err != nil {
				out.leftOut++
				continue
			}
			content = redact(content)
			m.Sum, m.Bytes = sha256.Sum256(content), int64(len(content))
		}
		m.Home, m.Names = "", ""
		m.Stub = string(redact([]byte(m.Stub)))
		if !strings.Contains(m.Stub, e.Path) {
			e.Path = "" // it was redacted
		}
		paths = append(paths, e.Path)
		out.put(e, content)
	}
	for _, sum := range summaries {
		sum.Text = string(redact([]byte(sum.Text)))
		e := exported{Summary: &sum}
		in := func(path string) bool { return path != "" && strings.Contains(sum.Text, path) }
		if i := slices.IndexFunc(paths, in); i >= 0 {
			e.Path = paths[i]
		}
		out.put(e, nil)
	}
	for _, id := range pins {
		out.put(exported{Pin: id}, nil)
	}
	if mode != "" {
		out.put(exported{Mode: mode}, nil)
	}
	if out.err == nil {
		out.err = out.w.Flush()
	}
	if out.err != nil {
		return out.leftOut, fmt.Errorf("export the masks of thread %s: %w", s.id, out.err)
	}
	return out.leftOut, nil
}

// exporting is an export in progress.
type exporting struct {
	w       *bufio.Writer
	check   *checking
	leftOut int
	err     error // of the first write that failed
}

// put writes an entry, unless an import would refuse it.
func (x *exporting) put(e exported, content []byte) {
	if x.err != nil {
		return
	}
	head, err := json.Marshal(e)
	if err != nil || len(head) > maxHead || x.check.entry(e) != nil {
		x.leftOut++
		return
	}
	x.err = carried.Write(x.w, head, content)
}

// content returns the content of a mask.
func (s *Set) content(m Mask) ([]byte, error) {
	s.shelf.writer.sweeping.RLock()
	defer s.shelf.writer.sweeping.RUnlock()
	return s.shelf.get(m)
}

// pathIn returns the path of the copy as it stands in a text, "" if it does not. It is another one than File if the
// store has been moved since.
func (m Mask) pathIn(text string) string {
	if strings.Contains(text, m.File) {
		return m.File
	}
	const before = " /" // nothing else before it in a text of ours
	end := "/" + string(m.Home) + "/" + outputsName + "/" + outputName(m.Token)
	to := strings.Index(text, end)
	if to < 0 {
		return ""
	}
	from := strings.Index(text[:to+1], before)
	if from < 0 {
		return ""
	}
	return text[from+1 : to+len(end)]
}
