package workrow

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"

	"orchestrator/thread"
	"orchestrator/thread/failpoint"
	"orchestrator/thread/work"
)

// codec packs and unpacks pieces of bundles.
type codec struct {
	pack   *zstd.Encoder
	unpack *zstd.Decoder
}

// maxUnpacked is more than any piece or plan has, so that a damaged one takes no more.
const maxUnpacked = 65 << 20

// theCodec is made at the first use: it takes some memory.
var theCodec = sync.OnceValue(func() codec {
	pack, err1 := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
	unpack, err2 := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(maxUnpacked))
	if err1 != nil || err2 != nil {
		panic(fmt.Sprint(err1, err2)) // the options are fixed
	}
	return codec{pack, unpack}
})

// bundleRow is a bundle as a table keeps it.
type bundleRow struct {
	n        int64
	id, hash string
	sum, doc []byte
}

const bundleColumns = "n, id, hash, sum, doc"

func (r *bundleRow) scan(scan Scan) error { return scan(&r.n, &r.id, &r.hash, &r.sum, &r.doc) }

// bundle reads a row; thread.ErrDamaged if its document does not match its hash or its columns.
func (r bundleRow) bundle() (work.KeptBundle, error) {
	var b work.KeptBundle
	if !opened(r.sum, r.doc, &b) || b.Bundle.ID != r.id || b.Hash != r.hash {
		return work.KeptBundle{}, fmt.Errorf("bundle %s: %w", r.id, thread.ErrDamaged)
	}
	return b, nil
}

func (d Dialect) byBundle(ref, lock string) (string, []any) {
	w := of("", d.Project)
	w.and("(id = ? OR hash = ?)", ref, ref)
	return "SELECT " + bundleColumns + " FROM work_bundle WHERE " + w.String() + lock, w.args
}

// PutBundle stores a bundle.
func (s *Store) PutBundle(ctx context.Context, b work.KeptBundle, pieces map[string][]byte) (work.KeptBundle, error) {
	b, given, err := work.PutBundle(b, pieces, s.now())
	if err != nil {
		return work.KeptBundle{}, err
	}
	need := int64(rowSize)
	packed := map[string][]byte{}
	for hash, content := range given {
		packed[hash] = theCodec().pack.EncodeAll(content, nil)
		need += int64(len(packed[hash])) + 256
	}
	var out work.KeptBundle
	err = s.db.Write(ctx, need, func(tx Tx) error {
		there := false
		if err := s.d.alone(tx, s.d.Project, "bundle "+b.Hash); err != nil { // of two that prepare the same, one stores it
			return err
		}
		query, args := s.d.byBundle(b.Hash, s.d.Lock)
		err := tx.Query(query, args, func(scan Scan) error {
			var r bundleRow
			err := r.scan(scan)
			if err == nil && r.hash == b.Hash {
				there = true
				out, err = r.bundle()
			}
			return err
		})
		if err != nil || there {
			return err
		}
		var n int64
		if out, n, err = s.insertBundle(tx, b); err != nil {
			return err
		}
		for _, hash := range unique(b.Pieces) {
			if err := s.d.putPiece(tx, n, hash, packed[hash], len(given[hash])); err != nil {
				return err
			}
		}
		failpoint.Hit("work.bundle.pieces")
		return s.d.wrote(tx, out.By, 1, int(need)-rowSize+fixed)
	})
	if err != nil {
		return work.KeptBundle{}, err
	}
	return out, nil
}

// unique returns the different pieces of a bundle whose content is known.
func unique(hashes []string) []string {
	out := slices.Compact(slices.Sorted(slices.Values(hashes)))
	return slices.DeleteFunc(out, func(h string) bool { return h == "" })
}

// insertBundle adds the row of a bundle, under the next id that is free unless it has one.
func (s *Store) insertBundle(tx Tx, b work.KeptBundle) (out work.KeptBundle, n int64, err error) {
	for number := b.Bundle.ID == ""; ; {
		if number {
			next, err := s.d.next(tx, work.BundlePrefix)
			if err != nil {
				return b, 0, err
			}
			b.Bundle.ID = work.NumberedAs(work.BundlePrefix, next)
		}
		cols, err := bundlePairs(b)
		if err != nil {
			return b, 0, err
		}
		free := false
		query, args := insertion("work_bundle", "ON CONFLICT DO NOTHING RETURNING n", s.d.Project, cols)
		if err := tx.Query(query, args, func(scan Scan) error { free = true; return scan(&n) }); err != nil || free {
			return b, n, err
		}
		if !number {
			return b, 0, thread.Hint(fmt.Errorf("bundle %q: %w", b.Bundle.ID, thread.ErrNameTaken), "choose another id")
		}
	}
}

