package session_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"orchestrator/agent"
	"orchestrator/agent/dialog"
	"orchestrator/agent/session"
	"orchestrator/agent/vterm"
	"orchestrator/thread"
	"orchestrator/thread/ground/await"
	"orchestrator/thread/ground/sample"
)

// asker is a program that asks in one dialog after the other, each about another file, and notes which choice was
// taken of which. It changes its dialog by itself when the file "change" appears.
func asker(mode string) {
	stty := exec.Command("stty", "raw", "-echo")
	stty.Stdin = os.Stdin
	if err := stty.Run(); err != nil {
		panic(err)
	}
	keys := make(chan string)
	go func() {
		b := make([]byte, 64)
		for {
			n, err := os.Stdin.Read(b)
			if err != nil {
				os.Exit(0)
			}
			keys <- string(b[:n])
		}
	}()
	n, at := 1, 0
	draw := func() {
		if mode == "once" && n > 1 {
			fmt.Print("\x1b[H\x1b[2Jworks")
			return
		}
		if mode == "pieces" && at > 0 { // its last line comes late
			fmt.Printf("\x1b[H\x1b[2J%s\r\nrm file-%d\r\nAllow?\r\n❯ 1. Yes\r\n  2. Yes, always\r\n", strings.Repeat("─", 60), n)
			time.Sleep(250 * time.Millisecond)
		}
		input := ""
		if mode == "input" {
			input = "\r\n> "
		}
		var list string
		for i, choice := range []string{"Yes", "Yes, always", "No"} {
			mark := " "
			if i == at && mode != "blind" {
				mark = "❯"
			}
			list += fmt.Sprintf("%s %d. %s\r\n", mark, i+1, choice)
		}
		fmt.Printf("\x1b[H\x1b[2J%s\r\nrm file-%d\r\nAllow?\r\n%sesc cancels%s", strings.Repeat("─", 60), n, list, input)
	}
	next := func(choice string) {
		f, err := os.OpenFile("chosen", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(f, "%d %s\n", n, choice)
		f.Close()
		if at = 0; mode == "same" || mode == "late" { // it works, and asks the same again
			fmt.Print("\x1b[H\x1b[2Jworks")
			time.Sleep(map[string]time.Duration{"same": 200 * time.Millisecond, "late": 800 * time.Millisecond}[mode])
			return
		}
		n++
	}
	draw()
	tick := time.NewTicker(time.Millisecond)
	for {
		select {
		case <-tick.C:
			if os.Remove("change") == nil {
				n++
				draw()
			}
			continue
		case k := <-keys:
			for _, k := range regexp.MustCompile(`\x1b\[[AB]|.|\r`).FindAllString(k, -1) {
				switch {
				case mode == "stuck":
				case mode == "stall" && k == "\x1b[B" && at == 0:
					time.Sleep(3 * time.Second) // longer than a moved keyboard is waited for
					at = 1
				case k == "\x1b[B":
					at = min(at+1, 2)
				case k == "\x1b[A":
					at = max(at-1, 0)
				case k == "\r":
					if mode == "busy" { // it shows a title, and what was chosen later
						for i := range 20 {
							fmt.Printf("\x1b]0;%d\a", i)
							time.Sleep(100 * time.Millisecond)
						}
					}
					next(strconv.Itoa(at))
				case k == "\x1b":
					next("dismissed")
				}
			}
		}
		draw()
	}
}

// asks starts an asker.
func asks(t *testing.T, mode string) (*session.Session, string) {
	t.Helper()
	all := session.New(session.Config{
		Rules: func(string) []agent.Rule {
			return []agent.Rule{{State: thread.StateApproval, Pattern: regexp.MustCompile(`Allow\?`), Detail: "asks"}}
		},
		Input: func(string) func(*vterm.Terminal) (agent.Input, bool) { return inputOf },
		Dialogs: func(string) []dialog.Form {
			return []dialog.Form{{
				Kind: thread.QuestionPermission, Asks: regexp.MustCompile(`^Allow\?`), Ruled: true,
				About: func(lines []string, asks int) string { return lines[asks-1] },
			}}
		},
	})
	dir := t.TempDir()
	s, err := all.Start(context.Background(), thread.SessionSpec{
		Thread: "asks", Agent: "test", Cols: 60, Rows: 20,
		Launch: thread.Launch{
			Path: os.Args[0], Dir: dir,
			Env: []string{"PATH=" + os.Getenv("PATH"), "TERM=xterm", "ASKER=" + mode},
		},
		OnState: func(thread.StateReport) {}, OnExit: func(thread.Exit) {}, OnReady: func() {},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := all.Close(context.Background(), 0); err != nil {
			t.Error(err)
		}
	})
	return s.(*session.Session), dir
}

// question waits until a question about a file is asked.
func question(t *testing.T, s *session.Session, about string) thread.Question {
	t.Helper()
	var q *thread.Question
	await.Until(t, "the question about "+about, func() bool {
		q = s.State().Question
		return q != nil && q.About == about
	})
	return *q
}

func chosen(t *testing.T, dir string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "chosen"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.Join(strings.Split(strings.TrimSpace(string(bytes.TrimSpace(b))), "\n"), ", ")
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	s, dir := asks(t, "")
	for i, choice := range []int{0, 1, 2, thread.Dismiss, 0} {
		q := question(t, s, fmt.Sprintf("rm file-%d", i+1))
		if err := s.Answer(t.Context(), q.ID, choice); err != nil {
			t.Fatalf("answer %d: %v", i+1, err)
		}
		if err := s.Answer(t.Context(), q.ID, 0); !errors.Is(err, thread.ErrRefused) {
			t.Errorf("the same answer again: %v", err)
		}
	}
	question(t, s, "rm file-6")
	if got, want := chosen(t, dir), "1 0, 2 1, 3 2, 4 dismissed, 5 0"; got != want {
		t.Errorf("chosen: %s, want %s", got, want)
	}
}

// TestSameQuestionAgain: a dialog that reads like the one before is another question.
func TestSameQuestionAgain(t *testing.T) {
	t.Parallel()
	s, dir := asks(t, "same")
	before := ""
	for range 3 {
		var q thread.Question
		await.Until(t, "another question", func() bool {
			if now := s.State().Question; now != nil {
				q = *now
			}
			return q.ID != "" && q.ID != before
		})
		if before != "" {
			if err := s.Answer(t.Context(), before, 0); !errors.Is(err, thread.ErrRefused) {
				t.Errorf("the question before: %v", err)
			}
		}
		if err := s.Answer(t.Context(), q.ID, 0); err != nil {
			t.Fatal(err)
		}
		before = q.ID
	}
	if got := chosen(t, dir); got != "1 0, 1 0, 1 0" {
		t.Errorf("chosen: %s", got)
	}
}

// TestAnswerWhileItIsDrawn: an agent that draws its dialog again in pieces, as its keyboard moves, shows the same one.
func TestAnswerWhileItIsDrawn(t *testing.T) {
	t.Parallel()
	s, dir := asks(t, "pieces")
	q := question(t, s, "rm file-1")
	if err := s.Answer(t.Context(), q.ID, 2); err != nil {
		t.Error(err)
	}
	question(t, s, "rm file-2")
	if got := chosen(t, dir); got != "1 2" {
		t.Errorf("chosen: %s", got)
	}
}

func TestAnswerOfAnother(t *testing.T) {
	t.Parallel()
	s, dir := asks(t, "")
	first := question(t, s, "rm file-1")
	// It changes by itself while an answer waits for it to stand still.
	for i := range 8 {
		q := question(t, s, fmt.Sprintf("rm file-%d", i+1))
		if err := os.WriteFile(filepath.Join(dir, "change.new"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		go func() {
			time.Sleep(time.Duration(i) * 15 * time.Millisecond)
			_ = os.Rename(filepath.Join(dir, "change.new"), filepath.Join(dir, "change"))
		}()
		if err := s.Answer(t.Context(), q.ID, 0); !errors.Is(err, thread.ErrRefused) {
			t.Errorf("%d: %v", i, err)
		}
	}
	last := question(t, s, "rm file-9")
	for what, err := range map[string]error{
		"an old question":  s.Answer(t.Context(), first.ID, 0),
		"no question":      s.Answer(t.Context(), "", 0),
		"a choice too far": s.Answer(t.Context(), last.ID, 3),
		"a choice below":   s.Answer(t.Context(), last.ID, -2),
	} {
		if err == nil {
			t.Errorf("%s was answered", what)
		}
	}
	if got := chosen(t, dir); got != "" {
		t.Errorf("chosen: %s", got)
	}
}

func TestAnswerWhereNothingShows(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]error{"blind": thread.ErrUnsupported, "stuck": thread.ErrUnsupported} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s, dir := asks(t, mode)
			q := question(t, s, "rm file-1")
			if err := s.Answer(t.Context(), q.ID, 2); !errors.Is(err, want) {
				t.Errorf("%v, want %v", err, want)
			}
			if got := chosen(t, dir); got != "" {
				t.Errorf("chosen: %s", got)
			}
		})
	}
}

