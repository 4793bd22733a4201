package said

import (
	"context"
	"fmt"
	"strings"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/api"
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
	return b.String(), nil
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
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + text + "\n" + fence
}

// write writes a file that only this user can read, and removes old ones.
func write(base, name string, now time.Time, text string) (path string, err error) {
	folder, err := private.Make(base, "reading")
	if err != nil {
		return "", err
	}
	defer func() { _ = folder.Close() }()
	list, _ := folder.List()
	for _, e := range list {
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > staleAfter {
			_ = folder.Remove(e.Name()) // what cannot be removed now is removed later
		}
	}
	name = fmt.Sprintf("%s-%s.md", name, now.Format("150405.000000"))
	if err := folder.Create(name, []byte(text)); err != nil {
		return "", err
	}
	return folder.Path(name), nil
}
