package staging_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"orchestrator/contextmgr/staging"
	"orchestrator/thread"
	"orchestrator/thread/private"
)

// writerVariable names a folder into which the test's program stages data until it is killed.
const writerVariable = "STAGING_WRITER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(writerVariable); dir != "" {
		if err := stageForEver(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// textOf returns the n-th text that the writer stages.
func textOf(n int) string { return strings.Repeat(fmt.Sprintf("{\"entry\":%d}\n", n), 1+n%7*3000) }

// stageForEver prints each token and the number of its text once it is staged.
func stageForEver(dir string) error {
	folder, err := private.Make(dir, "staging")
	if err != nil {
		return err
	}
	s := staging.New(folder, staging.Config{})
	errs := make(chan error)
	for w := range 4 {
		go func() {
			for n := w; ; n += 4 {
				d, err := s.Stage(context.Background(), thread.StageRequest{}, strings.NewReader(textOf(n)))
				if err != nil {
					errs <- err
					return
				}
				fmt.Printf("%s %d\n", d.Token, n)
				if n%8 == 7 {
					if err := s.Unstage(d.Token); err != nil {
						errs <- err
						return
					}
				}
			}
		}()
	}
	return <-errs
}

// TestKilledWriter kills a writer at random moments: data with a token is complete, and the rest is swept.
// KILL_ROUNDS sets how often.
func TestKilledWriter(t *testing.T) {
	dir := t.TempDir()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	leftovers := 0
	for range number(t, "KILL_ROUNDS", 8) {
		cmd := exec.Command(exe)
		cmd.Env = append(os.Environ(), writerVariable+"="+dir)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(out)
		first, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("the writer ended: %v\n%s", err, &errs)
		}
		time.Sleep(time.Duration(rand.IntN(30_000)) * time.Microsecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		rest, err := io.ReadAll(lines)
		if err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		leftovers += open(t, dir).afterKill(first + string(rest))
	}
	if leftovers == 0 {
		t.Log("no kill left anything half done")
	}
}

// afterKill checks the folder of a killed writer against what it printed.
func (s *shelf) afterKill(printed string) (leftovers int) {
	s.Helper()
	swept := s.sweep()
	all, err := s.List(anybody)
	if err != nil {
		s.Fatal(err)
	}
	listed := map[thread.Token]bool{}
	for _, d := range all {
		listed[d.Token] = true
		var n int
		got, err := s.read(d.Token, thread.Selection{})
		if _, scanned := fmt.Sscanf(got, `{"entry":%d}`, &n); err != nil || scanned != nil || got != textOf(n) {
			s.Errorf("%s holds %d bytes, %.20q (%v)", d.Token, len(got), got, err)
		}
	}
	for line := range strings.Lines(printed) {
		var token thread.Token
		var n int
		if _, err := fmt.Sscanf(line, "%s %d\n", &token, &n); err != nil {
			s.Fatalf("the writer printed %q: %v", line, err)
		}
		if n%8 != 7 && !listed[token] { // the others were unstaged, or were about to be
			s.Errorf("%s, staged as %d, is not there", token, n)
		}
	}
	data := 0
	for _, name := range s.files() {
		if !strings.HasSuffix(name, ".meta.json") {
			data++
		}
	}
	if data != len(all) {
		s.Errorf("%d files with data of %d entries: %v", data, len(all), s.files())
	}
	for token := range listed {
		if err := s.Unstage(token); err != nil {
			s.Error(err)
		}
	}
	return swept.Leftovers
}
