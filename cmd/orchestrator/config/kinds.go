package config

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// setting is a setting: how it is written, its default, what it does and how it is taken over.
type setting struct {
	// key is its name in a file, "limits.depth" in the table limits. def is its default as a file would say it, "" for none.
	key, def string
	// about is what it means, and none what help shows in place of a default that is not there.
	about, none string
	// project is set if a project may set it: only settings that run, connect and spend nothing.
	project bool
	// set takes over a value of a file or a variable. Its error is what the value must be, as in "one of on, off".
	set func(c *Config, v any) error
	// table takes over a whole table. at returns where a key of it is set.
	table func(c *Config, v any, at func(path ...string) string) error
}

// secret is the error of a value that no message may show.
type secret struct{ error }

// take takes over a value that is set at a place.
func (s setting) take(c *Config, v any, at string) error {
	err := s.set(c, v)
	switch {
	case err == nil:
		return nil
	case errors.As(err, new(secret)):
		return fmt.Errorf("%s: %q must be %w", at, s.key, err)
	}
	shown := fmt.Sprint(v)
	if text, ok := v.(string); ok {
		shown = strconv.Quote(text)
	}
	return fmt.Errorf("%s: %q is %s, but must be %w", at, s.key, shown, err)
}

// ofProjects returns a setting that a project may set.
func (s setting) ofProjects() setting {
	s.project = true
	return s
}

// or returns a setting without a default, with what help says in its place.
func (s setting) or(none string) setting {
	s.none = none
	return s
}

// words is a text that is taken over by a function.
func words(key, def, about string, set func(*Config, string) error) setting {
	return setting{key: key, def: def, about: about, set: func(c *Config, v any) error { return set(c, fmt.Sprint(v)) }}
}

func text(key, about string, field func(*Config) *string) setting {
	return words(key, "", about, func(c *Config, v string) error {
		*field(c) = v
		return nil
	})
}

// choice is one of some words.
func choice(key, def, about string, field func(*Config) *string, allowed ...string) setting {
	return words(key, def, about, func(c *Config, v string) error {
		if !slices.Contains(allowed, v) {
			return errors.New("one of " + strings.Join(allowed, ", "))
		}
		*field(c) = v
		return nil
	})
}

// either is a word for true or one for false.
func either(key, def, about string, field func(*Config) *bool, yes, no string) setting {
	return words(key, def, about, func(c *Config, v string) error {
		if v != yes && v != no {
			return fmt.Errorf("one of %s, %s", no, yes)
		}
		*field(c) = v == yes
		return nil
	})
}

func whole(v string, most int64) (int64, error) {
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil || n < 0 || n > most {
		return 0, errors.New("a whole number, 0 or more")
	}
	return n, nil
}

func count(key, def, about string, field func(*Config) *int) setting {
	return words(key, def, about, func(c *Config, v string) error {
		n, err := whole(v, math.MaxInt32)
		if err == nil {
			*field(c) = int(n)
		}
		return err
	})
}

// tokens is a number of tokens.
func tokens(key, def, about string, field func(*Config) *int64) setting {
	return words(key, def, about, func(c *Config, v string) error {
		n, err := whole(v, 1e15)
		if err == nil {
			*field(c) = n
		}
		return err
	})
}

// megabytes is a size in megabytes, kept in bytes.
func megabytes(key, def, about string, field func(*Config) *int64) setting {
	return words(key, def, about, func(c *Config, v string) error {
		n, err := whole(v, math.MaxInt64>>20)
		if err == nil {
			*field(c) = n << 20
		}
		return err
	})
}

func dollars(key, def, about string, field func(*Config) *float64) setting {
	return words(key, def, about, func(c *Config, v string) error {
		usd, err := strconv.ParseFloat(v, 64)
		if err != nil || usd < 0 || math.IsInf(usd, 0) || math.IsNaN(usd) {
			return errors.New("an amount in US dollars, such as 5 or 2.50")
		}
		*field(c) = usd
		return nil
	})
}

// span is a time that passes check, which says what it must be.
func span(key, def, about string, field func(*Config) *time.Duration, check func(time.Duration) error) setting {
	return words(key, def, about, func(c *Config, v string) error {
		d, err := time.ParseDuration(v)
		if err != nil {
			return errors.New("a duration, such as 30m or 2h")
		}
		if err := check(d); err != nil {
			return err
		}
		*field(c) = d
		return nil
	})
}
