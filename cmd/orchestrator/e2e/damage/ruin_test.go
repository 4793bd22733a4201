package damage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/private"
	"orchestrator/thread/spool"
)

// TestRuin damages a project's files at random, again and again: database, log, mark, list, refs, branches, what makes
// worktrees ones, and the rest of our state. Afterwards everything that was acknowledged is there, or what is lost is
// named; worktrees work, or the way out is named; nothing outside is touched.
func TestRuin(t *testing.T) {
	e2e.ManyStarts(t)
	rounds := e2e.FromEnv(t, "RUIN_ROUNDS", 6)
	if testing.Short() {
		rounds = min(rounds, 2)
	}
	for how, end := range map[string]func(*e2e.Rig){
		"stopped": func(r *e2e.Rig) { r.Ok("stop") },
		"killed":  (*e2e.Rig).KillAll,
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			w := newRuin(t, end, how == "killed")
			w.random = rand.New(rand.NewPCG(uint64(e2e.FromEnv(t, "RUIN_SEED", 1)), uint64(len(how))))
			for round := range (rounds + 1) / 2 {
				w.round(round)
			}
			t.Logf("%d rounds: nothing to say in %d, named in %d, recovered in %d, refused in %d; silently lost in %d; %d of %d lost turns were rebuilt",
				(rounds+1)/2, w.quiet, w.named, w.recovered, w.refused, w.silent, w.rebuilt, w.lost)
		})
	}
}

// ruin is a project with what is known of it, and a copy of all its files.
type ruin struct {
	*e2e.Rig
	random  *rand.Rand
	state   string // its state folder, also where that cannot be found any more
	outside string // a folder that nothing may write to
	copies  string // of home and project as they are, and below "older" as they were before
	known   map[thread.ID]known
	commits map[string]thread.ID // of snapshots

	quiet, named, recovered, refused, silent int
	// lost are the turns whose own record was lost, rebuilt those of them that came back from transcripts.
	lost, rebuilt int
}

// known is what was acknowledged of a thread.
type known struct {
	thread.Status
	turns map[thread.CheckpointID]string // what was said in each
	asked map[thread.CheckpointID]string // of those that end turns: turn, prompt and answer
	head  string                         // its branch's commit
	files map[string]string              // of its worktree
}

// newRuin makes a project with threads, forks with worktrees, one merged, one archived, by the program.
func newRuin(t *testing.T, end func(*e2e.Rig), killed bool) *ruin {
	t.Helper()
	w := &ruin{Rig: e2e.NewRig(t), known: map[thread.ID]known{}, commits: map[string]thread.ID{}}
	base := filepath.Dir(w.Home)
	w.outside, w.copies = filepath.Join(base, "outside"), filepath.Join(base, "copies")
	if err := os.Mkdir(w.outside, 0o700); err != nil {
		t.Fatal(err)
	}
	e2e.Put(t, filepath.Join(w.outside, "precious.txt"), "precious\n")
	e2e.Put(t, filepath.Join(w.Project, ".orchestrator.toml"), "offers = \"off\"\n")
	w.Git("add", ".")
	w.Git("commit", "-qm", "settings")
	w.Ok("trust", "--yes")
	first, second := w.Demo("alpha"), w.Demo("beta")
	w.Turn(first, "write a.txt: one")
	left := e2e.Get[thread.Status](w.Rig, "fork", "left", "-t", first).Name
	w.Turn(left, "write left.txt: one")
	w.Turn(second, "list files")
	w.Git("pack-refs", "--all")
	w.Ok("stop")
	w.keep("older")
	w.Ok("resume", first)
	w.Ok("resume", left)
	w.Turn(first, "write a.txt: two")
	right := e2e.Get[thread.Status](w.Rig, "fork", "right", "-t", first).Name
	w.Turn(right, "write right.txt: one")
	w.Turn(left, "write left.txt: two")
	merged := e2e.Get[thread.Status](w.Rig, "fork", "merged", "-t", first).Name
	w.Turn(merged, "write merged.txt: yes")
	w.Ok("merge", merged)
	e2e.Put(t, filepath.Join(w.Status(left).Dir, "by-hand.txt"), "not committed\n")
	w.Ok("archive", second)
	w.Ok("pin", right)
	if killed {
		w.AwaitState(first, thread.StateDone)
	}
	w.learn()
	end(w.Rig)
	if w.state = w.StateDir(); w.state == "" {
		t.Fatal("no state")
	}
	w.refuse()
	w.keep("now")
	return w
}

