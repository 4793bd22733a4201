package launch

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"orchestrator/thread/ground/atomicfile"
	"orchestrator/thread/pattern"
)

// WriteFile writes a file for one launch below the state folder, mode 0600, and returns its path. It replaces the file
// of the previous launch; a symbolic link in its place is replaced, not followed.
func WriteFile(stateDir, name string, v any) (string, error) {
	if !filepath.IsAbs(stateDir) {
		return "", fmt.Errorf("write launch file: state folder %q is not absolute", stateDir)
	}
	if !filepath.IsLocal(name) {
		return "", fmt.Errorf("write launch file: bad name %q", name)
	}
	raw, ok := v.([]byte)
	if !ok {
		var err error
		if raw, err = json.MarshalIndent(v, "", "  "); err != nil {
			return "", fmt.Errorf("write launch file: %w", err)
		}
	}
	if err := os.MkdirAll(stateDir, 0o700); err != nil {
		return "", fmt.Errorf("write launch file: %w", err)
	}
	path := filepath.Join(stateDir, name)
	if err := atomicfile.Write(path, raw, false); err != nil {
		return "", fmt.Errorf("write launch file: %w", err)
	}
	return path, nil
}

// ReadJSON reads a person's settings file into v; if it is missing, v is unchanged.
func ReadJSON(path string, v any) error {
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, v)
}

// Quote joins words into a shell command line, for agents that run their hooks in a shell.
func Quote(words ...string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	return strings.Join(quoted, " ")
}

// UUID returns a random UUID, version 4.
func UUID() string {
	var b [16]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// SplitVersion splits the API version off a base URL, so that requests through the gateway keep the provider's path:
// "https://host/v1/" becomes "https://host" and "/v1".
func SplitVersion(base string, versions ...string) (root, version string) {
	base = strings.TrimRight(base, "/")
	for _, v := range versions {
		if strings.HasSuffix(base, v) {
			return strings.TrimSuffix(base, v), v
		}
	}
	return base, ""
}

// Smaller reports whether the file at path, following links, has less than size bytes.
func Smaller(path string, size int64) bool {
	info, err := os.Stat(path)
	return err == nil && info.Size() < size
}

// ReadJSONC is ReadJSON for a file that may contain comments and trailing commas.
func ReadJSONC(path string, v any) error {
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(StripComments(raw), v)
}

// StripComments removes comments and trailing commas from JSON; strings are unchanged.
func StripComments(raw []byte) []byte {
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '"':
			end := i + 1
			for end < len(raw) && raw[end] != '"' {
				if raw[end] == '\\' {
					end++
				}
				end++
			}
			end = min(end, len(raw)-1)
			out = append(out, raw[i:end+1]...)
			i = end
		case c == '/' && i+1 < len(raw) && raw[i+1] == '/':
			for i+1 < len(raw) && raw[i+1] != '\n' {
				i++
			}
		case c == '/' && i+1 < len(raw) && raw[i+1] == '*':
			end := strings.Index(string(raw[i+2:]), "*/")
			if end < 0 {
				return out
			}
			i += end + 3
		case c == ']' || c == '}':
			for len(out) > 0 && strings.ContainsRune(" \t\r\n", rune(out[len(out)-1])) {
				out = out[:len(out)-1]
			}
			if len(out) > 0 && out[len(out)-1] == ',' {
				out = out[:len(out)-1]
			}
			out = append(out, c)
		default:
			out = append(out, c)
		}
	}
	return out
}

// IsUUID reports whether a text is a UUID as agents write it.
func IsUUID(s string) bool { return uuid().MatchString(s) }

var uuid = pattern.Lazy(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
