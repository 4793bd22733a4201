package damage

import (
	"bytes"
	"database/sql"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	_ "github.com/mattn/go-sqlite3" // the driver

	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
	"orchestrator/thread/ground/sample"
)

// flip damages one bit of what the database's file holds of one checkpoint, between two servers.
func flip(r *e2e.Rig, id thread.CheckpointID) {
	r.T.Helper()
	path := filepath.Join(r.StateDir(), "state.db")
	db, err := sql.Open("sqlite3", "file:"+path+"?mode=ro")
	if err != nil {
		r.T.Fatal(err)
	}
	defer db.Close()
	var data []byte
	if err := db.QueryRow("SELECT data FROM checkpoint WHERE id = ?", string(id)).Scan(&data); err != nil {
		r.T.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		r.T.Fatal(err)
	}
	mid := len(data) / 2
	at := bytes.Index(file, data[mid:mid+20])
	if at < 0 {
		r.T.Fatalf("checkpoint %s is not in the file", id)
	}
	file[at] ^= 16
	if err := os.WriteFile(path, file, 0o600); err != nil {
		r.T.Fatal(err)
	}
}

// TestOneBit damages one bit of a thread's stored turns. Every verb goes on for all others, names the thread, and the
// thread's next answer is stored: after what its agent's transcript brings back, or, where that is gone too, after what
// is left.
func TestOneBit(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	for what, c := range sample.In(t, 2, map[string]struct {
		at   int // 0 is the newest turn
		gone bool
	}{
		"newest":                     {0, false},
		"newest without transcript":  {0, true},
		"earlier":                    {1, false},
		"earlier without transcript": {1, true},
	}) {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			r := e2e.NewRig(t)
			hit, other := r.Demo("hit"), r.Demo("other")
			for _, p := range []string{"write a.txt: one", "write a.txt: two", "write a.txt: three"} {
				r.Turn(hit, p)
			}
			r.Turn(other, "write b.txt: pineapple")
			was := r.Timeline(hit)
			session := r.Status(hit).Session
			r.Ok("stop")
			flip(r, was[c.at].ID)
			if c.gone {
				if n := forgetSession(r, session); n == 0 {
					t.Fatal("the agent has no file of its session")
				}
			}
			for _, args := range [][]string{
				{"find", "pineapple"}, {"stage", "list"}, {"gc"}, {"checkpoint", "list", hit}, {"context", "show", hit},
				{"checkpoint", "list", other}, {"checkpoint", "show", hit, "1"}, {"checkpoint", "show", other},
				{"backup", filepath.Join(r.Home, "all.backup")}, {"export", hit, "-o", filepath.Join(r.Home, "hit.orch")},
				{"export", other, "-o", filepath.Join(r.Home, "other.orch")}, {"threads"}, {"doctor"},
			} {
				if res := r.Run(args...); res.Code != 0 {
					t.Errorf("%s: exit %d: %s%s", strings.Join(args, " "), res.Code, res.Stdout, res.Stderr)
				} else if args[0] == "find" && !strings.Contains(res.Stdout, other) {
					t.Errorf("find: %s", res.Stdout)
				}
			}
			e2e.Await(t, "the damage to be named", func() bool {
				res := r.Run("threads")
				return strings.Contains(res.Stderr, hit) || strings.Contains(res.Stderr, "report.txt")
			})
			r.Ok("resume", hit)
			r.Turn(hit, "list files")
			now := r.Timeline(hit)
			more := 1
			if c.at > 0 && c.gone {
				more = 2 // its agent took over from a summary, which is a turn
			}
			if c.at > 0 && c.gone && strings.Contains(r.Reports(r.StateDir()), "turns 2 to 3 are not in the transcript") {
				// The turn after it is stored as what differs from it, and may need just what was hit: then that is named too.
				more = 0
			}
			if now[0].Prompt != "list files" || len(now) != len(was)+more {
				t.Errorf("after going on: %s", e2e.Prompts(now))
			}
			if c.at == 0 && !c.gone {
				r.Same(hit, append(now[:1:1], was...))
			}
			for i, p := range now {
				if p.Damaged != (c.at > 0 && p.ID == was[c.at].ID) {
					t.Errorf("row %d, turn %d is marked: %v", i, p.Turn, p.Damaged)
				}
			}
			r.Ok("stop")
			r.Ok("threads")
			if again := r.Timeline(hit); again[0].ID != now[0].ID {
				t.Errorf("the next start: %s", e2e.Prompts(again))
			}
			if out := r.Ok("find", "pineapple"); !strings.Contains(out, other) {
				t.Errorf("find: %s", out)
			}
			if out := r.Reports(r.StateDir()); c.at == 0 && !strings.Contains(out, hit) {
				t.Errorf("no report names it: %s", out)
			}
		})
	}
}

// forgetSession removes the files that an agent keeps of a session.
func forgetSession(r *e2e.Rig, session string) (n int) {
	r.T.Helper()
	err := filepath.WalkDir(r.Home, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() && strings.Contains(e.Name(), session) {
			n++
			return os.Remove(path)
		}
		return nil
	})
	if err != nil {
		r.T.Fatal(err)
	}
	return n
}

