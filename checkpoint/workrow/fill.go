package workrow

import "context"

// fillBatch is how many executions of an older version are read in one transaction.
const fillBatch = 500

// Fill derives what executions are searched by of those that have none of it: an older version of the program wrote them.
func (s *Store) Fill(ctx context.Context) error {
	for {
		n := 0
		err := s.db.Write(ctx, 0, func(tx Tx) error {
			w := of("w.", s.d.all())
			w.and("NOT EXISTS (SELECT 1 FROM work_fact f WHERE f.work = w.n)")
			var rows []Row
			err := tx.Query(joined+"work w WHERE "+w.String()+" ORDER BY w.n LIMIT ?", append(w.args, fillBatch), func(scan Scan) error {
				var r Row
				err := r.Scan(scan)
				rows = append(rows, r)
				return err
			})
			if err != nil {
				return err
			}
			for _, r := range rows {
				if err := s.d.deriveRow(tx, r); err != nil {
					return err
				}
			}
			n = len(rows)
			return nil
		})
		if err != nil || n < fillBatch {
			return err
		}
	}
}

// deriveRow derives what is searched by from a row, as much as it tells.
func (d Dialect) deriveRow(tx Tx, r Row) error {
	x, err := r.Execution()
	if err == nil {
		return d.derive(tx, r.N, x)
	}
	query, args := insertion("work_fact", "", d.all(), []Pair{{"work", r.N}}, r.facts())
	_, err = tx.Exec(query, args...)
	return err
}
