package crashes

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"orchestrator/cmd/orchestrator/client"
	"orchestrator/cmd/orchestrator/e2e"
	"orchestrator/thread"
	"orchestrator/thread/api"
)

// lazyDisk is a file system that forgets what was not synced when it is told to: LazyFS, whose program
// ORCHESTRATOR_LAZYFS names (https://github.com/dsrhaslab/lazyfs).
type lazyDisk struct {
	t    *testing.T
	dir  string // where it is mounted
	fifo string // takes commands
	done string // tells that they are carried out
}

func newLazyDisk(t *testing.T) *lazyDisk {
	t.Helper()
	lazyfs := os.Getenv("ORCHESTRATOR_LAZYFS")
	if lazyfs == "" {
		t.Skipf("SKIPPED: power cuts need LazyFS; ORCHESTRATOR_LAZYFS=/path/to/lazyfs go test -run %s ./cmd/orchestrator/e2e/kills runs it", t.Name())
	}
	base := e2e.NewBase(t)
	d := &lazyDisk{t: t, dir: filepath.Join(base, "disk"), fifo: filepath.Join(base, "commands"), done: filepath.Join(base, "done")}
	root := filepath.Join(base, "root")
	for _, dir := range []string{d.dir, root} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	config := filepath.Join(base, "lazyfs.toml")
	e2e.Put(t, config, fmt.Sprintf("[faults]\nfifo_path=%q\nfifo_path_completed=%q\n[cache]\napply_eviction=false\n"+
		"[cache.simple]\ncustom_size=\"2GB\"\nblocks_per_page=1\n[filesystem]\nlog_all_operations=false\nlogfile=\"\"\n", d.fifo, d.done))
	cmd := exec.Command(lazyfs, d.dir, "--config-path", config, "-o", "modules=subdir", "-o", "subdir="+root, "-f")
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := exec.Command("fusermount3", "-u", "-z", d.dir).Run(); err != nil {
			t.Errorf("unmount: %v", err)
		}
		cmd.Process.Kill()
		cmd.Wait()
		os.RemoveAll(base)
	})
	e2e.Await(t, "LazyFS to be mounted", func() bool {
		mounts, _ := os.ReadFile("/proc/mounts")
		_, err := os.Stat(d.fifo)
		return err == nil && bytes.Contains(mounts, []byte(d.dir+" "))
	})
	return d
}

// tell has LazyFS carry out a command that says when it is done.
func (d *lazyDisk) tell(command string) {
	d.t.Helper()
	done := make(chan error, 1)
	go func() {
		f, err := os.Open(d.done)
		if err == nil {
			defer f.Close()
			_, err = bufio.NewReader(f).ReadString('\n')
		}
		done <- err
	}()
	if err := os.WriteFile(d.fifo, []byte(command+"\n"), 0); err != nil {
		d.t.Fatal(err)
	}
	select {
	case err := <-done:
		if err != nil {
			d.t.Fatalf("%s: %v", command, err)
		}
	case <-time.After(e2e.Patience):
		d.t.Fatalf("%s: no answer", command)
	}
}

// sync makes durable what is on the disk, file by file: what the person had before does not count.
func (d *lazyDisk) sync() {
	d.t.Helper()
	err := filepath.WalkDir(d.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		return errors.Join(f.Sync(), f.Close())
	})
	if err != nil {
		d.t.Fatal(err)
	}
}

// outage is a rig on a lazy disk, with what its server has acknowledged.
type outage struct {
	*e2e.Rig
	disk   *lazyDisk
	random *rand.Rand
	acked  *acked
	forks  []thread.Status // acknowledged
	told   []string        // what was named as damaged
}

func newOutage(t *testing.T, program string) *outage {
	t.Helper()
	d := newLazyDisk(t)
	r := e2e.NewRigIn(t, filepath.Dir(d.dir), d.dir)
	r.Program = program
	d.sync()
	return &outage{Rig: r, disk: d, random: rand.New(rand.NewPCG(1, 2)), acked: &acked{ids: map[thread.ID]map[thread.CheckpointID]bool{}}}
}

