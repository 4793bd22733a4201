package config

import (
	"cmp"
	"errors"
	"fmt"
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

// checkProfileName returns what is wrong with the name of a profile.
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
	texts := map[string]*string{"agent": &p.Agent, "model": &p.Model, "permission_mode": &p.PermissionMode, "base": &p.Base}
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
			return p, key, fmt.Errorf("unknown key %q; known keys: agent, args, base, mcp, model, permission_mode, worktree", key)
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
