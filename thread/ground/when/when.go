// Package when reads points in time as people write them: 2025-01-15, "2025-01-15 14:30", yesterday, 3d, "3 days ago".
// A date without a zone is one of the person's own, and begins at midnight there.
package when

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Forms says what can be written, for errors and help.
const Forms = "a date such as 2025-01-15 or yesterday, or how long ago, such as 12h, 3d or 2w"

// forms are those of dates, the most usual first.
var forms = [...]string{
	time.DateOnly, time.RFC3339, "2006-01-02 15:04", time.DateTime, "2006-01-02T15:04", "2006-01-02T15:04:05", "2006/01/02",
}

// most is longer than any text that is a time.
const most = 64

// earliest is a year before which nobody has recorded anything: what is earlier is a typing error.
const earliest = 1900

// Parse returns the point in time that a text stands for at the time now, in whose zone a date without one is. Its error
// says what was written and what can be.
func Parse(text string, now time.Time) (time.Time, error) {
	word := strings.ToLower(strings.Join(strings.Fields(text), " "))
	if word == "" || len(word) > most {
		return time.Time{}, fmt.Errorf("no time: use %s", Forms)
	}
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	switch word {
	case "now":
		return now, nil
	case "today":
		return midnight, nil
	case "yesterday":
		return midnight.AddDate(0, 0, -1), nil
	}
	for _, form := range forms {
		if at, err := time.ParseInLocation(form, strings.ToUpper(word), now.Location()); err == nil && at.Year() >= earliest {
			return at, nil
		}
	}
	if at, ok := ago(word, now); ok {
		return at, nil
	}
	return time.Time{}, fmt.Errorf("%q is no time: use %s", text, Forms)
}

// units are what a span is counted in; days and longer ones are those of the calendar.
var units = map[string]func(now time.Time, n int) time.Time{
	"s": seconds(time.Second), "m": seconds(time.Minute), "h": seconds(time.Hour),
	"d": func(now time.Time, n int) time.Time { return now.AddDate(0, 0, -n) },
	"w": func(now time.Time, n int) time.Time { return now.AddDate(0, 0, -7*n) },
	"y": func(now time.Time, n int) time.Time { return now.AddDate(-n, 0, 0) },
	"M": func(now time.Time, n int) time.Time { return now.AddDate(0, -n, 0) },
}

func seconds(unit time.Duration) func(time.Time, int) time.Time {
	return func(now time.Time, n int) time.Time { return now.Add(-time.Duration(n) * unit) }
}

// names are the units as words.
var names = map[string]string{
	"s": "s", "sec": "s", "second": "s", "m": "m", "min": "m", "minute": "m", "h": "h", "hour": "h", "d": "d", "day": "d",
	"w": "w", "week": "w", "mo": "M", "month": "M", "y": "y", "year": "y",
}

// mostOf is the largest number of a unit: a century of days. It keeps a span of seconds from overflowing.
const mostOf = 36_525

// ago reads a span: 3d, 1h30m, "2 weeks ago".
func ago(word string, now time.Time) (time.Time, bool) {
	rest := strings.TrimSpace(strings.TrimSuffix(word, " ago"))
	at, some := now, false
	for rest != "" {
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		n, err := strconv.Atoi(rest[:digits])
		if err != nil || n > mostOf {
			return now, false
		}
		rest = strings.TrimLeft(rest[digits:], " ")
		letters := len(rest) - len(strings.TrimLeft(rest, "abcdefghijklmnopqrstuvwxyz"))
		name := rest[:letters]
		unit, ok := names[name]
		if !ok && len(name) > 1 {
			unit, ok = names[strings.TrimSuffix(name, "s")]
		}
		if !ok {
			return now, false
		}
		at, some = units[unit](at, n), true
		rest = strings.TrimLeft(rest[letters:], " ")
	}
	return at, some
}
