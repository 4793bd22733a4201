package config

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"orchestrator/checkpoint/flock"
	"orchestrator/thread"
)

// lockTime is how long another screen is waited for.
const lockTime = 2 * time.Second

// AddProfile adds a profile at the end of the person's file and keeps everything else in it. The file is still valid
// then: otherwise nothing is written.
func AddProfile(home string, p thread.Profile) error {
	file := PersonFile(home)
	if err := checkProfileName(p.Name); err != nil {
		return fmt.Errorf("profile %q %w: %w", p.Name, err, thread.ErrInvalid)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("remember the profile: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), lockTime)
	defer cancel()
	lock, err := flock.LockDir(ctx, filepath.Dir(file)) // another screen may remember one at the same time
	if err != nil {
		return fmt.Errorf("remember the profile: %w", err)
	}
	defer lock.Close()
	old, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remember the profile: %w", err)
	}
	now, err := readPerson(file, old)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(now.Profiles, func(q thread.Profile) bool { return q.Name == p.Name }) {
		return thread.Hint(fmt.Errorf("profile %q: %w", p.Name, thread.ErrNameTaken), "take another name, or change it in "+file)
	}
	add := tomlOf(p)
	if len(old) > 0 {
		add = "\n" + add
	}
	if len(old) > 0 && !bytes.HasSuffix(old, []byte("\n")) {
		add = "\n" + add
	}
	if _, err := readPerson(file, append(bytes.Clone(old), add...)); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600) // a link to where the person keeps it stays one
	if err != nil {
		return fmt.Errorf("remember the profile: %w", err)
	}
	if err := errors.Join(addTo(f, add), f.Close()); err != nil {
		return fmt.Errorf("remember the profile: %w", err)
	}
	return nil
}

// addTo adds a text at the end of a file, or leaves it as it was.
func addTo(f *os.File, text string) error {
	info, err := f.Stat() // its editor may have saved it since it was read
	if err != nil {
		return err
	}
	if _, err := f.WriteString(text); err != nil {
		_ = f.Truncate(info.Size()) // as it was, not half a table
		return err
	}
	return f.Sync()
}

// readPerson reads the person's file with some content.
func readPerson(file string, content []byte) (Config, error) {
	c, err := defaults()
	if err == nil {
		err = c.read(file, content, false)
	}
	if err != nil {
		return Config{}, fmt.Errorf("remember the profile: %w", err)
	}
	return c, nil
}

// tomlOf writes a profile as the file has it.
func tomlOf(p thread.Profile) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[%s.%s]\n", profilesTable, tomlText(p.Name))
	line := func(key, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s = %s\n", key, tomlText(value))
		}
	}
	line("agent", p.Agent)
	line("model", p.Model)
	line("permission_mode", p.PermissionMode)
	line("base", p.Base)
	if p.Apart != thread.ApartAuto {
		fmt.Fprintf(&b, "worktree = %v\n", p.Apart == thread.ApartYes)
	}
	list := func(key string, values []string) {
		if len(values) > 0 {
			quoted := make([]string, len(values))
			for i, v := range values {
				quoted[i] = tomlText(v)
			}
			fmt.Fprintf(&b, "%s = [%s]\n", key, strings.Join(quoted, ", "))
		}
	}
	list("mcp", p.MCP)
	list("args", p.Args)
	return b.String()
}

// tomlText quotes a text.
func tomlText(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, "\\u%04X", r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
