package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"orchestrator/thread"
)

// Commands returns all commands that are run on events.
func (c Config) Commands() []Hook {
	all := slices.Clone(c.Hooks)
	if on := c.Calls(); len(c.NotifyCommand) > 0 && len(on) > 0 {
		all = append([]Hook{{"notify_command", c.NotifyCommand, on}}, all...)
	}
	return all
}

// Calls returns the kinds of events on which the person is called, by a command or on the screen.
func (c Config) Calls() []thread.HappeningKind {
	if c.NotifyOn == nil {
		return []thread.HappeningKind{thread.HappenedAsks, thread.HappenedDone, thread.HappenedStuck}
	}
	return c.NotifyOn
}

func setNotify(c *Config, v string) error {
	var ways []string
	for w := range strings.FieldsFuncSeq(v, func(r rune) bool { return r == ',' || r == ' ' }) {
		if !slices.Contains([]string{"bell", "osc9", "osc777", "osc99", "off"}, w) {
			return errors.New("some of bell, osc9, osc777, osc99, or off")
		}
		ways = append(ways, w)
	}
	if c.Notify = ways; slices.Contains(ways, "off") {
		c.Notify = nil
	}
	return nil
}

func setNotifyCommand(c *Config, v any) (err error) {
	c.NotifyCommand, err = commandLine(v)
	return err
}

func setNotifyOn(c *Config, v string) (err error) {
	c.NotifyOn, err = eventKinds(v)
	return err
}

// setHooks takes over a table of commands by kinds of events.
func setHooks(c *Config, v any, at func(path ...string) string) error {
	const table = "hooks"
	all, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("%s: %q must be a table, such as [hooks] with done = \"command\"", at(table), table)
	}
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(all)) {
		kinds, err := eventKinds(key)
		if err == nil && len(kinds) == 0 {
			err = errors.New("a kind of events")
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %q in %q must be %w", at(table, key), key, table, err))
			continue
		}
		line, err := commandLine(all[key])
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %q must be %w", at(table, key), table+"."+key, err))
			continue
		}
		if len(line) > 0 {
			c.Hooks = append(c.Hooks, Hook{table + "." + key, line, kinds})
		}
	}
	return errors.Join(errs...)
}

// commandLine reads a command: a line for the shell, or a program with its arguments.
func commandLine(v any) ([]string, error) {
	bad := errors.New(`a command for the shell in quotes, or a list such as ["notify-send", "an agent asks"]`)
	switch v := v.(type) {
	case string:
		if v = strings.TrimSpace(v); v == "" {
			return nil, nil
		}
		return []string{"/bin/sh", "-c", v}, nil
	case []any:
		var line []string
		for _, w := range v {
			word, ok := w.(string)
			if !ok || strings.ContainsRune(word, 0) {
				return nil, bad
			}
			line = append(line, word)
		}
		if len(line) > 0 && strings.TrimSpace(line[0]) == "" {
			return nil, bad
		}
		return line, nil
	default:
		return nil, bad
	}
}

// eventKinds reads kinds of events. Trouble with commands is none that can start one.
func eventKinds(v string) ([]thread.HappeningKind, error) {
	kinds := []thread.HappeningKind{}
	for word := range strings.FieldsFuncSeq(v, func(r rune) bool { return r == ',' || r == ' ' }) {
		k := thread.HappeningKind(strings.ToLower(word))
		if k == thread.HappenedCall || !slices.Contains(thread.HappeningKinds(), k) {
			var known []string
			for _, k := range thread.HappeningKinds() {
				if k != thread.HappenedCall {
					known = append(known, string(k))
				}
			}
			return nil, fmt.Errorf("some of %s", strings.Join(known, ", "))
		}
		kinds = append(kinds, k)
	}
	return kinds, nil
}