// refuse puts an answer that the store refused into the spool.
func (w *ruin) refuse() {
	w.T.Helper()
	for id, k := range w.known {
		if k.Label != "right" {
			continue
		}
		dir, err := private.Make(w.state, "spool")
		if err != nil {
			w.T.Fatal(err)
		}
		s := spool.Open(dir, nil)
		defer func() { _ = s.Close() }() // what it took is synced
		cp := thread.Checkpoint{ID: thread.NewID[thread.CheckpointID](), Thread: id, Parent: k.Head, Turn: k.Turn, Kind: thread.KindSafety,
			Created: time.Now().UTC(), Session: k.Session, Note: "spooled"}
		if _, err := s.Append(cp, thread.Delta{}); err != nil {
			w.T.Fatal(err)
		}
		k.turns[cp.ID] = ""
	}
}

// ask calls the server that runs.
func (w *ruin) ask() (*client.Client, func()) {
	w.T.Helper()
	cl := client.New(w.Found().Socket)
	return cl, cl.Close
}

// learn asks for all that must be there from now on.
func (w *ruin) learn() {
	w.T.Helper()
	cl, done := w.ask()
	defer done()
	for _, s := range e2e.List(w.T, cl) {
		k := known{Status: s, turns: map[thread.CheckpointID]string{}, asked: map[thread.CheckpointID]string{}}
		all, err := api.Timeline.Do(w.T.Context(), cl, api.TimelineRequest{Thread: string(s.ID), Page: thread.Page{Limit: 1 << 20}})
		if err != nil {
			w.T.Fatal(err)
		}
		for _, c := range all {
			if k.turns[c.ID], err = said(w.T.Context(), cl, s.ID, c.ID); err != nil {
				w.T.Fatal(err)
			}
			if c.Snapshot != nil {
				w.commits[c.Snapshot.Commit] = c.Thread
			}
			if c.Kind == thread.KindTurn && c.Thread == s.ID {
				k.asked[c.ID] = asked(c)
			}
		}
		if s.Worktree.Path != "" {
			k.head = strings.TrimSpace(w.Git("-C", s.Dir, "rev-parse", "HEAD"))
			k.files = w.files(s.Worktree.Path)
		}
		w.known[s.ID] = k
	}
	if len(w.known) != 5 || len(w.commits) < 6 {
		w.T.Fatalf("%d threads with %d snapshots", len(w.known), len(w.commits))
	}
}

// asked is what a turn was, comparable.
func asked(c thread.Checkpoint) string { return fmt.Sprintf("%d %q %q", c.Turn, c.Prompt, c.Answer) }

// said is what was said up to a checkpoint, comparable.
func said(ctx context.Context, cl *client.Client, id thread.ID, at thread.CheckpointID) (string, error) {
	entries, err := api.Turn.Do(ctx, cl, api.TurnRequest{Thread: string(id), At: string(at)})
	if err != nil {
		return "", err
	}
	b, err := json.Marshal(entries)
	return string(b), err
}

// files are the contents of a worktree.
func (w *ruin) files(root string) map[string]string {
	w.T.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() == ".git" || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, root)] = string(b)
		return err
	})
	if err != nil {
		w.T.Fatal(err)
	}
	return files
}

// keep copies home and project.
func (w *ruin) keep(name string) {
	w.T.Helper()
	for _, dir := range []string{w.Home, w.Project} {
		to := filepath.Join(w.copies, name, filepath.Base(dir))
		if err := os.MkdirAll(to, 0o700); err != nil {
			w.T.Fatal(err)
		}
		mirror(w.T, dir, to)
	}
}

