package masks

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// maxLine bounds a line: a content that does not get smaller, its base64, and the record.
const maxLine = maxContent/3*4 + 16<<20

// scanned is what a scan found.
type scanned struct {
	end     int64 // of the records; what follows was cut off
	damaged int   // lines that are no records
}

// scan reads a log and calls each for its records, in order and without contents.
func scan(r io.Reader, each func(record)) (scanned, error) {
	return scanSealed(r, each, &sealing{})
}

// scanSealed is scan and has the lines compared with a seal.
func scanSealed(r io.Reader, each func(record), with *sealing) (scanned, error) {
	s := scanner{each: each}
	err := lines(r, func(line []byte, size int64) {
		s.add(line, size)
		with.line(line, s.end)
	})
	if err != nil {
		return s.scanned, err
	}
	return s.finish(), nil
}

// lines calls each for the lines of a log, with their sizes in it. A line without its end was cut off and is none. The
// line is valid during the call only.
func lines(r io.Reader, each func(line []byte, size int64)) error {
	in := bufio.NewReaderSize(r, 64<<10)
	var line []byte
	for {
		size, err := readLine(in, &line, maxLine)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the log: %w", err)
		}
		each(line, size)
	}
}

// readLine reads a line into a buffer and returns its size with its end. A line over the limit is empty, which is no
// record. The error is io.EOF if the line has no end.
func readLine(in *bufio.Reader, line *[]byte, limit int64) (size int64, err error) {
	*line = (*line)[:0]
	for {
		part, err := in.ReadSlice('\n')
		size += int64(len(part))
		if size <= limit {
			*line = append(*line, part...)
		} else {
			*line = (*line)[:0]
		}
		switch {
		case err == nil:
			*line = bytes.TrimSuffix(*line, []byte{'\n'})
			return size, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return size, err
		}
	}
}

// scanner tells the batches of a log apart.
//
// A batch that something follows is complete, because it was stored before the next one was written. The last one may
// be what a crash left of it: the process wrote it from front to back, so that it is cut off somewhere and whole
// before; or the power went away before it was synced, and parts of it are zeros. Such a batch is none. Any other
// damage came later, and the rest of the batch stays.
type scanner struct {
	scanned
	each func(record)

	batch   []record // the last one, unless it is complete
	begin   int64    // where it begins
	spoilt  bool     // a line of it is damaged
	zeros   bool     // a line of it has zeros
	leading bool     // a damaged line with zeros is before the end, and may be its beginning
	lead    int64    // where that begins
}

// add adds a line, and its size with its end.
func (s *scanner) add(line []byte, size int64) {
	at := s.end
	s.end += size
	r, err := parseLine(line)
	zeros := bytes.IndexByte(line, 0) >= 0
	if err != nil {
		s.damaged++
		switch {
		case len(s.batch) > 0:
			s.spoilt, s.zeros = true, s.zeros || zeros
		case zeros && !s.leading:
			s.leading, s.lead = true, at
		case !zeros:
			s.leading = false
		}
		return
	}
	r.packed = nil // the line will be overwritten
	if !s.continues(r) {
		s.flush()
		s.begin = at
		if r.Part > 0 { // its beginning is damaged
			s.spoilt = true
			if s.leading {
				s.begin, s.zeros = s.lead, true
			}
		}
	}
	s.leading = false
	s.zeros = s.zeros || zeros
	s.batch = append(s.batch, r)
	if r.last() && !s.zeros {
		s.flush()
	}
}

// continues reports whether a record belongs to the batch that the last one belongs to.
func (s *scanner) continues(r record) bool {
	if len(s.batch) == 0 {
		return false
	}
	last := s.batch[len(s.batch)-1]
	return r.Parts == last.Parts && r.Part > last.Part
}

// flush takes the batch as complete.
func (s *scanner) flush() {
	for _, r := range s.batch {
		s.each(r)
	}
	s.batch, s.spoilt, s.zeros = nil, false, false
}

// finish decides about the last batch.
func (s *scanner) finish() scanned {
	switch {
	case len(s.batch) == 0:
	case s.zeros, !s.spoilt:
		s.end, s.batch = s.begin, nil
	default:
		s.flush()
	}
	return s.scanned
}
