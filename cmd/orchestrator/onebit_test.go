package main

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrator/thread"
)

// flip damages one bit of what the database's file holds of one checkpoint, between two servers.
func (r *rig) flip(id thread.CheckpointID) {
	r.t.Helper()
	path := filepath.Join(r.stateDir(), "state.db")
	db, err := sql.Open("sqlite3", "file:"+path+"?mode=ro")
	if err != nil {
		r.t.Fatal(err)
	}
	defer db.Close()
	var data []byte
	if err := db.QueryRow("SELECT data FROM checkpoint WHERE id = ?", string(id)).Scan(&data); err != nil {
		r.t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		r.t.Fatal(err)
	}
	mid := len(data) / 2
	at := bytes.Index(file, data[mid:mid+20])
	if at < 0 {
		r.t.Fatalf("checkpoint %s is not in the file", id)
	}
	file[at] ^= 16
	if err := os.WriteFile(path, file, 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// TestOneBit damages one bit of a thread's stored turns. Every verb goes on for all others, names the thread, and the
// thread's next answer is stored: after what its agent's transcript brings back, or, where that is gone too, after what
// is left.
func TestOneBit(t *testing.T) {
	manyStarts(t)
	t.Parallel()
	for what, c := range map[string]struct {
		at   int // 0 is the newest turn
		gone bool
	}{
		"newest":                     {0, false},
		"newest without transcript":  {0, true},
		"earlier":                    {1, false},
		"earlier without transcript": {1, true},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			hit, other := r.demo("hit"), r.demo("other")
			for _, p := range []string{"write a.txt: one", "write a.txt: two", "write a.txt: three"} {
				r.turn(hit, p)
			}
			r.turn(other, "write b.txt: pineapple")
			was := r.timeline(hit)
			session := r.status(hit).Session
			r.ok("stop")
			r.flip(was[c.at].ID)
			if c.gone {
				if n := r.forgetSession(session); n == 0 {
					t.Fatal("the agent has no file of its session")
				}
			}
			for _, args := range [][]string{
				{"find", "pineapple"}, {"stage", "list"}, {"gc"}, {"checkpoint", "list", hit}, {"context", "show", hit},
				{"checkpoint", "list", other}, {"checkpoint", "show", hit, "1"}, {"checkpoint", "show", other},
				{"backup", filepath.Join(r.home, "all.backup")}, {"export", hit, "-o", filepath.Join(r.home, "hit.orch")},
				{"export", other, "-o", filepath.Join(r.home, "other.orch")}, {"threads"}, {"doctor"},
			} {
				if res := r.run(args...); res.code != 0 {
					t.Errorf("%s: exit %d: %s%s", strings.Join(args, " "), res.code, res.stdout, res.stderr)
				} else if args[0] == "find" && !strings.Contains(res.stdout, other) {
					t.Errorf("find: %s", res.stdout)
				}
			}
			await(t, "the damage to be named", func() bool {
				res := r.run("threads")
				return strings.Contains(res.stderr, hit) || strings.Contains(res.stderr, "report.txt")
			})
			r.ok("resume", hit)
			r.turn(hit, "list files")
			now := r.timeline(hit)
			more := 1
			if c.at > 0 && c.gone {
				more = 2 // its agent took over from a summary, which is a turn
			}
			if now[0].Prompt != "list files" || len(now) != len(was)+more {
				t.Errorf("after going on: %s", prompts(now))
			}
			if c.at == 0 && !c.gone {
				r.same(hit, append(now[:1:1], was...))
			}
			for i, p := range now {
				if p.Damaged != (c.at > 0 && p.ID == was[c.at].ID) {
					t.Errorf("row %d, turn %d is marked: %v", i, p.Turn, p.Damaged)
				}
			}
			r.ok("stop")
			r.ok("threads")
			if again := r.timeline(hit); again[0].ID != now[0].ID {
				t.Errorf("the next start: %s", prompts(again))
			}
			if out := r.ok("find", "pineapple"); !strings.Contains(out, other) {
				t.Errorf("find: %s", out)
			}
			if out := r.reports(r.stateDir()); c.at == 0 && !strings.Contains(out, hit) {
				t.Errorf("no report names it: %s", out)
			}
		})
	}
}

// forgetSession removes the files that an agent keeps of a session.
func (r *rig) forgetSession(session string) (n int) {
	r.t.Helper()
	err := filepath.WalkDir(r.home, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() && strings.Contains(e.Name(), session) {
			n++
			return os.Remove(path)
		}
		return nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return n
}