// back puts home and project back in their places, in the folders that are there: the project stays the same one.
func (w *ruin) back() {
	w.T.Helper()
	for _, dir := range []string{w.Home, w.Project} {
		mirror(w.T, filepath.Join(w.copies, "now", filepath.Base(dir)), dir)
	}
}

// mirror makes one folder hold what another one holds.
func mirror(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(to, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		other, err := os.Lstat(from + strings.TrimPrefix(path, to))
		if err == nil && other.Mode().Type() == d.Type() {
			return nil
		}
		if err := os.RemoveAll(path); err != nil {
			return err
		}
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
	if err == nil {
		err = filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			return same(path, to+strings.TrimPrefix(path, from))
		})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// same makes one file, link or folder like another.
func same(path, copy string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	there, none := os.Lstat(copy)
	switch {
	case info.IsDir():
		if none != nil {
			err = os.Mkdir(copy, 0o700)
		}
		return errors.Join(err, os.Chmod(copy, info.Mode().Perm()))
	case info.Mode()&fs.ModeSymlink != 0:
		if none == nil {
			return nil
		}
		to, err := os.Readlink(path)
		if err != nil {
			return err
		}
		return os.Symlink(to, copy)
	case !info.Mode().IsRegular():
		return nil
	case none == nil && there.Size() == info.Size() && there.ModTime().Equal(info.ModTime()) && !strings.Contains(path, ".db"):
		return nil
	}
	b, err := os.ReadFile(path)
	if err == nil {
		_ = os.Remove(copy)
		err = os.WriteFile(copy, b, info.Mode().Perm())
	}
	return errors.Join(err, os.Chtimes(copy, info.ModTime(), info.ModTime()))
}

// targets are what can be damaged, by kind: each kind is picked as often.
func (w *ruin) targets() (kinds []string, of map[string][]string) {
	w.T.Helper()
	of = map[string][]string{}
	state := w.state
	common := filepath.Join(w.Project, ".git")
	for _, root := range []string{filepath.Dir(state), common} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			kind := ""
			in, _ := filepath.Rel(root, path)
			inState, _ := filepath.Rel(state, path)
			switch top, _, _ := strings.Cut(inState, "/"); {
			case root == common && (strings.HasPrefix(in, "refs/orchestrator/") || in == "packed-refs"):
				kind = "refs"
			case root == common && strings.HasPrefix(in, "refs/heads/orchestrator/"):
				kind = "branches"
			case root == common && strings.HasPrefix(in, "worktrees/"), d.Name() == ".git":
				kind = "worktrees"
			case root == common && in == "orchestrator-id", d.Name() == "project.json":
				kind = "identity"
			case root == common, top == "worktrees", top == "log", top == "setup":
				return nil // the person's
			case strings.HasPrefix(top, "state.db"), top == "snapshots", top == "spool", top == "search.db", top == "demo":
				kind = top
			case d.Name() == "lock" || strings.HasSuffix(top, ".lock"):
				kind = "locks"
			default:
				kind = "others"
			}
			of[kind] = append(of[kind], path)
			return nil
		})
		if err != nil {
			w.T.Fatal(err)
		}
	}
	return slices.Sorted(maps.Keys(of)), of
}

