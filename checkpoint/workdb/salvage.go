package workdb

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"orchestrator/checkpoint/workrow"
)

// salvaged is a table of the record of which each row that verifies is copied.
type salvaged struct {
	table, columns, order string
	what                  string // for people, in the plural
	// verify reports whether a row is as it was written; parent is the table whose rows it belongs to, and of the column
	// that names it, "" for none.
	verify     func(row []any) bool
	parent, of string
	named      bool   // its second column is a name that the store may have numbered
	counter    string // what its first column is counted by, "" if it is not
	since      int    // the version that it came with, 0 for that of the record
	mend       func(s *salvager, row []any)
}

// salvages are the tables beside the executions, those first that others refer to.
func salvages() []salvaged {
	documented := func(row []any) bool { // its last two columns are the checksum and the document
		return workrow.Verifies(bytesOf(row[len(row)-2]), bytesOf(row[len(row)-1]))
	}
	whatever := func([]any) bool { return true }
	return append([]salvaged{
		{table: "work_session", columns: "n, name, status, author, created, updated, sum, doc", what: "work sessions", verify: documented, named: true},
		{table: "work_task", columns: "n, session, title, status, created, sum, doc", what: "tasks", verify: documented, parent: "work_session", of: "session"},
		{table: "work_output", columns: "n, work, key, type, path, file, line, version, current, session, agent_type, author, created, sum, doc",
			what: "outputs", verify: documented, parent: "work", of: "work", counter: "output"},
		{table: "work_allocation", columns: "n, work, key, bundle, sum, doc", what: "pieces of context", verify: documented, parent: "work", of: "work",
			counter: "allocation"},
		{table: "work_bundle", columns: "n, id, hash, session, agent_type, author, created, sum, doc", what: "bundles", verify: documented, named: true},
		{table: "work_piece", columns: "hash, size, data", what: "pieces of bundles", verify: func(row []any) bool {
			return workrow.Unpacks(fmt.Sprint(row[0]), bytesOf(row[2]))
		}},
		{table: "work_bundle_piece", columns: "bundle, hash", order: "bundle, hash", what: "names of pieces", verify: whatever, parent: "work_bundle", of: "bundle"},
		{table: "work_written", columns: "author, rows, bytes", order: "author", what: "counts of agents", verify: whatever},
	}, salvagedPlans(documented)...)
}

// salvagedPlans are the tables of the tasks of plans. Edges and tokens are made again of what was copied: see workrow.Plans.Mend.
func salvagedPlans(documented func([]any) bool) []salvaged {
	return []salvaged{
		{table: "plan_document", columns: "n, hash, size, data", what: "plans", since: withPlans, verify: func(row []any) bool {
			return workrow.Unpacks(fmt.Sprint(row[1]), bytesOf(row[3]))
		}},
		{table: "plan_task", columns: "n, name, id, status, plan, document, place, session, server, author, created, updated, ended, sum, doc",
			what: "tasks of plans", since: withPlans, verify: documented, named: true, mend: func(s *salvager, row []any) {
				if !s.kept["plan_document"][row[5]] {
					row[5] = nil
				}
			}},
		{table: "plan_node", columns: "n, task, number, agent, gate, wave, state, round, sum, doc", what: "agents of tasks", since: withPlans,
			verify: documented, parent: "plan_task", of: "task"},
		{table: "plan_event", columns: "task, seq, sum, doc", order: "task, seq", what: "lines of their history", since: withPlans, verify: documented,
			parent: "plan_task", of: "task"},
		{table: "plan_handover", columns: "n, id, task, agent, version, current, type, token, created, key, data, sum, doc", what: "deliverables",
			since: withPlans, parent: "plan_task", of: "task", verify: func(row []any) bool {
				return documented(row) && workrow.HandsOver(bytesOf(row[9]), bytesOf(row[10]), bytesOf(row[12]))
			}, mend: func(_ *salvager, row []any) { row[5] = int64(0) }}, // the newest of those that are left is current
		{table: "plan_armed", columns: "n, name, active, document, sum, doc", what: "armed plans", since: withPlans, verify: documented,
			parent: "plan_document", of: "document"},
	}
}

func bytesOf(v any) []byte {
	b, _ := v.([]byte)
	return b
}

// salvageBatch is how many rows are copied in one transaction, and salvageBytes about how much.
const (
	salvageBatch = 500
	salvageBytes = 8 << 20
)

// salvager copies tables from a damaged database.
type salvager struct {
	ctx   context.Context // of all of it
	from  *sql.DB
	to    *file
	kept  map[string]map[any]bool // the first columns of the rows that were copied, by table
	said  []string                // what was copied and lost, for people
	last  map[string]int64        // the largest numbers, by counter
	names []string                // of work sessions and bundles
	lost  error                   // the last that could not be read
}

// all copies what verifies of all tables.
func (s *salvager) all() error {
	version := newest
	var n int
	if err := s.from.QueryRowContext(s.ctx, "PRAGMA damaged.user_version").Scan(&n); err == nil && n > 0 {
		version = n
	}
	for _, t := range salvages() {
		if t.since > version {
			continue
		}
		if err := s.table(t); err != nil {
			return err
		}
	}
	// Where the newest version of a file is lost, the newest that is left is current.
	_, err := s.to.writer.ExecContext(s.ctx, `UPDATE work_output SET current = 1 WHERE version > 0 AND current = 0 AND NOT EXISTS
		(SELECT 1 FROM work_output newer WHERE newer.line = work_output.line AND newer.version > work_output.version);
		UPDATE plan_handover SET current = 1 WHERE version = (SELECT max(version) FROM plan_handover newer
		WHERE newer.task = plan_handover.task AND newer.agent = plan_handover.agent)`)
	return err
}

