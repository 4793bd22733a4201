package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/template"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/plaintext"
	"orchestrator/thread/record"
)

const (
	// MaxTemplate is the largest template, in bytes.
	MaxTemplate = 1 << 20
	// maxReport is the largest report.
	maxReport = 64 << 20
)

// Write writes a report by a template with this name. An error of the template names the line.
func Write(w io.Writer, r record.Report, name, text string) error {
	if len(text) > MaxTemplate {
		return thread.Kindf(thread.ErrInvalid, "the template %s has more than %s", name, thread.Bytes(MaxTemplate))
	}
	t, err := template.New(name).Funcs(functions()).Parse(text)
	if err != nil {
		return thread.Kindf(thread.ErrInvalid, "%v", templateError(err))
	}
	out := &bounded{room: maxReport}
	if err := t.Execute(out, DataOf(r)); err != nil {
		return thread.Kindf(thread.ErrInvalid, "%v", templateError(err))
	}
	_, err = w.Write(out.Bytes())
	return err
}

// templateError returns an error of a template without what a terminal would obey.
func templateError(err error) string { return plaintext.Line(err.Error()) }

// bounded takes what a template writes, up to a limit.
type bounded struct {
	bytes.Buffer
	room int
}

var errTooLong = errors.New("the report becomes too long")

func (b *bounded) Write(p []byte) (int, error) {
	if b.room -= len(p); b.room < 0 {
		return 0, errTooLong
	}
	return b.Buffer.Write(p)
}

// functions are what a template may call besides those of Go. `orchestrator help outputs` has them.
func functions() template.FuncMap {
	return template.FuncMap{
		"raw":   plain,
		"line":  func(t any) string { return plaintext.Line(plain(t)) },
		"quote": quote, "fence": fence,
		"cut":  func(n int, t any) Text { return Text(plaintext.Short(plain(t), max(0, n))) },
		"date": func(t time.Time) string { return stamp(t, time.DateOnly) },
		"time": func(t time.Time) string { return stamp(t, "2006-01-02 15:04:05 MST") },
		"took": func(d time.Duration) string { return thread.Elapsed(d) },
		"count": func(n any, noun string) string {
			v, _ := n.(int)
			return plaintext.Count(v, noun)
		},
		"join":  func(sep string, list []string) string { return strings.Join(list, sep) },
		"upper": strings.ToUpper, "lower": strings.ToLower,
		"default": func(otherwise string, t any) any {
			if s, ok := t.(fmt.Stringer); ok && s.String() == "" || t == "" {
				return otherwise
			}
			return t
		},
		"json": func(v any) (string, error) {
			b, err := json.Marshal(v)
			return string(b), err
		},
	}
}

// stamp formats a time in UTC, so that a report is the same everywhere; "-" for none.
func stamp(t time.Time, layout string) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(layout)
}