// spoil damages one file and says how.
func (w *ruin) spoil() string {
	w.T.Helper()
	kinds, of := w.targets()
	pick := func() string { list := of[kinds[w.random.IntN(len(kinds))]]; return list[w.random.IntN(len(list))] }
	file := pick()
	b, err := os.ReadFile(file)
	if err != nil {
		w.T.Fatal(err)
	}
	gone := func() error { return os.RemoveAll(file) }
	write := func(b []byte) error { return os.WriteFile(file, b, 0o600) }
	how := ""
	switch n := w.random.IntN(12); {
	case n < 3 && len(b) > 0:
		how = "flip"
		for range 1 + w.random.IntN(3) {
			b[w.random.IntN(len(b))] ^= 1 << w.random.IntN(8)
		}
		err = write(b)
	case n < 4:
		how, err = "cut", os.Truncate(file, w.random.Int64N(int64(len(b))+1))
	case n < 5 && len(b) > 0:
		how = "zero"
		at := w.random.IntN(len(b)) &^ 511
		clear(b[at:min(len(b), at+1024<<w.random.IntN(3))])
		err = write(b)
	case n < 6:
		how, err = "delete", gone()
	case n < 7:
		how, err = "link", errors.Join(gone(), os.Symlink(filepath.Join(w.outside, "precious.txt"), file))
	case n < 8:
		how, err = "folder", errors.Join(gone(), os.Mkdir(file, 0o700), os.WriteFile(filepath.Join(file, "x"), nil, 0o600))
	case n < 9:
		how, err = "huge", os.Truncate(file, 300<<20)
	case n < 10:
		other := pick()
		how = "swap with " + other
		c, rerr := os.ReadFile(other)
		err = errors.Join(rerr, write(c), os.WriteFile(other, b, 0o600))
	case n < 11 && !strings.HasPrefix(file, filepath.Join(w.Project, ".git")) && filepath.Base(file) != ".git": // git itself waits there
		how, err = "pipe", errors.Join(gone(), syscall.Mkfifo(file, 0o600))
	default:
		how = "older"
		base := filepath.Dir(w.Home)
		old := filepath.Join(w.copies, "older", strings.TrimPrefix(file, base))
		if c, none := os.ReadFile(old); none == nil {
			err = write(c)
		} else {
			how, err = "older: none", gone()
		}
	}
	if err != nil {
		w.T.Fatalf("%s %s: %v", how, file, err)
	}
	return strings.ReplaceAll(how+" "+file, filepath.Dir(w.Home)+"/", "")
}

// round puts all back, damages it and looks what is left.
func (w *ruin) round(n int) {
	w.T.Helper()
	w.back()
	var did []string
	for range 1 + w.random.IntN(3) {
		did = append(did, w.spoilOther(did))
	}
	begin := time.Now()
	first := w.look(true)
	second := w.look(false, first.told...)
	w.KillAll()
	bad := slices.Concat(first.bad, w.touched())
	for _, b := range second.bad {
		bad = append(bad, "at the second start: "+b)
	}
	const damaged = "stored data is damaged" // more of it is found with each thread that needs it
	found := strings.Contains(strings.Join(first.told, "\n"), damaged)
	for _, line := range second.told {
		if !slices.Contains(first.told, line) && !strings.Contains(line, "server ended") && !(found && strings.Contains(line, damaged)) {
			bad = append(bad, "the second start alone tells: "+line)
		}
	}
	if first.refused && len(first.told) == 0 {
		bad = append(bad, "refused without a word")
	}
	switch told := strings.Join(first.told, "\n"); {
	case len(bad) > 0:
		w.silent++
		log, _ := os.ReadFile(filepath.Join(w.state, "log", "server.log"))
		w.T.Errorf("round %d: %s\n%s\ntold: %s\nlog: %s", n, strings.Join(did, "; "), strings.Join(bad, "\n"), told, e2e.Tail(log, 3000))
	case first.refused:
		w.refused++
		w.T.Logf("round %d: %s: refused: %s", n, strings.Join(did, "; "), told)
	case len(first.lost) > 0:
		w.named++
		w.T.Logf("round %d: %s: lost %q, told: %s", n, strings.Join(did, "; "), first.lost, told)
	case len(first.told) > 0:
		w.recovered++
		w.T.Logf("round %d: %s: recovered: %s", n, strings.Join(did, "; "), told)
	default:
		w.quiet++
	}
	if took := time.Since(begin); took > 40*time.Second {
		w.T.Errorf("round %d: %s: took %v", n, strings.Join(did, "; "), took)
	}
}

// spoilOther is spoil of what can still be read.
func (w *ruin) spoilOther(did []string) string {
	if len(did) > 0 {
		for _, d := range did {
			if !strings.HasPrefix(d, "flip") && !strings.HasPrefix(d, "zero") && !strings.HasPrefix(d, "cut") {
				return "no more"
			}
		}
	}
	return w.spoil()
}