// table copies what verifies of a table.
func (s *salvager) table(t salvaged) error {
	s.kept[t.table] = map[any]bool{}
	seen := map[string]bool{}
	var batch [][]any
	copied, refused, size := 0, 0, 0
	kinds, err := s.kinds(t)
	if err != nil {
		return err
	}
	flush := func() error {
		n, err := s.insert(t, batch)
		copied, refused = copied+n, refused+len(batch)-n
		batch, size = nil, 0
		return err
	}
	take := func(row []any) error {
		key := fmt.Sprintf("%v/%v", row[0], row[1])
		if seen[key] {
			return nil
		}
		seen[key] = true
		if !fits(row, kinds) || !t.verify(row) || !s.parent(t, row) {
			refused++
			return nil
		}
		if t.mend != nil {
			t.mend(s, row)
		}
		batch = append(batch, row)
		for _, v := range row {
			size += len(bytesOf(v))
		}
		if len(batch) < salvageBatch && size < salvageBytes {
			return nil
		}
		return flush()
	}
	if err := s.read(t, take); err != nil {
		return err
	}
	if err := flush(); err != nil {
		return err
	}
	if copied > 0 || refused > 0 {
		text := fmt.Sprintf("%d %s", copied, t.what)
		if refused > 0 {
			text += fmt.Sprintf(" (%d that were damaged or belonged to what is lost are gone)", refused)
		}
		s.said = append(s.said, text)
	}
	return nil
}

// kinds are the types of the columns of a table.
func (s *salvager) kinds(t salvaged) ([]string, error) {
	rows, err := s.to.writer.QueryContext(s.ctx, "SELECT name, type FROM pragma_table_info(?)", t.table)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	kinds := map[string]string{}
	for rows.Next() {
		var name, kind string
		if err := rows.Scan(&name, &kind); err != nil {
			return nil, err
		}
		kinds[name] = kind
	}
	var out []string
	for column := range strings.SplitSeq(t.columns, ", ") {
		out = append(out, kinds[column])
	}
	return out, rows.Err()
}

// fits reports whether a row has what its columns hold: the tables take nothing else. A single bit tells a text from bytes;
// what is in the way of nothing but that is what it was.
func fits(row []any, kinds []string) bool {
	for i, v := range row {
		text, is := v.(string)
		bytes, are := v.([]byte)
		_, number := v.(int64)
		switch kinds[i] {
		case "TEXT":
			if are {
				row[i] = string(bytes)
			}
			is = is || are
		case "BLOB":
			if is {
				row[i] = []byte(text)
			}
			is = is || are
		default:
			is = number
		}
		if !is && v != nil { // what must not be NULL is left out as it is copied
			return false
		}
	}
	return true
}

// parent reports whether what a row belongs to was copied.
func (s *salvager) parent(t salvaged, row []any) bool {
	if t.table == "work_bundle_piece" && !s.kept["work_piece"][fmt.Sprint(row[1])] {
		return false
	}
	if t.parent == "" {
		return true
	}
	for i, column := range strings.Split(t.columns, ", ") {
		if column == t.of {
			return s.kept[t.parent][row[i]]
		}
	}
	return false
}

// read reads what can be read of a table: around what is damaged where rows have ids, else from both ends up to that.
func (s *salvager) read(t salvaged, take func([]any) error) error {
	if t.order == "" {
		_, err := around(func(r span) (last int64, n int, damage, err error) {
			damage, err = s.each("SELECT rowid, "+t.columns+" FROM "+t.table+" NOT INDEXED WHERE rowid > ? AND rowid < ? ORDER BY rowid",
				func(row []any) error {
					last, _ = row[0].(int64)
					n++
					return take(row[1:])
				}, r.after, r.before)
			return last, n, damage, err
		})
		return err
	}
	for _, end := range []string{"", " DESC"} {
		damage, err := s.each("SELECT "+t.columns+" FROM "+t.table+" ORDER BY "+strings.ReplaceAll(t.order, ",", end+",")+end, take)
		if err != nil || damage == nil {
			return err
		}
	}
	return nil
}

// each reads rows until something is damaged.
func (s *salvager) each(query string, read func([]any) error, args ...any) (damage, err error) {
	rows, damage := s.from.QueryContext(s.ctx, query, args...)
	if damage != nil {
		s.lost = damage
		return damage, s.ctx.Err()
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		row := make([]any, len(columns))
		to := make([]any, len(row))
		for i := range row {
			to[i] = &row[i]
		}
		if damage := rows.Scan(to...); damage != nil {
			s.lost = damage
			return damage, nil
		}
		if err := read(row); err != nil {
			return nil, err
		}
	}
	if damage = rows.Err(); damage != nil {
		s.lost = damage
	}
	return damage, s.ctx.Err()
}

// insert adds rows, and returns how many were taken.
func (s *salvager) insert(t salvaged, rows [][]any) (taken int, err error) {
	if len(rows) == 0 {
		return 0, nil
	}
	query := "INSERT OR IGNORE INTO " + t.table + " (" + t.columns + ") VALUES (?" + strings.Repeat(", ?", strings.Count(t.columns, ",")) + ")"
	err = s.to.Write(s.ctx, 0, func(tx workrow.Tx) error {
		taken = 0
		for _, row := range rows {
			n, err := tx.Exec(query, row...)
			if err != nil {
				return err
			}
			if n == 0 {
				continue
			}
			taken++
			s.kept[t.table][row[0]] = true
			if t.named {
				s.names = append(s.names, fmt.Sprint(row[1]))
			}
			if last, ok := row[0].(int64); ok && t.counter != "" {
				s.last[t.counter] = max(s.last[t.counter], last)
			}
		}
		return nil
	})
	return taken, err
}
