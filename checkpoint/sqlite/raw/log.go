// Package raw reads SQLite's files as bytes: a log before SQLite does, which of its frames are valid, up to where
// SQLite itself would accept it, and which complete transactions follow after that.
//
// SQLite ends a log at its first frame that does not match and silently drops what follows, as it must after a crash.
// Checksums are a chain, but every frame stores the sum that the next one starts with. So here one bad frame costs only
// that frame: the next is compared with the stored sum before it. A frame with a single wrong bit is corrected if only
// one bit makes it match.
//
// Nothing here writes, locks or opens a file. The caller makes sure that no connection of this process has the database
// open, since closing another descriptor of it would drop that connection's locks.
package raw

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"slices"
)

const (
	headerSize = 32
	frameSize  = 24 // of a frame's header
	magic      = 0x377f0682
	format     = 3007000
	// work is how many bytes may be summed to find wrong bits, in about half a second: 64 pages of 1 KB.
	work = 64 * 4 << 20
)

// Frame is one page as a transaction wrote it.
type Frame struct {
	Page uint32
	// Size is the number of pages of the database after the transaction that this frame ends, 0 for any other frame.
	Size uint32
	// Sound is whether content and number match the checksum, possibly after one bit was corrected.
	Sound bool

	at  int64 // of the frame's header
	bit int   // the wrong bit, counted from the page number on; -1 for none
}

// Log is the content of a log.
type Log struct {
	// PageSize is the database's, in bytes.
	PageSize int
	// Frames are all frames of this generation, including bad ones, up to the last commit.
	Frames []Frame
	// Taken is how many of them SQLite accepts.
	Taken int
	// Mended is how many have a corrected bit.
	Mended int

	r io.ReaderAt
}

// sum is SQLite's running checksum.
type sum struct{ a, b uint32 }

func (s sum) add(order binary.ByteOrder, p []byte) sum {
	for ; len(p) >= 8; p = p[8:] {
		s.a += order.Uint32(p) + s.b
		s.b += order.Uint32(p[4:]) + s.a
	}
	return s
}

func stored(p []byte) sum {
	return sum{binary.BigEndian.Uint32(p), binary.BigEndian.Uint32(p[4:])}
}

// scanner reads one log.
type scanner struct {
	log   *Log
	order binary.ByteOrder
	salts [8]byte
	frame []byte
	next  []byte
	work  int
}

// Scan reads a log of size bytes. pageSize is the database's, for an unreadable header. A log without frames is empty
// and not an error.
func Scan(r io.ReaderAt, size int64, pageSize int) (*Log, error) {
	return scanLog(r, size, pageSize, work)
}

func scanLog(r io.ReaderAt, size int64, pageSize, work int) (*Log, error) {
	l := &Log{PageSize: pageSize, r: r}
	if size < headerSize+frameSize {
		return l, nil
	}
	head := make([]byte, headerSize)
	s := &scanner{log: l, order: binary.LittleEndian, work: work}
	if err := s.read(head, 0); err != nil {
		return nil, err
	}
	seeds, sound := s.header(head, size)
	if !power(l.PageSize) {
		return l, nil
	}
	step := int64(frameSize + l.PageSize)
	s.frame, s.next = make([]byte, step), make([]byte, step)
	return l, s.frames(seeds, sound, (size-headerSize)/step)
}

func power(n int) bool { return n >= 512 && n <= 65536 && n&(n-1) == 0 }

// header reads the header if it is valid, and otherwise reconstructs it. It returns the sums that the first frame may
// start with.
func (s *scanner) header(head []byte, size int64) (seeds []sum, sound bool) {
	m := binary.BigEndian.Uint32(head)
	if m == magic|1 {
		s.order = binary.BigEndian
	}
	page := int(binary.BigEndian.Uint32(head[8:]))
	copy(s.salts[:], head[16:24])
	want := sum{}.add(s.order, head[:24])
	if m|1 == magic|1 && binary.BigEndian.Uint32(head[4:]) == format && power(page) && want == stored(head[24:]) {
		s.log.PageSize = page
		return []sum{want}, true
	}
	s.order = binary.LittleEndian // on all machines that we support
	if !power(s.log.PageSize) {
		return nil, false
	}
	s.salts = s.usual(size)
	made := make([]byte, 24)
	copy(made, head)
	binary.BigEndian.PutUint32(made, magic)
	binary.BigEndian.PutUint32(made[4:], format)
	binary.BigEndian.PutUint32(made[8:], uint32(s.log.PageSize))
	copy(made[16:], s.salts[:])
	return []sum{stored(head[24:]), sum{}.add(s.order, made)}, false
}

// usual returns the salts of most of the first frames.
func (s *scanner) usual(size int64) (salts [8]byte) {
	count, most := map[[8]byte]int{}, 0
	for at := int64(headerSize); at+frameSize <= size && len(count) < 64; at += int64(frameSize + s.log.PageSize) {
		var b [8]byte
		if _, err := s.log.r.ReadAt(b[:], at+8); err != nil {
			break
		}
		if count[b]++; count[b] > most {
			salts, most = b, count[b]
		}
	}
	return salts
}