// seen is what one start of the program showed.
type seen struct {
	refused bool
	told    []string // what is said of damage, to people
	lost    []string // what is not there any more, and named
	bad     []string // what must not be
}

// wayOut is what a refusal names: something that a person can do.
var wayOut = regexp.MustCompile("(?i)`|move |delete |chmod |git worktree|can be forked|fork |use the |resume|damaged-|set right")

// look starts the program on what lies there, and ends it. With work, it goes on with what is there.
func (w *ruin) look(work bool, before ...string) seen {
	w.T.Helper()
	var s seen
	ctx, cancel := context.WithTimeout(w.T.Context(), 60*time.Second)
	defer cancel()
	res := w.calls(ctx, "threads")
	tell := func(texts ...string) {
		for _, text := range texts {
			for line := range strings.Lines(text) {
				if line = strings.TrimSpace(line); line != "" && !slices.Contains(s.told, line) {
					s.told = append(s.told, line)
				}
			}
		}
	}
	tell(res.Stderr)
	if ctx.Err() != nil {
		s.bad = append(s.bad, "`threads` hangs")
		w.KillAll()
		return s
	}
	doctor := w.calls(ctx, "doctor", "--json")
	var findings []e2e.Finding
	if err := json.Unmarshal([]byte(doctor.Stdout), &findings); err != nil {
		s.bad = append(s.bad, fmt.Sprintf("doctor: exit %d: %v: %s", doctor.Code, err, doctor.Stderr))
	}
	for _, f := range findings {
		if !f.OK && !slices.Contains([]string{"claude", "codex", "gemini", "opencode"}, f.About) {
			tell(f.Found)
		}
	}
	log, _ := os.ReadFile(filepath.Join(w.state, "log", "server.log"))
	for _, text := range []string{res.Stderr, res.Stdout, doctor.Stderr, string(log)} {
		if strings.Contains(text, "panic") || strings.Contains(text, "goroutine ") || strings.Contains(text, "SIGSEGV") {
			s.bad = append(s.bad, "a panic: "+text)
		}
	}
	if res.Code != 0 {
		s.refused = true
		if !wayOut.MatchString(res.Stderr) {
			s.bad = append(s.bad, fmt.Sprintf("threads: exit %d without a way out: %s", res.Code, res.Stderr))
		}
		w.KillAll()
		return s
	}
	reports, _ := filepath.Glob(filepath.Join(w.state, "damaged-*", "report.txt"))
	for _, file := range reports {
		b, _ := os.ReadFile(file)
		tell(string(b))
	}
	for _, finding := range w.walk(ctx, &s, work) {
		told := strings.Join(append(before, s.told...), "\n")
		if k := w.known[finding.of]; strings.Contains(told, k.Name) || strings.Contains(told, string(k.ID)) || finding.said || namesFile(told, finding.what) {
			s.lost = append(s.lost, finding.what)
		} else if strings.Contains(told, "damaged") || strings.Contains(told, "packed-refs") {
			s.lost = append(s.lost, "VAGUE "+finding.what)
		} else {
			s.bad = append(s.bad, finding.what)
		}
	}
	if res := w.calls(ctx, "stop", "--force"); res.Code != 0 {
		s.bad = append(s.bad, "stop: "+res.Stderr)
	}
	w.KillAll()
	return s
}

// adminFile is one that git itself keeps of a worktree.
var adminFile = regexp.MustCompile(`worktrees/[^/\s]+/\w+`)

// namesFile reports whether what was told names the file for which git refuses to work, in all worktrees.
func namesFile(told, what string) bool {
	file := adminFile.FindString(what)
	return strings.Contains(what, "git worktree list") && file != "" && strings.Contains(told, file)
}

// calls is run with an end.
func (w *ruin) calls(ctx context.Context, args ...string) e2e.Result {
	w.T.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, w.Program, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = w.Project, w.Env, &stdout, &stderr, time.Second
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		w.T.Error(err)
		return e2e.Result{Code: -1, Stderr: err.Error()}
	}
	return e2e.Result{Stdout: stdout.String(), Stderr: stderr.String(), Code: cmd.ProcessState.ExitCode()}
}