// TestAgentThatStalls: an answer waits until the agent has read the keys of the one before.
func TestAgentThatStalls(t *testing.T) {
	t.Parallel()
	s, dir := asks(t, "stall")
	q := question(t, s, "rm file-1")
	if err := s.Answer(t.Context(), q.ID, 1); !errors.Is(err, thread.ErrUnsupported) {
		t.Errorf("an agent that does not move: %v", err)
	}
	if err := s.Answer(t.Context(), q.ID, 0); err != nil {
		t.Error(err)
	}
	question(t, s, "rm file-2")
	if got := chosen(t, dir); got != "1 0" {
		t.Errorf("chosen: %s", got)
	}
}

// TestPersonIsFirst: the person has answered, and the agent is slow to show it. Nothing is pressed until it has.
func TestPersonIsFirst(t *testing.T) {
	t.Parallel()
	s, dir := asks(t, "busy")
	q := question(t, s, "rm file-1")
	if err := s.Input([]byte("\r")); err != nil {
		t.Fatal(err)
	}
	if decided, err := s.Decide(t.Context(), q.ID, func() bool { return true }); decided || err != nil {
		t.Errorf("something else answers it, too: %v", err)
	}
	if err := s.Answer(t.Context(), q.ID, 0); !errors.Is(err, thread.ErrRefused) {
		t.Errorf("%v, want %v", err, thread.ErrRefused)
	}
	question(t, s, "rm file-2")
	if got := chosen(t, dir); got != "1 0" {
		t.Errorf("chosen: %s", got)
	}
}