// work has threads answer and forks made until some answers are acknowledged, and cuts the power in the middle.
func (o *outage) work(round, threads int) {
	o.T.Helper()
	cl := client.New(o.Found().Socket)
	defer cl.Close()
	begun(o.T, cl, threads)
	ctx, cancel := context.WithCancel(o.T.Context())
	defer cancel()
	events, err := api.Events.Open(ctx, cl, api.None{})
	if err != nil {
		o.T.Fatal(err)
	}
	var under sync.WaitGroup
	under.Go(func() { o.acked.follow(events) })
	before := o.acked.count()
	all := e2e.List(o.T, cl)
	for _, s := range all {
		under.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				if e2e.Send(ctx, cl, string(s.ID), fmt.Sprintf("write file-%d-%d.txt: %d", round, n, n)) != nil {
					return
				}
				time.Sleep(20 * time.Millisecond)
			}
		})
	}
	e2e.Await(o.T, "answers to fork at", func() bool { return o.acked.count() > before+len(all) })
	parent := all[o.random.IntN(len(all))]
	fork, err := api.Fork.Do(ctx, cl, thread.ForkRequest{Thread: string(parent.ID), Label: fmt.Sprint("fork ", round)})
	if err != nil {
		o.T.Fatalf("round %d: fork: %v", round, err)
	}
	o.forks = append(o.forks, fork)
	switch o.random.IntN(3) { // what is under way when the power is cut, beside answers
	case 0:
		under.Go(func() {
			_, _ = api.Fork.Do(ctx, cl, thread.ForkRequest{Thread: string(parent.ID), Label: fmt.Sprint("cut ", round)})
		})
	case 1:
		under.Go(func() {
			_, _ = api.Merge.Do(ctx, cl, thread.MergeRequest{Thread: string(fork.ID), Note: thread.NoteNever})
		})
	}
	time.Sleep(time.Duration(o.random.IntN(300)) * time.Millisecond) // somewhere in the middle
	o.KillAll()
	o.disk.tell("lazyfs::clear-cache")
	cancel()
	under.Wait()
}

// lost starts the server again and reports what is missing of what was acknowledged, and is not named.
func (o *outage) lost() error {
	res := o.Run("threads")
	if res.Code != 0 {
		return fmt.Errorf("threads: exit %d: %s", res.Code, res.Stderr)
	}
	if res.Stderr != "" {
		o.told = append(o.told, res.Stderr)
	}
	cl := client.New(o.Found().Socket)
	defer cl.Close()
	listed, err := e2e.All(o.T.Context(), cl)
	if err != nil {
		return err
	}
	byID := map[thread.ID]thread.Status{}
	for _, s := range listed {
		byID[s.ID] = s
	}
	o.acked.mu.Lock()
	defer o.acked.mu.Unlock()
	for id, cps := range o.acked.ids {
		s, ok := byID[id]
		if !ok {
			return fmt.Errorf("thread %s is gone", id)
		}
		all, err := api.Timeline.Do(o.T.Context(), cl, api.TimelineRequest{Thread: string(id), Page: thread.Page{Limit: 1 << 20}})
		if err != nil {
			return fmt.Errorf("timeline of %s: %w", s.Name, err)
		}
		stored := map[thread.CheckpointID]thread.Checkpoint{}
		for _, c := range all {
			stored[c.ID] = c
		}
		for c := range cps {
			cp, ok := stored[c]
			if !ok {
				return fmt.Errorf("%s lost the checkpoint %s, which was acknowledged", s.Name, c)
			}
			if err := o.whole(cp); err != nil {
				return fmt.Errorf("%s, turn %d: %w", s.Name, cp.Turn, err)
			}
		}
		if _, err := api.Turn.Do(o.T.Context(), cl, api.TurnRequest{Thread: string(id)}); err != nil && len(all) > 0 {
			return fmt.Errorf("the newest turn of %s: %w", s.Name, err)
		}
	}
	return o.forksWork(cl, byID)
}