// missing is something that was acknowledged and is not there.
type missing struct {
	of   thread.ID
	what string
	said bool // the error itself names it and the way out
}

// walk looks for all that was acknowledged, and works with it.
func (w *ruin) walk(ctx context.Context, s *seen, work bool) (gone []missing) {
	w.T.Helper()
	cl, done := w.ask()
	defer done()
	all, err := e2e.All(ctx, cl)
	if err != nil {
		s.bad = append(s.bad, "list: "+err.Error())
		return nil
	}
	byID := map[thread.ID]thread.Status{}
	for _, one := range all {
		byID[one.ID] = one
	}
	lose := func(k known, format string, args ...any) {
		gone = append(gone, missing{of: k.ID, what: k.Name + ": " + fmt.Sprintf(format, args...)})
	}
	fail := func(k known, what string, err error) {
		gone = append(gone, missing{of: k.ID, what: fmt.Sprintf("%s: %s: %v", k.Name, what, err), said: wayOut.MatchString(err.Error())})
	}
	for id, k := range w.known {
		one, ok := byID[id]
		if !ok {
			lose(k, "the thread is gone")
			continue
		}
		if one.Name != k.Name || one.Parent != k.Parent || one.Pinned != k.Pinned || one.Archived.IsZero() != k.Archived.IsZero() ||
			work && one.Session != k.Session || one.Outcome.Kind != k.Outcome.Kind || one.Worktree.Path != k.Worktree.Path {
			lose(k, "it is %+v", one.Thread)
		}
		w.turns(ctx, cl, k, work, lose, fail)
	}
	w.kept(lose)
	if !work {
		return gone
	}
	for _, k := range w.known {
		if _, ok := byID[k.ID]; ok && k.Archived.IsZero() {
			w.works(ctx, cl, k, lose, fail)
		}
	}
	hits, err := api.Find.Do(ctx, cl, api.FindRequest{Query: "merged.txt", Limit: 10})
	for end := time.Now().Add(3 * time.Second); len(hits) == 0 && time.Now().Before(end) && len(gone) == 0; time.Sleep(20 * time.Millisecond) {
		hits, err = api.Find.Do(ctx, cl, api.FindRequest{Query: "merged.txt", Limit: 10})
	}
	if len(gone) == 0 && len(hits) == 0 {
		gone = append(gone, missing{what: fmt.Sprintf("nothing is found: %v", err)})
	}
	return gone
}

// turns looks for what was said.
func (w *ruin) turns(ctx context.Context, cl *client.Client, k known, work bool, lose func(known, string, ...any), fail func(known, string, error)) {
	timeline, err := api.Timeline.Do(ctx, cl, api.TimelineRequest{Thread: string(k.ID), Page: thread.Page{Limit: 1 << 20}})
	if err != nil {
		fail(k, "timeline", err)
		return
	}
	there, rebuilt := map[thread.CheckpointID]bool{}, map[string]bool{}
	for _, c := range timeline {
		there[c.ID] = true
		if c.Kind == thread.KindTurn && c.Note == thread.NoteRebuilt {
			rebuilt[asked(c)] = true
		}
	}
	for c, text := range k.asked {
		if !there[c] && work {
			w.lost++
			if rebuilt[text] {
				w.rebuilt++
			}
		}
	}
	for c, text := range k.turns {
		if !there[c] {
			lose(k, "the checkpoint %s is gone", c)
			continue
		}
		if now, err := said(ctx, cl, k.ID, c); err != nil {
			fail(k, "what was said", err)
		} else if text != "" && now != text {
			lose(k, "%s said %s, not %s", c, now, text)
		}
	}
}

// kept looks whether refs of ours keep every snapshot, whole.
func (w *ruin) kept(lose func(known, string, ...any)) {
	w.T.Helper()
	cmd := exec.Command("git", "rev-list", "--objects", "--glob=refs/orchestrator/*")
	cmd.Dir, cmd.Env = w.Project, w.Env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		for _, id := range slices.Sorted(maps.Keys(w.known)) {
			lose(w.known[id], "git rev-list: %v %s", err, stderr.String())
		}
		return
	}
	for commit, id := range w.commits {
		if !bytes.Contains(out, []byte(commit)) {
			lose(w.known[id], "no ref keeps the snapshot %s", commit)
		}
	}
}