// TestKeysForADialogThatIsGone: what the person types while their dialog is answered goes to no other one, whether the
// answer is given or not.
func TestKeysForADialogThatIsGone(t *testing.T) {
	t.Parallel()
	for mode, c := range map[string]struct {
		choice  int
		want    error
		chosen  string
		another string // which is asked then
	}{
		"same":  {0, nil, "1 0", "rm file-1"},
		"late":  {0, nil, "1 0", "rm file-1"},
		"":      {0, nil, "1 0", "rm file-2"},
		"stall": {1, thread.ErrUnsupported, "", "rm file-1"}, // the keyboard is on another choice now
	} {
		t.Run("mode "+mode, func(t *testing.T) {
			t.Parallel()
			s, dir := asks(t, mode)
			q := question(t, s, "rm file-1")
			ended := make(chan error, 1)
			go func() { ended <- s.Answer(t.Context(), q.ID, c.choice) }()
			await.Until(t, "the answer", s.Holding)
			if err := s.Input([]byte("\r")); err != nil {
				t.Fatal(err)
			}
			if err := <-ended; !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
			if mode == "stall" {
				await.Until(t, "the moved keyboard", func() bool { return strings.Contains(strings.Join(s.Screen(), "\n"), "❯ 2.") })
			}
			q = question(t, s, c.another)
			if err := s.Answer(t.Context(), q.ID, 2); err != nil { // all that was typed before has been read then
				t.Error(err)
			}
			n := strings.TrimPrefix(c.another, "rm file-")
			if got, want := chosen(t, dir), strings.TrimPrefix(c.chosen+", "+n+" 2", ", "); got != want {
				t.Errorf("chosen: %s, want %s", got, want)
			}
		})
	}
}