// TestOneBitAnywhere flips one bit of a file of the state, any one and anywhere in it, and starts again. What reads as
// another thing than before is named, by its thread or its file; it is one thread at most; a start that is refused says
// which command is the way out, and it is one; and every thread goes on. ORCHESTRATOR_ONEBIT sets the number of rounds,
// ORCHESTRATOR_ONEBIT_SEED which.
func TestOneBitAnywhere(t *testing.T) {
	e2e.ManyStarts(t)
	t.Parallel()
	rounds, seed := 2, uint64(1)
	if n, err := strconv.Atoi(os.Getenv("ORCHESTRATOR_ONEBIT")); err == nil {
		rounds = n
	}
	if n, err := strconv.ParseUint(os.Getenv("ORCHESTRATOR_ONEBIT_SEED"), 10, 64); err == nil {
		seed = n
	}
	random := rand.New(rand.NewPCG(seed, seed))
	r := e2e.NewRig(t)
	names := []string{r.Demo("first"), r.Demo("second")}
	r.Turn(names[0], "write a.txt: mango")
	r.Turn(names[1], "write b.txt: pineapple")
	r.Ok("context", "policy", names[0], "safe")
	was := map[string]map[string]string{}
	for _, name := range names {
		was[name] = saidOf(r, name)
	}
	r.Ok("stop")
	state, saved := r.StateDir(), filepath.Join(t.TempDir(), "saved")
	if err := os.CopyFS(saved, os.DirFS(state)); err != nil {
		t.Fatal(err)
	}
	var files []string
	err := filepath.WalkDir(saved, func(path string, e fs.DirEntry, err error) error {
		if info, ierr := e.Info(); err == nil && ierr == nil && info.Mode().IsRegular() && info.Size() > 0 {
			files = append(files, strings.TrimPrefix(path, saved+"/"))
		}
		return err
	})
	if err != nil || len(files) < 5 {
		t.Fatal(files, err)
	}
	for round := range rounds {
		r.Run("stop", "--force")
		if err := os.RemoveAll(state); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(state, os.DirFS(saved)); err != nil {
			t.Fatal(err)
		}
		name := files[random.IntN(len(files))]
		if random.IntN(2) == 0 { // most of what is stored is in here
			name = "state.db"
		}
		b, err := os.ReadFile(filepath.Join(state, name))
		if err != nil {
			t.Fatal(err)
		}
		at, bit := random.IntN(len(b)), random.IntN(8)
		b[at] ^= 1 << bit
		if err := os.WriteFile(filepath.Join(state, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
		afterOneBit(r, was, name, fmt.Sprintf("%s, byte %d, bit %d, round %d", name, at, bit, round))
	}
}

// saidOf returns what the verbs say of a thread's turns and settings, a row for each.
func saidOf(r *e2e.Rig, name string) map[string]string {
	r.T.Helper()
	said := map[string]string{}
	for _, args := range [][]string{
		{"checkpoint", "list", name, "--json"}, {"checkpoint", "show", name, "1"}, {"checkpoint", "diff", name, "1"}, {"context", "policy", name},
	} {
		res := r.Run(args...)
		said[strings.Join(args, " ")] = fmt.Sprint(res.Code, res.Stdout) // notices are no part of it
	}
	return said
}

// afterOneBit uses a state in which one bit of a file is wrong.
func afterOneBit(r *e2e.Rig, was map[string]map[string]string, file, what string) {
	t := r.T
	t.Helper()
	list := r.Run("threads", "--all")
	if list.Code != 0 { // the state itself is in doubt: in words, with a command that is the way out
		t.Logf("%s: refused: %s", what, list.Stderr)
		_, way, _ := strings.Cut(list.Stderr, "`orchestrator ")
		way, _, _ = strings.Cut(way, "`")
		if way == "" {
			t.Errorf("%s: no way out is said: %s", what, list.Stderr)
			return
		}
		if out := r.Run(strings.Fields(way)...); out.Code != 0 {
			t.Errorf("%s: %s: exit %d, %s", what, way, out.Code, out.Stderr)
			return
		}
		list = r.Run("threads", "--all")
	}
	doctor := r.Run("doctor")
	told := list.Stdout + list.Stderr + doctor.Stdout + doctor.Stderr + r.Reports(r.StateDir())
	if list.Code != 0 || strings.Contains(told, "panic") || strings.Contains(told, "goroutine ") {
		t.Fatalf("%s: exit %d: %s", what, list.Code, told)
	}
	hit := 0
	for name, before := range was {
		if !strings.Contains(list.Stdout, name) && !strings.Contains(list.Stderr, name) {
			t.Errorf("%s: %s is not listed: %s%s", what, name, list.Stdout, list.Stderr)
			continue
		}
		changed := ""
		for verb, now := range saidOf(r, name) {
			if now != before[verb] {
				changed += verb + ":\n" + now + "was\n" + before[verb] + "\n"
			}
		}
		if changed != "" {
			hit++
			t.Logf("%s: %s is hit: %s", what, name, changed)
			if !strings.Contains(told, filepath.Base(file)) && !strings.Contains(list.Stderr+doctor.Stdout+doctor.Stderr+r.Reports(r.StateDir()), name) {
				t.Errorf("%s: %s changed and nothing names it: %s\n%s", what, name, changed, told)
			}
		}
		if res := r.Run("resume", name); res.Code != 0 {
			t.Errorf("%s: resume %s: exit %d, %s", what, name, res.Code, res.Stderr)
			continue
		}
		if res := r.Run("send", name, "list files"); res.Code != 0 || !strings.Contains(res.Stdout+res.Stderr, ".txt") {
			t.Errorf("%s: send %s: exit %d, %s%s", what, name, res.Code, res.Stdout, res.Stderr)
		}
	}
	if hit > 1 {
		t.Errorf("%s: %d threads are hit", what, hit)
	}
	for _, args := range [][]string{{"find", "list files"}, {"stage", "list"}, {"gc"}, {"backup", filepath.Join(t.TempDir(), "all")}, {"mcp", "list"}} {
		if res := r.Run(args...); res.Code != 0 {
			t.Errorf("%s: %v: exit %d, %s", what, args, res.Code, res.Stderr)
		}
	}
}
