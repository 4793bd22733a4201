package words

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"orchestrator/thread"
	"orchestrator/thread/secret"
)

// Find returns the matches for all words of a query, the last one as a prefix: names first, then changed files whose
// names begin so, then the newest. Deleted threads are left out.
func (x *Index) Find(ctx context.Context, query string, limit int) ([]thread.Hit, error) {
	words := Words(query)
	if len(words) == 0 {
		return nil, fmt.Errorf("%w search: no words in %q", thread.ErrInvalid, query)
	}
	if limit <= 0 {
		limit = defaultLimit
	}
	var hits []thread.Hit
	err := x.update(ctx, func(t *thread.Thread) {
		if !t.Deleted.IsZero() || !named(t, words) {
			return
		}
		hits = append(hits, thread.Hit{
			Thread: t.ID, Name: t.Name, Checkpoint: t.Head, Turn: t.Turn, Where: "name",
			Snippet: secret.Redact(cmp.Or(t.Label, t.Title)), At: t.Updated,
		})
		if len(hits) > 2*limit { // only the newest are wanted
			hits = slices.Delete(hits, 0, len(hits)-limit)
		}
	})
	if err != nil {
		return nil, err
	}
	slices.Reverse(hits)
	hits = hits[:min(limit, len(hits))]
	name := x.names(ctx)
	files, err := findPaths(ctx, x.db, name, query, min(limit-len(hits), mostFiles), true)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	hits = append(hits, files...)
	match := `"` + strings.Join(words, `" "`) + `*"`
	rows, err := x.db.QueryContext(ctx, `SELECT docs.thread, docs.checkpoint, docs.turn, docs.part, docs.at,
		snippet(texts, '', '', '…', 0, 24)
		FROM texts JOIN docs ON docs.id = texts.docid WHERE texts MATCH ? ORDER BY texts.docid DESC`, match)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	defer rows.Close()
	for rows.Next() && len(hits) < limit {
		var h thread.Hit
		var at int64
		if err := rows.Scan(&h.Thread, &h.Checkpoint, &h.Turn, &h.Where, &at, &h.Snippet); err != nil {
			return nil, fmt.Errorf("search: %w", err)
		}
		if h.Name = name(h.Thread); h.Name == "" {
			continue
		}
		h.At = time.UnixMilli(at).UTC()
		hits = append(hits, h)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	return hits, nil
}

// FindFile returns for each thread and file whose path contains all words of a query the newest turn that changed it,
// the newest first. Deleted threads are left out.
func (x *Index) FindFile(ctx context.Context, query string, limit int) ([]thread.Hit, error) {
	if limit <= 0 {
		limit = defaultLimit
	}
	if err := x.Update(ctx); err != nil {
		return nil, err
	}
	hits, err := findPaths(ctx, x.db, x.names(ctx), query, limit, false)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	return hits, nil
}

// Words splits a text as the index does: runs of letters and digits, lower case.
func Words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

// named reports whether a thread's name or label contains all words as prefixes.
func named(t *thread.Thread, words []string) bool {
	have := Words(t.Name + " " + t.Title + " " + t.Label)
	for _, w := range words {
		found := false
		for _, h := range have {
			found = found || strings.HasPrefix(h, w)
		}
		if !found {
			return false
		}
	}
	return true
}
