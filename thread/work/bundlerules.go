package work

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"orchestrator/thread"
)

// maxPiece is how long a piece of a bundle may be.
const maxPiece = 16 << 20

// PutBundle returns a bundle as a store keeps it, and the pieces of it that are at hand. Its id is the person's, or "" if
// the store is to number it. What no store may accept is refused with thread.ErrInvalid: also content that does not have
// its hash, and a list of pieces that is not as long as that of the items.
func PutBundle(b KeptBundle, pieces map[string][]byte, now time.Time) (KeptBundle, map[string][]byte, error) {
	if b.Bundle.ID != "" {
		if err := CheckOwnName(b.Bundle.ID); err != nil {
			return KeptBundle{}, nil, err
		}
	}
	if isHash(b.Bundle.ID) { // bundles are found by either
		return KeptBundle{}, nil, refuseName(b.Bundle.ID, "64 hex digits are a hash")
	}
	if !isHash(b.Hash) {
		return KeptBundle{}, nil, thread.Kindf(thread.ErrInvalid, "a bundle without its hash")
	}
	if len(b.Pieces) != len(b.Bundle.Items) {
		return KeptBundle{}, nil, thread.Kindf(thread.ErrInvalid, "a bundle of %d items with %d pieces", len(b.Bundle.Items), len(b.Pieces))
	}
	if b.Bundle.Created.IsZero() {
		b.Bundle.Created = now.Truncate(time.Second)
	}
	b = clean(b)
	b.Bundle.Created = utc(b.Bundle.Created)
	given := map[string][]byte{}
	for _, hash := range b.Pieces {
		content, there := pieces[hash]
		switch {
		case hash == "":
		case !isHash(hash):
			return KeptBundle{}, nil, thread.Kindf(thread.ErrInvalid, "hash %q of a piece is none", hash)
		case !there:
		case len(content) > maxPiece:
			return KeptBundle{}, nil, thread.Kindf(thread.ErrInvalid, "a piece of a bundle has %d bytes, the limit is %d", len(content), maxPiece)
		case PieceHash(content) != hash:
			return KeptBundle{}, nil, thread.Kindf(thread.ErrInvalid, "the content of piece %.12s does not have its hash", hash)
		default:
			given[hash] = content
		}
	}
	return b, given, nil
}

// PieceHash returns the hash of content by which it is kept.
func PieceHash(content []byte) string {
	h := sha256.Sum256(content)
	return hex.EncodeToString(h[:])
}

func isHash(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == sha256.Size && hex.EncodeToString(b) == s
}

// Size returns how many bundles a query may return.
func (q BundleQuery) Size() int { return Query{Limit: q.Limit}.Size() }

// Selects reports whether a query asks for a bundle.
func (q BundleQuery) Selects(b KeptBundle) bool {
	return (q.Session == "" || q.Session == b.Session) && (q.AgentType == "" || q.AgentType == b.Bundle.AgentType) &&
		(q.By == "" || q.By == b.By)
}
