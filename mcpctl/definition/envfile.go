package definition

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"orchestrator/thread/private"
)

// maxEnvFile is the size limit of a file with variables.
const maxEnvFile = 1 << 20

// variables are what a file of them says, and the hash of its content.
type variables struct {
	set map[string]string
	sum string
	err error
}

// readVariables reads a file of variables once: what is hashed is what is used.
func readVariables(path string) *variables {
	content, err := readFile(path, maxEnvFile)
	if err != nil {
		return &variables{err: err}
	}
	sum := sha256.Sum256(content)
	return &variables{set: parseEnvFile(content), sum: hex.EncodeToString(sum[:])}
}

// parseEnvFile reads lines of NAME=value, as in a .env file: comments, "export " and quotes are understood, variables in
// values are not.
func parseEnvFile(content []byte) map[string]string {
	set := make(map[string]string)
	for line := range strings.Lines(string(content)) {
		line = strings.TrimSpace(line)
		line = strings.TrimSpace(strings.TrimPrefix(line, "export "))
		name, value, ok := strings.Cut(line, "=")
		name = strings.TrimSpace(name)
		if !ok || strings.HasPrefix(line, "#") || !validName(name) {
			continue
		}
		set[name] = unquote(strings.TrimSpace(value))
	}
	return set
}

func unquote(value string) string {
	for _, quote := range []string{`"`, `'`} {
		if rest, ok := strings.CutPrefix(value, quote); ok {
			if inner, _, ok := strings.Cut(rest, quote); ok {
				return inner
			}
		}
	}
	if i := strings.Index(value, " #"); i >= 0 {
		return strings.TrimSpace(value[:i])
	}
	return value
}

// readFile reads a regular file that may be reached by links; anything else is refused without blocking.
func readFile(path string, limit int64) ([]byte, error) {
	real, err := resolve(path)
	if err != nil {
		return nil, err
	}
	content, err := private.ReadRegular(real, limit)
	if errors.Is(err, private.ErrTooLarge) {
		return nil, fmt.Errorf("%s: more than %d bytes", path, limit)
	}
	return content, err
}

// resolve returns a path without links.
func resolve(path string) (string, error) {
	if !filepath.IsAbs(path) {
		return "", errors.New("not an absolute path")
	}
	return filepath.EvalSymlinks(path)
}

func validName(name string) bool { return name != "" && !strings.ContainsAny(name, "=\x00") }