// frames reads all frames. chain is whether all so far are as SQLite requires.
func (s *scanner) frames(seeds []sum, chain bool, n int64) error {
	l, step := s.log, int64(frameSize+s.log.PageSize)
	last := -1     // the newest commit
	within := true // the previous frame is of this generation
	for i := range n {
		at := headerSize + i*step
		if err := s.read(s.frame, at); err != nil {
			return err
		}
		f := Frame{at: at, bit: -1}
		ours := [8]byte(s.frame[8:16]) == s.salts
		before, kept := seeds, stored(s.frame[16:])
		matches := slices.ContainsFunc(before, func(seed sum) bool { return s.of(seed, s.frame) == kept })
		matches, within = matches && (ours || within), ours || matches && within
		chain = chain && matches && ours
		f.Sound, seeds = matches, []sum{kept}
		if !matches && ours {
			var err error
			if seeds, err = s.settle(&f, before, kept, i+1 < n); err != nil {
				return err
			}
		}
		if within { // otherwise it is of an older generation, or not a frame
			f.Page, f.Size = binary.BigEndian.Uint32(s.frame), binary.BigEndian.Uint32(s.frame[4:])
		}
		l.Frames = append(l.Frames, f)
		if f.Sound && f.Size != 0 {
			last = int(i)
			if chain {
				l.Taken = int(i) + 1
			}
		}
	}
	l.Frames = l.Frames[:last+1]
	return nil
}

func (s *scanner) read(to []byte, at int64) error {
	if _, err := s.log.r.ReadAt(to, at); err != nil {
		return fmt.Errorf("read the log at %d: %w", at, err)
	}
	return nil
}

func (s *scanner) of(seed sum, frame []byte) sum {
	return seed.add(s.order, frame[:8]).add(s.order, frame[frameSize:])
}

// settle checks whether a frame that does not match its stored sum is valid all the same: the sum may be wrong, which
// the next frame shows, or one bit of either. It returns the sums that the next frame may start with.
func (s *scanner) settle(f *Frame, seeds []sum, kept sum, more bool) ([]sum, error) {
	if more {
		if err := s.read(s.next, f.at+int64(len(s.frame))); err != nil {
			return nil, err
		}
		for _, seed := range seeds {
			if real := s.of(seed, s.frame); s.of(real, s.next) == stored(s.next[16:]) {
				f.Sound = true
				return []sum{real}, nil
			}
		}
	}
	for _, seed := range seeds {
		if s.work -= 4 * s.log.PageSize * s.log.PageSize; s.work < 0 {
			break
		}
		real := s.of(seed, s.frame)
		sumBit := bits.OnesCount32(real.a^kept.a)+bits.OnesCount32(real.b^kept.b) == 1
		switch bit, n := s.wrongBit(seed, kept); {
		case n == 1 && !sumBit:
			f.bit, f.Sound = bit, true
			flip(s.frame, bit)
			s.log.Mended++
			return []sum{kept}, nil
		case n == 0 && sumBit:
			f.Sound = true
			s.log.Mended++
			return []sum{real}, nil
		}
	}
	return []sum{kept}, nil
}

// wrongBit returns a bit that makes the frame match, and how many there are. There may be more than one: the sum is
// weak in the high bits of its words.
func (s *scanner) wrongBit(seed, kept sum) (bit, n int) {
	for word := 0; word < len(s.frame)-16; word += 8 { // the sum processes eight bytes at a time
		at, rest := word, s.frame[frameSize:]
		if word >= 8 {
			at = word + frameSize - 8
			rest = s.frame[at+8:]
		}
		for one := at * 8; one < at*8+64; one++ {
			flip(s.frame, one)
			if seed.add(s.order, s.frame[at:at+8]).add(s.order, rest) == kept {
				bit, n = one, n+1
			}
			flip(s.frame, one)
		}
		seed = seed.add(s.order, s.frame[at:at+8])
	}
	return bit, n
}

func flip(frame []byte, bit int) { frame[bit/8] ^= 1 << (bit % 8) }

// Read returns the page of a frame.
func (l *Log) Read(f Frame) ([]byte, error) {
	b := make([]byte, frameSize+l.PageSize)
	if _, err := l.r.ReadAt(b, f.at); err != nil {
		return nil, fmt.Errorf("read the log at %d: %w", f.at, err)
	}
	if f.bit >= 0 {
		flip(b, f.bit)
	}
	return b[frameSize:], nil
}

// Bad returns the numbers of the pages with bad frames, as far as they are known.
func (l *Log) Bad() map[uint32]bool {
	bad := map[uint32]bool{}
	for _, f := range l.Frames {
		if !f.Sound {
			bad[f.Page] = true
		}
	}
	return bad
}
