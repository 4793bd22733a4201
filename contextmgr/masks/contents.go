package masks

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/klauspost/compress/zstd"

	"orchestrator/thread"
)

// contents compresses contents for the logs, and gets them back.
type contents struct {
	copies *copies
	pack   *zstd.Encoder
	unpack *zstd.Decoder
}

func newContents(c *copies) *contents {
	pack, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderCRC(false), zstd.WithLowerEncoderMem(true))
	if err != nil {
		panic(err) // the options are fixed
	}
	unpack, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(maxContent))
	if err != nil {
		panic(err) // the options are fixed
	}
	return &contents{c, pack, unpack}
}

// packed returns a content as it is in a log.
func (c *contents) packed(content []byte) []byte {
	return encode(c.pack.EncodeAll(content, make([]byte, 0, 64+len(content)/3)))
}

// unpacked returns the content of a record if it is that of a mask.
func (c *contents) unpacked(r record, m Mask) ([]byte, error) {
	text, err := decode(r.packed)
	if err != nil {
		return nil, fmt.Errorf("decode %s: %w: %w", m.Token, thread.ErrDamaged, err)
	}
	content, err := c.unpack.DecodeAll(text, nil)
	if err != nil {
		return nil, fmt.Errorf("expand %s: %w: %w", m.Token, thread.ErrDamaged, err)
	}
	if sha256.Sum256(content) != m.Sum {
		return nil, fmt.Errorf("%s: wrong SHA-256: %w", m.Token, thread.ErrDamaged)
	}
	return content, nil
}

// fromLog calls each for those contents of masks of a thread that its log has, from a place in it on.
func (c *contents) fromLog(home thread.ID, from int64, want map[thread.Token]Mask, each func(Mask, []byte)) error {
	log, err := c.copies.openLog(home)
	if err != nil {
		return err
	}
	defer log.Close()
	if _, err := log.Seek(from, io.SeekStart); err != nil {
		return err
	}
	return lines(log, func(line []byte, _ int64) {
		r, err := parseLine(line)
		if err != nil || r.Kind != kindMask || r.packed == nil {
			return
		}
		if m, ok := want[r.Mask.Token]; ok {
			if content, err := c.unpacked(r, m); err == nil {
				each(m, content)
			}
		}
	})
}

// get returns the content of a mask, and mends its copy.
func (c *contents) get(m Mask) ([]byte, error) {
	if outputs, err := c.copies.outputs(m.Home); err == nil {
		content, err := readCopy(outputs, m)
		outputs.Close()
		if err == nil {
			return content, nil
		}
	}
	var found []byte
	err := c.fromLog(m.Home, 0, map[thread.Token]Mask{m.Token: m}, func(_ Mask, content []byte) { found = content })
	if found != nil {
		if outputs, err := c.copies.makeOutputs(m.Home); err == nil {
			_ = c.copies.mend(outputs, m, found) // or the next time
			outputs.Close()
		}
		return found, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read %s: %w", m.Token, err)
	}
	return nil, fmt.Errorf("%s (%s, masked at %s) cannot be read any more: its file and its record in %s are lost: %w",
		m.Token, m.Tool, m.At.Local().Format("2006-01-02 15:04:05"), c.copies.folder.Path(string(m.Home), logName),
		thread.ErrDamaged)
}

// mendAll mends the copies of masks. It returns how many contents are lost, and the errors in writing others.
func (c *contents) mendAll(all []Mask) (lost int, err error) {
	byHome := map[thread.ID][]Mask{}
	for _, m := range all {
		byHome[m.Home] = append(byHome[m.Home], m)
	}
	var errs []error
	for home, masks := range byHome {
		want := c.spoilt(home, masks)
		if err := c.writeAll(home, 0, want); err != nil {
			errs = append(errs, err)
		}
		lost += len(want)
	}
	return lost, errors.Join(errs...)
}

// writeAll writes the copies of masks of a thread whose records are in its log from a place on. What it finds there is
// not wanted any more.
func (c *contents) writeAll(home thread.ID, from int64, want map[thread.Token]Mask) error {
	if len(want) == 0 {
		return nil
	}
	outputs, err := c.copies.makeOutputs(home)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the thread is gone, with its contents
	}
	if err == nil {
		defer outputs.Close()
	}
	errs := []error{err}
	err = c.fromLog(home, from, want, func(m Mask, content []byte) {
		delete(want, m.Token)
		if outputs == nil {
			return
		}
		if err := c.copies.mend(outputs, m, content); err != nil {
			errs = append(errs, fmt.Errorf("write %s again: %w", m.File, err))
		}
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// spoilt returns those masks of a thread whose copies are missing or different.
func (c *contents) spoilt(home thread.ID, masks []Mask) map[thread.Token]Mask {
	want := map[thread.Token]Mask{}
	outputs, err := c.copies.outputs(home)
	if err == nil {
		defer outputs.Close()
	}
	for _, m := range masks {
		if err == nil {
			if _, err := readCopy(outputs, m); err == nil {
				continue
			}
		}
		want[m.Token] = m
	}
	return want
}