// whole reports whether every object of a checkpoint's files can be read.
func (o *outage) whole(c thread.Checkpoint) error {
	if c.Snapshot == nil {
		return nil
	}
	cmd := exec.Command("git", "-C", o.Project, "archive", "-o", os.DevNull, c.Snapshot.Commit)
	cmd.Env = o.Env
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("the files of %s: %w: %s", c.Snapshot.Commit, err, out)
	}
	return nil
}

// forksWork resumes the forks and looks whether git works in their worktrees, or the program names them.
func (o *outage) forksWork(cl *client.Client, byID map[thread.ID]thread.Status) error {
	for _, f := range o.forks {
		s, ok := byID[f.ID]
		if !ok {
			return fmt.Errorf("the fork %s is gone", f.Name)
		}
		if _, err := api.Resume.Do(o.T.Context(), cl, api.ResumeRequest{Thread: string(f.ID), Cols: 80, Rows: 24}); err != nil {
			if hint := "git worktree"; !strings.Contains(err.Error(), hint) && !strings.Contains(err.Error(), "fork") {
				return fmt.Errorf("resume the fork %s: %w", s.Name, err)
			}
			o.told = append(o.told, err.Error())
			continue
		}
		cmd := exec.Command("git", "-C", s.Dir, "status", "--porcelain")
		cmd.Env = o.Env
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git in the worktree of %s: %w: %s", s.Name, err, out)
		}
		if f.ID == o.forks[len(o.forks)-1].ID {
			if err := o.newestWorks(cl, s); err != nil {
				return err
			}
		}
		if err := api.StopAgent.Do(o.T.Context(), cl, api.Ref{Thread: string(f.ID)}); err != nil {
			return fmt.Errorf("stop the fork %s: %w", s.Name, err)
		}
	}
	return nil
}

// newestWorks has the newest fork answer, with a snapshot, and previews its merge.
func (o *outage) newestWorks(cl *client.Client, s thread.Status) error {
	if res := o.Run("send", s.Name, "write after.txt: the cut"); res.Code != 0 {
		return fmt.Errorf("a turn of the fork %s: exit %d: %s", s.Name, res.Code, res.Stderr)
	}
	last, err := api.Timeline.Do(o.T.Context(), cl, api.TimelineRequest{Thread: string(s.ID), Page: thread.Page{Limit: 1}})
	if err != nil || len(last) == 0 || last[0].Snapshot == nil {
		return fmt.Errorf("a turn of the fork %s has no snapshot: %+v %w", s.Name, last, err)
	}
	if _, err := api.Merge.Do(o.T.Context(), cl, thread.MergeRequest{Thread: string(s.ID), DryRun: true}); err != nil {
		return fmt.Errorf("merge --dry-run of the fork %s: %w", s.Name, err)
	}
	return nil
}

// TestPowerCut cuts the power while threads answer and forks are made, again and again.
func TestPowerCut(t *testing.T) {
	o := newOutage(t, e2e.Program)
	o.Ok("threads")
	rounds := e2e.FromEnv(t, "POWER_CUTS", 3)
	for round := range rounds {
		o.work(round, 3)
		if err := o.lost(); err != nil {
			t.Fatalf("power cut %d: %v", round, err)
		}
	}
	t.Logf("%d power cuts: %d acknowledged checkpoints and %d forks, none lost; named: %q", rounds, o.acked.count(), len(o.forks), o.told)
}

// TestPowerCutUnsynced does the same to a program that does not sync its commits: it must be seen to lose.
func TestPowerCutUnsynced(t *testing.T) {
	twin := filepath.Join(t.TempDir(), "orchestrator")
	if os.Getenv("ORCHESTRATOR_LAZYFS") != "" {
		if err := e2e.Build(twin, "-tags", "unsynced"); err != nil {
			t.Fatalf("build the twin: %v", err)
		}
	}
	o := newOutage(t, twin)
	o.Ok("threads")
	for round := range 10 {
		o.work(round, 3)
		err := o.lost()
		if err != nil || len(o.told) > 0 {
			t.Logf("power cut %d: %v, named %q", round, err, o.told)
			return
		}
	}
	t.Error("ten power cuts, and nothing was lost: this test finds nothing")
}
