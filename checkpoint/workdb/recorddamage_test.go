package workdb_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"orchestrator/checkpoint/plantest"
	"orchestrator/checkpoint/workdb"
	"orchestrator/thread"
	"orchestrator/thread/plan"
	"orchestrator/thread/work"
)

// content is all that a store has, by what it is called.
func content(t *testing.T, s *workdb.Store) map[string]any {
	t.Helper()
	ctx := t.Context()
	all := map[string]any{}
	ok := func(err error) {
		t.Helper()
		if err != nil && !errors.Is(err, thread.ErrDamaged) && !errors.Is(err, thread.ErrNotFound) {
			t.Errorf("%v", err)
		}
	}
	sessions, err := s.Sessions(ctx, work.SessionQuery{Limit: 1000})
	ok(err)
	for _, v := range sessions {
		all["session "+v.Name] = v
		tasks, err := s.Tasks(ctx, v.Name)
		ok(err)
		for _, task := range tasks {
			all["task "+v.Name+" "+task.Title] = task
		}
	}
	xs, err := s.Recorded(ctx, work.RecordQuery{Limit: 1000})
	ok(err)
	for _, x := range xs {
		all["execution "+x.Name] = x
		events, err := s.Events(ctx, x.ID, 0, 0)
		ok(err)
		for _, e := range events {
			all[fmt.Sprint("event ", x.Name, e.Seq)] = e
		}
		pieces, err := s.Allocations(ctx, x.ID)
		ok(err)
		for _, a := range pieces {
			all[fmt.Sprint("allocation ", a.N)] = a
		}
	}
	outputs, err := s.Outputs(ctx, work.OutputQuery{Limit: 1000})
	ok(err)
	for _, o := range outputs {
		all[fmt.Sprint("output ", o.N)] = o
	}
	bundles, err := s.Bundles(ctx, work.BundleQuery{Limit: 1000})
	ok(err)
	for _, b := range bundles {
		all["bundle "+b.Bundle.ID] = b
		for _, h := range b.Pieces {
			piece, err := s.Piece(ctx, h)
			ok(err)
			if err == nil {
				all["piece "+h] = string(piece)
			}
		}
	}
	_, err = s.Stats(ctx, work.StatsQuery{By: work.StatByType})
	ok(err)
	_, err = s.Open(ctx)
	ok(err)
	maps.Copy(all, plantest.Content(t, s.Plans()))
	return all
}

// filledRecord makes a closed file with something of everything, and with so many tasks of plans.
func filledRecord(t *testing.T, tasks int) (path string, file []byte, all map[string]any) {
	t.Helper()
	ctx := t.Context()
	path = filepath.Join(t.TempDir(), "work.db")
	s := open(t, path, workdb.Options{})
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range 40 {
		name := fmt.Sprintf("s-%02d", i)
		_, err := s.AddSession(ctx, work.Session{Name: name, Scope: strings.Repeat("the scope ", 10)})
		ok(err)
		_, err = s.ChangeTask(ctx, name, "part", func(t *work.Task) error { t.Body = strings.Repeat("body ", 20); return nil })
		ok(err)
		text := strings.Repeat(fmt.Sprint("content of ", i, " "), 50)
		b := work.KeptBundle{Bundle: work.Bundle{AgentType: "a", Items: []work.BundleItem{{Type: work.ItemFile, Source: "f"}}},
			Hash: work.PieceHash([]byte(name)), Pieces: []string{work.PieceHash([]byte(text))}, Session: name}
		b, err = s.PutBundle(ctx, b, map[string][]byte{b.Pieces[0]: []byte(text)})
		ok(err)
		x, err := s.Add(ctx, work.Execution{ID: thread.NewID[work.ID](), Kind: work.KindHand, State: work.Deployed, Session: name, Agent: "demo",
			Scope: "look at number" + fmt.Sprint(i), Bundle: b.Bundle.ID}, work.Event{Kind: work.KindGiven, Text: strings.Repeat("do it ", 30)})
		ok(err)
		_, err = s.AddOutputs(ctx, x.ID, []work.Output{{Type: work.OutputDeliverable, Path: "f.go", Content: json.RawMessage(`{"lines_added":1}`)},
			{Type: work.OutputInsight, Content: json.RawMessage(`"it is so"`)}})
		ok(err)
		ok(s.Allocate(ctx, x.ID, []work.Allocation{{Type: work.ItemFile, Source: "f", Bundle: b.Bundle.ID, Hash: b.Pieces[0]}}))
	}
	plantest.Many(t, s.Plans(), tasks)
	all = content(t, s)
	ok(s.Close())
	file, err := os.ReadFile(path)
	ok(err)
	return path, file, all
}

// isDamaged reports whether what a store shows stands for something that cannot be read.
func isDamaged(v any) bool {
	doc, err := json.Marshal(v)
	return err != nil || bytes.Contains(doc, []byte("is damaged"))
}

