package config

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"orchestrator/thread"
	"orchestrator/thread/ground/near"
	"orchestrator/thread/private"
)

// maxProjectFile is the maximum size of a project's configuration file.
const maxProjectFile = 1 << 20

// ProjectFile returns the path of the configuration file in a project.
func ProjectFile(root string) string { return filepath.Join(root, ".orchestrator.toml") }

// PersonFile returns the path of the person's own file, of the folder with their configuration.
func PersonFile(home string) string { return filepath.Join(home, "orchestrator", "config.toml") }

// ReadProjectFile reads the configuration file in a project, which may come from a stranger.
func ReadProjectFile(root string) ([]byte, error) {
	return private.ReadRegular(ProjectFile(root), maxProjectFile)
}

// Load reads the configuration. trusted reports whether a project's file with this content was accepted.
func Load(root string, environ []string, home string, trusted func(file string, content []byte) bool) (Config, error) {
	c, err := defaults()
	if err != nil {
		return Config{}, err
	}
	person := PersonFile(home)
	content, err := os.ReadFile(person)
	if err == nil {
		err = c.read(person, content, false)
	} else if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	if err != nil {
		return Config{}, fmt.Errorf("read the configuration: %w", err)
	}
	file := ProjectFile(root)
	content, err = ReadProjectFile(root)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		c.Warnings = append(c.Warnings, fmt.Sprintf("the project's configuration is ignored: %v", err))
	case !trusted(file, content):
		c.Untrusted = file
	default:
		if err := c.read(file, content, true); err != nil {
			return Config{Warnings: c.Warnings}, err
		}
	}
	if err := c.readVariables(environ); err != nil {
		return Config{}, err
	}
	return c, c.check()
}

// CheckProject validates a project's file before it is accepted.
func CheckProject(file string, content []byte) error {
	c, err := defaults()
	if err != nil {
		return err
	}
	if err := c.read(file, content, true); err != nil {
		return err
	}
	return c.check()
}

func defaults() (Config, error) {
	c := Config{Keys: map[string][]string{}}
	for _, s := range settings() {
		if s.set == nil || s.def == "" {
			continue
		}
		if err := s.set(&c, s.def); err != nil {
			return Config{}, fmt.Errorf("the default of %s: %w", s.key, err)
		}
	}
	return c, nil
}

// check validates what settings are together.
func (c *Config) check() error {
	if c.Summaries == string(thread.ByProgram) && c.SummaryProgram == "" {
		return errors.New("summaries is \"program\", but summary_program names none")
	}
	return c.checkBases()
}

// read takes over the settings of a TOML file. A stranger's file, a project's, may set what runs, connects and spends
// nothing.
func (c *Config) read(file string, content []byte, stranger bool) error {
	var tree map[string]any
	err := toml.Unmarshal(content, &tree)
	var syntax *toml.DecodeError
	if errors.As(err, &syntax) {
		line, column := syntax.Position()
		return fmt.Errorf("%s:%d:%d: %w", file, line, column, err)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	places := placesOf(content)
	at := func(path ...string) string { return file + ":" + places.of(path) }
	known := byKey()
	for _, l := range leaves(nil, tree, known) {
		key := strings.Join(l.path, ".")
		s, ok := known[key]
		switch {
		case !ok:
			return fmt.Errorf("%s: %w", at(l.path...), unknown(key))
		case stranger && !s.project:
			return fmt.Errorf("%s: %q can only be set in your own configuration, not by a project", at(l.path...), key)
		case s.table != nil:
			err = s.table(c, l.value, at)
		default:
			err = s.take(c, l.value, at(l.path...))
		}
		if err != nil {
			return err
		}
	}
	c.Files = append(c.Files, file)
	return nil
}

// leaf is what a file sets: a key with its path and its value.
type leaf struct {
	path  []string
	value any
}

// leaves returns what is set in a tree, in order of the names; a setting that is a table is one leaf.
func leaves(path []string, tree map[string]any, known map[string]setting) []leaf {
	var all []leaf
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		p := append(slices.Clip(path), name)
		inner, table := tree[name].(map[string]any)
		if table && len(inner) > 0 && known[strings.Join(p, ".")].table == nil {
			all = append(all, leaves(p, inner, known)...)
		} else {
			all = append(all, leaf{p, tree[name]})
		}
	}
	return all
}

func unknown(key string) error {
	if why := former()[key]; why != "" {
		return fmt.Errorf("%q is no longer a setting: %s; remove it", key, why)
	}
	if strings.HasPrefix(key, "masking.") {
		return thread.Hint(fmt.Errorf("no setting %q", key), "rules by tool are set in [masking_tools.\"NAME\"]")
	}
	return thread.Hint(fmt.Errorf("no setting %q", key), thread.Meant(near.Names(key, slices.Sorted(maps.Keys(byKey()))),
		"All: `orchestrator help settings`"))
}

// readVariables takes over ORCHESTRATOR_ variables: ORCHESTRATOR_LIMITS_DEPTH is limits.depth. Other ones are ignored.
func (c *Config) readVariables(environ []string) error {
	names := map[string]string{}
	for key := range former() {
		names[variable(key)] = key
	}
	known := byKey()
	for key, s := range known {
		if s.table == nil {
			names[variable(key)] = key
		}
	}
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		key, ours := names[name]
		if !ours {
			continue
		}
		s, ok := known[key]
		if !ok {
			return fmt.Errorf("%s: %w", name, unknown(key))
		}
		if err := s.take(c, value, name); err != nil {
			return err
		}
	}
	return nil
}

func variable(key string) string {
	return "ORCHESTRATOR_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}
