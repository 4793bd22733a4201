package postgres

import (
	"context"
	"math"

	"github.com/jackc/pgx/v5"

	"orchestrator/thread"
)

// The query of SelectThreads. Texts are compared by their bytes, whatever the database's language is.
const (
	selectThreads = `SELECT n, id, sum, doc FROM thread WHERE project = $1 AND host = $2 AND n > $3 AND n < $4
		AND starts_with(id, $5) AND starts_with(name, $6)`
	inUse       = " AND NOT rests"
	atRest      = " AND rests"
	had         = " AND rests AND session = $8 AND session <> ''"
	oldestFirst = " ORDER BY n LIMIT $7"
	newestFirst = " ORDER BY n DESC LIMIT $7"
)

func rests(t *thread.Thread) bool { return t.UsedNow() == thread.AtRest }

// restingSession is the session by which a thread at rest is found.
func restingSession(t *thread.Thread) string {
	if rests(t) {
		return t.Session
	}
	return ""
}

// SelectThreads returns the threads of this host that a query selects.
func (s *Store) SelectThreads(ctx context.Context, q thread.Query) (list []thread.Thread, next int64, err error) {
	ctx, cancel := s.limited(ctx)
	defer cancel()
	query, low, high, limit := selectThreads, q.After, int64(math.MaxInt64), int64(math.MaxInt64)
	switch q.Use {
	case thread.InUse:
		query += inUse
	case thread.AtRest:
		query += atRest
	case thread.AnyUse:
	}
	if q.Session != "" {
		query += had
	}
	if q.Newest {
		if low = 0; q.After != 0 {
			high = q.After
		}
		query += newestFirst
	} else {
		query += oldestFirst
	}
	if q.Limit > 0 {
		limit = int64(q.Limit) + 1
	}
	args := []any{s.project, s.host, low, high, q.ID, q.Name, limit}
	if q.Session != "" {
		args = append(args, q.Session)
	}
	rows, err := s.pool.Query(ctx, query, args...)
	if err != nil {
		return nil, 0, s.translate(err)
	}
	var n, read int64
	var id string
	var sum, doc []byte
	_, err = pgx.ForEachRow(rows, []any{&n, &id, &sum, &doc}, func() error {
		if read++; read == limit && q.Limit > 0 {
			return nil // there is a next page
		}
		next = n
		if t, err := s.packer.OpenThread(thread.ID(id), doc, sum); err == nil {
			list = append(list, t)
		}
		return nil
	})
	if err != nil {
		return nil, 0, s.translate(err)
	}
	if q.Limit == 0 || read < limit {
		next = 0
	}
	return list, next, nil
}

// rest has the threads of an older version that are at rest count as such.
func (s *Store) rest(ctx context.Context) error {
	rows, err := s.pool.Query(ctx, "SELECT n, id, sum, doc FROM thread WHERE project = $1 AND host = $2 AND NOT rests",
		s.project, s.host)
	if err != nil {
		return err
	}
	var resting []int64
	var sessions []string
	var n int64
	var id string
	var sum, doc []byte
	_, err = pgx.ForEachRow(rows, []any{&n, &id, &sum, &doc}, func() error {
		if t, err := s.packer.OpenThread(thread.ID(id), doc, sum); err == nil && rests(&t) {
			resting, sessions = append(resting, n), append(sessions, t.Session)
		}
		return nil
	})
	if err != nil || len(resting) == 0 {
		return err
	}
	_, err = s.pool.Exec(ctx, `UPDATE thread t SET rests = TRUE, session = r.session
		FROM unnest($1::bigint[], $2::text[]) AS r (n, session) WHERE t.n = r.n`, resting, sessions)
	return err
}