// bundlePairs are the columns of a bundle but for its number.
func bundlePairs(b work.KeptBundle) ([]Pair, error) {
	doc, sum, err := document(b)
	if err != nil {
		return nil, fmt.Errorf("bundle %s: %w", b.Bundle.ID, err)
	}
	return []Pair{{"id", b.Bundle.ID}, {"hash", b.Hash}, {"session", b.Session}, {"agent_type", b.Bundle.AgentType},
		{"author", string(b.By)}, {"created", micros(b.Bundle.Created)}, {"sum", sum}, {"doc", doc}}, nil
}

// putPiece has a bundle name a piece, and stores it unless it is there; thread.ErrInvalid if it is neither there nor given.
func (d Dialect) putPiece(tx Tx, bundle int64, hash string, packed []byte, size int) error {
	if packed != nil {
		query, args := insertion("work_piece", "ON CONFLICT DO NOTHING", d.Project, []Pair{{"hash", hash}, {"size", size}, {"data", packed}})
		if _, err := tx.Exec(query, args...); err != nil {
			return err
		}
	} else if there, err := d.hasPiece(tx, hash); err != nil || !there {
		if err == nil {
			err = thread.Kindf(thread.ErrInvalid, "piece %.12s of a bundle is missing", hash)
		}
		return err
	}
	query, args := insertion("work_bundle_piece", "", d.Project, []Pair{{"bundle", bundle}, {"hash", hash}})
	_, err := tx.Exec(query, args...)
	return err
}

// hasPiece reports whether a piece is stored.
func (d Dialect) hasPiece(tx Tx, hash string) (there bool, err error) {
	w := of("", d.Project)
	w.and("hash = ?", hash)
	err = tx.Query("SELECT size FROM work_piece WHERE "+w.String(), w.args, func(Scan) error { there = true; return nil })
	return there, err
}

// bundleRow finds the row of a bundle by id or hash.
func (s *Store) bundleRow(ctx context.Context, ref string) (r bundleRow, err error) {
	there := false
	query, args := s.d.byBundle(ref, "")
	err = s.db.Query(ctx, query, args, func(scan Scan) error {
		there = true
		return r.scan(scan)
	})
	if err == nil && !there {
		err = fmt.Errorf("bundle %q: %w", ref, thread.ErrNotFound)
	}
	return r, err
}

// Bundle finds one by id or hash.
func (s *Store) Bundle(ctx context.Context, ref string) (work.KeptBundle, error) {
	r, err := s.bundleRow(ctx, ref)
	if err != nil {
		return work.KeptBundle{}, err
	}
	return r.bundle()
}

// Bundles lists some, newest first.
func (s *Store) Bundles(ctx context.Context, q work.BundleQuery) ([]work.KeptBundle, error) {
	before := maxN
	if q.Before != "" {
		r, err := s.bundleRow(ctx, q.Before)
		if err != nil {
			return nil, err
		}
		before = r.n
	}
	query, args := s.d.bundles(q, before)
	out := []work.KeptBundle{}
	err := s.db.Query(ctx, query, args, func(scan Scan) error {
		var r bundleRow
		if err := r.scan(scan); err != nil {
			return err
		}
		b, err := r.bundle()
		if err != nil {
			b = work.KeptBundle{Bundle: work.Bundle{ID: r.id, Scope: "its record is damaged"}, Hash: r.hash}
		}
		out = append(out, b)
		return nil
	})
	return out, err
}

// bundles is the statement of Bundles.
func (d Dialect) bundles(q work.BundleQuery, before int64) (string, []any) {
	w := of("", d.Project)
	w.equal(Pair{"session", q.Session}, Pair{"agent_type", q.AgentType}, Pair{"author", string(q.By)})
	w.and("n < ?", before)
	return "SELECT " + bundleColumns + " FROM work_bundle WHERE " + w.String() + " ORDER BY n DESC LIMIT ?", append(w.args, q.Size())
}

// Piece returns content by its hash.
func (s *Store) Piece(ctx context.Context, hash string) ([]byte, error) {
	w := of("", s.d.Project)
	w.and("hash = ?", hash)
	var packed []byte
	there := false
	err := s.db.Query(ctx, "SELECT data FROM work_piece WHERE "+w.String(), w.args, func(scan Scan) error {
		there = true
		return scan(&packed)
	})
	switch {
	case err != nil:
		return nil, err
	case !there:
		return nil, fmt.Errorf("piece %q of a bundle: %w", hash, thread.ErrNotFound)
	}
	return unpacked(hash, packed)
}

// Unpacks reports whether a piece is as it was stored.
func Unpacks(hash string, packed []byte) bool {
	_, err := unpacked(hash, packed)
	return err == nil
}

// unpacked returns the content of a piece; thread.ErrDamaged if it does not have its hash.
func unpacked(hash string, packed []byte) ([]byte, error) {
	content, err := theCodec().unpack.DecodeAll(packed, nil)
	if err != nil || work.PieceHash(content) != hash {
		return nil, fmt.Errorf("piece %.12s of a bundle: %w", hash, thread.ErrDamaged)
	}
	if content == nil {
		content = []byte{}
	}
	return content, nil
}
