package masks

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"orchestrator/thread"
)

// Seals keeps the seals of logs where the threads are kept.
type Seals interface {
	// Seal returns the seal of a thread; nil if it has none, or if that is not known.
	Seal(id thread.ID) *thread.MaskSeal
	// PutSeal stores one.
	PutSeal(id thread.ID, seal thread.MaskSeal) error
}

// tally is the number of a log's lines and a sum over them, without their contents: those have sums of their own.
type tally struct {
	records int
	sum     [sha256.Size]byte
}

// add adds a line without its end.
func (t *tally) add(line []byte) {
	head, _, _ := bytes.Cut(line, []byte{'\t'})
	t.records++
	t.sum = sha256.Sum256(append(t.sum[:], head...))
}

// addAll adds lines with their ends.
func (t *tally) addAll(b []byte) {
	for line := range bytes.Lines(b) {
		t.add(bytes.TrimSuffix(line, []byte{'\n'}))
	}
}

// sealing compares a log with its seal while it is read.
type sealing struct {
	seal  *thread.MaskSeal // nil for none
	tally                  // of all lines
	same  bool             // the sum of as many lines as the seal has is the seal's
	ends  []tally          // after each line, since the last one that is known to stay
	sizes []int64
}

// line takes a line, and the size of the log up to its end.
func (s *sealing) line(line []byte, end int64) {
	s.add(line)
	if s.seal != nil && s.records == s.seal.Records {
		s.same = hex.EncodeToString(s.sum[:]) == s.seal.Sum
	}
	s.ends, s.sizes = append(s.ends, s.tally), append(s.sizes, end)
}

// upTo returns the tally of the lines up to an end.
func (s *sealing) upTo(end int64) (t tally) {
	for i, at := range s.sizes {
		if at > end {
			break
		}
		t = s.ends[i]
	}
	return t
}

// judge returns what a log has lost, "" for nothing. The tally is that of what stays of it.
func (s *sealing) judge(stays tally, damaged int) string {
	switch {
	case s.seal == nil && damaged == 0, s.seal != nil && s.seal.Records == 0:
		return ""
	case s.seal == nil:
		return fmt.Sprintf("%d records of what is masked are damaged", damaged)
	case stays.records == 0:
		return fmt.Sprintf("what was masked is gone: the log of it had %s", countRecords(s.seal.Records))
	case stays.records < s.seal.Records:
		return fmt.Sprintf("%d of %s of what is masked are gone", s.seal.Records-stays.records, countRecords(s.seal.Records))
	case !s.same:
		return "the log of what is masked was changed, or a part of it is damaged"
	default:
		return ""
	}
}

func countRecords(n int) string {
	if n == 1 {
		return "1 record"
	}
	return fmt.Sprintf("%d records", n)
}
