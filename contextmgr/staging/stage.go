package staging

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/secret"
)

// chunk is how much of the data is in memory at a time, and how much of its beginning determines its kind.
const chunk = 128 << 10

// draws is how many tokens are tried. With a million entries, one in 4,000 is already in use.
const draws = 100

// Stage stores the data of a reader. It is durable when Stage returns.
func (s *Store) Stage(ctx context.Context, r thread.StageRequest, data io.Reader) (thread.Staged, error) {
	if err := r.Check(); err != nil {
		return thread.Staged{}, fmt.Errorf("stage: %w", err)
	}
	d, err := s.stage(ctx, r, data, "")
	if err != nil {
		return thread.Staged{}, fmt.Errorf("stage: %w", err)
	}
	return d.Staged, nil
}

// stage stores data, under a token if that is free.
func (s *Store) stage(ctx context.Context, r thread.StageRequest, data io.Reader, want thread.Token) (document, error) {
	stem := newStem()
	s.reserve(stem)
	defer s.release(stem)
	held := &charge{store: s, id: r.Thread}
	d, err := s.receive(ctx, stem+partEnd, r, data, held)
	if err == nil {
		d, err = s.name(stem+partEnd, d, want)
	}
	if err != nil {
		held.back()
		return d, errors.Join(explain(err), s.drop(stem+partEnd))
	}
	return d, nil
}

// newStem returns a name for data that has no token yet.
func newStem() string {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// check returns an error if there is no room for so much data.
func (s *Store) check(bytes int64, held *charge) error {
	if s.cfg.MaxBytes > 0 && bytes > s.cfg.MaxBytes {
		return thread.Hint(fmt.Errorf("the data is larger than %s: %w", thread.Bytes(s.cfg.MaxBytes), thread.ErrLimit),
			"stage it in several parts, or raise limits.stage_mb")
	}
	return held.grow(bytes)
}

// receive writes data to a file, syncs it and describes it. What is nothing but zeros is left out of the file as a hole.
func (s *Store) receive(ctx context.Context, name string, r thread.StageRequest, data io.Reader, held *charge) (d document,
	err error) {
	if err := s.check(max(r.Size, 0), held); err != nil { // what is known to be too much is not read
		return d, err
	}
	file, err := s.folder.File(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return d, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	d.Kind, d.Source, d.Thread = r.Kind, secret.Redact(r.Source), r.Thread
	for _, label := range r.Labels { // lists show them to everybody who sees the data
		d.Labels = append(d.Labels, secret.Redact(label))
	}
	if d.TTL = r.TTL; d.TTL == 0 {
		d.TTL = s.cfg.TTL
	}
	hash, count, buf, zeros := sha256.New(), lines{}, make([]byte, chunk), make([]byte, chunk)
	for first, all := true, false; !all; first = false {
		n, err := fill(data, buf)
		if all = errors.Is(err, io.EOF); err != nil && !all {
			return d, fmt.Errorf("read the data: %w", err)
		}
		if err := ctx.Err(); err != nil {
			return d, err
		}
		d.Bytes += int64(n)
		if err := s.check(max(d.Bytes, r.Size), held); err != nil {
			return d, err
		}
		if first {
			d.describe(buf[:n], all)
		}
		if n == chunk && bytes.Equal(buf, zeros) {
			_, err = file.Seek(chunk, io.SeekCurrent)
		} else {
			_, err = file.Write(buf[:n])
		}
		if err != nil {
			return d, err
		}
		hash.Write(buf[:n])
		count.add(buf[:n])
	}
	d.Records, d.SHA256 = count.records(d.Kind, d.Bytes), hex.EncodeToString(hash.Sum(nil))
	held.settle(d.Bytes)
	if err := file.Truncate(d.Bytes); err != nil { // if it ends in a hole
		return d, err
	}
	return d, file.Sync()
}

// fill reads until the buffer is full. It returns io.EOF together with the last bytes.
func fill(r io.Reader, buf []byte) (n int, err error) {
	for n < len(buf) && err == nil {
		var more int
		more, err = r.Read(buf[n:])
		n += more
	}
	return n, err
}

// describe determines the kind and the source from the beginning of the data, unless they were given.
func (d *document) describe(head []byte, all bool) {
	if d.Kind == "" {
		d.Kind = kindOf(head, all)
	}
	if d.Source == "" {
		d.Source = secret.Redact(sourceOf(head, d.Kind))
	}
}

// name gives data an unused token and writes its document. It is the wanted one if that is unused, otherwise one as long.
func (s *Store) name(part string, d document, want thread.Token) (document, error) {
	digits := s.cfg.Digits
	if want != "" {
		digits = len(want.Digits())
	}
	for n := range draws {
		if d.Token = want; want == "" || n > 0 {
			d.Token = s.draw(digits)
		}
		if !s.reserve(d.Token.Digits()) {
			continue
		}
		err := s.exist(part, &d)
		s.release(d.Token.Digits())
		if !errors.Is(err, fs.ErrExist) {
			return d, err
		}
	}
	return d, thread.Kindf(thread.ErrRefused, "no token is free")
}

// exist makes data an entry under a reserved token. It returns fs.ErrExist if the token has a document already, unless
// that is of the same data and gone, or if something else uses it.
func (s *Store) exist(part string, d *document) error {
	old, err := s.read(d.Token.Digits())
	if again := err == nil && !old.Gone.IsZero() && old.SHA256 == d.SHA256; !again && !errors.Is(err, fs.ErrNotExist) {
		return fs.ErrExist // even if it cannot be read
	}
	// Asked once the token is reserved here: of two that draw the same one at the same time, one sees the other.
	if taken, err := s.cfg.Taken(d.Token); err != nil {
		return err
	} else if taken {
		return fs.ErrExist
	}
	if err := s.folder.Rename(part, d.dataName()); err != nil {
		return err
	}
	d.Created = s.now().UTC()
	d.Extended, d.Expires = d.Created, d.Created.Add(d.TTL).Truncate(time.Second)
	s.documents.RLock()
	defer s.documents.RUnlock()
	if err := s.write(*d); err != nil {
		return errors.Join(err, s.drop(d.dataName()))
	}
	return nil
}
