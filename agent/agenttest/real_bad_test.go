package agenttest_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"orchestrator/agent/agenttest/clis"
	"orchestrator/agent/launch"
	"orchestrator/thread"
)

// TestRealBadTranscripts forks the real CLIs from transcripts that are not as they should be: written by a newer
// version, damaged in the middle, cut off, read while a tool ran. What the fork then sends to the model holds the turns
// that were whole, or the adapter refuses: no fork begins empty.
func TestRealBadTranscripts(t *testing.T) {
	for _, cli := range clis.All() {
		t.Run(cli.Name, func(t *testing.T) {
			t.Log("REAL: bad transcripts of the real " + cli.Name)
			badScenario(t, cli)
		})
	}
}

func badScenario(t *testing.T, cli clis.CLI) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir, forkDir := filepath.Join(root, "work"), filepath.Join(root, "fork")
	s := newStage(t, cli, []string{dir, forkDir})
	parent := s.start("000000000000000a", dir, "", false)
	for i := 1; i <= 2; i++ {
		parent.ask(prompt(i))
		parent.responses(i)
	}
	two := parent.files()
	const work = "touch started; while [ ! -e go ]; do sleep 0.1; done; echo out-3"
	inTool := parent.inTool("prompt-3. #bash:"+work+" #say:answer-3.", "started", "go")
	parent.responses(3)
	three := parent.files()
	type bad struct {
		name   string
		files  []thread.TranscriptFile
		answer string
	}
	all := []bad{
		{name: "of a newer version", files: edited(two, newer)},
		{name: "damaged in the middle", files: edited(two, damaged)},
		{name: "cut off", files: cutBetween(two, three)},
		{name: "read while a tool ran", files: inTool},
	}
	if cli.Name == "opencode" { // shows answers long before it has stored them
		all = append(all, bad{name: "without the last answer", files: edited(two, lessOne), answer: "answer-2."})
	}
	for i, bad := range all {
		id, err := s.agent.Rebuild(t.Context(), thread.RebuildSpec{
			Session: parent.native, NewSession: launch.UUID(), FromDirs: []string{dir}, Dir: forkDir,
			StateDir: filepath.Join(root, "state-fork"), Env: s.env, Files: bad.files, Answer: bad.answer,
		})
		if err != nil {
			t.Logf("%s, %s: refused: %v", cli.Name, bad.name, err)
			continue
		}
		child := s.start(thread.ID(fmt.Sprintf("00000000000000b%d", i)), forkDir, id, true)
		q := child.ask(fmt.Sprintf("prompt-fork-%d. #say:fork-done", i))
		child.stop()
		prompts, answers := strings.Join(q.Turn.Prompts(), "\n"), strings.Join(q.Turn.Answers(), "\n")
		for turn := 1; turn <= 2; turn++ {
			if !strings.Contains(prompts, fmt.Sprintf("prompt-%d.", turn)) ||
				!strings.Contains(answers, fmt.Sprintf("answer-%d.", turn)) {
				t.Errorf("%s: turn %d is missing in the fork", bad.name, turn)
			}
		}
		if strings.Contains(answers, "answer-3.") {
			t.Errorf("%s: the fork has an answer that its transcript lacks", bad.name)
		}
		t.Logf("%s, %s: the fork has turns 1 and 2", cli.Name, bad.name)
	}
}

// inTool sends a prompt whose tool waits, and returns the transcript as it is while the tool runs.
func (r *running) inTool(prompt, started, release string) []thread.TranscriptFile {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), limit)
	defer cancel()
	if err := r.sendSoon(ctx, prompt); err != nil {
		r.t.Fatalf("send %q: %v\n%s", prompt, err, r.screen())
	}
	for {
		if _, err := os.Stat(filepath.Join(r.dir, started)); err == nil {
			break
		}
		select {
		case <-ctx.Done():
			r.t.Fatalf("the tool never ran\n%s", r.screen())
		case <-time.After(20 * time.Millisecond):
		}
	}
	r.keep("")
	files := r.files()
	if err := os.WriteFile(filepath.Join(r.dir, release), nil, 0o600); err != nil {
		r.t.Fatal(err)
	}
	return files
}

// edited changes the main file.
func edited(files []thread.TranscriptFile, edit func([]byte) []byte) []thread.TranscriptFile {
	files = slices.Clone(files)
	for i, f := range files {
		files[i].Data = edit(bytes.Clone(f.Data))
	}
	return files
}

// version finds the version that wrote a line.
var version = regexp.MustCompile(`("(?:cli_)?version"\s*:\s*")\d+\.\d+\.\d+(")`)

func newer(data []byte) []byte { return version.ReplaceAll(data, []byte("${1}99.0.0${2}")) }

// damaged puts half a line into the middle, as a crash during a write leaves it.
func damaged(data []byte) []byte {
	lines := bytes.SplitAfter(data, []byte("\n"))
	if len(lines) < 4 {
		return data // only what describes the session itself
	}
	at := len(lines) / 2
	half := append(bytes.Clone(lines[at][:len(lines[at])/2]), '\n')
	return bytes.Join(slices.Insert(lines, at, half), nil)
}

// lessOne drops the last line.
func lessOne(data []byte) []byte {
	lines := bytes.SplitAfter(data, []byte("\n"))
	if len(lines) < 4 {
		return data // only what describes the session itself
	}
	return bytes.Join(lines[:len(lines)-2], nil) // the last is empty
}

// cutBetween cuts later files in the middle of a line after the end of earlier ones.
func cutBetween(early, late []thread.TranscriptFile) []thread.TranscriptFile {
	late = slices.Clone(late)
	for i, f := range late {
		for _, e := range early {
			if e.File != f.File || len(f.Data) <= len(e.Data) || !bytes.HasPrefix(f.Data, e.Data) {
				continue
			}
			at := (len(e.Data) + len(f.Data)) / 2
			if f.Data[at-1] == '\n' {
				at--
			}
			late[i].Data = f.Data[:at]
		}
	}
	return late
}
