package said

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/ground/process"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/private"
	"orchestrator/ui/host"

	tea "charm.land/bubbletea/v2"
)

const (
	// maxTurns and maxTranscript limit a transcript: what is older is left out, and said to be.
	maxTurns      = 500
	maxTranscript = 8 << 20
	// staleAfter is how old a copy is that a screen left behind which ended without removing it.
	staleAfter = 24 * time.Hour
)

// transcript opens a copy of a thread's conversation, which is removed afterwards.
func (f *Feature) transcript(s *thread.Status) tea.Cmd {
	id, name := s.ID, f.Name(s.ID)
	return host.Call(f.Host, host.Slow,
		func(ctx context.Context) (string, error) {
			text, err := f.conversation(ctx, id, name)
			if err != nil {
				return "", err
			}
			return write(f.cfg.Folder, string(id), f.Clock(), text)
		},
		func(path string, err error) tea.Cmd {
			if err != nil {
				return f.Fail("open the conversation of "+name, err)
			}
			return f.cfg.Open(path)
		})
}

// conversation returns what was said in a thread, as Markdown.
func (f *Feature) conversation(ctx context.Context, id thread.ID, name string) (string, error) {
	turns, err := api.Timeline.Do(ctx, f.Server,
		api.TimelineRequest{Thread: string(id), Page: thread.Page{Turns: true, Limit: maxTurns}})
	if err != nil {
		return "", err
	}
	var parts []string
	size, left := 0, len(turns) == maxTurns
	for _, cp := range turns {
		entries, err := api.Turn.Do(ctx, f.Server, api.TurnRequest{Thread: string(id), At: string(cp.ID)})
		if err != nil {
			return "", err
		}
		part := Markdown(cp, entries)
		if size += len(part); size > maxTranscript {
			left = true
			break
		}
		parts = append(parts, part)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\nA copy: what you change here is not kept.\n", plaintext.Line(name))
	if left {
		b.WriteString("\nOlder turns are left out.\n")
	}
	if len(turns) == 0 {
		b.WriteString("\nNothing was said yet.\n")
	}
	for i := len(parts) - 1; i >= 0; i-- {
		b.WriteString(parts[i])
	}
	return unobeyed(b.String()), nil
}

// Markdown returns a turn as Markdown, safe to print.
func Markdown(cp thread.Checkpoint, entries []thread.Entry) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n## Turn %d\n", cp.Turn)
	for _, e := range entries {
		text := strings.TrimSpace(plaintext.Text(e.Text))
		tool := plaintext.Line(e.Tool)
		if tool == "" {
			tool = "tool"
		}
		switch e.Kind {
		case thread.EntryPrompt:
			fmt.Fprintf(&b, "\n> %s\n", strings.ReplaceAll(text, "\n", "\n> "))
		case thread.EntryCall:
			fmt.Fprintf(&b, "\n**%s**\n\n%s\n", tool, fenced(text))
		case thread.EntryResult:
			if e.Error {
				tool += ", failed"
			}
			fmt.Fprintf(&b, "\nOutput of %s:\n\n%s\n", tool, fenced(text))
		case thread.EntryThinking:
			fmt.Fprintf(&b, "\n*Thinking: %s*\n", text)
		default:
			if text != "" {
				fmt.Fprintf(&b, "\n%s\n", text)
			}
		}
	}
	return b.String()
}

// fenced returns a text as a block of code, whatever fences it has itself.
func fenced(text string) string {
	longest, run := 0, 0
	for i := range len(text) {
		if text[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", max(longest+1, 3))
	return fence + "\n" + text + "\n" + fence
}

// Sweep returns a command that removes the copies of screens that ended without removing them.
func (f *Feature) Sweep() tea.Cmd {
	now := f.Clock()
	return func() tea.Msg {
		if folder, err := private.Open(f.cfg.Folder, copies); err == nil { // otherwise there are none
			sweep(folder, now)
			_ = folder.Close()
		}
		return nil
	}
}

// copies is the folder of the copies.
const copies = "reading"

// sweep removes copies that nobody reads any more. What cannot be removed now is removed later.
func sweep(folder *private.Folder, now time.Time) {
	list, _ := folder.List()
	for _, e := range list {
		info, err := e.Info()
		if err == nil && (left(e.Name()) || now.Sub(info.ModTime()) > staleAfter) {
			_ = folder.Remove(e.Name())
		}
	}
}

// screenOf names the process of a screen so that another one that gets its number later is told from it.
func screenOf(pid int) string {
	info, _ := process.Look(pid)
	return fmt.Sprintf("p%d.%d", pid, info.Start)
}

// left reports whether a copy is of a screen that has ended.
func left(name string) bool {
	owner := strings.TrimSuffix(name[strings.LastIndexByte(name, '-')+1:], ".md")
	number, _, _ := strings.Cut(owner, ".")
	number, ok := strings.CutPrefix(number, "p")
	pid, err := strconv.Atoi(number)
	if !ok || err != nil || pid <= 0 {
		return false // it is not known whose it is
	}
	info, runs := process.Look(pid)
	return !runs || info.Ended || screenOf(pid) != owner
}

// write writes a file that only this user can read, and removes old ones.
func write(base, name string, now time.Time, text string) (path string, err error) {
	folder, err := private.Make(base, copies)
	if err != nil {
		return "", err
	}
	defer func() { _ = folder.Close() }()
	sweep(folder, now)
	name = fmt.Sprintf("%s-%s-%s.md", name, now.Format("150405.000000"), screenOf(os.Getpid()))
	if err := folder.Create(name, []byte(text)); err != nil {
		return "", err
	}
	return folder.Path(name), nil
}
