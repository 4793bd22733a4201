package workrow

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/work"
)

// many is how often a word must be found for it to count as frequent.
const many = 2000

// Recorded lists executions of all kinds, newest first.
func (s *Store) Recorded(ctx context.Context, q work.RecordQuery) ([]work.Execution, error) {
	before := maxN
	if q.Before != "" {
		r, err := s.row(ctx, string(q.Before))
		if err != nil {
			return nil, err
		}
		before = r.N
	}
	words, err := s.rarest(ctx, q.Terms())
	if err != nil {
		return nil, err
	}
	query, args := s.d.recorded(q, words, before)
	rows, err := s.rows(ctx, query, args)
	if err != nil {
		return nil, err
	}
	return shown(rows), nil
}

// rarest returns words in the order of how often they are found, so that what has them all is found among few.
func (s *Store) rarest(ctx context.Context, words []string) ([]string, error) {
	if len(words) < 2 {
		return words, nil
	}
	found := map[string]int{}
	for _, word := range words {
		w := of("", s.d.Project)
		w.and("word = ?", word)
		err := s.db.Query(ctx, "SELECT count(*) FROM (SELECT 1 FROM work_word WHERE "+w.String()+" LIMIT ?) k", append(w.args, many),
			func(scan Scan) error {
				var n int
				err := scan(&n)
				found[word] = n
				return err
			})
		if err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(words, func(a, b string) int { return cmp.Compare(found[a], found[b]) })
	return words, nil
}

// recorded is the statement of Recorded. It begins with the first word if there is one.
func (d Dialect) recorded(q work.RecordQuery, words []string, before int64) (string, []any) {
	from, order := "work_fact f", "f.work"
	w := of("f.", d.all())
	if len(words) > 0 {
		from, order = "work_word k CROSS JOIN work_fact f", "k.work"
		for _, p := range d.Project {
			w.and("k."+p.Column+" = ?", p.Value)
		}
		w.and("f.work = k.work AND k.word = ?", words[0])
		for _, word := range words[1:] {
			has := of("h.", d.Project)
			has.and("h.word = ? AND h.work = k.work", word)
			w.and("EXISTS (SELECT 1 FROM work_word h WHERE "+has.String()+")", has.args...)
		}
	}
	w.equal(Pair{"f.session", q.Session}, Pair{"f.type", q.Type}, Pair{"f.bundle", q.Bundle}, Pair{"f.parent", string(q.Parent)},
		Pair{"f.thread", string(q.Thread)}, Pair{"f.task", q.Task}, Pair{"f.agent", q.Agent}, Pair{"f.model", q.Model})
	if q.Path != "" {
		with := of("", d.all())
		with.and("file = ?", key(q.Path))
		w.and("f.work IN (SELECT work FROM work_output WHERE "+with.String()+")", with.args...)
	}
	if q.Part.Task != "" {
		parts := d.parts(q.Part)
		w.and("f.work IN (SELECT work FROM work_part WHERE "+parts.String()+")", parts.args...)
	}
	in(w, d.Aside+"f.kind", q.Kinds)
	in(w, d.Aside+"f.state", q.States)
	seen(w, q.Seen)
	span(w, q.Since, q.Until)
	w.and(order+" < ?", before)
	return joined + from + " CROSS JOIN work w WHERE w.n = f.work AND " + w.String() + " ORDER BY " + order + " DESC LIMIT ?",
		append(w.args, q.Size())
}

// parts selects the executions of a plan's task, of one agent of it, or of one round.
func (d Dialect) parts(p thread.Part) *where {
	w := of("", d.all())
	w.and("task = ?", p.Task)
	if p.Agent != "" {
		w.and("agent = ?", p.Agent)
	}
	if p.Round != 0 {
		w.and("round = ?", p.Round)
	}
	return w
}

// seen restricts executions to those of a thread and of its agent.
func seen(w *where, by *thread.ID) {
	if by != nil { // an empty one has nothing
		w.and("? <> ''", string(*by))
		w.and("(f.thread = ? OR f.author = ?)", string(*by), string(*by))
	}
}

// span restricts executions to a time.
func span(w *where, since, until time.Time) {
	if !since.IsZero() {
		w.and("f.created >= ?", micros(since))
	}
	if !until.IsZero() {
		w.and("f.created < ?", micros(until))
	}
}

// dayMicros is how many microseconds a day has.
const dayMicros = 24 * 60 * 60 * 1_000_000

// keys are the expressions that executions are summed up by.
func keys() map[work.StatBy]string {
	return map[work.StatBy]string{
		work.StatByAgent: "f.agent", work.StatByType: "f.type", work.StatByModel: "f.model", work.StatByBundle: "f.bundle",
		work.StatBySession: "f.session", work.StatByOrigin: "f.kind", work.StatByDay: "CAST(f.created / " + strconv.Itoa(dayMicros) + " AS TEXT)",
	}
}

// Stats sums up executions of all kinds.
func (s *Store) Stats(ctx context.Context, q work.StatsQuery) ([]work.Stat, error) {
	if _, err := q.Key(work.Execution{}); err != nil {
		return nil, err
	}
	query, args := s.d.stats(q)
	sums := map[string]work.Stat{}
	err := s.db.Query(ctx, query, args, func(scan Scan) error {
		var v work.Stat
		var took, priced int64
		u := &v.Usage
		if err := scan(&v.Key, &v.Runs, &v.Open, &v.Completed, &took, &u.Input, &u.CacheRead, &u.CacheWrite, &u.CacheWriteHour,
			&u.Output, &u.CostUSD, &priced, &u.Unknown); err != nil {
			return err
		}
		switch q.By {
		case work.StatByDay:
			day, err := strconv.ParseInt(v.Key, 10, 64)
			if err != nil {
				return err
			}
			v.Key = time.UnixMicro(day * dayMicros).UTC().Format(time.DateOnly)
		case work.StatByOrigin:
			v.Key = string(work.Kind(v.Key).Origin())
		default:
		}
		v.Failed, v.Took, u.Priced = v.Runs-v.Open-v.Completed, time.Duration(took)*time.Microsecond, priced > 0
		old := sums[v.Key]
		sums[v.Key] = work.Stat{Key: v.Key, Runs: old.Runs + v.Runs, Open: old.Open + v.Open, Completed: old.Completed + v.Completed,
			Failed: old.Failed + v.Failed, Usage: old.Usage.Add(v.Usage), Took: old.Took + v.Took}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := make([]work.Stat, 0, len(sums))
	for _, v := range sums {
		out = append(out, v)
	}
	slices.SortFunc(out, func(a, b work.Stat) int { return cmp.Compare(a.Key, b.Key) })
	return q.Chosen(out), nil
}

// stats is the statement of Stats. It reads the facts only. For the best it first compares how executions ended, and sums up
// what those have that it needs.
func (d Dialect) stats(q work.StatsQuery) (string, []any) {
	w := of("f.", d.all())
	w.and(d.Aside+"f.state <> ?", string(work.Queued))
	w.equal(Pair{"f.session", q.Session}, Pair{"f.type", q.Type})
	if len(q.Sessions) > 0 { // their index leaves out what is in none
		w.and("f.session <> ''")
	}
	in(w, "f.session", q.Sessions)
	in(w, d.Aside+"f.kind", q.Kinds)
	seen(w, q.Seen)
	span(w, q.Since, q.Until)
	key := keys()[q.By]
	const completed = "CAST(sum(CASE WHEN f.state = 'completed' THEN 1 ELSE 0 END) AS BIGINT)"
	if q.Best > 0 && q.By != work.StatByDay && q.By != work.StatByOrigin { // the keys of these are not yet what they become
		w.and(key + " <> ''")
		best := "SELECT " + key + " FROM work_fact f WHERE " + w.String() + " GROUP BY " + key + " ORDER BY " + completed +
			" DESC, sum(CASE WHEN f.state IN ('failed', 'cancelled', 'lost') THEN 1 ELSE 0 END), " + key + d.Bytewise + " LIMIT ?"
		w.and(key+" IN ("+best+")", append(slices.Clone(w.args), q.Best)...)
	}
	sum := ""
	for _, c := range []string{"took", "input", "cache_read", "cache_write", "cache_hour", "output"} {
		sum += ", CAST(sum(f." + c + ") AS BIGINT)"
	}
	final := "'completed', 'failed', 'cancelled', 'lost'"
	return "SELECT " + key + ", count(*), CAST(sum(CASE WHEN f.state IN (" + final + ") THEN 0 ELSE 1 END) AS BIGINT), " +
		completed + sum + ", sum(f.cost), " +
		"CAST(sum(f.priced) AS BIGINT), CAST(sum(f.unknown) AS BIGINT) FROM work_fact f WHERE " + w.String() + " GROUP BY 1", w.args
}
