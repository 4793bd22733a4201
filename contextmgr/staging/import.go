package staging

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"

	"orchestrator/contextmgr/carried"
	"orchestrator/thread"
	"orchestrator/thread/failpoint"
)

// Imported is what an import did.
type Imported struct {
	// Others has the tokens that were in use here for other data, each with the one that was given in its place.
	Others map[thread.Token]thread.Token
	// New are the tokens of the entries that the import made.
	New []thread.Token
	// LeftOut is how many entries the limits here have no room for.
	LeftOut int
}

// CheckImport reads a whole export and reports what is wrong with it. It stores nothing.
func CheckImport(r io.Reader) error {
	return readEntries(r, func(_ exported, data io.Reader) error {
		_, err := io.Copy(io.Discard, data)
		return err
	})
}

// Import stages the entries of an export, for a thread or, for "", as the person's. Data that is staged here already,
// under the same token, is not staged again; neither is the person's if the token stands for other data here. With an error it
// returns what it has staged. What the limits here have no room for is left out.
func (s *Store) Import(ctx context.Context, id thread.ID, r io.Reader) (Imported, error) {
	done := Imported{Others: map[thread.Token]thread.Token{}}
	err := readEntries(r, func(e exported, data io.Reader) error {
		if there, err := s.revive(e); there || err != nil || id == "" && s.holds(e.Token) {
			_, readErr := io.Copy(io.Discard, data)
			return errors.Join(err, readErr)
		}
		d, err := s.stage(ctx, e.request(id), data, e.Token)
		if errors.Is(err, thread.ErrLimit) {
			done.LeftOut++
			_, err = io.Copy(io.Discard, data)
			return err
		}
		if err != nil {
			return err
		}
		done.New = append(done.New, d.Token)
		if d.Token != e.Token {
			done.Others[e.Token] = d.Token
		}
		failpoint.Hit("staging.import.entry")
		return nil
	})
	if err != nil {
		return done, fmt.Errorf("import staged data: %w", err)
	}
	return done, nil
}

// revive restarts the time to live of an entry that is here already, even if it is over. It reports whether it is here.
func (s *Store) revive(e exported) (bool, error) {
	s.documents.Lock()
	defer s.documents.Unlock()
	d, err := s.read(e.Token.Digits())
	if err != nil || !d.Gone.IsZero() || d.SHA256 != e.SHA256 {
		return false, nil //nolint:nilerr // it gets another token then
	}
	file, err := s.open(d)
	if err != nil {
		return false, nil //nolint:nilerr // likewise
	}
	if err := file.Close(); err != nil {
		return false, err
	}
	s.extend(&d, d.TTL)
	return true, explain(s.write(d))
}

// holds reports whether a token stands for data that can be retrieved.
func (s *Store) holds(t thread.Token) bool {
	_, err := s.lookUp(t)
	return err == nil
}

// Discard removes entries that nobody has used, such as those of an import that failed, without a trace.
func (s *Store) Discard(tokens []thread.Token) error {
	s.documents.Lock()
	defer s.documents.Unlock()
	var errs []error
	for _, t := range tokens {
		d, err := s.read(t.Digits())
		if err == nil {
			err = errors.Join(s.drop(t.Digits()+documentEnd), s.drop(d.dataName()))
			if err == nil && d.Gone.IsZero() {
				s.sums.give(d.Thread, roomOf(d.Bytes))
			}
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("remove %s: %w", t, err))
		}
	}
	return errors.Join(errs...)
}

// request returns the request that stages an entry.
func (e exported) request(id thread.ID) thread.StageRequest {
	return thread.StageRequest{
		Source: e.Source, Kind: e.Kind, Labels: e.Labels, TTL: time.Duration(e.Seconds) * time.Second, Thread: id,
	}
}

// readEntries checks an export and calls each for its entries, whose data each reads to the end: the last read fails if
// the data is not what was exported.
func readEntries(r io.Reader, each func(exported, io.Reader) error) error {
	in := bufio.NewReaderSize(r, chunk)
	var total int64
	seen := map[thread.Token]bool{}
	for n := 1; ; n++ {
		e, err := carried.ReadDescription[exported](in, maxDocument)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = e.check()
		}
		total += e.Bytes
		switch {
		case err != nil:
		case seen[e.Token]:
			err = thread.Kindf(thread.ErrInvalid, "%s is there twice", e.Token)
		case n > maxEntries || total > maxTotal:
			err = thread.Kindf(thread.ErrInvalid, "more than %d entries or %s", maxEntries, thread.Bytes(maxTotal))
		default:
			seen[e.Token] = true
			err = each(e, &checked{in: in, left: e.Bytes, want: e.SHA256, sum: sha256.New()})
		}
		if err != nil {
			return fmt.Errorf("entry %d: %w", n, err)
		}
	}
}

// check refuses what no export has.
func (e exported) check() error {
	t, whole, err := thread.ParseToken(string(e.Token))
	if err != nil || !whole || t != e.Token {
		return fmt.Errorf("token %.20q: %w", e.Token, thread.ErrInvalid)
	}
	sum, err := hex.DecodeString(e.SHA256)
	if err != nil || len(sum) != sha256.Size || e.Bytes < 0 || e.Bytes > maxCarried ||
		!slices.Contains(thread.DataKinds(), e.Kind) || e.Seconds <= 0 || e.Seconds > int64(thread.MaxTTL/time.Second) {
		return thread.Kindf(thread.ErrInvalid, "%s has a value that no export has", e.Token)
	}
	return e.request("").Check()
}

// checked reads the data of an entry.
type checked struct {
	in   io.Reader
	left int64
	want string
	sum  interface {
		io.Writer
		Sum([]byte) []byte
	}
}

// Read implements io.Reader.
func (c *checked) Read(b []byte) (int, error) {
	if c.left == 0 {
		if got := hex.EncodeToString(c.sum.Sum(nil)); got != c.want {
			return 0, fmt.Errorf("wrong SHA-256: %w", thread.ErrInvalid)
		}
		return 0, io.EOF
	}
	n, err := c.in.Read(b[:min(int64(len(b)), c.left)])
	_, _ = c.sum.Write(b[:n]) // never fails
	c.left -= int64(n)
	if errors.Is(err, io.EOF) && c.left > 0 {
		err = thread.Kindf(thread.ErrInvalid, "it ends early")
	} else if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}