// TestKeysJustAfterADialog: what the person types as their dialog goes is not for the next one; where none follows, it
// is passed on, and what stops the agent is at once.
func TestKeysJustAfterADialog(t *testing.T) {
	t.Parallel()
	for mode, c := range map[string]struct{ keys, chosen string }{
		"":     {"\r", "1 0"},      // the next one is shown at once
		"once": {"\r", "1 0, 2 0"}, // none is, and the program takes every return
	} {
		t.Run("mode "+mode, func(t *testing.T) {
			t.Parallel()
			s, dir := asks(t, mode)
			q := question(t, s, "rm file-1")
			if err := s.Answer(t.Context(), q.ID, 0); err != nil {
				t.Fatal(err)
			}
			time.Sleep(100 * time.Millisecond) // nobody reacts so soon
			if err := s.Input([]byte(c.keys)); err != nil {
				t.Fatal(err)
			}
			await.Until(t, "the keyboard to be the person's", func() bool { return !s.Holding() })
			if c.chosen == "1 0" {
				q = question(t, s, "rm file-2")
				if err := s.Answer(t.Context(), q.ID, 1); err != nil { // all before it has been read then
					t.Error(err)
				}
				c.chosen += ", 2 1"
			}
			await.Until(t, "what was chosen", func() bool { return chosen(t, dir) == c.chosen })
		})
	}
}

// TestDecide: something else than a key answers a dialog, if it is still the one.
func TestDecide(t *testing.T) {
	t.Parallel()
	s, dir := asks(t, "")
	first := question(t, s, "rm file-1")
	change := func() bool { return os.WriteFile(filepath.Join(dir, "change"), nil, 0o600) == nil }
	if decided, err := s.Decide(t.Context(), first.ID, func() bool { return false }); decided || err != nil {
		t.Errorf("nobody can decide: %t, %v", decided, err)
	}
	if decided, err := s.Decide(t.Context(), first.ID, change); !decided || err != nil {
		t.Errorf("%t, %v", decided, err)
	}
	question(t, s, "rm file-2")
	if decided, err := s.Decide(t.Context(), first.ID, change); decided || err != nil {
		t.Errorf("the question before: %t, %v", decided, err)
	}
	if got := chosen(t, dir); got != "" {
		t.Errorf("chosen: %s", got)
	}
}

// TestDecideInVain: nothing was typed, so no error says that it was, nor that a prompt is being typed meanwhile.
func TestDecideInVain(t *testing.T) {
	t.Parallel()
	s, _ := asks(t, "")
	q := question(t, s, "rm file-1")
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	typed := make(chan error, 1)
	decided, err := s.Decide(ctx, q.ID, func() bool {
		go func() { typed <- s.Input(make([]byte, 2<<20)) }() // waits until it has been decided
		return true
	})
	if !decided || err == nil || errors.Is(err, thread.ErrNoReaction) || !strings.Contains(err.Error(), "decided; the dialog is still shown") {
		t.Errorf("%t, %v", decided, err)
	}
	if err := <-typed; !errors.Is(err, thread.ErrLimit) || !strings.Contains(err.Error(), "an answer or a prompt is being given") {
		t.Errorf("typed meanwhile: %v", err)
	}
}

// TestNoDialogAboveAnInput: what an agent prints above its input is no dialog, whatever it looks like.
func TestNoDialogAboveAnInput(t *testing.T) {
	t.Parallel()
	s, _ := asks(t, "input")
	await.Until(t, "its screen", func() bool { return strings.Contains(strings.Join(s.Screen(), "\n"), "3. No") })
	await.Until(t, "its state", func() bool { return s.State().State == thread.StateApproval })
	if q := s.State().Question; q != nil {
		t.Errorf("it asks %+v", q)
	}
}