// TestCorruptedRecord corrupts a file with all tables, 30 times or as often as CORRUPTIONS says: by bits, by blocks of
// something else, and by its end being cut off. What is shown after the next start is as it was or is said to be damaged,
// what is lost is said, and the store goes on.
func TestCorruptedRecord(t *testing.T) {
	rounds := 30
	if n := os.Getenv("CORRUPTIONS"); n != "" {
		if _, err := fmt.Sscan(n, &rounds); err != nil {
			t.Fatal(err)
		}
	}
	_, good, all := filledRecord(t, 20)
	seed := time.Now().UnixNano()
	rnd := rand.New(rand.NewSource(seed))
	t.Logf("seed %d, %d rows, %d bytes", seed, len(all), len(good))
	kept, lost, refused, aside := 0, 0, 0, 0
	for round := range rounds {
		bad := bytes.Clone(good)
		at := rnd.Intn(len(bad))
		how := ""
		switch round % 5 {
		case 0, 1, 2:
			how = "bit"
			bad[at] ^= 1 << rnd.Intn(8)
		case 3:
			how = "block"
			rnd.Read(bad[at:min(len(bad), at+512)])
		case 4:
			how = "cut"
			bad = bad[:at]
		}
		what := fmt.Sprintf("%s at %d", how, at)
		path := filepath.Join(t.TempDir(), "work.db")
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := workdb.Open(t.Context(), path, workdb.Options{})
		if err != nil {
			if !errors.Is(err, thread.ErrUnsupported) && !errors.Is(err, thread.ErrInvalid) {
				t.Errorf("%s: %v", what, err)
			}
			refused++
			continue
		}
		if s.Report() == "" && s.Check(t.Context()) != nil {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if s, err = workdb.Open(t.Context(), path, workdb.Options{}); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
		}
		if s.Report() != "" {
			aside++
		}
		got := content(t, s)
		for name, v := range got {
			o, is := v.(work.Output)
			was, _ := all[name].(work.Output)
			if is && o.Current != was.Current { // its newer version is lost
				o.Current = was.Current
				v = o
			}
			h, is := v.(plan.HandOver)
			if had, _ := all[name].(plan.HandOver); is && h.Current && !had.Current { // so is that of this one
				h.Current = false
				v = h
			}
			switch {
			case reflect.DeepEqual(v, all[name]):
				kept++
			case !isDamaged(v):
				t.Errorf("%s: %s is %+v, was %+v", what, name, v, all[name])
			}
		}
		if n := len(all) - len(got); n > 0 {
			lost += n
			if s.Report() == "" && n > len(all)/20 {
				t.Errorf("%s: %d rows are gone, and nobody says so", what, n)
			}
		}
		x := add(t, s, "new")
		if all["execution "+x.Name] != nil && !strings.Contains(s.Report(), "may be given again") {
			t.Errorf("%s: %s was given again: %s", what, x.Name, s.Report())
		}
		if err := s.Check(t.Context()); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d corruptions: %d files set aside, %d refused; %d of %d rows kept, %d gone", rounds, aside, refused, kept, (rounds-refused)*len(all), lost)
}

// TestOtherKinds: a bit that makes bytes of a text, or of a number nothing that one is, costs the row at most: STRICT tables
// take no such value.
func TestOtherKinds(t *testing.T) {
	path, _, all := filledRecord(t, 20)
	const strict, loose = ") STRICT", ") /*...*/"
	as := func(from, to, change string) {
		t.Helper()
		c, err := sql.Open("sqlite3", "file:"+path)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		c.SetMaxOpenConns(1)
		if change != "" {
			if _, err := c.Exec(change); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := c.Exec("PRAGMA writable_schema = ON"); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Exec("UPDATE sqlite_master SET sql = replace(sql, ?, ?) WHERE type = 'table' AND name IN ('work_output', 'work_task')", from, to); err != nil {
			t.Fatal(err)
		}
	}
	as(strict, loose, "")
	as(loose, strict, "UPDATE work_output SET session = CAST(session AS BLOB) WHERE n = 7; UPDATE work_output SET sum = CAST(sum AS TEXT) WHERE n = 8;"+
		"UPDATE work_output SET version = x'' WHERE n = 9; UPDATE work_task SET title = CAST(title AS BLOB) WHERE n = 3")
	s := open(t, path, workdb.Options{})
	if err := s.Check(t.Context()); err == nil {
		t.Fatal("nothing is found damaged")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, path, workdb.Options{})
	if !strings.Contains(s.Report(), "79 outputs (1 that were damaged") {
		t.Error(s.Report())
	}
	got := content(t, s)
	delete(all, "output 9")
	for name, v := range all {
		if !reflect.DeepEqual(got[name], v) {
			t.Errorf("%s is %+v, was %+v", name, got[name], v)
		}
	}
}