// works goes on with a thread and its worktree.
func (w *ruin) works(ctx context.Context, cl *client.Client, k known, lose func(known, string, ...any), fail func(known, string, error)) {
	w.T.Helper()
	if _, err := api.Resume.Do(ctx, cl, api.ResumeRequest{Thread: string(k.ID), Cols: 80, Rows: 24}); err != nil {
		fail(k, "resume", err)
		return
	}
	if k.Worktree.Path != "" {
		cmd := exec.CommandContext(ctx, "git", "-C", k.Worktree.Path, "rev-parse", "HEAD")
		cmd.Env = w.Env
		if out, err := cmd.CombinedOutput(); err != nil {
			lose(k, "git rev-parse HEAD: %s", out)
		} else if at := strings.TrimSpace(string(out)); at != k.head {
			lose(k, "its branch is at %s, was at %s", at, k.head)
		}
		cmd = exec.CommandContext(ctx, "git", "-C", k.Worktree.Path, "status", "--porcelain", "-b")
		cmd.Env = w.Env
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), k.Worktree.Branch) {
			lose(k, "git status: %v %s", err, out)
		}
		for name, content := range w.files(k.Worktree.Path) {
			if was, ok := k.files[name]; ok && was != content {
				lose(k, "%s is %q, was %q", name, content, was)
			}
		}
		for name := range k.files {
			if _, err := os.Stat(k.Worktree.Path + name); err != nil {
				lose(k, "%v", err)
			}
		}
	}
	if k.Worktree.Path != "" {
		cmd := exec.CommandContext(ctx, "git", "-C", w.Project, "worktree", "list", "--porcelain")
		cmd.Env = w.Env
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "worktree "+k.Worktree.Path+"\n") {
			lose(k, "git worktree list: %v %s", err, out)
		}
	}
	if k.Label != "left" {
		return
	}
	before, err := api.Timeline.Do(ctx, cl, api.TimelineRequest{Thread: string(k.ID), Page: thread.Page{Limit: 1}})
	if err != nil {
		fail(k, "timeline", err)
		return
	}
	if res := w.calls(ctx, "send", k.Name, "write new.txt: after", "--timeout", "20s"); res.Code != 0 {
		fail(k, "send", errors.New(res.Stderr))
		return
	}
	after, err := api.Timeline.Do(ctx, cl, api.TimelineRequest{Thread: string(k.ID), Page: thread.Page{Limit: 1}})
	if err != nil || len(after) == 0 || after[0].Snapshot == nil || len(before) > 0 && before[0].ID == after[0].ID {
		fail(k, "a turn without a snapshot", errors.Join(err, fmt.Errorf("%+v", after)))
	}
	if _, err := api.Merge.Do(ctx, cl, thread.MergeRequest{Thread: string(k.ID), DryRun: true}); err != nil {
		fail(k, "merge --dry-run", err)
	}
}

// touched looks for changes where nothing may change.
func (w *ruin) touched() (bad []string) {
	w.T.Helper()
	entries, err := os.ReadDir(w.outside)
	b, rerr := os.ReadFile(filepath.Join(w.outside, "precious.txt"))
	if err != nil || rerr != nil || len(entries) != 1 || string(b) != "precious\n" {
		bad = append(bad, fmt.Sprintf("outside: %v %v %v %q", err, rerr, entries, b))
	}
	now, was := w.files(w.Project), w.files(filepath.Join(w.copies, "now", "project"))
	for name, content := range now {
		if !strings.HasPrefix(name, "/.git/") && was[name] != content {
			bad = append(bad, fmt.Sprintf("%s in the project is %q, was %q", name, content, was[name]))
		}
	}
	for name := range was {
		if _, ok := now[name]; !ok && !strings.HasPrefix(name, "/.git/") {
			bad = append(bad, name+" in the project is gone")
		}
	}
	return bad
}