// TestNothingIsPressedUnlooked: the dialog has changed, and what the agent printed for that was not looked at yet. However
// long it takes, nothing is chosen in the new one.
func TestNothingIsPressedUnlooked(t *testing.T) {
	t.Parallel()
	for what, choice := range map[string]int{"return": 0, "escape": thread.Dismiss} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s, dir := asks(t, "")
			q := question(t, s, "rm file-1")
			release := s.HoldOutput()
			if err := os.WriteFile(filepath.Join(dir, "change"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			await.Until(t, "the new dialog", s.Unread)
			ended := make(chan error, 1)
			go func() { ended <- s.Answer(t.Context(), q.ID, choice) }()
			select { // it would be pressed after 1.2 s
			case err := <-ended:
				t.Errorf("it ended before the screen was looked at: %v", err)
			case <-time.After(2 * time.Second):
				release()
				if err := <-ended; !errors.Is(err, thread.ErrRefused) {
					t.Errorf("%v, want %v", err, thread.ErrRefused)
				}
			}
			question(t, s, "rm file-2")
			if got := chosen(t, dir); got != "" {
				t.Errorf("chosen: %s", got)
			}
		})
	}
}

// TestAnswersRaceChanges: the dialog changes at any moment while an answer is given, or it stays. What was asked is
// chosen, or nothing is; where it stays, the answer arrives.
func TestAnswersRaceChanges(t *testing.T) {
	t.Parallel()
	const sessions = 10
	rounds := 2
	if sample.Whole() {
		rounds = 50
	}
	var mu sync.Mutex
	var delivered, stayed, refused int
	t.Run("sessions", func(t *testing.T) {
		for i := range sessions {
			t.Run(strconv.Itoa(i), func(t *testing.T) {
				t.Parallel()
				s, dir := asks(t, "")
				n := 1
				var want []string
				for range rounds {
					q := question(t, s, fmt.Sprintf("rm file-%d", n))
					stays := rand.IntN(2) == 0
					if !stays {
						when := time.Duration(rand.IntN(1500)) * time.Millisecond
						if err := os.WriteFile(filepath.Join(dir, "change.new"), nil, 0o600); err != nil {
							t.Fatal(err)
						}
						time.AfterFunc(when, func() { _ = os.Rename(filepath.Join(dir, "change.new"), filepath.Join(dir, "change")) })
					}
					err := s.Answer(t.Context(), q.ID, rand.IntN(3))
					if err == nil {
						want = append(want, strconv.Itoa(n))
					} else if !errors.Is(err, thread.ErrRefused) {
						t.Errorf("round %d: %v", n, err)
					}
					mu.Lock()
					switch {
					case stays && err == nil:
						delivered++
						stayed++
					case stays:
						stayed++
					case err != nil:
						refused++
					}
					mu.Unlock()
					if err == nil {
						n++
					}
					if !stays { // the change comes sooner or later
						await.Until(t, "the change", func() bool {
							_, err := os.Stat(filepath.Join(dir, "change.new"))
							_, late := os.Stat(filepath.Join(dir, "change"))
							return errors.Is(err, os.ErrNotExist) && errors.Is(late, os.ErrNotExist)
						})
						n++
					}
				}
				var got []string
				for _, line := range strings.Split(chosen(t, dir), ", ") {
					if line != "" {
						got = append(got, strings.Fields(line)[0])
					}
				}
				if !slices.Equal(got, want) {
					t.Errorf("chosen in the dialogs %v, answered were %v", got, want)
				}
			})
		}
	})
	t.Logf("%d of %d answers arrived where the dialog stayed; %d were refused where it changed", delivered, stayed, refused)
	if delivered*100 < stayed*95 {
		t.Error("too few answers arrive")
	}
}
