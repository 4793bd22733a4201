package sqlite_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"orchestrator/thread"
)

// BenchmarkPut puts 30 KB at a time and, in turn, commits the same bytes as a row of a bare SQLite database that is
// synced as ours is, and appends them to a plain file with fsync: what the disk takes at the least.
func BenchmarkPut(b *testing.B) {
	for _, tc := range []struct {
		name   string
		marked bool
		sizes  []int // of what a request adds, in turn
	}{
		{"appended", false, []int{30_000}},
		{"moved mark", true, []int{30_000}},
		// What tools answer is mostly short, and now and then a file.
		{"moved mark, real sizes", true, []int{250, 1_000, 120, 3_000, 250, 70, 9_000, 500, 1_500, 30_000}},
	} {
		b.Run(tc.name, func(b *testing.B) { benchmarkPut(b, tc.marked, tc.sizes) })
	}
}

func benchmarkPut(b *testing.B, marked bool, sizes []int) {
	dir := b.TempDir()
	s, p := open(b, filepath.Join(dir, "state.db")), newProse()
	plain, err := os.OpenFile(filepath.Join(dir, "plain"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	defer plain.Close()
	bare, err := sql.Open("sqlite3", "file:"+filepath.Join(dir, "bare.db")+"?_journal_mode=WAL&_synchronous=FULL")
	if err != nil {
		b.Fatal(err)
	}
	defer bare.Close()
	if _, err := bare.Exec("CREATE TABLE row (n INTEGER PRIMARY KEY, data BLOB)"); err != nil {
		b.Fatal(err)
	}
	k := newTalk(b, s, "a-0001")
	var puts, commits, appends []time.Duration
	timed := func(list *[]time.Duration, do func() error) {
		start := time.Now()
		if err := do(); err != nil {
			b.Fatal(err)
		}
		*list = append(*list, time.Since(start))
	}
	for n := 0; b.Loop(); n++ {
		text := p.text(sizes[n%len(sizes)])
		c, d := k.next(text)
		if marked {
			c, d = k.remark(text, p.text(400))
		}
		timed(&puts, func() error { k.put(c, d); return nil })
		text = p.text(30_000)
		timed(&commits, func() error {
			_, err := bare.Exec("INSERT INTO row (data) VALUES (?)", []byte(text))
			return err
		})
		timed(&appends, func() error {
			if _, err := plain.WriteString(text); err != nil {
				return err
			}
			return plain.Sync()
		})
	}
	report(b, "put", puts)
	report(b, "bare-commit", commits)
	report(b, "bare-fsync", appends)
	b.ReportMetric(float64(median(puts))/float64(median(commits)), "ratio-p50")
	b.ReportMetric(float64(stored(b, s).Packed)/float64(len(puts)), "B/put")
}

// remark makes the next checkpoint of a client that moves its cache mark to the newest message with every request: the
// message that had it comes again without, before what was added.
func (k *talk) remark(result, answer string) (thread.Checkpoint, thread.Delta) {
	c, d := k.next(result, answer)
	d.Items = nil
	if k.last != "" {
		d.Keep -= 2
		d.Items = append(d.Items, toolResult(k.last, ""), said(k.said))
	}
	d.Items = append(d.Items, toolResult(result, `,"cache_control":{"type":"ephemeral"}`), said(answer))
	k.last, k.said = result, answer
	return c, d
}

func toolResult(text, mark string) thread.Item {
	raw, _ := json.Marshal(text)
	return thread.Item{Wire: "anthropic", Raw: fmt.Appendf(nil,
		`{"role":"user","content":[{"tool_use_id":"toolu_%08x","type":"tool_result","content":%s%s}]}`, len(text), raw, mark)}
}

func said(text string) thread.Item {
	raw, _ := json.Marshal(text)
	return thread.Item{Wire: "anthropic", Raw: fmt.Appendf(nil,
		`{"role":"assistant","content":[{"type":"text","text":%s},{"type":"tool_use","id":"toolu_%08x","name":"Bash","input":{}}]}`, raw, len(text))}
}
