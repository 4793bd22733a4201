package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"orchestrator/thread"
)

// mostProfileName is the longest name of a profile, in characters.
const mostProfileName = 40

const profilesTable = "profiles"

// Profile returns the profile of a name.
func (c Config) Profile(name string) (thread.Profile, error) {
	var known []string
	for _, p := range c.Profiles {
		if p.Name == name {
			return p, nil
		}
		known = append(known, p.Name)
	}
	has := "none is configured"
	if len(known) > 0 {
		has = "there are " + strings.Join(known, ", ")
	}
	return thread.Profile{}, thread.Hint(fmt.Errorf("profile %q: %s: %w", name, has, thread.ErrNotFound),
		"see `orchestrator help settings`")
}

// setProfiles takes over the table of profiles, in the order of the file.
func setProfiles(c *Config, v any, at func(path ...string) string) error {
	all, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("%s: %q must be a table, such as [profiles.review] with agent = \"claude\"", at(profilesTable), profilesTable)
	}
	var errs []error
	for name, fields := range all {
		p, key, err := profile(name, fields)
		if err != nil {
			path := []string{profilesTable, name}
			if key != "" {
				path = append(path, key)
			}
			errs = append(errs, fmt.Errorf("%s: %s.%q: %w", at(path...), profilesTable, name, err))
			continue
		}
		c.Profiles = append(c.Profiles, p)
	}
	slices.SortFunc(errs, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
	slices.SortFunc(c.Profiles, func(a, b thread.Profile) int {
		return cmp.Or(slices.Compare(lineOf(at(profilesTable, a.Name)), lineOf(at(profilesTable, b.Name))), cmp.Compare(a.Name, b.Name))
	})
	return errors.Join(errs...)
}

// lineOf returns the line and the column of a place: "config.toml:3:1".
func lineOf(at string) []int {
	var line, column int
	if i := strings.LastIndexByte(at, ':'); i > 0 {
		j := strings.LastIndexByte(at[:i], ':')
		_, _ = fmt.Sscanf(at[j+1:], "%d:%d", &line, &column) // 0 where it is not there
	}
	return []int{line, column}
}

// checkProfileName says what is wrong with the name of a profile.
func checkProfileName(name string) error {
	bad := strings.TrimSpace(name) != name || !utf8.ValidString(name) || utf8.RuneCountInString(name) > mostProfileName
	if name == "" || bad || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return fmt.Errorf("must be a name of 1 to %d characters", mostProfileName)
	}
	return nil
}

// profile reads a profile. An error is about a key, or about the whole profile.
func profile(name string, value any) (p thread.Profile, key string, err error) {
	p.Name = name
	fields, ok := value.(map[string]any)
	if !ok {
		return p, "", errors.New(`must be a table, such as { agent = "claude" }`)
	}
	if err := checkProfileName(name); err != nil {
		return p, "", err
	}
	texts := map[string]*string{"agent": &p.Agent, "model": &p.Model, "permission_mode": &p.PermissionMode}
	lists := map[string]*[]string{"mcp": &p.MCP, "args": &p.Args}
	for key, v := range fields {
		switch {
		case texts[key] != nil:
			if *texts[key], ok = v.(string); !ok {
				return p, key, fmt.Errorf("%q is %v, but must be a text in quotes", key, v)
			}
		case lists[key] != nil:
			if *lists[key], ok = textsOf(v); !ok {
				return p, key, fmt.Errorf("%q is %v, but must be a list such as [\"a\", \"b\"]", key, v)
			}
		case key == "worktree":
			on, ok := v.(bool)
			if !ok {
				return p, key, fmt.Errorf("%q is %v, but must be true or false", key, v)
			}
			p.Apart = thread.ApartNo
			if on {
				p.Apart = thread.ApartYes
			}
		default:
			return p, key, fmt.Errorf("unknown key %q; known keys: agent, args, mcp, model, permission_mode, worktree", key)
		}
	}
	if p.Agent == "" {
		return p, "", errors.New("names no agent: agent = \"claude\"")
	}
	return p, "", nil
}

// textsOf reads a list of texts.
func textsOf(v any) ([]string, bool) {
	list, ok := v.([]any)
	var out []string
	for _, e := range list {
		s, text := e.(string)
		ok = ok && text && !strings.ContainsRune(s, 0)
		out = append(out, s)
	}
	return out, ok
}

// AddProfile adds a profile at the end of the person's file and keeps everything else in it. The file is still valid
// then: otherwise nothing is written.
func AddProfile(home string, p thread.Profile) error {
	file := PersonFile(home)
	if err := checkProfileName(p.Name); err != nil {
		return fmt.Errorf("profile %q %w: %w", p.Name, err, thread.ErrInvalid)
	}
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
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("remember the profile: %w", err)
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600) // a link to where the person keeps it stays one
	if err != nil {
		return fmt.Errorf("remember the profile: %w", err)
	}
	_, err = f.WriteString(add)
	if err != nil {
		_ = f.Truncate(int64(len(old))) // as it was, not half a table
	}
	return errors.Join(err, f.Sync(), f.Close())
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
