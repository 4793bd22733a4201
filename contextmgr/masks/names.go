package masks

import (
	"errors"
	"io/fs"
	"slices"
	"strings"

	"orchestrator/thread"
)

// Names returns the tokens of staged data that the masks and summaries of a thread name, and the size of the log that
// they were read from. With since as the size it returns no tokens: they are the same as then.
func (s *Store) Names(id thread.ID, since int64) (tokens []thread.Token, size int64, err error) {
	s.shelf.writer.sweeping.RLock()
	defer s.shelf.writer.sweeping.RUnlock()
	log, err := s.shelf.copies.openLog(id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	defer log.Close()
	info, err := log.Stat()
	if err != nil || info.Size() == since {
		return nil, since, err
	}
	x := newIndex()
	if _, err := scan(log, func(r record) { x.apply(id, r, s.shelf.copies.path) }); err != nil {
		return nil, 0, err
	}
	for _, m := range x.masks {
		for t := range strings.FieldsSeq(m.Names) {
			tokens = append(tokens, thread.Token(t))
		}
	}
	for _, sum := range x.summaries {
		tokens = append(tokens, thread.FindTokens(sum.Text)...)
	}
	slices.Sort(tokens)
	return slices.Compact(tokens), info.Size(), nil
}
