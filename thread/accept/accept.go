// Package accept builds the text whose hash a person accepts when a repository brings commands: the commands, and the
// content of every repository file that they name. What those files run in turn is not part of it.
package accept

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Command is a command that a repository brings.
type Command struct {
	Name string // what it is for: "setup", "filter.x.clean"
	Line string // as a shell reads it
}

// Files opens the repository's files as they are when a command runs. A name is relative and has no "..".
type Files interface {
	// Open returns fs.ErrNotExist for a missing file and for one that is not regular.
	Open(name string) (io.ReadCloser, error)
}

// Content returns what is accepted: all commands in order, and the files that they name. root is the folder that an
// absolute path may point into, "" for none.
func Content(commands []Command, files Files, root string) ([]byte, error) {
	var b strings.Builder
	for _, c := range commands {
		fmt.Fprintf(&b, "command %q %q\n", c.Name, c.Line)
	}
	for _, name := range Names(commands, root) {
		sum, err := hash(files, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		fmt.Fprintf(&b, "file %q %s\n", name, sum)
	}
	return []byte(b.String()), nil
}

// Short returns the first digits of a content's hash, as its name.
func Short(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:4])
}

// Names returns the words in commands that could name a file of the repository, sorted.
func Names(commands []Command, root string) []string {
	var names []string
	for _, c := range commands {
		for _, word := range strings.FieldsFunc(c.Line, separates) {
			if root != "" && path.IsAbs(word) {
				rel, err := filepath.Rel(root, path.Clean(word))
				if err != nil {
					continue
				}
				word = rel
			}
			word = path.Clean(word)
			if word != "." && filepath.IsLocal(word) {
				names = append(names, word)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Missing returns the paths in commands, written with a slash, that name no file of the repository: what is there once the
// commands run is not accepted with them.
func Missing(commands []Command, files Files, root string) []string {
	var missing []string
	for _, c := range commands {
		for _, word := range strings.FieldsFunc(c.Line, separates) {
			if !strings.Contains(word, "/") || strings.Contains(word, "://") || strings.HasPrefix(word, "-") {
				continue
			}
			for _, name := range Names([]Command{{Line: word}}, root) {
				f, err := files.Open(name)
				if err == nil {
					f.Close()
				} else if errors.Is(err, fs.ErrNotExist) {
					missing = append(missing, name)
				}
			}
		}
	}
	slices.Sort(missing)
	return slices.Compact(missing)
}

// Elsewhere returns a line in which the words that name these files of the repository, as Names finds them, name them
// below another folder. They are quoted as the place where they stand needs it.
func Elsewhere(line, root, folder string, names []string) string {
	var out strings.Builder
	var quote rune
	for len(line) > 0 {
		end := strings.IndexFunc(line, separates)
		if end < 0 {
			end = len(line)
		}
		word := line[:end]
		named := Names([]Command{{Line: word}}, root)
		if len(named) == 1 && slices.Contains(names, named[0]) {
			word = quoted(filepath.Join(folder, filepath.FromSlash(named[0])), quote)
		}
		out.WriteString(word)
		if end == len(line) {
			break
		}
		switch r := rune(line[end]); { // all that separates is ASCII
		case (r == '\'' || r == '"') && quote == 0:
			quote = r
		case r == quote:
			quote = 0
		}
		out.WriteByte(line[end])
		line = line[end+1:]
	}
	return out.String()
}

// quoted quotes a path for a shell, within quotes that are open already.
func quoted(path string, open rune) string {
	const safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@%+,"
	switch {
	case strings.Trim(path, safe) == "":
		return path
	case open == '\'':
		return strings.ReplaceAll(path, "'", `'\''`)
	case open == '"':
		return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(path)
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// separates reports whether a rune ends a word: what a shell splits at, and what quotes and assigns. A name that
// contains such a character is not found, which the README says.
func separates(r rune) bool { return strings.ContainsRune(" \t\r\n\"'`;&|<>(){}=$", r) }

func hash(files Files, name string) (string, error) {
	f, err := files.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// Folder opens the files below a folder on disk, following links inside it.
type Folder string

// Open opens a regular file without blocking.
func (dir Folder) Open(name string) (io.ReadCloser, error) {
	root, err := os.OpenRoot(string(dir))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, fs.ErrNotExist) // also for a link that leads out of it
	}
	if !info.Mode().IsRegular() {
		return nil, fs.ErrNotExist
	}
	return root.Open(name)
}
